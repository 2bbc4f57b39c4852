"""依据核对 of a pasted text with its sources, given as addresses or as texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.answer.checked import AnswerCheck
from core.answer.citations import cited_numbers
from core.base.http import Deadline
from core.base.text import clean
from core.base.web_addresses import host_of, is_web_address
from core.checks.errors import CheckInputError
from core.reading import Outcome, Page, Reader, ReadingError
from core.run.checking import check
from core.run.evidence import as_read
from core.search.types import SearchResult, Source

MAX_TEXT = 20_000
MAX_SOURCES = 400_000
MOST_ADDRESSES = 10
_LARGEST = 999
_MARK = re.compile(r"^[ \t]*[\[【](\d{1,3})[\]】][ \t]*(https?://\S+)?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_HOW = "每行写一个网址；或者粘贴原文，并在每份原文前单独一行写 [1]、[2]。"


@dataclass(frozen=True, slots=True)
class Pasted:
    """One pasted source: a text, an address, or both."""

    number: int
    text: str = ""
    address: str = ""

    @property
    def to_read(self) -> bool:
        return bool(self.address) and not self.text


@dataclass(frozen=True, slots=True)
class CheckedText:
    text: str
    sources: tuple[Source, ...]
    check: AnswerCheck | None
    problems: tuple[str, ...]
    """The problems of single sources, each as a sentence."""


def pasted_text(text: str) -> str:
    """Return the cleaned text. Raises CheckInputError if it is empty or too long."""
    text = clean(text).strip()
    if not text:
        raise CheckInputError("没有要核对的文字。", cure="请粘贴一段带 [1]、[2] 的文字。")
    _refuse_longer(text, MAX_TEXT, "文字")
    return text


def pasted_sources(written: str) -> list[Pasted]:
    """Parse the pasted sources. Raises CheckInputError."""
    written = clean(written).strip()
    _refuse_longer(written, MAX_SOURCES, "来源")
    marks = list(_MARK.finditer(written))
    found = list(_below_marks(written, marks)) if marks else list(_line_by_line(written))
    if not found or (marks and written[: marks[0].start()].strip()):
        raise CheckInputError("没有看懂来源是怎样排列的。", cure=_HOW)
    if len({one.number for one in found}) < len(found):
        raise CheckInputError("来源里有相同的编号。", cure="每个编号只用一次。")
    if sum(one.to_read for one in found) > MOST_ADDRESSES:
        raise CheckInputError(f"一次最多阅读 {MOST_ADDRESSES} 个网址。", cure="请分几次核对，或粘贴原文。")
    return found


def _refuse_longer(text: str, limit: int, what: str) -> None:
    if len(text) > limit:
        raise CheckInputError(
            f"{what}有 {len(text):,} 字，超过 {limit:,} 字的上限，没有核对。", cure="请分成几次核对。"
        )


def _below_marks(written: str, marks: Sequence[re.Match[str]]) -> Iterator[Pasted]:
    borders = pairwise([*(mark.start() for mark in marks), len(written)])
    for mark, (_, end) in zip(marks, borders, strict=True):
        text, address = written[mark.end() : end].strip(), mark[2] or ""
        if not address and is_web_address(text):
            text, address = "", text
        yield Pasted(int(mark[1]), text, address)


def _line_by_line(written: str) -> Iterator[Pasted]:
    for number, line in enumerate(filter(None, map(str.strip, written.splitlines())), 1):
        if not is_web_address(line):
            raise CheckInputError(f"来源的第 {number} 行不是网址。", cure=_HOW)
        yield Pasted(number, address=line)


def check_pasted(text: str, pasted: Sequence[Pasted], reader: Reader) -> CheckedText:
    """Open the addresses, all at once, and check the text."""
    outcomes = {one.number: _as_page(one) for one in pasted if one.text} | _read(pasted, reader)
    sources = tuple(_source(one, outcomes.get(one.number)) for one in pasted)
    pages = {number: outcome for number, outcome in outcomes.items() if isinstance(outcome, Page)}
    return CheckedText(text, sources, check(text, sources, pages), tuple(_problems(text, pasted, outcomes)))


def _as_page(one: Pasted) -> Page:
    return Page.sent_along(SearchResult(_title(one), one.address, "", host_of(one.address), text=one.text))


def _title(one: Pasted) -> str:
    return host_of(one.address) or f"粘贴的原文 {one.number}"


def _read(pasted: Sequence[Pasted], reader: Reader) -> dict[int, Outcome]:
    wanted = [one for one in pasted if one.to_read]
    outcomes = reader.read_all([one.address for one in wanted], deadline=Deadline(reader.timeout))
    return {one.number: outcome for one, outcome in zip(wanted, outcomes, strict=True)}


def _source(one: Pasted, outcome: Outcome | None) -> Source:
    source = Source(one.number, _title(one), one.address, "")
    if isinstance(outcome, Page):
        return as_read(source, outcome)
    return replace(source, unread=outcome.mark if outcome else "没有内容")


def _problems(text: str, pasted: Sequence[Pasted], outcomes: Mapping[int, Outcome]) -> Iterator[str]:
    for one in pasted:
        outcome = outcomes.get(one.number)
        if isinstance(outcome, ReadingError):
            yield f"[{one.number}] {outcome}可以改为粘贴原文。"
        elif outcome is None:
            yield f"[{one.number}] 后面没有网址，也没有原文。"
    known = {one.number for one in pasted}
    anything = [Source(number, "", "", "") for number in range(1, _LARGEST + 1)]
    if missing := [f"[{number}]" for number in cited_numbers(text, anything) if number not in known]:
        yield f"文字引用了 {'、'.join(missing[:10])}，来源里没有给出。"
