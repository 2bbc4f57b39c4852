"""Reading of whole files that do not fit a prompt, for a question about the whole: part by part, with notes that the answer
is written from."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.answer import join_places
from core.answer.events import Notice, PartRead, PartsStarted, RunEvent, SourcesGiven
from core.base.text import one_line, shorten
from core.llm import Model, ask_once, estimate_tokens
from core.llm.errors import ModelContextExceeded, ModelEmptyAnswer, ModelError, ModelTimeout
from core.llm.pieces import TokenUsage
from core.reading import Page, Span, places_between
from core.run.given_texts import FittedSources, length_words, text_with_places, unread_words
from core.run.page_mentions import mentioned_spans
from core.run.prompts import fill_template
from core.run.query_rewriting import NOTHING_SPENT
from core.run.run_sources import RunSources
from core.run.source_budget import SourceBudget
from core.search import CLOSE_FENCE, LINE_MARK, OPEN_FENCE, QuotedText, fence_safe
from core.search.types import Source

log = logging.getLogger(__name__)

MAX_PARTS = 24
"""Parts that are read for one question, of all files together: each is a call of the model."""
PARTS_AT_ONCE = 3
INSTRUCTION_TOKENS = 600
MOST_FOR_NOTES, FEWEST_FOR_NOTES = 1_500, 150
NOTES_SHARE = 4
"""Tokens of the notes of one part: at most a quarter of the room."""
PART_SECONDS = 180.0
LONGEST_QUESTION = 2_000
NOTES = "分部分通读的笔记"
NOTHING_THERE = "无"
PARTS_UNREAD = "parts_unread"
"""The kind of the notice on parts that could not be read."""

_WHOLE = re.compile(
    r"概括|总结|总括|概述|综述|归纳|梳理|摘要|提要|提炼|要点|大意|主旨|主要内容|中心思想|[讲说写谈]了?(?:些|点)?(?:什么|啥)|[讲说写]的是(?:什么|啥)"
    r"|全文|全书|通篇|通读|整[份个本篇]|逐[条章页段项]|全部|所有|每一?[条章项个款]|一共|总共|共有"
    r"|哪些|哪几[个项条种类]|列出|列举|列一|罗列|清单|一览|盘点|统计|比较|对比|对照|异同|差异|区别|不同(?:之处|点)|有何不同|有什么不同"
    r"|\b(?:summar(?:y|i[sz]e)|overview|outline|recap|gist|key points|main (?:points|ideas?|topics?)|list|enumerate"
    r"|all (?:the|of)|every|each of|entire|whole|throughout|compare|comparison|differences?|differ|what is (?:it|this \w+) about)\b",
    re.IGNORECASE,
)


def is_about_whole(question: str) -> bool:
    """Return whether a question asks about all of a file: for a summary, a list, a comparison."""
    return bool(_WHOLE.search(question))


@dataclass(frozen=True, slots=True)
class _Part:
    source: Source
    page: Page
    number: int
    count: int
    span: Span

    @property
    def places(self) -> str:
        return join_places(places_between(self.page, *self.span))


class WholeReading:
    """The reading of the files of one question. `notes` and `usage` are there when its events are over."""

    def __init__(self, model: Model, question: str, budget: SourceBudget, run_sources: RunSources) -> None:
        self.notes: dict[int, QuotedText] = {}
        """What the prompt gets in place of the files' text, by the number of the source."""
        self.usage: TokenUsage = NOTHING_SPENT
        self._model = model
        self._question = question
        self._budget = budget
        self._run_sources = run_sources
        self._timed_out: list[_Part] = []

    async def read(self, fitted: FittedSources, files: Sequence[Source]) -> AsyncGenerator[RunEvent]:
        """Read those of the files that `fitted` does not have whole, if the question is about the whole. Closing the
        generator ends the reading."""
        pages = self._run_sources.pages
        cut = [source for source in files if source.number in pages and not _is_whole(source, pages, fitted)]
        wanted = [source for source in cut if not mentioned_spans(self._question, pages[source.number])]
        if self._model.choice.is_embedded or not wanted or not is_about_whole(self._question):
            return
        size = max(self._budget.room - INSTRUCTION_TOKENS - self._most_for_notes, INSTRUCTION_TOKENS)
        parts = {source: _parts(source, pages[source.number], size)[: MAX_PARTS // len(wanted)] for source in wanted}
        for source, its in parts.items():
            yield PartsStarted(source, len(its))
        read: dict[Source, list[tuple[_Part, str]]] = {source: [] for source in wanted}
        problems: list[str] = []
        async for part, notes, problem in self._read_parts([part for its in parts.values() for part in its]):
            yield PartRead(part.source, part.number, part.count, part.places, problem)
            if problem:
                problems.append(f"第 {part.number} 部分{f'（{part.places}）' if part.places else ''}：{problem}")
            else:
                read[part.source].append((part, notes))
        for source, done in read.items():
            for event in self._take_notes(source, parts[source], sorted(done, key=lambda one: one[0].number)):
                yield event
        if problems:
            yield Notice(
                PARTS_UNREAD,
                f"附件有 {len(problems)} 个部分没有读成，下面的回答没有用到它们。{'；'.join(problems[:3])}",
            )

    @property
    def _most_for_notes(self) -> int:
        """The tokens that the notes of one part may have: in a short context the text of the part needs them more."""
        return min(MOST_FOR_NOTES, self._budget.room // NOTES_SHARE)

    def _take_notes(
        self, source: Source, parts: Sequence[_Part], done: Sequence[tuple[_Part, str]]
    ) -> Iterator[RunEvent]:
        """Keep the notes of a file for the prompt. Of a file of which nothing was read, the prompt has passages."""
        page = self._run_sources.pages[source.number]
        if not done:
            return
        given = self._run_sources.record_parts(source.number, [part.span for part, _ in done], len(parts))
        yield SourcesGiven((given,))
        unread = page.length - given.given
        rest = f"其中 {unread:,} 字没有读到，不要当作读过。" if unread else "各部分都读过。"
        rest += unread_words(page)
        note = f"{length_words(page)}，太长，已分 {len(parts)} 部分逐一读过，下面是各部分的笔记。{rest}引用时仍写这个来源的编号。"
        lines = [f"【第 {part.number} 部分{part.places and f'，{part.places}'}】\n{notes}" for part, notes in done]
        self.notes[source.number] = QuotedText(NOTES, "\n".join(lines), note)
        if parts[-1].span[1] < page.length:
            yield Notice(
                PARTS_UNREAD, f"附件太长，只读了前 {parts[-1].span[1]:,} 字，后面的没有读。可以按章节或页码分开来问。"
            )

    async def _read_parts(self, parts: Sequence[_Part]) -> AsyncGenerator[tuple[_Part, str, str]]:
        """Yield each part with its notes and the problem with it, as they come."""
        most = max(min(self._most_for_notes, self._budget.tokens // (len(parts) + 1)), FEWEST_FOR_NOTES)
        free = asyncio.Semaphore(PARTS_AT_ONCE)

        async def read(part: _Part) -> tuple[_Part, str, str]:
            async with free:
                return part, *await self._read_part(part, most)

        tasks = [asyncio.create_task(read(part)) for part in parts]
        timed_out: list[tuple[_Part, str]] = []
        try:
            for done in asyncio.as_completed(tasks):
                part, notes, problem = await done
                if part in self._timed_out:
                    timed_out.append((part, problem))
                else:
                    yield part, notes, problem
        finally:
            for task in tasks:
                task.cancel()
        async for read_again in self._read_alone(timed_out, most):
            yield read_again

    async def _read_alone(
        self, timed_out: Sequence[tuple[_Part, str]], most: int
    ) -> AsyncGenerator[tuple[_Part, str, str]]:
        """Read parts for which a model on a small machine had no time while it read others. They are read one after the
        other, until one has no time by itself either."""
        self._timed_out.clear()
        for part, problem in timed_out:
            yield part, *(("", problem) if self._timed_out else await self._read_part(part, most))

    async def _read_part(self, part: _Part, max_tokens: int, *, may_halve: bool = True) -> tuple[str, str]:
        """Return the notes of a part, or what went wrong. One that is too long for the model is read in halves."""
        prompt = fill_template(
            "part_notes",
            title=fence_safe(shorten(part.page.title, 100)),
            part=str(part.number),
            parts=str(part.count),
            places=f"（{part.places}）" if part.places else "",
            text=_fenced(text_with_places(part.page, *part.span)),
            question=shorten(one_line(self._question), LONGEST_QUESTION),
        )
        try:
            answer = await ask_once(self._model, prompt, max_tokens=max_tokens, seconds=PART_SECONDS)
        except ModelContextExceeded as error:
            self._model.note_refused_length(error.limit, estimated=estimate_tokens(prompt))
            if not may_halve:
                return "", error.message
            read = [await self._read_part(half, max_tokens, may_halve=False) for half in _halves(part)]
            return "\n".join(notes for notes, _ in read), next(filter(None, (problem for _, problem in read)), "")
        except ModelError as error:
            log.info("a part was not read: %s", error)
            if isinstance(error, ModelTimeout):
                self._timed_out.append(part)
            began = isinstance(error, ModelEmptyAnswer)
            self.usage += TokenUsage(estimate_tokens(prompt) if began else 0, 0, estimated=began)
            return "", error.message
        self.usage += answer.usage
        return answer.text.strip(), ""


def _is_whole(source: Source, pages: Mapping[int, Page], fitted: FittedSources) -> bool:
    return sum(end - start for start, end in fitted.spans.get(source.number, ())) >= pages[source.number].length


def _parts(source: Source, page: Page, tokens: int) -> list[_Part]:
    """Return the file in parts of at most so many tokens, cut at the end of a page or at least of a line."""
    spans: list[Span] = []
    start = 0
    while start < page.length:
        end = _end_of_part(page, start, tokens)
        spans.append((start, end))
        start = end
    return [_Part(source, page, number, len(spans), span) for number, span in enumerate(spans, 1)]


def _halves(part: _Part) -> list[_Part]:
    start, end = part.span
    middle = part.page.text.rfind("\n", start, (start + end) // 2) + 1 or (start + end) // 2
    return [replace(part, span=span) for span in ((start, middle), (middle, end))]


def _end_of_part(page: Page, start: int, tokens: int) -> int:
    """Return where a part that begins at `start` ends: at the last page, else line, that fits."""
    length = tokens
    while start + length < page.length and estimate_tokens(page.text[start : start + 2 * length]) <= tokens:
        length *= 2
    while length > 1 and estimate_tokens(page.text[start : start + length]) > tokens:
        length = length * 9 // 10
    if start + length >= page.length:
        return page.length
    least, most = start + length // 2, start + length
    pages = [one.start for one in page.sections if least < one.start <= most and one.kind != "heading"]
    return pages[-1] if pages else page.text.rfind("\n", least, most) + 1 or most


def _fenced(text: str) -> str:
    lines = (f"{LINE_MARK}{safe}" for line in text.splitlines() if (safe := fence_safe(line)))
    return "\n".join((OPEN_FENCE, *lines, CLOSE_FENCE))
