"""Statutes cited in any text: 《劳动合同法》第三十八条第一款第（二）项, 民法典第1198条, 本法第十条至第十五条, 前条.

Names in 《》 need no list of laws. A name without them (根据劳动合同法第三十八条) begins where the longest name begins
that `is_known` accepts. If none is known, it begins after the words that introduce a citation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.base.chinese.numerals import NUMERAL, to_int
from core.base.chinese.script import plain
from core.base.text import HAN
from core.legal.article_numbers import ArticleNumber
from core.legal.text.law_names import CODE_PARTS, corrected_ending
from core.legal.text.law_qualifiers import Edition, edition_before, edition_in_brackets, place_before

IsKnown = Callable[[str], bool]

_ARTICLE = re.compile(rf"{NUMERAL}\s*条")
_SUFFIX = rf"(?:\s*之\s*(?:{NUMERAL}))?"
_PARTS = rf"(?:\s*第?\s*{NUMERAL}\s*款)?(?:\s*第?\s*\(?\s*{NUMERAL}\s*\)?\s*[项目])?"
_JOIN = r"\s*(?:、|,|和|以及|及其|及|与|或者|或|至|到|-+)\s*"
_SHORT_LIST = rf"第\s*{NUMERAL}(?:{_JOIN}第?\s*{NUMERAL})+\s*条{_PARTS}"  # 第三十八、三十九条, 第10-15条
_ONE = rf"第\s*{NUMERAL}\s*条{_SUFFIX}{_PARTS}"
# 第一款、第三款 and 第(一)、(二)项 go on with the same article.
_SAME_ARTICLE = rf"第?\s*\(?\s*{NUMERAL}\s*\)?\s*[款项](?:\s*第?\s*\(?\s*{NUMERAL}\s*\)?\s*项)?"
_REFERENCES = re.compile(
    rf"(?:{_SHORT_LIST}|{_ONE})(?:{_JOIN}(?:{_SHORT_LIST}|{_ONE}|{NUMERAL}\s*条{_SUFFIX}{_PARTS}|{_SAME_ARTICLE}))*"
)
_WITHOUT_ORDINAL = re.compile(rf"(?<=[法典例定释则]|》)\s*{NUMERAL}\s*条{_SUFFIX}{_PARTS}")  # 劳动合同法82条
_PREVIOUS = re.compile(r"前([一二两三四五六七八九十]?)条")
_PIECE = re.compile(
    rf"(?P<join>至|到|-+)?\s*(?P<ordinal>第)?\s*\(?\s*(?P<number>{NUMERAL})\s*\)?\s*(?P<unit>条|款|项|目)?"
    rf"(?:\s*之\s*(?P<suffix>{NUMERAL}))?"
)

# 香港基本法 is not 本法, and 合同法 is not 同法.
_IN_QUOTES = re.compile(r"[“\"「『〈<](?P<name>[^“”\"「」『』〈〉<>《》]{2,40})[”\"」』〉>]$")
_OWN_LAW = re.compile(r"(?<![基资日])本(?:实施)?(?P<kind>法典|法|条例|规定|办法|解释|细则|规则|决定|章程)$")
_LAW_NAMED_BEFORE = re.compile(
    r"(?:该|(?<!合)同|上述|前述|此)(?P<kind>法典|法律|法|条例|规定|办法|解释|司法解释|细则|规则|决定)$"
)
# 《解释》, for a long title that stands before
_KIND_ALONE = re.compile(r"条例|规定|办法|解释|司法解释|细则|规则|决定")
# 《…》（2018修正）的第三条, **《…》** 第三条
_BETWEEN = re.compile(
    rf"[\s*]*+(?:\((?P<edition>[^()]{{0,40}})\)\s*+)?(?:中的|里的|的|中|之|里|:)?[\s*]*+(?:第\s*{NUMERAL}\s*[编章节]\s*)*$"
)
_PART = re.compile(f"{CODE_PARTS}[编篇]?$")
_RUN = re.compile(rf"[{HAN}\d()《》〈〉<>、\-]{{2,70}}$")
_LAW_WORD = r"(?:法典|民法总则|法|条例|规定|办法|细则|规则|解释|决定|通则|准则|批复|意见|修正案)(?:\([一二三四五六七八九十]+\)|[一二三四五])?"
_ENDS_AS_LAW = re.compile(rf"{_LAW_WORD}$")
_INTRODUCTION = re.compile(
    r"^.*(?:根据|依据|依照|按照|参照|违反|适用|符合|援引|触犯|以及|即|见|由|和|与|及|或|按|依|是|为|了|对|将|因|、|在|的)"
)
_CLEARLY_LAW = re.compile(r"法典|[^方办做想说无合非违司]法$|条例$|^(?:中华人民共和国|最高人民|国务院|全国人大)")
_SHORT_NAME = re.compile(
    r"《(?P<full>[^《》]{2,80})》\s*\((?:以下|下)?(?:简称|称)(?:为)?[:\"“《「]*(?P<short>[^\"”》」()]{2,30})[\"”》」]*\)"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """One article, or a range of articles, as a text cites it."""

    start: int
    end: int
    law: str | None
    """Name as written, without 《》. None for 本法 and 前条 if no law was named before."""
    article: ArticleNumber
    last: ArticleNumber | None = None
    """Last article of a range."""
    paragraph: int | None = None
    item: int | None = None
    is_own_law: bool = False
    """True if the law is the one that the text itself is part of: 本法, or no name at all."""
    steps_back: int = 0
    """Number of articles back: 前条 is 1, 前两条 is 2. `article` then has no number."""
    edition: Edition | None = None
    """Version that is named with the law."""
    is_carried_over: bool = False
    """True if no law is named here and the one named before is assumed."""


class _Name(NamedTuple):
    """A law as it is named right before an article."""

    law: str | None
    start: int
    is_own_law: bool = False
    """True for 本法."""
    kind: str = ""
    """Kind of document that 该法, 本条例 … refers back to."""
    edition: Edition | None = None
    is_carried_over: bool = False


def may_cite(text: str) -> bool:
    """Return quickly whether a text may cite a statute."""
    return _ARTICLE.search(plain(text)) is not None


def find_citations(text: str, is_known: IsKnown | None = None, *, in_statute: bool = False) -> list[Citation]:
    """Return every statute cited in the text, in order. `in_statute`: in a law, 第十条 alone, 前条 and 本法 mean itself."""
    simple = plain(text)
    called = {found["short"]: found["full"] for found in _SHORT_NAME.finditer(simple)}
    known = (lambda name: name in called or bool(is_known and is_known(name))) if called or is_known else None
    found: list[Citation] = []
    named: list[_Name] = []
    for references in _all_references(simple):
        name = _name_before(simple, references.start(), known)
        if name.kind and not (name.is_own_law and in_statute):
            name = _named_before(named, name)
        may_continue = name.law is None and not (name.is_own_law or in_statute)
        if may_continue and found and _continues(simple, found[-1].end, references):
            name = _Name(named[-1].law, references.start(), edition=named[-1].edition, is_carried_over=True)
        if name.law is None and not name.is_own_law:
            if not in_statute or _belongs_to_contract(simple, references.start()):
                continue
            name = name._replace(is_own_law=True)
        if name.law is not None and not name.is_carried_over:
            name = name._replace(law=called.get(name.law, name.law))
            named.append(name)
        found.extend(_read_citations(references, name))
    if in_statute:
        found.extend(_previous_articles(simple))
    return list(_outermost(sorted(found, key=lambda citation: (citation.start, citation.end))))


def _outermost(citations: list[Citation]) -> Iterator[Citation]:
    """Yield citations without those in the title of another: 《关于适用刑法第十二条几个问题的解释》第二条."""
    before: Citation | None = None
    for citation in citations:
        if before is None or citation.end > before.end:
            yield citation
            before = citation


_FAR = 400
_SOMETHING_ELSE = re.compile(r"[\n《“「]|合同|协议|章程|约定|公约|规约|附件|甲方|乙方|条款|草案|判决|解释|条例|规定》")
_BEGINS_ANEW = re.compile(
    r"(?:^|[\s，。；：、,.;:(（!?]|根据|依据|依照|按照|适用|违反|以及|其中|其|和|及|与|而|但|同时)$"
)


def _continues(text: str, end: int, references: re.Match[str]) -> bool:
    """Return whether an article without a law continues the citation before it. 第二十一条 does, soon after
    《刑法》第二十条 in the same paragraph, if nothing else with articles stands between."""
    between = text[end : references.start()]
    return len(between) <= _FAR and not _SOMETHING_ELSE.search(between) and bool(_BEGINS_ANEW.search(between))


def _named_before(named: list[_Name], name: _Name) -> _Name:
    """Return the law that 该法, 该解释 or, outside of a law, 本法 refers to: the last one of that kind."""
    meant = next((one for one in reversed(named) if _is_of_kind(one.law or "", name.kind)), None)
    return _Name(meant.law if meant else None, name.start, edition=meant.edition if meant else None)


def _is_of_kind(law: str, kind: str) -> bool:
    ends = {"法律": ("法", "法典"), "法": ("法", "法典"), "司法解释": ("解释", "规定")}.get(kind, (kind,))
    return re.sub(r"\([^()]*\)$|[一二三四五]$", "", law).endswith(ends)


def _all_references(text: str) -> Iterator[re.Match[str]]:
    matches, end = [*_REFERENCES.finditer(text), *_WITHOUT_ORDINAL.finditer(text)], -1
    for match in sorted(matches, key=lambda match: (match.start(), -match.end())):
        if match.start() >= end:
            end = match.end()
            yield match


def _name_before(text: str, at: int, known: IsKnown | None) -> _Name:
    before = text[max(0, at - 160) : at]
    offset = at - len(before)
    between = _BETWEEN.search(before)
    trimmed = before[: between.start()] if between else before
    edition = edition_in_brackets(between["edition"]) if between and between["edition"] else None
    part = _PART.search(trimmed)
    if part and (trimmed[: part.start()].endswith(("》", "法典", "刑法")) or part[0].startswith("侵权责任编")):
        trimmed = trimmed[: part.start()]
    if trimmed.endswith("》"):
        opening = _opening_bracket(trimmed)
        if opening < 0:
            return _Name(None, at)
        name = trimmed[opening + 1 : -1].strip()
        if not (known and known(name)) and (short := _KIND_ALONE.fullmatch(name)):
            return _Name(None, offset + opening, kind=short[0])
        return _whole_name(trimmed[:opening], name, offset, edition)
    quoted = _IN_QUOTES.search(trimmed)
    if quoted and (place_before(trimmed[: quoted.start()], "") or (known and known(quoted["name"]))):
        return _whole_name(trimmed[: quoted.start()], quoted["name"], offset, edition)
    if home := _OWN_LAW.search(trimmed):
        return _Name(None, offset + home.start(), is_own_law=True, kind=home["kind"])
    if same := _LAW_NAMED_BEFORE.search(trimmed):
        return _Name(None, offset + same.start(), kind=same["kind"])
    for words in dict.fromkeys((before.rstrip(), trimmed)):  # 宪法修正案（2018年）, then 公司法（2023修订）
        run = _RUN.search(words)
        law = _ENDS_AS_LAW.search(words)
        if run and (law or (known and (words != trimmed or corrected_ending(words) != words))):
            start = _start_of_name(run[0], known, guess=words == trimmed and law is not None)
            if start >= 0:
                begin = run.start() + start
                return _whole_name(words[:begin], words[begin:], offset, edition if words == trimmed else None)
    return _Name(None, at)


def _whole_name(before: str, name: str, offset: int, edition: Edition | None) -> _Name:
    """Return the name with its country or city and its edition, if these stand before it."""
    start = len(before)
    if place := place_before(before, name):
        start -= len(place)
        name = f"{place.rstrip('的“「')}{name}"
    if earlier := edition_before(before[:start]):
        start -= len(earlier.words)
    return _Name(name, offset + start, edition=edition or earlier)


def _opening_bracket(text: str) -> int:
    """Return the position of the 《 that the last character closes. Titles may hold titles."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] == "》") - (text[place] == "《")
        if depth == 0:
            return place
    return -1


def _start_of_name(run: str, known: IsKnown | None, *, guess: bool) -> int:
    if known:
        for start in range(len(run) - 1):
            if known(run[start:]) or known(corrected_ending(run[start:])):
                return start
    if not guess:
        return -1
    name = _INTRODUCTION.sub("", run)
    start = len(run) - len(name)
    return start if 2 <= len(name) <= 40 and _CLEARLY_LAW.search(name) and not re.search(r"^[()]|[《》]", name) else -1


def _belongs_to_contract(text: str, at: int) -> bool:
    before = text[max(0, at - 8) : at]
    return re.search(r"(?:合同|协议|公约|章程|附件|附录|修正案|条约|议定书|》)\s*$", before) is not None


def _read_citations(references: re.Match[str], name: _Name) -> Iterator[Citation]:
    """Yield the articles of 第三十八条第一款、第四十六条至第四十八条, each with its own place in the text."""
    law, name_start, own, _, edition, carried = name
    pieces = [piece for piece in _PIECE.finditer(references[0]) if piece["number"]]
    current: Citation | None = None
    for position, piece in enumerate(pieces):
        try:
            article = ArticleNumber.read(piece["number"], piece["suffix"])
        except ValueError:
            continue
        begin, end = references.start() + piece.start("number"), references.start() + piece.end()
        if _unit(pieces, position) == "条":
            if piece["join"] and current and not current.paragraph and current.article < article:
                current = replace(current, end=end, last=article)
                continue
            if current:
                yield current
            start = name_start if current is None else begin - bool(piece["ordinal"])
            current = Citation(start, end, law, article, is_own_law=own, edition=edition, is_carried_over=carried)
        elif current and piece["unit"] == "款":
            current = replace(current, end=end, paragraph=current.paragraph or article.number)
        elif current and piece["unit"] in ("项", "目"):
            current = replace(current, end=end, item=current.item or article.number)
    if current:
        yield current


def _unit(pieces: list[re.Match[str]], position: int) -> str:
    """Return the unit of a number. In 第三十八、三十九条 it stands only at the end."""
    return next((piece["unit"] for piece in pieces[position:] if piece["unit"]), "")


def _previous_articles(text: str) -> Iterator[Citation]:
    for found in _PREVIOUS.finditer(text):
        back = to_int(found[1]) if found[1] else 1
        yield Citation(found.start(), found.end(), None, ArticleNumber(0), is_own_law=True, steps_back=back)
