"""Restatements: words around a citation that say what the article provides, in sentences, brackets, lists, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.base.chinese.numerals import NUMERAL
from core.legal.text.statute_citations import Citation

_REACH = 1_200
"""Largest distance, in letters, between a citation and its restatement."""
_SAYS = (
    r"(?:(?:已|还|也|则|就|中)?(?:明确|清楚|具体|专门)?(?:规定|载明|指出|写明|要求|明确|强调|确立|列明|表明|提到|说明|说|称|是指|是关于)"
    r"(?:了|为|是|如下|道|的?是|的?内容(?:是|为|如下))?)"
)
_AFTER = re.compile(
    rf"[ \t]*[*_`」”]*(?:(?:的|之)(?:相关|有关|明确)?(?:规定|内容|要求|精神)(?=[*_` ]*[，,：:—\-]))?{_SAYS}?[*_`]*"
    r"(?P<mark>[ \t]*(?:[，,：:]|—{1,2}|-{1,2}(?=\s)|\|)?)[*_` \t]*"
)
_ENDS_LINE = re.compile(rf"[*_` \t]*+(?:(?:的|之)(?:相关)?规定)?{_SAYS}?[*_`]*+[：:，,]?[*_` \t]*+\n")
_REFERRED = re.compile(r"(?:依照|按照|根据|依据|适用|参照|遵照|符合|由|有|对|和|与|及|、|在|受)[\s*《“]{0,8}$")
_NOT_CONTENT = re.compile(
    r"(?:(?:的|之)?(?:规定|约定|情形|条件|要求){0,2}(?:的|之|处罚|处理|执行|办理|予以)|所(?:称|指|列|规定)|意义上|并?未|并?没有?|是否|不|无|和|与|及|、|至|或)"
)
_BROKEN = re.compile(r"(?:违反|触犯|违背|不符合|不适用|并非|援引|误引|不是)了?(?:我国|了)?[\s*《“]{0,8}$")
_END = re.compile(rf"[。！？!?\n|]|[；;，,](?=\s{{0,4}}第\s{{0,2}}{NUMERAL}\s{{0,2}}条(?:{_SAYS}|[：:，,]))")
_BEFORE_BRACKET = re.compile(
    r"[（(【\[]\s{0,4}(?:详?见|参见|参照|参考|引自|依据|法律依据|根据|来源|依)?[:：]?[\s*《“]{0,8}$"
)
_SOURCE_NAMED = re.compile(
    r"(?:[，,。；;\s]{0,4}(?:详?见|参见|依据(?:是|为)?|法律依据(?:是|为)?|法条依据|出处|来源(?:于|是)?|规定在|载于|出自)[:：]?[\s*《“]{0,8})$"
)
_ENDS_THERE = re.compile(r"(?:(?:的|之)(?:相关)?规定)?[*_` \t]*+(?:[。；;！!）)】\]\n|]|$)")
_OPENS = re.compile(
    r"^[\s>*\-+•·#]*(?:\d{1,2}[.、)）]|[（(][一二三四五六七八九十\d]{1,3}[)）]|[一二三四五六七八九十]{1,3}、)?[\s*_`]*"
)
_NUMBERED = re.compile(r"\[\d{1,3}\](?:\([^)\s]{0,300}\))?|【\d{1,3}】")
_ASIDE = re.compile(
    r"^(?:一般(?:来说|而言|情况下)|通常(?:来说|情况下)?|简单(?:来说|地说)|具体(?:来说|而言)|换言之|换句话说|也就是说|需要(?:特别)?注意的是|值得注意的是"
    r"|依法|法律规定|其中|因此|所以|同时|此外|另外)[，,：:]|[，,]请(?:您|你)?(?:注意|知悉|留意)$"
)
_DOUBTED = re.compile(
    r"[是属有]于?(?:错误|误解|不实|谣言|误)|说法(?:错误|不实|不准确|不成立)|并不存在|纯属|[吗么]？|[？?]$"
)
_HEARSAY = re.compile(r"(?:有人(?:说|认为|主张)|网传|谣传|误以为|误认为|传言)[^，,。]{0,6}$")
_JOINED = re.compile(r"\s*+(?:(?:、|，|,|和|以及|及其|及|与|或者|或|至|到|-+)\s*+)?")
_NAMES_LAW = re.compile(r"[\s>*\-+•·#|\d.、)）]*(?:根据|依据|按照|依照|参照|按|依)?(?:我国|中国)?[\s*（(【\[《]*")
"""What stands before a citation without saying anything."""
_ENDS = "。；;\n|！？!?"
_LEAST = 6
"""Fewest letters that can be compared."""


class Restatement(NamedTuple):
    text: str
    is_attributed: bool
    """True if the text says outright that the article says this (第三条规定…), not only that it follows from it."""
    is_complete: bool = True
    """False if another citation interrupts the sentence, so this is only a part of it."""
    stands_alone: bool = False
    """True if nothing before it in the text can be its condition."""


class CitationGroup(NamedTuple):
    """Articles cited together (第三条、第四条). A restatement counts for all of them."""

    start: int
    end: int
    citations: list[Citation]


def group_citations(text: str, citations: Sequence[Citation]) -> list[CitationGroup]:
    """Group citations of one law that are only joined by 、, 和, 至 and the like."""
    groups: list[CitationGroup] = []
    for citation in citations:
        last = groups[-1] if groups else None
        if last and last.citations[0].law == citation.law and _JOINED.fullmatch(text, last.end, citation.start):
            last.citations.append(citation)
            groups[-1] = last._replace(end=citation.end)
        else:
            groups.append(CitationGroup(citation.start, citation.end, [citation]))
    return groups


def _find_restatement(text: str, group: CitationGroup, begin: int, until: int) -> Restatement | None:
    """Return the restatement of a group between two positions, or None if the text only names the articles."""
    line_start = max(text.rfind("\n", max(0, group.start - _REACH), group.start) + 1, group.start - _REACH)
    before = text[line_start : group.start]
    if _BROKEN.search(before) or _HEARSAY.search(before):
        return None
    if before.lstrip().startswith("|"):
        return _clean_restatement(_table_cells(text, line_start, group))
    if _is_bracketed(text, group, before):
        return _clean_restatement(_restatement_before(text[begin : group.start], _BEFORE_BRACKET))
    broken = until < len(text) and text[until] not in _ENDS
    after = _restatement_after(text[group.end : min(group.end + _REACH, until)], before, broken)
    if after or not (_SOURCE_NAMED.search(before) and _ENDS_THERE.match(text, group.end)):
        return after
    return _clean_restatement(_restatement_before(text[begin : group.start], _SOURCE_NAMED))


def find_restatements(text: str, groups: Sequence[CitationGroup]) -> Iterator[Restatement | None]:
    begin = 0
    for position, group in enumerate(groups):
        found = _find_restatement(text, group, begin, _end_of_restatement(text, groups, position))
        yield found and found._replace(
            stands_alone=_stands_alone(text[max(0, group.start - _REACH) : group.start], found)
        )
        begin = group.end


def _stands_alone(before: str, restatement: Restatement) -> bool:
    """Return whether the words before a citation are only the restatement itself, or those that name the law."""
    *_, line = before.rsplit("\n", 1)
    own = line.replace(restatement.text, "", 1)
    heading = before[: len(before) - len(line)].rstrip()
    return _NAMES_LAW.fullmatch(own) is not None and not heading.endswith(("：", ":", "*", "#"))


def _end_of_restatement(text: str, groups: Sequence[CitationGroup], position: int) -> int:
    """Return the position of the next citation. One inside a rule (依照本法第十条的规定) is part of the rule."""
    end = groups[position].end
    for following in groups[position + 1 :]:
        if following.start > end + _REACH:
            break
        if not _is_within_rule(text, following):
            cut = max(text.rfind(mark, end, following.start) for mark in "，,；;。\n|")
            return cut if cut >= 0 else following.start
    return len(text)


def _is_within_rule(text: str, group: CitationGroup) -> bool:
    before = text[max(0, group.start - 8) : group.start]
    if _BROKEN.search(before) or (text[group.start] == "本" and _NOT_CONTENT.match(text, group.end)):
        return True
    after = _AFTER.match(text[group.end : group.end + 60])
    return not (after and after["mark"].strip()) and _REFERRED.search(before) is not None


def _is_bracketed(text: str, group: CitationGroup, before: str) -> bool:
    closed = re.match(r"[^（(\n。]{0,40}[）)】\]]", text[group.end : group.end + 48])
    return closed is not None and _BEFORE_BRACKET.search(before) is not None


def _table_cells(text: str, line_start: int, group: CitationGroup) -> str:
    """Return the longest other cell of a table row. Cells after the citation come first."""
    end = text.find("\n", group.end, group.end + _REACH)
    row = text[line_start : end if end >= 0 else group.end + _REACH]
    cells = row.split("|")
    own = row[: group.start - line_start].count("|")
    rest = row[group.end - line_start :].split("|", 1)[0]
    later = [cell.strip() for cell in cells[own + 1 :] if cell.strip()]
    earlier = [cell.strip() for cell in cells[:own]]
    own_words = _AFTER.sub("", rest, count=1)
    return max([*later, own_words] if later or len(own_words) > _LEAST else earlier, key=len, default="")


def _restatement_after(window: str, before: str, is_interrupted: bool) -> Restatement | None:
    if line := _ENDS_LINE.match(window):
        return _clean_restatement(_block_below(window[line.end() :]))
    link = _AFTER.match(window)
    assert link is not None  # everything in it is optional
    rest, says = window[link.end() :], re.search(_SAYS, link[0]) is not None
    if not link["mark"].strip() and (_NOT_CONTENT.match(window) or not says or _REFERRED.search(before)):
        return None
    end = _END.search(rest)
    is_attributed = says or "：" in link[0] or ":" in link[0]
    found = _clean_restatement(rest[: end.end()] if end else rest, is_attributed=is_attributed)
    return found._replace(is_complete=False) if found and is_interrupted and not end else found


def _block_below(below: str) -> str:
    """Return the paragraph or the list under a line that ends with the citation."""
    paragraph = below.lstrip("\n").split("\n\n", 1)[0]
    lines = [_OPENS.sub("", line, count=1) for line in paragraph.splitlines()[:12] if not line.lstrip().startswith("|")]
    return "\n".join(lines)


def _restatement_before(before: str, link: re.Pattern[str]) -> str:
    words = link.sub("", before[-_REACH:]).rstrip("。；;，, \n*_")
    return words[max((match.end() for match in _END.finditer(words)), default=0) :]


def _clean_restatement(words: str, *, is_attributed: bool = True) -> Restatement | None:
    cleaned = _NUMBERED.sub("", _OPENS.sub("", words, count=1))
    cleaned = re.sub(r"[*_`]{1,3}", "", cleaned).strip(" \t\n。！!？?，,：:；;、）)】]|")
    cleaned = _ASIDE.sub("", cleaned)
    if len(re.sub(r"\W", "", cleaned)) < _LEAST or _DOUBTED.search(words):
        return None
    return Restatement(cleaned, is_attributed)
