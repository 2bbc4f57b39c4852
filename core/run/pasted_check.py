"""依据核验 of a pasted text with its sources, given as addresses or as texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.answer import cited_numbers
from core.answer.check_results import AnswerCheck
from core.base.http import Deadline
from core.base.text import clean
from core.base.web_addresses import host_of, is_web_url
from core.checks import CheckInputError, MeaningComparison
from core.reading import Page, Reader, ReadingError, ReadOutcome
from core.run.answer_checking import check_text
from core.run.run_sources import with_page_details
from core.search.types import SearchResult, Source

MAX_TEXT_LENGTH = 20_000
MAX_SOURCES_LENGTH = 400_000
MAX_ADDRESSES = 10
_MAX_NUMBER = 999
_MARK = re.compile(r"^[ \t]*[\[【](\d{1,3})[\]】][ \t]*(https?://\S+)?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_INSTRUCTIONS = "每行写一个网址；或者粘贴原文，并在每份原文前单独一行写 [1]、[2]。"


@dataclass(frozen=True, slots=True)
class PastedSource:
    """One pasted source: a text, an address, or both."""

    number: int
    text: str = ""
    address: str = ""

    @property
    def needs_reading(self) -> bool:
        return bool(self.address) and not self.text


@dataclass(frozen=True, slots=True)
class PastedTextCheck:
    text: str
    sources: tuple[Source, ...]
    check: AnswerCheck | None
    problems: tuple[str, ...]
    """The problems of single sources, each as a sentence."""


def validate_pasted_text(text: str) -> str:
    """Return the cleaned text. Raises CheckInputError if it is empty or too long."""
    text = clean(text).strip()
    if not text:
        raise CheckInputError("没有要核验的文字。", cure="请粘贴一段带 [1]、[2] 的文字。")
    _refuse_longer(len(text), MAX_TEXT_LENGTH, "文字")
    return text


def parse_pasted_sources(input_text: str) -> list[PastedSource]:
    """Parse the pasted sources. Raises CheckInputError."""
    input_text = clean(input_text).strip()
    refuse_long_sources(len(input_text))
    marks = list(_MARK.finditer(input_text))
    found = list(_sources_below_marks(input_text, marks)) if marks else list(_sources_by_line(input_text))
    if not found or (marks and input_text[: marks[0].start()].strip()):
        raise CheckInputError("没有看懂来源是怎样排列的。", cure=_INSTRUCTIONS)
    if len({one.number for one in found}) < len(found):
        raise CheckInputError("来源里有相同的编号。", cure="每个编号只用一次。")
    if sum(one.needs_reading for one in found) > MAX_ADDRESSES:
        raise CheckInputError(f"一次最多阅读 {MAX_ADDRESSES} 个网址。", cure="请分几次核验，或粘贴原文。")
    return found


def refuse_long_sources(length: int) -> None:
    """Raise CheckInputError if the texts of all sources together are longer than can be checked at once."""
    _refuse_longer(length, MAX_SOURCES_LENGTH, "来源")


def _refuse_longer(length: int, limit: int, label: str) -> None:
    if length > limit:
        raise CheckInputError(f"{label}有 {length:,} 字，超过 {limit:,} 字的上限，没有核验。", cure="请分成几次核验。")


def _sources_below_marks(input_text: str, marks: Sequence[re.Match[str]]) -> Iterator[PastedSource]:
    borders = pairwise([*(mark.start() for mark in marks), len(input_text)])
    for mark, (_, end) in zip(marks, borders, strict=True):
        text, address = input_text[mark.end() : end].strip(), mark[2] or ""
        if not address and is_web_url(text):
            text, address = "", text
        yield PastedSource(int(mark[1]), text, address)


def _sources_by_line(input_text: str) -> Iterator[PastedSource]:
    for number, line in enumerate(filter(None, map(str.strip, input_text.splitlines())), 1):
        if not is_web_url(line):
            raise CheckInputError(f"来源的第 {number} 行不是网址。", cure=_INSTRUCTIONS)
        yield PastedSource(number, address=line)


def check_pasted_text(
    text: str, pasted: Sequence[PastedSource], reader: Reader, meaning: MeaningComparison | None = None
) -> PastedTextCheck:
    """Open the addresses, all at once, and check the text."""
    outcomes = {one.number: _to_page(one) for one in pasted if one.text} | _read_addresses(pasted, reader)
    sources = tuple(_to_source(one, outcomes.get(one.number)) for one in pasted)
    pages = {number: outcome for number, outcome in outcomes.items() if isinstance(outcome, Page)}
    problems = tuple(_problem_sentences(text, pasted, outcomes))
    return PastedTextCheck(text, sources, check_text(text, sources, pages, meaning), problems)


def _to_page(pasted: PastedSource) -> Page:
    host = host_of(pasted.address)
    return Page.from_search_result(SearchResult(_title(pasted), pasted.address, "", host, text=pasted.text))


def _title(pasted: PastedSource) -> str:
    return host_of(pasted.address) or f"粘贴的原文 {pasted.number}"


def _read_addresses(pasted: Sequence[PastedSource], reader: Reader) -> dict[int, ReadOutcome]:
    wanted = [one for one in pasted if one.needs_reading]
    outcomes = reader.read_all([one.address for one in wanted], deadline=Deadline(reader.timeout))
    return {one.number: outcome for one, outcome in zip(wanted, outcomes, strict=True)}


def _to_source(pasted: PastedSource, outcome: ReadOutcome | None) -> Source:
    source = Source(pasted.number, _title(pasted), pasted.address, "")
    if isinstance(outcome, Page):
        return with_page_details(source, outcome)
    return replace(source, unread=outcome.short_reason if outcome else "没有内容")


def _problem_sentences(text: str, pasted: Sequence[PastedSource], outcomes: Mapping[int, ReadOutcome]) -> Iterator[str]:
    for one in pasted:
        outcome = outcomes.get(one.number)
        if isinstance(outcome, ReadingError):
            yield f"[{one.number}] {outcome}可以改为粘贴原文。"
        elif outcome is None:
            yield f"[{one.number}] 后面没有网址，也没有原文。"
    known = {one.number for one in pasted}
    anything = [Source(number, "", "", "") for number in range(1, _MAX_NUMBER + 1)]
    if missing := [f"[{number}]" for number in cited_numbers(text, anything) if number not in known]:
        yield f"文字引用了 {'、'.join(missing[:10])}，来源里没有给出。"
