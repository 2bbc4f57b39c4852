"""Chat mode: search with the user's own words when asked to, put the results in the prompt, stream the answer."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass, replace
from datetime import date

from core.answer.citations import cited_sources
from core.answer.events import Answer, Notice, RunEvent, SearchFinished, SearchStarted, TextDelta, Thought, Usage
from core.answer.message import Message
from core.base.loop import LoopThread
from core.base.model_choice import ModelChoice
from core.base.settings import Settings
from core.base.text import ago, one_line, shorten
from core.chat.native_answer import NATIVE, NativeAnswer
from core.llm.errors import ModelCannotSearch, ModelError
from core.llm.model import Model, Prompt
from core.llm.pieces import TextPiece, ThoughtPiece
from core.llm.tokens import estimate_tokens
from core.run.choices import AS_CONFIGURED, Choices
from core.run.prompts import FOLDER, Preview, chat_system, fill
from core.run.question import accept
from core.run.run import OnAnswer, Run, drain
from core.search.engines.native import NativeEngine, not_supported
from core.search.errors import AllEnginesFailed, EngineMisconfigured, SearchError
from core.search.format import NOTHING_FOUND, SEARCH_FAILED, number_results, sources_block
from core.search.query import effective_query, limits_in_words
from core.search.service import SearchService
from core.search.types import Attempt, Outcome, SearchQuery, SearchResponse, Source

log = logging.getLogger(__name__)

FOLLOW_UP_SECONDS = 20.0
_RESTING = (NATIVE, Outcome.SKIPPED)
_LIST_MARK = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.、)）:：])\s*")


@dataclass(frozen=True, slots=True)
class ChatOptions:
    search: bool = False
    fresh: bool = False
    """Search anew, past the caches."""
    user: str = "local"
    choices: Choices = AS_CONFIGURED


class ChatService:
    def __init__(
        self,
        settings: Settings,
        *,
        model: Model,
        search: SearchService,
        loop: LoopThread,
        today: Callable[[], date] = date.today,
        on_answer: OnAnswer = lambda mode, model, run: None,
    ) -> None:
        self._settings = settings
        self._model = model
        self._search = search
        self._loop = loop
        self._today = today
        self._on_answer = on_answer
        self._configured = model.choice
        self._cannot_search: set[ModelChoice] = set()
        """Models that readers have chosen and that turned out to have no search of their own."""

    def _as_chosen(self, choices: Choices) -> ChatService:
        """The same service for one question: with the settings that the reader has chosen, and the model they mean."""
        chosen = copy(self)
        chosen._settings = choices.applied_to(self._settings)
        chosen._model = self._model.under(chosen._settings)
        return chosen

    def accept(self, question: str) -> str:
        return accept(question, limit=self._settings.chat.max_question_length)

    def start(self, question: str, history: Sequence[Message] = (), options: ChatOptions | None = None) -> Run:
        """Answers in the background; the page follows the run."""
        question = self.accept(question)
        options = options or ChatOptions()
        return Run(self._loop, lambda: self.events(question, history, options), on_end=self._when_ended(options))

    def stream(
        self, question: str, history: Sequence[Message] = (), options: ChatOptions | None = None
    ) -> Iterator[RunEvent]:
        """The same as a plain generator."""
        question = self.accept(question)
        options = options or ChatOptions()
        return drain(self._loop, lambda: self.events(question, history, options), on_end=self._when_ended(options))

    def _when_ended(self, options: ChatOptions) -> Callable[[Run], None]:
        model = self._as_chosen(options.choices)._model.label
        return lambda run: self._on_answer("chat", model, run)

    def events(self, question: str, history: Sequence[Message], options: ChatOptions) -> AsyncIterator[RunEvent]:
        return self._as_chosen(options.choices)._events(question, history, options)

    async def _events(self, question: str, history: Sequence[Message], options: ChatOptions) -> AsyncIterator[RunEvent]:
        refused: Attempt | None = None
        if (
            options.search
            and self._may_search
            and await asyncio.to_thread(self._search.hand_over, NATIVE, user=options.user)
        ):
            started = time.monotonic()
            try:
                async for event in self._answer_searching(question, history, options):
                    yield event
                return
            except ModelCannotSearch:
                refused = await self._refused(time.monotonic() - started)
        context = ""
        sources: tuple[Source, ...] = ()
        if options.search:
            yield SearchStarted(question)
            found, failure = await self._find(question, options, refused)
            sources = number_results(found.results[: self._settings.search.result_count])
            sources, context = self._within_budget(sources, failed=failure is not None)
            yield SearchFinished(found, sources)
            for notice in [failure] if failure else _remarks(found):
                yield notice
        answer: list[str] = []
        async for piece in self._model.stream(self._prompt(question, context, history)):
            if isinstance(piece, TextPiece):
                answer.append(piece.text)
                yield TextDelta(piece.text)
            elif isinstance(piece, ThoughtPiece):
                yield Thought(piece.text)
            else:
                text = "".join(answer)
                yield Answer(text, cited_sources(text, sources))
                yield Usage(piece.input, piece.output, piece.estimated)

    async def _answer_searching(
        self, question: str, history: Sequence[Message], options: ChatOptions
    ) -> AsyncIterator[RunEvent]:
        """The model searches by itself while it answers. ModelCannotSearch, before any event: it does not."""
        query = self._query(question, options.choices)
        stream = self._model.stream_searching(
            self._prompt(question, _wishes(query), history, system="chat_native"),
            effective_query(query, self._settings),
            required=options.fresh,
        )
        answer = NativeAnswer(query)
        async with aclosing(stream) as pieces:  # type: ignore[type-var]
            try:
                async for piece in pieces:
                    for event in answer.take(piece):
                        yield event
            except ModelError:
                for event in answer.broken_off():
                    yield event
                raise
        await asyncio.to_thread(self._search.report, NATIVE, response=answer.response)

    @property
    def _may_search(self) -> bool:
        """What the chain says of the engine holds for the configured model; another one must pass by itself."""
        if self._model.choice == self._configured:
            return True
        try:
            NativeEngine.from_settings(self._settings)
        except EngineMisconfigured:
            return False
        return self._model.choice not in self._cannot_search

    async def _refused(self, seconds: float) -> Attempt:
        """The model is not asked again until the settings change; the ledger says so."""
        error = not_supported(self._model.label)
        if self._model.choice == self._configured:
            await asyncio.to_thread(self._search.report, NATIVE, error)
        else:
            self._cannot_search.add(self._model.choice)
        return Attempt(NATIVE, Outcome.FAILED, seconds, error.message, error.kind, error.cure)

    async def _find(
        self, question: str, options: ChatOptions, refused: Attempt | None
    ) -> tuple[SearchResponse, Notice | None]:
        query = self._query(question, options.choices)
        user = None if refused else options.user  # counted already
        failure: Notice | None = None
        try:
            found = await self._search.asearch(query, user=user, fresh=options.fresh)
        except SearchError as error:
            log.warning("search failed: %s", error)
            attempts = error.attempts if isinstance(error, AllEnginesFailed) else ()
            kind = error.cause if isinstance(error, AllEnginesFailed) else error.kind
            found, failure = SearchResponse(query, attempts=attempts), Notice(kind, _without_search(error))
        if refused:
            asked = (attempt for attempt in found.attempts if (attempt.engine, attempt.outcome) != _RESTING)
            found = replace(found, attempts=(refused, *asked))
        return found, failure

    def _query(self, question: str, choices: Choices) -> SearchQuery:
        return SearchQuery(question, language=self._settings.search.language, time_range=choices.time_range)

    def preview(self, question: str, sources: tuple[Source, ...], variant: str = "") -> Preview:
        """What the model would be sent. `variant`: as in the settings, or `native`; empty: the configured one."""
        if variant == "native":
            name, context = "chat_native", ""
        else:
            name = chat_system(variant or self._settings.chat.prompt, question=question, model=self._model.choice)
            _, context = self._within_budget(sources, failed=False)
        return Preview(FOLDER / f"{name}.md", self._prompt(question, context, (), system=name))

    def follow_ups(self, question: str, answer: str, choices: Choices = AS_CONFIGURED) -> list[str]:
        """Up to three questions that the reader may want to ask next; none where there is no model to suggest them."""
        model = self._as_chosen(choices)._model
        if not self._settings.chat.follow_ups or model.choice.embedded:
            return []
        prompt = [("human", fill("chat_follow_ups", question=shorten(question, 1_000), answer=shorten(answer, 4_000)))]

        async def ask() -> str:
            pieces = [piece async for piece in model.stream(prompt)]
            return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))

        try:
            lines = self._loop.submit(ask()).result(FOLLOW_UP_SECONDS).splitlines()
        except (ModelError, TimeoutError) as error:
            log.info("no follow-up questions: %s", error)
            return []
        cleaned = (one_line(_LIST_MARK.sub("", line)) for line in lines)
        return [line for line in cleaned if 2 <= len(line) <= 60][:3]

    def _within_budget(self, sources: tuple[Source, ...], *, failed: bool) -> tuple[tuple[Source, ...], str]:
        """As many of the first sources as the budget holds, and the text that carries them."""
        if not sources:
            return (), SEARCH_FAILED if failed else NOTHING_FOUND
        while True:
            block = sources_block(sources, snippet_length=self._settings.search.snippet_length)
            if len(sources) == 1 or estimate_tokens(block) <= self._settings.chat.source_tokens:
                return sources, block
            sources = sources[:-1]

    def _prompt(self, question: str, context: str, history: Sequence[Message], *, system: str = "") -> Prompt:
        asked = fill("chat_question", context=context, question=question) if context else question
        system = system or chat_system(self._settings.chat.prompt, question=question, model=self._model.choice)
        return [
            ("system", fill(system, date=self._today().isoformat())),
            *_recent(history, self._settings.chat.history_tokens),
            ("human", asked),
        ]


def _wishes(query: SearchQuery) -> str:
    """For a model that searches by itself: no service has a parameter for these."""
    limits = "、".join(limits_in_words(query))
    return f"（搜索时只查找符合这些条件的网页：{limits}。）" if limits else ""


def _without_search(error: SearchError) -> str:
    """What happened, what the program did instead, what the reader can do."""
    return f"{error.message}本次回答没有使用搜索结果。{error.cure}也可以先关闭联网搜索。"


def _remarks(found: SearchResponse) -> Iterator[Notice]:
    """What the reader should know about a search that did not fail."""
    if found.stale:
        yield Notice(
            "stale", f"搜索引擎暂时没有答复，以下来源是{ago(found.cache_age or 0)}保存的旧结果，可能已经过时。"
        )
    if found.skipped:
        yield Notice("partial", f"有 {found.skipped} 条搜索结果无法读取，已经跳过，其余的照常使用。")
    if found.provider and not found.results:
        yield Notice("empty", "没有找到相关的搜索结果，以下回答没有来源可以引用。可以换几个关键词再问。")


def _recent(history: Sequence[Message], budget: int) -> list[tuple[str, str]]:
    """The newest messages that fit the budget, oldest first; a turn is dropped whole, from its question on."""
    kept: list[tuple[str, str]] = []
    for message in reversed([message for message in history if message.role != "note"]):
        budget -= estimate_tokens(message.text)
        if budget < 0:
            break
        kept.append(("human" if message.role == "user" else "ai", message.text))
    kept.reverse()
    while kept and kept[0][0] == "ai":
        kept.pop(0)
    return [(role, text) for role, text in kept if text.strip()]
