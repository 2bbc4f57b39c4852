"""Chat mode: searches for what the user asks if told to, puts the results in the prompt, and streams the answer."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from core.answer.citations import cited_sources
from core.answer.events import (
    Answer,
    Notice,
    RunEvent,
    SearchFinished,
    SearchStarted,
    TextDelta,
    Thought,
    Usage,
    cut_off,
)
from core.answer.message import Message, sources_in
from core.base.text import ago, one_line, shorten
from core.base.web_addresses import addresses_in
from core.chat.native_answer import CITE_ARTICLES, NATIVE, NO_SOURCES, NativeAnswer, citable
from core.llm.errors import ModelCannotSearch, ModelError
from core.llm.model import Prompt
from core.llm.one_shot import ask_once
from core.llm.pieces import TextPiece, ThoughtPiece, TokenUsage
from core.llm.tokens import estimate_tokens
from core.run.choices import AS_CONFIGURED, Choices
from core.run.evidence import excerptable, within_budget
from core.run.excerpts import SearchState, excerpts
from core.run.history import newest
from core.run.laws import LookUp, articles
from core.run.prompts import FOLDER, Preview, answer_prompt, chat_system, fill
from core.run.query_rewriting import NOTHING_SPENT, Rewriter
from core.run.question import Question
from core.run.reading import attached, reading, to_read
from core.run.service import AnswerService
from core.search.engines.native import NativeEngine, not_supported
from core.search.errors import AllEnginesFailed, EngineMisconfigured, SearchError
from core.search.format import NOTHING_FOUND, without_web
from core.search.query import MAX_LENGTH, effective_query, limits_in_words
from core.search.types import Attempt, Outcome, SearchQuery, SearchResponse, Source

log = logging.getLogger(__name__)

FOLLOW_UP_SECONDS = 20.0
FOLLOW_UP_TOKENS = 2_000
"""Three short lines, and what a thinking model thinks before them."""
_RESTING = (NATIVE, Outcome.SKIPPED)
_LIST_MARK = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.、)）:：])\s*")


@dataclass(kw_only=True, eq=False)
class ChatService(AnswerService):
    mode = "chat"
    rewriter: Rewriter = field(default_factory=Rewriter)
    look_up: LookUp | None = None
    """The search of the law library, which is a source beside the web."""

    def events(self, question: Question) -> AsyncIterator[RunEvent]:
        return _Answering(self, question).events()

    def preview(self, question: str, sources: tuple[Source, ...], variant: str = "") -> Preview:
        """Return the prompt that the model would get. `variant`: as in the settings, or `native`; empty: the configured
        one."""
        now = self.configured()
        if variant == "native":
            name, context = "chat_native", ""
        else:
            name = chat_system(variant or now.settings.chat.prompt, question=question, model=now.model.choice)
            context = within_budget(sources, now.settings)[1] or NOTHING_FOUND
        return Preview(FOLDER / f"{name}.md", answer_prompt(question, context, system=name, today=self.today()))

    def follow_ups(self, question: str, answer: str, choices: Choices = AS_CONFIGURED) -> list[str]:
        """Return up to three questions that the reader may want to ask next. Empty if no model can suggest any."""
        now = self.configured()
        model = now.model.under(choices.applied_to(now.settings))
        if not now.settings.chat.follow_ups or model.choice.embedded:
            return []
        prompt = fill("chat_follow_ups", question=shorten(question, 1_000), answer=shorten(answer, 4_000))
        try:
            asking = ask_once(model, prompt, tokens=FOLLOW_UP_TOKENS, seconds=FOLLOW_UP_SECONDS)
            lines = self.loop.submit(asking).result().text.splitlines()
        except ModelError as error:
            log.info("no follow-up questions: %s", error)
            return []
        cleaned = (one_line(_LIST_MARK.sub("", line)) for line in lines)
        # A click makes it the reader's own question, whose links may be opened. A model must not be able to place a link there.
        return [line for line in cleaned if 2 <= len(line) <= 60 and "://" not in line][:3]


class _Answering:
    """One question being answered. All state here belongs to this one run."""

    def __init__(self, service: ChatService, question: Question) -> None:
        self._service = service
        self._search = question.configured.search
        self._others = self._search.for_tools(question.model.choice)
        self._question = question
        self._settings = question.settings
        self._evidence = question.evidence
        self._model = question.model
        self._spent: TokenUsage = NOTHING_SPENT
        self._files: tuple[Source, ...] = ()
        self._sources: tuple[Source, ...] = ()
        self._context = ""
        """The text about the sources for the prompt, or why there are none."""
        self._search_state: SearchState = "off"
        self._query = SearchQuery(
            question.text, language=self._settings.search.language, time_range=question.options.choices.time_range
        )

    async def events(self) -> AsyncIterator[RunEvent]:
        """Yield the events of the run: search, reading, text and answer."""
        refused: Attempt | None = None
        options = self._question.options
        if (
            options.search
            and not options.query
            and not options.files
            and self._may_search_itself
            and await asyncio.to_thread(self._search.hand_over, NATIVE, user=options.user)
        ):
            started = time.monotonic()
            try:
                async for event in self._answer_searching():
                    yield event
                return
            except ModelCannotSearch:
                refused = await self._refused(time.monotonic() - started)
        for event in attached(self._evidence, options.files):
            yield event
        self._files = self._evidence.attach(options.files)
        self._sources, self._context = self._handed_over(self._files)
        if options.search:
            async with aclosing(self._gather(refused)) as gathering:  # type: ignore[type-var]
                async for event in gathering:
                    yield event
        if self._model.choice.embedded:
            for event in self._excerpts():
                yield event
            return
        answer: list[str] = []
        async for piece in self._model.stream(self._prompt(self._context)):
            if isinstance(piece, TextPiece):
                answer.append(piece.text)
                yield TextDelta(piece.text)
            elif isinstance(piece, ThoughtPiece):
                yield Thought(piece.text)
            else:
                text = "".join(answer)
                for notice in cut_off(piece.cut_off):
                    yield notice
                yield Answer(text, cited_sources(text, self._sources))
                spent = piece + self._spent
                yield Usage(spent.input, spent.output, spent.estimated, reasoning=spent.reasoning)

    def _excerpts(self) -> Iterator[RunEvent]:
        """Answer with sentences of the sources that speak about what was meant."""
        quoted = excerptable(self._sources, self._settings, pages=self._evidence.pages, question=self._meant)
        text = excerpts(self._meant, quoted, search=self._search_state)
        yield TextDelta(text)
        yield Answer(text, cited_sources(text, self._sources))
        yield Usage(
            estimate_tokens(self._meant + "".join(source.snippet for source in quoted)),
            estimate_tokens(text),
            estimated=True,
        )

    async def _gather(self, refused: Attempt | None) -> AsyncIterator[RunEvent]:
        """Search the library and the web, then read pages. Yields the events and sets the sources for the prompt."""
        if self._service.reader is not None:
            self._service.reader.warm_up()
        await self._rewrite()
        web = asyncio.create_task(self._find(refused))
        try:
            laws = await articles(self._service.look_up, self._question.text, self._evidence, meant=self._query.text)
            for event in laws:
                yield event
            yield SearchStarted(self._query.text, self._asked)
            found, error = await web
        finally:
            web.cancel()
        held = (*self._files, *sources_in(laws))
        wanted = (
            *self._evidence.number_again(self._question.options.read),
            *self._evidence.number_links(self._links()),
        )
        numbered = (*wanted, *self._evidence.number(found.results[: self._settings.search.result_count]))
        sources, _ = self._handed_over(tuple(dict.fromkeys((*held, *numbered))))
        yield SearchFinished(found.told, tuple(one for one in sources if one not in held), asked=self._asked)
        for notice in [_without_search(error, held)] if error else _remarks(found, held):
            yield notice
        async for event in self._read(sources, besides=len(wanted)):
            yield event
        self._sources, told = self._handed_over(sources)
        self._search_state = "failed" if found.failure else "empty"
        if found.failure:
            told = "\n".join(filter(None, (without_web(found.failure, inside=bool(sources)), told)))
        self._context = told or NOTHING_FOUND

    async def _rewrite(self) -> None:
        """Set the query: the reader's own, or the question rewritten to stand alone."""
        question = self._question
        query = one_line(question.options.query)[:MAX_LENGTH]
        if not query and self._settings.chat.standalone_queries:
            made = await self._service.rewriter.rewrite(question.text, question.history, self._model)
            query, self._spent = made.query, made.usage
        if query and query != one_line(question.text):
            self._query = replace(self._query, text=query)

    @property
    def _asked(self) -> str:
        return self._question.text if self._question.text != self._query.text else ""

    @property
    def _meant(self) -> str:
        """The question, and its rewritten form if there is one."""
        return f"{self._asked} {self._query.text}".strip()

    def _links(self) -> tuple[str, ...]:
        """Return the addresses in the question. They are read like results, at most as many as pages are read."""
        reader = self._service.reader
        return addresses_in(self._question.text)[: reader.pages] if reader else ()

    async def _read(self, sources: tuple[Source, ...], *, besides: int) -> AsyncIterator[RunEvent]:
        """Read pages and yield the events. `extra_pages`: pages that the reader asked for; they come first and are not
        counted."""
        if (reader := self._service.reader) is None:
            return
        pages = to_read(sources, reader.pages and reader.pages + besides)
        async with aclosing(reading(reader, self._evidence, pages)) as events:  # type: ignore[type-var]
            async for event in events:
                yield event

    def _handed_over(self, sources: tuple[Source, ...]) -> tuple[tuple[Source, ...], str]:
        """Return the sources that fit the prompt, in their current state, and their text."""
        now = self._evidence.now(sources)
        return within_budget(now, self._settings, pages=self._evidence.pages, question=self._meant)

    async def _answer_searching(self) -> AsyncIterator[RunEvent]:
        """Let the model search the web itself while it answers. Raises ModelCannotSearch, before any event, if it
        cannot."""
        laws = list(await articles(self._service.look_up, self._question.text, self._evidence))
        held = sources_in(laws)
        given = self._handed_over(held)[1]
        context = "\n".join(filter(None, (_wishes(self._query), CITE_ARTICLES if given else "", given)))
        stream = self._model.stream_searching(
            self._prompt(context, system="chat_native"),
            effective_query(self._query, self._settings),
            required=self._question.options.fresh,
        )
        answer = NativeAnswer(self._query, self._evidence.sources)
        async with aclosing(stream) as pieces:  # type: ignore[type-var]
            try:
                async for piece in pieces:
                    while laws:
                        yield laws.pop(0)
                    for event in answer.take(piece):
                        yield event
            except ModelError:
                for event in answer.broken_off():
                    yield event
                raise
        await asyncio.to_thread(self._search.report, NATIVE, response=answer.response)

    @property
    def _is_configured(self) -> bool:
        """True if the configured model answers. The chain's state of the native engine holds only for that model."""
        own = self._question.options.own_model
        return own is None and self._model.choice == self._question.configured.model.choice

    @property
    def _may_search_itself(self) -> bool:
        if self._is_configured:
            return True
        try:
            NativeEngine.from_settings(self._settings)
        except EngineMisconfigured:
            return False
        return not self._model.cannot_search

    async def _refused(self, seconds: float) -> Attempt:
        """Record that the model cannot search, and return the attempt for the ledger. It is not asked again until the
        settings change."""
        error = not_supported(self._model.label)
        if self._is_configured:
            await asyncio.to_thread(self._search.report, NATIVE, error)
        else:
            self._model.cannot_search = True
        return error.attempt(NATIVE, seconds)

    async def _find(self, refused: Attempt | None) -> tuple[SearchResponse, SearchError | None]:
        options = self._question.options
        user = None if refused else options.user  # the native search has counted this question already
        failure: SearchError | None = None
        try:
            found = await self._others.asearch(self._query, user=user, fresh=options.fresh)
        except SearchError as error:
            log.warning("search failed: %s", error)
            attempts = error.attempts if isinstance(error, AllEnginesFailed) else ()
            found = SearchResponse(self._query, attempts=attempts, failure=error.message, cure=error.cure)
            failure = error
        if refused:
            asked = (attempt for attempt in found.attempts if (attempt.engine, attempt.outcome) != _RESTING)
            found = replace(found, attempts=(refused, *asked))
        return found, failure

    def _prompt(self, context: str, *, system: str = "") -> Prompt:
        chat = self._settings.chat
        return answer_prompt(
            self._question.text,
            context,
            system=system or chat_system(chat.prompt, question=self._question.text, model=self._model.choice),
            today=self._service.today(),
            turns=_turns(self._question.history, chat.history_tokens),
        )


def _wishes(query: SearchQuery) -> str:
    """Return the search limits as a sentence for a model that searches itself: no service has a parameter for them."""
    limits = "、".join(limits_in_words(query))
    return f"（搜索时只查找符合这些条件的网页：{limits}。）" if limits else ""


def _without_search(error: SearchError, held: Sequence[Source]) -> Notice:
    """Return the sentences for the reader: the failure, its effect on the answer, and what to do."""
    kind = error.cause if isinstance(error, AllEnginesFailed) else error.kind
    rests_on = citable(held) or "本次回答没有使用搜索结果。"
    return Notice(kind, f"{error.message}{rests_on}{error.cure}也可以先关闭联网搜索。")


def _remarks(found: SearchResponse, held: Sequence[Source]) -> Iterator[Notice]:
    """Yield the notices on a search that did not fail."""
    if found.failure:
        yield Notice("web_failed", f"{found.failure}{found.cure}")
    if found.stale:
        yield Notice(
            "stale", f"搜索引擎暂时没有答复，以下来源是{ago(found.cache_age or 0)}保存的旧结果，可能已经过时。"
        )
    if found.skipped:
        yield Notice("partial", f"有 {found.skipped} 条搜索结果无法读取，已经跳过，其余的照常使用。")
    if found.provider and not found.results:
        rests_on = citable(held) or NO_SOURCES
        yield Notice("empty", f"没有找到相关的搜索结果，{rests_on}可以换几个关键词再问。")


def _turns(history: Sequence[Message], budget: int) -> list[tuple[str, str]]:
    """Return the turns that fit the budget. A turn without its question is dropped."""
    kept = newest(history, budget, lambda message: message.text)
    while kept and kept[0][0].role != "user":
        kept.pop(0)
    return [("human" if message.role == "user" else "ai", text) for message, text in kept if text.strip()]
