"""The grammar of citations: which brackets of an answer are citations, and which sources they name.

Whether `[1]` is a citation depends on Markdown (code, a link, an escaped bracket, a formula). It is therefore a rule of
the Markdown parser, and the parser for answers is built here.

A citation stands behind the words that it supports. `[7]` is one unless these words ask for a value, as `return` does. A list
such as `[7, 8]` is one unless they ask for a list, as 结果是 does, or it stands apart in no order, as `[3, 1, 2]` does. A single
number that may be either cites if it has a source, and stays as it is written if not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

from core.answer.annotation import AGAINST_LAW, AGREES, END_OF_NOTE, MISSING, NO_SOURCE, NOTE, with_marks
from core.answer.check_results import InventedCitation
from core.answer.inline_spans import FORMULA
from core.base.text import clean
from core.search.types import Source

InlineRule = Callable[[StateInline, bool], bool]
Reading = Literal["citation", "value", "doubtful"]

MAX_CITATION_LENGTH = 200
"""The length of the longest bracket that can be a citation: fifty numbers fit."""
MAX_DEFINITION_LENGTH = 300
"""The length of the longest address in a line such as `[1]: https://…`."""

INVENTED = "\ufff3"
"""A character behind the opening bracket of a number that must not cite anything, whatever sources there are. Like the
marks of `annotate` it cannot come from outside."""

# A year is no number of a source: 法释[2020]17号.
_NUMBER = "(?!(?:[1１][9９]|[2２][0０])[0-9０-９]{2}(?![0-9０-９]))[1-9１-９][0-9０-９]{0,3}"
_LAST_NUMBER = 999
"""The highest number that a source can have."""
_LABEL = (
    "(?:(?:搜索结果|参考|来源|资料|文献|引用|网页|文档|出处|结果|脚注|注"
    "|sources?|references?|refs?|citations?|cites?|results?|documents?|docs?|footnotes?|notes?){1,2} ?[:：_#]? ?)?"
)
LABEL_CHARACTERS = "搜索结果参考来源资料文献引用网页文档出处脚注a-zA-Z"
"""The characters of the words that may stand before a number, for a character class."""
_ITEM = f"{_LABEL}{_NUMBER}(?: ?[-–—－~～] ?{_LABEL}{_NUMBER})?"
_INSIDE = (
    rf"\[{INVENTED}?{_NUMBER}\]"
    rf"| ?(?:\^{_NUMBER}\^?|{_LABEL}[0０]|{_ITEM}(?: ?[,，、;；] ?{_ITEM})*(?:†[^\[\]【】［］\n]*)?) ?"
)
# `[1](https://…)` is a link and `a[1] = 2` an assignment, but in `[1](2024 年)` the parenthesis is part of the sentence.
_NOT_AFTER = r"(?!\(\s*<?(?:[A-Za-z]+:|[/#?.@]|[A-Za-z0-9-]+\.[A-Za-z])| ?=)"
_BRACKET = rf"(?=.[^\n]{{1,{MAX_CITATION_LENGTH - 2}}}?[\]】］])[\[【［]{INVENTED}?(?:{_INSIDE})[\]】］]{_NOT_AFTER}"
_BETWEEN = " ?[,，、]? ?"
RAISE, LOWER = "<sup> ?", " ?</sup>"
"""What models write around a number to raise it, as patterns."""
_RAISED = rf"(?:{RAISE}{_BRACKET}(?:{_BETWEEN}{_BRACKET})*{LOWER}|{_BRACKET})"
_CITATIONS = re.compile(rf"{_RAISED}(?:{_BETWEEN}{_RAISED})*+", re.IGNORECASE)
# A line of a reference list that the model made for itself.
_DEFINITION = re.compile(
    rf"{_BRACKET}[:：] {{0,3}}<?https?://[^\n{NOTE}]{{1,{MAX_DEFINITION_LENGTH}}}"
    rf"(?=(?:{NOTE}[0-9]+{END_OF_NOTE})?(?:\n|\Z))",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"(\d+)(?: ?[-–—－~～] ?{_LABEL}(\d+))?", re.IGNORECASE)
_REMARK = re.compile(r"†[^\]】］]*")
_INVENTED = re.compile(rf"[\[【［]{INVENTED}[^\]】］]*[\]】］]")

# A bracket right after a word is a citation (`OpenAI[1] 发布`, `research[1]`) unless the word is one that programmers
# give to arrays: a lone small letter, snake_case, or one of a few names. Prose with citations is what models write
# here; prose with an index outside of code is rare, and then it nearly always uses such a name.
_CODE_BEFORE = re.compile(
    r"""(?: =\s* | \s\+\s+                                         # x = [1, 2, 3] but not C++ [1]
          | [A-Za-z0-9_]\( | ∈\s*                                  # foo([1, 2])
          | ["'”’]\s*:\s*                                          # {"a": [1]}
          | \[(?:\[[^\[\]]*\],\s*)*                                 # [[1, 2], [3, 4]]
          | (?<![A-Za-z0-9_'’])(?<!\d\ )                            # it's[1] and 5 m[1] are prose
            (?:[a-z]|[A-Za-z][A-Za-z0-9_]*_[A-Za-z0-9_]*[A-Za-z0-9]
              |arr|array|list|lst|nums|args|argv|mat|vec|dp|tmp|str)(?:\[[^\[\]\s]*\])*
        )\Z""",
    re.VERBOSE,
)
# What stands behind these words and marks is a value: 输出 [7], `return [7]`, `{1, [7]`, 「[7]」.
_ASKS_VALUE = re.compile(
    r"""(?: (?:输入|输出|返回|打印|下标|索引|数组|列表|向量|元组)(?:值|为)?(?:\s|[:：]) | 答案[:：]
          | \b(?:returns?|yields?|prints?)\s
          | \b(?:inputs?|outputs?|indexe?s?|indices|arrays?|lists?)(?:\s|[:：])
          | \b(?:for|if|elif|while|and|or|not)\s[\w.]{1,30}\s(?:not\s)?in\s
          | →|⇒|->|=>|:= | [“「『] | (?<![^\s(（:：,，])["']
          | [\[{](?:[^\[\]{}\n]|\[[^\[\]]*\]|\{[^{}]*\})*[,:\[{] | [a-z0-9_]\([^()\n]*, | (?:^|\n)[a-z_]\w*:\s
        )\s*$""",
    re.VERBOSE | re.IGNORECASE,
)
# Behind these only a list is a value: 结果是 [1, 3, 2], `步骤一：[1, 3, 2]`, 区间[1, 5], 对 [3, 1, 2] 排序. `基因序列[1]` is a citation.
_ASKS_LIST = re.compile(
    r"""(?: (?<![行作人所认以因])为 | 是 | 等于 | 得到 | [变换转]成 | 变为 | (?<![立随当])即 | [例比诸]如
          | \b(?:is|are|was|were|be|equals?|becomes?|gives?|like|e\.g\.,?)\s
          | [:：] | 数组|列表|向量|矩阵|区间|序列|集合|元组|坐标|范围|定义域|值域
          | 输入|输出|返回|打印|传入|给定|已知|假设|遍历|将|把
          | (?<![反应核校相绝不作敌配])对 | (?<![存潜内外现所])在 | (?<![服听盲])从
          | \b(?:array|list|vector|matrix|tuple|interval|range|sort(?:ed|ing|s)?)
        )\s*$""",
    re.VERBOSE | re.IGNORECASE,
)
# Behind these there is no value: 来源：[1, 2], 依据是 [1], see [1, 2].
_ASKS_SOURCE = re.compile(
    r"""(?:来源|出处|依据|根据|参考|参照|引用|引自|文献|资料|规定|报道|脚注|(?<![可意])见|(?<!数)据
          |\b(?:sources?|references?|refs?|see|cf\.?|cited|according\sto))
        \s*(?:是|为|有|is|are)?\s*[:：]?\s*$""",
    re.VERBOSE | re.IGNORECASE,
)
# The next bracket in a sequence of values: `[3, 1] 和 [1, 3]`.
_AFTER_VALUE = re.compile(r"\d ?\]\s*(?:[,，、]|和|与|或|及|and|or|vs\.?)\s*$", re.IGNORECASE)
_BEFORE_VALUE = re.compile(r" ?[→⇒]")
_ONE = re.compile(rf"\[{INVENTED}? ?(?:[0０]|{_NUMBER}(?: ?[-–—－~～] ?{_NUMBER})?) ?\]")
_LIST = re.compile(rf"\[{INVENTED}? ?{_NUMBER}(?: ?[,，] ?{_NUMBER})+ ?\]")
_NOT_ATTACHED = frozenset(" \t\n\u3000|，,、；;")
_LINE_START = re.compile(r"(?:^|\n)\s*$")
_CONTEXT = 80
_WORDS_BEFORE = 40

# Text that may still become a citation, a link or a marker: an open bracket, a closed one whose next character decides,
# a line that so far consists of marks only, and a run of marks at the very end.
_UNSETTLED = re.compile(
    r"!?[\[【［]+[^\[\]【】［］\n]*(?:[\]】］]+(?: |\([^()\n]*)?)?$"
    r"|(?<![^\n])[ \t]*(?:[-*_+#>|=$~`][-*_+#>|=$~`: \t]*|\d{1,9}[.)]?)$"
    r"|(?:[*_~`]+|\\)$"
)


_UNSETTLED_LENGTH = 32


def unsettled_length(text: str) -> int:
    """Return the number of characters at the end of a growing text that must not be drawn yet."""
    tail = text[-_UNSETTLED_LENGTH:]
    unsettled = _UNSETTLED.search(tail)
    return max(len(tail) - unsettled.start() if unsettled else 0, _open_formula_length(text))


def _open_formula_length(text: str) -> int:
    """Return the length of the formula that has begun on the last line and not ended."""
    line = text[text.rfind("\n") + 1 :][-_LINE_LENGTH:]
    if "$" not in line and "\\(" not in line:
        return 0
    begun = _BEGUN_FORMULA.search(_FORMULA.sub(lambda found: " " * len(found[0]), line))
    return len(line) - begun.start() if begun else 0


def has_open_formula(paragraph: str) -> bool:
    """Return whether a formula has begun in the paragraph, and not ended."""
    is_block = paragraph.lstrip().startswith("$$") and paragraph.count("$$") % 2 == 1
    return is_block or _open_formula_length(paragraph) > 0


def cited_numbers(markdown: str, sources: Iterable[Source]) -> tuple[int, ...]:
    """Return the numbers of the sources that the text cites, in the order of first citation."""
    known = {source.number for source in sources}
    citations = (token for token in _citation_tokens(parse_markdown(markdown)) if not stays_as_written(token, known))
    cited = (number for token in citations for number in token.meta["numbers"])
    return tuple(dict.fromkeys(number for number in cited if number in known))


def has_citation(text: str) -> bool:
    """Return whether a bracket of the text would be a citation in some answer."""
    return _CITATIONS.search(text) is not None


def cited_sources(markdown: str, sources: Sequence[Source]) -> tuple[Source, ...]:
    """Return the sources that the text cites, ordered by number."""
    by_number = {source.number: source for source in sources}
    return tuple(by_number[number] for number in sorted(cited_numbers(markdown, sources)))


def sourced_numbers(citation: Token, known: Container[int]) -> list[int]:
    """Return the numbers of a citation that have a source, in ascending order. Without any it is not shown."""
    return sorted(number for number in citation.meta["numbers"] if number in known)


def stays_as_written(citation: Token, known: Container[int]) -> bool:
    """Return whether this is no citation after all: it may be a value, and one of its numbers has no source; or it is
    a line with the address of a source that there is."""
    if defined := citation.meta["defined"]:
        return all(number in known for number in defined)
    return any(number not in known for number in citation.meta["doubtful"])


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """A bracket of a text that cites a source. `text[start:end]` is the bracket."""

    number: int
    start: int
    end: int


_ONE_BRACKET = re.compile(r"[\[【［]+[^\[\]【】［］]*[\]】］]+")


def cited_places(text: str, known: Container[int]) -> list[CitedPlace]:
    """Return the places of all citations of a clean text, in its order. `[1, 3]` cites two sources at one place."""
    ends = [found.end() for found in _CITATIONS.finditer(text)]
    places: list[CitedPlace] = []
    for token in _citation_tokens(parse_clean_markdown(_noted(text, ends))):
        if "note" in token.meta and not token.meta["defined"] and not stays_as_written(token, known):
            start = ends[token.meta["note"]] - len(token.content)
            for bracket in _ONE_BRACKET.finditer(token.content):
                numbers = (number for number in _numbers_in(bracket[0]) if number in known)
                places += (CitedPlace(number, start + bracket.start(), start + bracket.end()) for number in numbers)
    return places


def _noted(text: str, ends: Sequence[int]) -> str:
    """Return the text with a mark at the end of each bracket, by which the parser's tokens are found again in it."""
    return with_marks(text, [(end, f"{NOTE}{place}{END_OF_NOTE}") for place, end in enumerate(ends)])


# A citation without a source vanishes. Before these characters, the blank in front of it vanishes too.
_CLOSES = frozenset(" \n，。、；：？！,.;:?!)）】」』”’…")


def takes_blank_along(citation: Token) -> bool:
    """Return whether the blank before a citation without a source vanishes with it."""
    return not citation.meta["after"] or citation.meta["after"] in _CLOSES


@dataclass(frozen=True, slots=True)
class Cut:
    """A place of a text where citations have no source: `text[start:end]` is to be replaced."""

    start: int
    end: int
    replacement: str
    invented: tuple[int, ...] | None = None
    """The numbers that have no source; None if nothing is cited here, as in a list of references."""


def drop_invented(markdown: str, known: Container[int]) -> tuple[str, tuple[InventedCitation, ...]]:
    """Return the text without the citations that have no source, exactly as the page shows it, and these citations with
    their places in it. `[1, 7]` with a source 1 becomes `[1]`."""
    cuts = unsourced_cuts(markdown, known)
    return apply_cuts(markdown, cuts), tuple(_invented_citations(cuts))


def _invented_citations(cuts: Iterable[Cut]) -> Iterator[InventedCitation]:
    removed = 0
    for cut in cuts:
        removed += cut.end - cut.start - len(cut.replacement)
        if cut.invented is not None:
            yield InventedCitation(cut.end - removed, cut.invented)


def apply_cuts(text: str, cuts: Iterable[Cut]) -> str:
    pieces, begin = [], 0
    for cut in cuts:
        pieces += [text[begin : cut.start], cut.replacement]
        begin = cut.end
    return "".join([*pieces, text[begin:]]).replace(INVENTED, "")


def unsourced_cuts(text: str, known: Container[int], *, after: int = 0, ended: bool = True) -> list[Cut]:
    """Return the places of citations without a source, from `after` on. Every bracket that looks like a citation gets a
    mark, by which the parser's tokens are found again in the text. The last line may go on unless the text has `ended`."""
    ends = list(_ends_without_source(text, known, after, ended=ended))
    if not ends:
        return []
    tokens = _citation_tokens(parse_clean_markdown(_noted(text, ends)))
    citations = (token for token in tokens if "note" in token.meta)
    invented = (token for token in citations if not stays_as_written(token, known))
    return [_cut(text, token, ends[token.meta["note"]], known) for token in invented]


def _ends_without_source(text: str, known: Container[int], after: int, *, ended: bool) -> Iterator[int]:
    """Yield the ends of the brackets that may be citations and lack a source, and of lines that define a number."""
    while found := _CITATIONS.search(text, after):
        before = text[max(0, found.start() - _CONTEXT) : found.start()]
        definition = _DEFINITION.match(text, found.start()) if _LINE_BEGINNING.search(before) else None
        is_whole = definition and (ended or definition.end() < len(text))
        after = definition.end() if definition and is_whole else found.end()
        if definition or _lacks_source(found[0], known):
            yield after


def last_block(text: str) -> str:
    """Return the end of a growing text from the beginning of its last block, or item of a list, on: no earlier text
    changes how it is read."""
    starts = [token.map[0] for token in parse_blocks(text) if token.map and _begins_anew(token)]
    return "".join(_LINE.findall(text)[starts[-1] :]) if starts else text


def _begins_anew(token: Token) -> bool:
    return token.level == 0 or (token.level == 1 and token.type == "list_item_open")


_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")


def _lacks_source(brackets: str, known: Container[int]) -> bool:
    spans = _spans(brackets)
    return INVENTED in brackets or any(not span or any(number not in known for number in span) for span in spans)


_WHOLE_LINE = re.compile(r"(?:^|(?<=\n)) *(?:(?:[-*+]|\d{1,9}[.)]) +)?\Z")
_LINE_BEGINNING = re.compile(r"(?:^|\n)[ \t>]*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+)?\Z")


def _cut(text: str, citation: Token, end: int, known: Container[int]) -> Cut:
    start = end - len(citation.content)
    numbers = sourced_numbers(citation, known)
    before = text[max(0, start - _CONTEXT) : start]
    if citation.meta["defined"] and (line := _WHOLE_LINE.search(before)):
        return Cut(start - len(line[0]), end + (text[end : end + 1] == "\n"), "")
    if not numbers and takes_blank_along(citation) and not _LINE_BEGINNING.search(before):
        start -= len(before) - len(before.rstrip(" "))
    left = "".join(f"[{number}]" for number in numbers)
    return Cut(start, end, left, None if citation.meta["defined"] else _invented_numbers(citation, known))


def _invented_numbers(citation: Token, known: Container[int]) -> tuple[int, ...]:
    """Return the numbers of a citation that have no source, also those that no source can have."""
    written = _RANGE.findall(_REMARK.sub("", unicodedata.normalize("NFKC", _INVENTED.sub("", citation.content))))
    too_high = (int(first) for first, _ in written if int(first) > _LAST_NUMBER)
    return tuple(dict.fromkeys(number for number in (*citation.meta["numbers"], *too_high) if number not in known))


def parse_markdown(markdown: str) -> list[Token]:
    """Parse the text into Markdown tokens, among them `citation`, `math_inline` and `math_block`."""
    return parse_clean_markdown(clean(markdown))


def parse_clean_markdown(text: str) -> list[Token]:
    """Parse a text that is clean already. An annotated text also has tokens `uncited`, `agreeing`, `missing` and
    `against_law`, and citations with a `note`."""
    tokens = parse_blocks(text)
    for token in tokens:
        if token.type == "inline":
            token.children = _parse_inline(token.content)
    return tokens


@lru_cache(maxsize=64)
def parse_blocks(markdown: str) -> list[Token]:
    """Parse a clean text into block tokens only. Cached, because the text is usually rendered right after it was split."""
    return _PARSER.parse(markdown)


@lru_cache(maxsize=1024)
def _parse_inline(text: str) -> list[Token]:
    """Parse inline text. Cached, because a growing list or table is parsed again with every update, mostly unchanged."""
    tokens: list[Token] = []
    _PARSER.inline.parse(text, _PARSER, {}, tokens)
    return tokens


def _citation_tokens(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from (child for child in token.children or () if child.type == "citation")


def _numbers_in(brackets: str) -> tuple[int, ...]:
    """Return the numbers in the brackets that can have a source: `[1, 3-5][2]` gives 1 3 4 5 2."""
    return tuple(dict.fromkeys(number for span in _spans(_INVENTED.sub("", brackets)) for number in span))


def _spans(brackets: str) -> list[range]:
    """Return what each part of the brackets names. A range that runs backwards is empty, as is a number too high."""
    written = _REMARK.sub("", unicodedata.normalize("NFKC", brackets))
    found = _RANGE.findall(written)
    return [range(int(first), min(int(last or first), _LAST_NUMBER) + 1) for first, last in found]


def _reading(brackets: str, before: str, after: str, *, is_after_value: bool) -> Reading:
    """Return what the brackets are, by the text around them."""
    words = before.rstrip("*_~")[-_WORDS_BEFORE:]
    listed = _LIST.match(brackets)
    asks_value = (listed or _ONE.match(brackets)) and (is_after_value or _ASKS_VALUE.search(words))
    if not (listed or asks_value) or _ASKS_SOURCE.search(words):
        return "citation"
    if not listed:
        return "doubtful"
    if asks_value:
        return "value"
    if _ASKS_LIST.search(words) or _BEFORE_VALUE.match(after):
        return "value"
    is_attached = bool(words) and words[-1] not in _NOT_ATTACHED
    is_ascending = all(one < other for one, other in pairwise(_written_numbers(listed[0])))
    return "citation" if is_attached or is_ascending else "value"


def _written_numbers(brackets: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", brackets)))


def _citation_rule(state: StateInline, silent: bool) -> bool:
    # markdown-it calls rules silently to find the end of a link's text; there a bracket is only a bracket.
    if silent or state.linkLevel or state.src[state.pos] not in "[【［<":
        return False
    found = _CITATIONS.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    before = _NOTE.sub("", state.src[max(0, state.pos - 2 * _CONTEXT) : state.pos])[-_CONTEXT:]
    if _CODE_BEFORE.search(before):
        return False
    starts_line = bool(_LINE_START.search(before))
    definition = _DEFINITION.match(state.src, state.pos, state.posMax) if starts_line else None
    brackets, found = found[0], definition or found
    note = _NOTE.match(state.src, found.end(), state.posMax)
    end = note.end() if note else found.end()
    after = state.src[end : end + 2]
    is_after_value = bool(_AFTER_VALUE.search(_NOTE.sub("", state.pending[-_CONTEXT:])))
    reading = "citation" if definition else _reading(brackets, before, after, is_after_value=is_after_value)
    if reading == "value" or (starts_line and after[:1] == ":"):
        return False
    token = state.push("citation", "sup", 0)
    token.content = found[0]
    token.meta = {
        "numbers": () if definition else _numbers_in(brackets),
        "after": after[:1],
        "doubtful": _written_numbers(brackets) if reading == "doubtful" else (),
        "defined": _written_numbers(brackets) if definition else (),
    }
    state.pos = end
    if note:
        token.meta["note"] = int(note[1])
    if _NAMED_AFTER.match(state.src, state.pos) and _NAMED_BEFORE.search(before):
        token.meta["named"] = True
    return True


# 「根据 [1] 的规定」, 「[2] 说」: the number stands for the source itself, as a noun of the sentence.
_NAMED_BEFORE = re.compile(r"(?:\A|[。！？；：，、（“「\n]|根据|依据|按照|参照|参见|据|见|如|而|但)\s*\Z")
_NAMED_AFTER = re.compile(
    r"\s*[中里]?(?:还|也|则|都|均|并未|没有|明确|只)?"
    r"(?:的|规定|说|称|指出|认为|显示|提到|表示|介绍|写道|报道|给出|提供|建议|强调|提出|解释|补充|记载|列出|证实|否认)"
)
_NOTE = re.compile(f"{NOTE}([0-9]+){END_OF_NOTE}")


_MARK_KINDS = {NO_SOURCE: "uncited", AGREES: "agreeing", MISSING: "missing", AGAINST_LAW: "against_law"}
_MARK = re.compile(f"(?P<kind>[{''.join(_MARK_KINDS)}])(?P<place>[0-9]+){END_OF_NOTE}")


def _remark_rule(state: StateInline, silent: bool) -> bool:
    found = _MARK.match(state.src, state.pos)
    if not found:
        return False
    if not silent:
        state.push(_MARK_KINDS[found["kind"]], "", 0).meta = {"note": int(found["place"])}
    state.pos = found.end()
    return True


_FORMULA = re.compile(FORMULA)
_BEGUN_FORMULA = re.compile(r"\$\$?(?=[^\s$])(?!\d[\d.,]*[^\w^_{}\\+*/=-])[^$]{0,80}\Z|\\\([^\n]{0,80}\Z")
_LINE_LENGTH = 1_200


def _formula_rule(state: StateInline, silent: bool) -> bool:
    found = _FORMULA.match(state.src, state.pos, state.posMax) if state.src[state.pos] in "$\\" else None
    if not found:
        return False
    if not silent:
        state.push("math_inline", "", 0).content = found[0]
    state.pos = found.end()
    return True


_BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)


def _break_rule(state: StateInline, silent: bool) -> bool:
    """Parse `<br>`, by which models break a line inside a table cell. It is the only tag that is not shown as text."""
    found = _BREAK.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "<" else None
    if not found:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


_FORMULA_ENDS = {"$$": "$$", r"\[": r"\]"}


def _formula_block_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    r"""Parse `$$ … $$` or `\[ … \]` on lines of their own. Without its end it is a paragraph, up to the next blank
    line."""

    def line(number: int) -> str:
        return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].rstrip()

    opening = line(start)
    closing = _FORMULA_ENDS.get(opening[:2])
    if closing is None or state.is_code_block(start) or closing in opening[2:-2]:
        return False
    if silent:
        return True
    closed = len(opening) > 4 and opening.endswith(closing)
    after = start + 1
    while not closed and after < end and line(after) and state.sCount[after] >= state.blkIndent:
        closed = line(after).endswith(closing)
        after += 1
    state.line = after
    source = state.getLines(start, after, state.blkIndent, False).strip()
    if closed:
        token = state.push("math_block", "", 0)
        token.content, token.map = source, [start, after]
        return True
    state.push("paragraph_open", "p", 1).map = [start, after]
    inline = state.push("inline", "", 0)
    inline.content, inline.map, inline.children = source, [start, after], []
    state.push("paragraph_close", "p", -1)
    return True


class _Parser(MarkdownIt):
    """A MarkdownIt that keeps every link target as written. The renderer decides which links are allowed."""

    def normalizeLink(self, url: str) -> str:
        return url

    def normalizeLinkText(self, link: str) -> str:
        return link

    def validateLink(self, url: str) -> bool:
        return True


def _only_before_target(rule: InlineRule) -> InlineRule:
    """Return the rule, tried only where `](` is near. Trying it at each of 20,000 open brackets would take seconds."""
    return lambda state, silent: state.src.find("](", state.pos, state.pos + 300) >= 0 and rule(state, silent)


def _build_parser() -> MarkdownIt:
    parser = _Parser("js-default", {"html": False, "linkify": False})
    # A line of dashes under a paragraph is meant as a rule, not as a heading; and one definition at the end of a text
    # must not change what was drawn before. Inline text is parsed by `parse_clean_markdown`.
    parser.disable(["reference", "lheading", "inline"])
    parser.block.ruler.before(
        "fence", "formula", _formula_block_rule, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    inline = parser.inline.ruler
    inline.at("link", _only_before_target(link))
    inline.at("image", _only_before_target(image))
    inline.before("escape", "formula", _formula_rule)
    inline.before("link", "citation", _citation_rule)
    inline.before("autolink", "break", _break_rule)
    inline.before("autolink", "remark", _remark_rule)
    for bracket in ("【", "［", *_MARK_KINDS):
        parser.inline.add_terminator_char(bracket)
    return parser


_PARSER = _build_parser()
# markdown-it compiles its rules on first use, and two sessions that do it at once may see half of them.
parse_markdown("compile")
