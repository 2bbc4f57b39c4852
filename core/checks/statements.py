"""The statements of an answer, each with the numbers that stand for it.

A number stands for its own sentence, and for those before it in the paragraph that have none and draw no conclusion;
`A[1]，但 B[2]` is two statements; a number at the end of a list's introduction stands for the items that have none; a
table's number stands for its cell, or for the row where the row has no other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from markdown_it.token import Token

from core.answer import parse_markdown
from core.base.chinese.sentences import sentence_spans
from core.base.text import clean
from core.checks.facts import Facts, is_incidental_count
from core.checks.wording import compact, find_titles

LONGEST_ANSWER = 100_000
"""Characters of an answer that are checked."""
_SHORT_PART = 6
_FAR = 200
_CUT = re.compile(r"[ \t]*[，,；;]")
_QUESTION = re.compile(r"[?？]\s*[”」』）)]*$|(?:吗|呢)[。？?]?$")
_NO_CLAIM = re.compile(
    r"^(?:以下|如下|下面|下列|总之$|您好|你好|好的|希望(?:这|以上|对)|如果?您?(?:有|还有|需要)|如需|请(?:问|注意|提供|告诉)|根据(?:以上|上述)?"
    r"(?:搜索|检索)(?:结果|到的)[^，,]{0,12}[，,:：]?$|综上(?:所述)?[，,]?$|注[:：]|(?:我)?(?:没有|未能?)(?:找到|查到|检索到)|抱歉|很遗憾|参考(?:文献|资料|来源))"
)
_CONCLUDES = re.compile("(?:因此|因而|所以|综上|故(?![意事障乡宫居人去])|可见|由此|据此|总之|这意味着)")
_HEDGED = re.compile("可能|也许|或许|大概|大约是|似乎|据说|一般认为|我认为|建议|例如|比如|假设|假如")
_LEGAL_EFFECT = re.compile(
    "应当|不得|必须|有权|禁止|无效|处[^，。]{0,12}(?:罚款|有期徒刑|拘役)|承担[^，。]{0,8}责任|违法|犯罪"
)


@dataclass(frozen=True, slots=True)
class CitationMark:
    """One number of one bracket."""

    number: int
    start: int
    end: int
    """`start` and `end` of the bracket in the answer."""


@dataclass(frozen=True, slots=True)
class Statement:
    start: int
    end: int
    """`start` and `end` in the cleaned answer, with its brackets."""
    text: str
    """The text as a reader sees it, without brackets and Markdown."""
    marks: tuple[CitationMark, ...] = ()
    shares_marks: bool = False
    """True if the numbers stand behind another sentence, or before the list."""
    table_heads: str = ""
    """The head of its row and of its column, for a cell of a table."""

    @property
    def compared_text(self) -> str:
        """The text that is compared with the sources."""
        return f"{self.table_heads}，{self.text}" if self.table_heads else self.text

    @property
    def is_checkable(self) -> bool:
        """True if there is anything to check. Questions, introductions and courtesies state nothing."""
        text = self.compared_text.strip()
        if len(compact(text[:50])) < 4 or text[-1:] in "：:":
            return False
        return not _QUESTION.search(text[-20:]) and not _NO_CLAIM.search(text)

    @property
    def is_conclusion(self) -> bool:
        """True if it says what follows from the statements before it."""
        return self.is_checkable and _CONCLUDES.match(self.text) is not None

    @property
    def needs_source(self) -> bool:
        """True if a reader would ask for a source: figures, dates, titles and legal effect."""
        if not self.is_checkable or _HEDGED.search(self.text):
            return False
        facts = Facts.from_text(self.text[:1_000])
        told = facts.dates or any(not is_incidental_count(quantity) for quantity in facts.quantities)
        return bool(told or find_titles(self.text) or _LEGAL_EFFECT.search(self.text))


@dataclass
class _Block:
    """A run of text as a reader sees it, and the position of each character in the answer."""

    pieces: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    marks: list[tuple[int, CitationMark]] = field(default_factory=list)
    """The marks, each with the number of characters before it."""
    end: int = 0

    @cached_property
    def text(self) -> str:
        return "".join(self.pieces)


def find_statements(markdown: str) -> list[Statement]:
    """Return the statements of an answer in their order, without headings, code and formulas."""
    answer = clean(markdown)[:LONGEST_ANSWER]
    return list(_StatementReader(answer).statements())


class _StatementReader:
    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._lines = [0, *(match.end() for match in re.finditer("\n", answer))]
        self._cursor = 0
        self._introductions: list[tuple[CitationMark, ...]] = []
        """The numbers of each open list's introduction. They stand for items without their own."""
        self._last: list[Statement] = []

    def statements(self) -> Iterator[Statement]:
        """Yield the statements of the answer."""
        tokens = parse_markdown(self._answer)
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                end = next(i for i in range(position, len(tokens)) if tokens[i].type == "table_close")
                yield from self._table(tokens[position:end])
                position = end
            elif token.type.endswith("list_open"):
                self._introductions.append(self._introduction())
            elif token.type.endswith("list_close"):
                self._introductions.pop()
            elif token.type == "inline" and tokens[position - 1].type != "heading_open":
                self._last = self._paragraph(self._block(token))
                yield from self._last
            position += 1

    def _introduction(self) -> tuple[CitationMark, ...]:
        """Return the numbers of `三个阶段[1]：` or `三个阶段：[1]` before a list."""
        last = self._last[-1] if self._last else None
        if last and last.marks and last.text.endswith(("：", ":")):
            return last.marks
        return self._introductions[-1] if self._introductions else ()

    def _paragraph(self, block: _Block) -> list[Statement]:
        found = list(_sentences(block))
        inherited = self._introductions[-1] if self._introductions else ()
        behind: tuple[CitationMark, ...] = ()
        for place in range(len(found) - 1, -1, -1):
            if found[place].marks:
                behind = found[place].marks
            elif (behind or inherited) and not found[place].is_conclusion:
                found[place] = replace(found[place], marks=behind or inherited, shares_marks=True)
        return found

    def _table(self, tokens: Sequence[Token]) -> Iterator[Statement]:
        heads: list[str] = []
        row: list[_Block] = []
        for token in tokens:
            if token.type == "tr_open":
                row = []
            elif token.type == "inline":
                row.append(self._block(token))
            elif token.type == "thead_close":
                heads = [cell.text for cell in row]
            elif token.type == "tr_close" and heads:
                yield from _row_statements(row, heads)

    def _block(self, token: Token) -> _Block:
        block = _Block()
        first = token.map[0] if token.map else 0
        self._cursor = max(self._cursor, self._lines[min(first, len(self._lines) - 1)])
        for child in token.children or ():
            if child.type == "citation":
                start = self._find(child.content)
                end = start + len(child.content)
                block.marks += (
                    (len(block.places), CitationMark(number, start, end)) for number in child.meta["numbers"]
                )
                self._cursor = block.end = end
            elif child.type in {"softbreak", "hardbreak"}:
                block.pieces.append("\n")
                block.places.append(self._cursor)
            elif child.type in {"text", "text_special", "code_inline", "math_inline"} and child.content:
                start = self._find(child.content)
                block.pieces.append(child.content)
                block.places += range(start, start + len(child.content))
                self._cursor = block.end = start + len(child.content)
        return block

    def _find(self, content: str) -> int:
        """Return the position of a text. Entities and escapes are spelled differently there, so the last position is
        the best guess."""
        place = self._answer.find(content, self._cursor, self._cursor + len(content) + _FAR)
        return place if place >= 0 else self._cursor


def _sentences(block: _Block) -> Iterator[Statement]:
    spans = sentence_spans(block.text)
    starts = [start for start, _ in spans]
    marks: list[list[tuple[int, CitationMark]]] = [[] for _ in spans]
    for place, mark in block.marks:
        if spans:  # a number right after a full stop belongs to the sentence before it
            marks[max(0, bisect_left(starts, place) - 1)].append((place, mark))
    for span, own in zip(spans, marks, strict=True):
        yield from _split_at_numbers(block, span, own)


def _split_at_numbers(
    block: _Block, span: tuple[int, int], marks: Sequence[tuple[int, CitationMark]]
) -> Iterator[Statement]:
    """Yield the parts of a sentence: it is cut after a number if a comma and a part with its own number follow."""
    start, end = span
    pending: list[CitationMark] = []
    last = marks[-1][0] if marks else 0
    for place, mark in marks:
        pending.append(mark)
        goes_on = _CUT.match(block.text, place)
        if not goes_on or _is_short(block.text, start, place) or _is_short(block.text, goes_on.end(), last):
            continue
        yield _statement(block, start, place, pending)
        start, pending = goes_on.end(), []
    yield _statement(block, start, end, pending)


def _is_short(text: str, start: int, end: int) -> bool:
    return len(compact(text[start : min(end, start + 50)])) < _SHORT_PART


def _statement(block: _Block, start: int, end: int, marks: Sequence[CitationMark]) -> Statement:
    first = block.places[start] if start < len(block.places) else block.end
    last = block.places[end - 1] + 1 if end else block.end
    last = max([last, *(mark.end for mark in marks)])
    return Statement(min([first, *(mark.start for mark in marks)]), last, block.text[start:end].strip(), tuple(marks))


def _row_statements(cells: Sequence[_Block], heads: Sequence[str]) -> Iterator[Statement]:
    """Yield one statement per row, or one per cell if several cells have numbers of their own."""
    cited = [place for place, cell in enumerate(cells) if cell.marks]
    if len(cited) <= 1:
        filled = [cell for cell in cells if cell.text.strip()]
        if filled:
            text = "，".join(cell.text.strip() for cell in filled)
            marks = tuple(mark for cell in cells for _, mark in cell.marks)
            yield Statement(filled[0].places[0], max(cell.end for cell in filled), text, marks)
        return
    for place in cited:
        cell = cells[place]
        about = [head.strip() for head in (cells[0].text if place else "", heads[place] if place < len(heads) else "")]
        whole = _statement(cell, 0, len(cell.text), [mark for _, mark in cell.marks])
        yield replace(whole, table_heads="，".join(filter(None, about)))
