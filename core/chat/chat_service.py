"""Chat mode: searches for what the user asks if told to, puts the results in the prompt, and streams the answer."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.answer import cited_sources
from core.answer.events import (
    Answer,
    Notice,
    RunEvent,
    SearchFinished,
    SearchStarted,
    SourcesGiven,
    TextDelta,
    Thought,
    Usage,
    cut_off_notices,
)
from core.answer.message import Message, sources_in
from core.base.text import one_line, shorten
from core.base.web_addresses import find_urls
from core.chat.native_answer import CITE_ARTICLES, NATIVE, NO_SOURCES, NativeAnswer, citable
from core.llm import Prompt, ask_once, estimate_tokens
from core.llm.errors import ModelCannotSearch, ModelContextExceeded, ModelError
from core.llm.pieces import TextPiece, ThoughtPiece, TokenUsage
from core.run import (
    LESS_GIVEN,
    NO_CHOICES,
    NOT_ASKED,
    NOTHING_SPENT,
    AnswerService,
    Choices,
    FittedSources,
    Question,
    Rewriter,
    SearchState,
    SourceBudget,
    StatuteWorder,
    WholeReading,
    attach_files,
    budget_after_refusal,
    excerptable,
    find_source_budget,
    format_within_budget,
    max_articles,
    may_be_in_library,
    newest_messages,
    read_sources,
    search_articles,
    search_notices,
    select_pages,
    write_excerpts,
)
from core.run.prompts import (
    FOLDER,
    PromptPreview,
    answer_prompt,
    chat_system_template,
    fill_template,
    instructions_text,
)
from core.search import (
    MAX_LENGTH,
    NO_WEB_ENGINE,
    NOTHING_FOUND,
    NativeEngine,
    QuotedText,
    describe_filters,
    effective_query,
    not_supported_error,
    web_failure_note,
)
from core.search.errors import AllEnginesFailed, EngineMisconfigured, NoEngine, SearchError
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, Source, first_pause

if TYPE_CHECKING:
    from core.documents import DocumentLibrary
    from core.legal import LegalServices

log = logging.getLogger(__name__)

FOLLOW_UP_SECONDS = 20.0
FOLLOW_UP_TOKENS = 2_000
"""The output limit: enough for three short lines and for the reasoning before them."""
HISTORY_SHARE = 0.375
"""The largest share of the context length for the conversation so far."""
SWITCH_OFF = "关闭联网搜索"
_RESTING = (NATIVE, AttemptOutcome.SKIPPED)
_LIST_MARK = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.、)）:：])\s*")


@dataclass(kw_only=True, eq=False)
class ChatService(AnswerService):
    mode = "chat"
    rewriter: Rewriter = field(default_factory=Rewriter)
    statute_worder: StatuteWorder = field(default_factory=StatuteWorder)
    legal: Callable[[], LegalServices] | None = None
    """Returns the law library, which is a source beside the web."""
    documents: Callable[[], DocumentLibrary] | None = None
    """Returns the library of the readers' collections, which are sources too."""

    def events(self, question: Question) -> AsyncGenerator[RunEvent]:
        return _ChatAnswer(self, question).events()

    def preview(self, question: str, sources: tuple[Source, ...], variant: str = "") -> PromptPreview:
        """Return the prompt that the model would get. `variant`: as in the settings, or `native`; empty: as configured."""
        now = self.configured()
        if variant == "native":
            name, context = "chat_native", ""
        else:
            name = chat_system_template(variant or now.settings.chat.prompt, question=question, model=now.model.choice)
            context = format_within_budget(sources, now.settings).text or NOTHING_FOUND
        return PromptPreview(FOLDER / f"{name}.md", answer_prompt(question, context, system=name, today=self.today()))

    def suggest_follow_ups(self, question: str, answer: str, choices: Choices = NO_CHOICES) -> list[str]:
        """Return up to three questions that the reader may want to ask next. Empty if no model can suggest any."""
        now = self.configured()
        model = now.model.for_settings(choices.apply_to(now.settings))
        if not now.settings.chat.follow_ups or model.choice.is_embedded:
            return []
        prompt = fill_template("chat_follow_ups", question=shorten(question, 1_000), answer=shorten(answer, 4_000))
        try:
            asking = ask_once(model, prompt, max_tokens=FOLLOW_UP_TOKENS, seconds=FOLLOW_UP_SECONDS)
            lines = self.loop.submit(asking).result().text.splitlines()
        except ModelError as error:
            log.info("no follow-up questions: %s", error)
            return []
        cleaned = (one_line(_LIST_MARK.sub("", line)) for line in lines)
        # A click makes it the reader's own question, whose links may be opened. A model must not be able to place a link there.
        return [line for line in cleaned if 2 <= len(line) <= 60 and "://" not in line][:3]


class _ChatAnswer:
    """One question being answered. All state here belongs to this one run."""

    def __init__(self, service: ChatService, question: Question) -> None:
        self._service = service
        self._search = question.configured.search
        self._tool_search = self._search.for_tools(question.model.choice)
        self._question = question
        self._settings = question.settings
        self._run_sources = question.run_sources
        self._model = question.model
        self._beside_usage: TokenUsage = NOTHING_SPENT
        self._legal: LegalServices | None = None
        self._wording = NOT_ASKED
        self._files: tuple[Source, ...] = ()
        """The reader's own files: attached ones, and those that were found in collections."""
        self._nothing_found = ""
        """What the model is told of collections in which nothing was found."""
        self._sources: tuple[Source, ...] = ()
        self._history_tokens = self._settings.chat.history_tokens
        self._web_note = ""
        """Why there is nothing from the web, for the model."""
        self._notes: dict[int, QuotedText] = {}
        """The notes on files that were read part by part."""
        self._fitted = FittedSources((), "", {})
        """The sources as the prompt has them."""
        self._budget = SourceBudget.fixed(0)
        self._search_state: SearchState = "off"
        self._query = SearchQuery(
            question.text, language=self._settings.search.language, time_range=question.options.choices.time_range
        )

    async def events(self) -> AsyncGenerator[RunEvent]:
        """Yield the events of the run: search, reading, text and answer."""
        refused: Attempt | None = None
        options = self._question.options
        self._history_tokens = await self._limit_history()
        beside = _tokens(self._prompt(""))
        self._budget = await find_source_budget(self._settings, self._model, beside=beside)
        if options.search and self._service.legal:
            self._legal = await asyncio.to_thread(self._service.legal)
        if (
            options.search
            and not options.query
            and not (options.files or options.collections)
            and self._may_search_natively
            and await asyncio.to_thread(self._search.reserve_for_caller, NATIVE, visitor=options.visitor)
        ):
            started = time.monotonic()
            try:
                async for event in self._answer_with_native_search():
                    yield event
                return
            except ModelCannotSearch:
                refused = await self._report_refusal(time.monotonic() - started)
        for event in attach_files(self._run_sources, options.files):
            yield event
        self._files = self._run_sources.add_files(options.files)
        await self._take(self._files)
        if options.search:
            async with aclosing(self._gather(refused)) as gathering:
                async for event in gathering:
                    yield event
        elif options.collections:
            await self._rewrite_query()
            for event in await self._search_documents():
                yield event
            self._search_state = "empty"
            await self._take(self._files)
        if self._model.choice.is_embedded:
            async for event in self._excerpts():
                yield event
            return
        async with aclosing(self._read_whole_files()) as reading:
            async for event in reading:
                yield event
        try:
            async with aclosing(self._write_answer()) as writing:
                async for event in writing:
                    yield event
        except ModelContextExceeded as error:
            if not await self._take_less(error):
                raise
            yield LESS_GIVEN
            async with aclosing(self._write_answer()) as writing:
                async for event in writing:
                    yield event

    async def _write_answer(self) -> AsyncGenerator[RunEvent]:
        """Let the model write from the sources of the prompt, and tell the reader how much of them is in it."""
        if given := self._run_sources.record_given(self._fitted.spans):
            yield SourcesGiven(given)
        self._sources = self._run_sources.refreshed(self._sources)
        answer: list[str] = []
        async for piece in self._model.stream(self._prompt(self._context)):
            if isinstance(piece, TextPiece):
                answer.append(piece.text)
                yield TextDelta(piece.text)
            elif isinstance(piece, ThoughtPiece):
                yield Thought(piece.text)
            else:
                text = "".join(answer)
                for notice in cut_off_notices(piece.cut_off):
                    yield notice
                yield Answer(text, cited_sources(text, self._sources))
                spent = piece + self._beside_usage
                yield Usage(spent.input, spent.output, spent.estimated, reasoning=spent.reasoning)

    async def _take_less(self, error: ModelContextExceeded) -> bool:
        """Take less for the prompt after it was refused for its length. Return whether there was anything to leave out."""
        prompt = self._prompt(self._context)
        if not self._sources and len(prompt) == 2:
            return False
        self._history_tokens //= 2
        self._budget = await budget_after_refusal(
            self._budget, self._settings, self._model, error, prompt=_tokens(prompt), beside=_tokens(self._prompt(""))
        )
        self._run_sources.forget_given()
        await self._take(self._run_sources.refreshed(self._sources))
        return True

    async def _ask_for_statute_wording(self, meanwhile: asyncio.Task[Any] | None = None) -> None:
        """Ask the model how statutes would put the question, while the web is searched."""
        self._wording = await self._service.statute_worder.ask(self._query.text, self._model, meanwhile=meanwhile)
        self._beside_usage += self._wording.usage

    async def _may_ask_for_statute_wording(self) -> bool:
        """Return whether the library may hold the answer, the reader allows other words, and the model can find them."""
        wants = self._settings.chat.standalone_queries and not self._question.options.query
        may_ask = wants and self._wording is NOT_ASKED and self._service.statute_worder.may_ask(self._model)
        return may_ask and await may_be_in_library(self._legal, self._query.text)

    async def _search_documents(self) -> tuple[RunEvent, ...]:
        """Search the collections that the reader has chosen. Return the events."""
        options, library = self._question.options, self._service.documents
        if library is None or not options.collections:
            return ()
        from core.run import ChosenCollections, search_documents

        chosen = await asyncio.to_thread(ChosenCollections.open, library(), options.access, options.collections)
        found = await search_documents(
            chosen, self._query.text, self._run_sources, other_wording=self._original_question
        )
        self._files = tuple(dict.fromkeys((*self._files, *found.sources)))
        self._nothing_found = found.note
        return found.events

    async def _search_articles(self) -> tuple[RunEvent, ...]:
        return await search_articles(
            self._legal,
            self._question.text,
            self._run_sources,
            rewritten_question=self._query.text,
            wording=self._wording,
            limit=max_articles(self._budget, self._model.choice),
        )

    async def _excerpts(self) -> AsyncGenerator[RunEvent]:
        """Answer with sentences of the sources that speak about the question or its rewritten form."""
        asked = self._question_and_query
        quoted = await asyncio.to_thread(
            excerptable,
            self._sources,
            self._settings,
            pages=self._run_sources.pages,
            found_spans=self._run_sources.found_spans,
            question=asked,
        )
        query = self._query.text if self._original_question else ""
        text = write_excerpts(self._question.text, quoted, search=self._search_state, query=query)
        yield TextDelta(text)
        yield Answer(text, cited_sources(text, self._sources))
        read = asked + "".join(source.snippet for source in quoted)
        yield Usage(estimate_tokens(read), estimate_tokens(text), estimated=True)

    async def _gather(self, refused: Attempt | None) -> AsyncGenerator[RunEvent]:
        """Search the library and the web, then read pages. Yields the events and sets the sources for the prompt."""
        has_pages = self._tool_search.reaches_web or self._question.links
        if self._service.reader is not None and has_pages:
            self._service.reader.warm_up()
        await self._rewrite_query()
        web = asyncio.create_task(self._search_web(refused))
        try:
            for event in await self._search_documents():
                yield event
            if asks := await self._may_ask_for_statute_wording():
                yield SearchStarted(self._question.text)
                await self._ask_for_statute_wording(web)
            laws = await self._search_articles()
            for event in laws[asks:]:
                yield event
            yield SearchStarted(self._query.text, self._original_question)
            found, error = await web
        finally:
            web.cancel()
        held = (*self._files, *sources_in(laws))
        wanted = (
            *self._run_sources.add_earlier_sources(self._question.options.sources_to_read),
            *self._run_sources.add_links(self._typed_links()),
        )
        numbered = (*wanted, *self._run_sources.add_results(found.results[: self._settings.search.result_count]))
        sources = (await self._fit_sources(tuple(dict.fromkeys((*held, *numbered))))).sources
        new = tuple(source for source in sources if source not in held)
        yield SearchFinished(found.without_texts, new, asked=self._original_question)
        if not self._tool_search.reaches_web and self._tool_search.has_engines:
            yield Notice(NoEngine.kind, self._question.configured.chain.no_web_engine)
        for notice in [_search_failure_notice(error, held)] if error else _search_notices(found, held):
            yield notice
        async for event in self._read_pages(sources, extra_pages=len(wanted)):
            yield event
        await self._take(sources)
        self._search_state = "failed" if found.failure else "empty"
        failure = found.failure or ("" if self._tool_search.reaches_web else NO_WEB_ENGINE)
        if failure:
            self._web_note = web_failure_note(failure, has_local_results=bool(sources))
        elif not self._fitted.text:
            self._web_note = NOTHING_FOUND

    async def _rewrite_query(self) -> None:
        """Set the query: the reader's own, or the question rewritten to stand alone."""
        question = self._question
        query = one_line(question.options.query)[:MAX_LENGTH]
        if not query and self._settings.chat.standalone_queries:
            rewritten = await self._service.rewriter.rewrite(question.text, question.history, self._model)
            query, self._beside_usage = rewritten.query, rewritten.usage
        if query and query != one_line(question.text):
            self._query = replace(self._query, text=query)

    @property
    def _original_question(self) -> str:
        return self._question.text if self._question.text != self._query.text else ""

    @property
    def _question_and_query(self) -> str:
        """The question, and its rewritten form if there is one."""
        return f"{self._original_question} {self._query.text}".strip()

    def _typed_links(self) -> tuple[str, ...]:
        """Return the addresses in the question. They are read like results, at most as many as pages are read."""
        reader = self._service.reader
        return find_urls(self._question.text)[: reader.max_pages] if reader else ()

    async def _read_pages(self, sources: tuple[Source, ...], *, extra_pages: int) -> AsyncGenerator[RunEvent]:
        """Read pages and yield the events. `extra_pages`: the reader asked for so many; they come first, uncounted."""
        if (reader := self._service.reader) is None:
            return
        pages = select_pages(sources, reader.max_pages and reader.max_pages + extra_pages)
        async with aclosing(read_sources(reader, self._run_sources, pages)) as events:
            async for event in events:
                yield event

    async def _read_whole_files(self) -> AsyncGenerator[RunEvent]:
        """Read the attached files that do not fit part by part, if the question is about the whole of them."""
        whole = WholeReading(self._model, self._question.text, self._budget, self._run_sources)
        attached = self._run_sources.add_files(self._question.options.files)
        async with aclosing(whole.read(self._fitted, attached)) as events:
            async for event in events:
                yield event
        self._beside_usage += whole.usage
        if whole.notes:
            self._notes = whole.notes
            await self._take(self._sources)

    async def _take(self, sources: tuple[Source, ...]) -> None:
        """Take as many of these sources for the prompt as fit."""
        self._fitted = await self._fit_sources(sources)
        self._sources = self._fitted.sources

    @property
    def _context(self) -> str:
        """The text about the sources for the prompt, or why there are none."""
        return "\n".join(filter(None, (self._nothing_found, self._web_note, self._fitted.text)))

    async def _fit_sources(self, sources: tuple[Source, ...]) -> FittedSources:
        """Return the sources that fit the prompt, in their current state, and their text."""
        now, asked = self._run_sources.refreshed(sources), self._question_and_query
        return await asyncio.to_thread(
            format_within_budget,
            now,
            self._settings,
            budget=self._budget,
            pages=self._run_sources.pages,
            found_spans=self._run_sources.found_spans,
            question=asked,
            notes=self._notes,
        )

    async def _answer_with_native_search(self) -> AsyncGenerator[RunEvent]:
        """Let the model search the web itself while it answers. May raise ModelCannotSearch before any event."""
        if await self._may_ask_for_statute_wording():
            await self._ask_for_statute_wording()
        laws = list(await self._search_articles())
        held = sources_in(laws)
        given = (await self._fit_sources(held)).text
        context = "\n".join(filter(None, (_search_limits_text(self._query), CITE_ARTICLES if given else "", given)))
        stream = self._model.stream_with_search(
            self._prompt(context, system="chat_native"),
            effective_query(self._query, self._settings),
            required=self._question.options.skip_caches,
        )
        answer = NativeAnswer(self._query, self._run_sources.sources)
        async with aclosing(stream) as pieces:
            try:
                async for piece in pieces:
                    while laws:
                        yield laws.pop(0)
                    counted = piece + self._beside_usage if isinstance(piece, TokenUsage) else piece
                    for event in answer.events_for(counted):
                        yield event
            except ModelError:
                for event in answer.closing_events():
                    yield event
                raise
        await asyncio.to_thread(self._search.report_reserved_search, NATIVE, response=answer.response)

    @property
    def _uses_configured_model(self) -> bool:
        """True if the configured model answers. The chain's state of the native engine holds only for that model."""
        own = self._question.options.own_model
        return own is None and self._model.choice == self._question.configured.model.choice

    @property
    def _may_search_natively(self) -> bool:
        if self._uses_configured_model:
            return True
        try:
            NativeEngine.from_settings(self._settings)
        except EngineMisconfigured:
            return False
        return not self._model.cannot_search

    async def _report_refusal(self, seconds: float) -> Attempt:
        """Record, until the settings change, that the model cannot search. Return the attempt for the ledger."""
        error = not_supported_error(self._model.label)
        if self._uses_configured_model:
            await asyncio.to_thread(self._search.report_reserved_search, NATIVE, error)
        else:
            self._model.cannot_search = True
        return error.attempt(NATIVE, seconds)

    async def _search_web(self, refused: Attempt | None) -> tuple[SearchResponse, SearchError | None]:
        options = self._question.options
        user = None if refused else options.visitor  # the native search has counted this question already
        failure: SearchError | None = None
        started = time.monotonic()
        try:
            found = await self._tool_search.asearch(self._query, visitor=user, skip_caches=options.skip_caches)
        except SearchError as error:
            log.warning("search failed: %s", error)
            attempts = error.attempts if isinstance(error, AllEnginesFailed) else ()
            seconds = time.monotonic() - started
            failed = SearchResponse(self._query, attempts=attempts, failure=error.message, cure=error.cure)
            found, failure = replace(failed, search_time=seconds), error
        if refused:
            asked = (attempt for attempt in found.attempts if (attempt.engine, attempt.outcome) != _RESTING)
            found = replace(found, attempts=(refused, *asked))
        return found, failure

    def _prompt(self, context: str, *, system: str = "") -> Prompt:
        chat = self._settings.chat
        return answer_prompt(
            self._question.text,
            context,
            system=system or chat_system_template(chat.prompt, question=self._question.text, model=self._model.choice),
            today=self._service.today(),
            turns=_history_turns(self._question.history, self._history_tokens),
            preface=instructions_text(self._question.options.instructions),
        )

    async def _limit_history(self) -> int:
        """Return the tokens for the history: as configured, and at most a part of what the model takes."""
        configured = self._settings.chat.history_tokens
        if self._model.choice.is_embedded:
            return configured
        return min(configured, int(await self._model.context_length() * HISTORY_SHARE))


def _tokens(prompt: Prompt) -> int:
    return sum(estimate_tokens(text) for _, text in prompt)


def _search_limits_text(query: SearchQuery) -> str:
    """Return the search limits as a sentence for a model that searches itself: no service has a parameter for them."""
    limits = "、".join(describe_filters(query))
    return f"（搜索时只查找符合这些条件的网页：{limits}。）" if limits else ""


def _search_failure_notice(error: SearchError, held: Sequence[Source]) -> Notice:
    """Return the notice for the reader: the failure, its effect on the answer, and what to do."""
    kind = error.cause if isinstance(error, AllEnginesFailed) else error.kind
    rests_on = citable(held) or "这次没有搜到内容，以下回答没有来源。"
    without = "" if SWITCH_OFF in error.cure else f"也可以先{SWITCH_OFF}。"
    pause = first_pause(error.attempts) if isinstance(error, AllEnginesFailed) else None
    return Notice(kind, f"{error.message}{rests_on}{error.cure}{without}".rstrip(), pause)


def _search_notices(found: SearchResponse, held: Sequence[Source]) -> Iterator[Notice]:
    """Yield the notices on a search that did not fail."""
    yield from search_notices([found])
    if found.provider and not found.results:
        rests_on = citable(held) or NO_SOURCES
        yield Notice("empty", f"没有找到相关的搜索结果，{rests_on}可以换几个关键词再问。")


def _history_turns(history: Sequence[Message], budget: int) -> list[tuple[str, str]]:
    """Return the turns that fit the budget. A turn without its question is dropped."""
    kept = newest_messages(history, budget, lambda message: message.text)
    while kept and kept[0][0].role != "user":
        kept.pop(0)
    return [("human" if message.role == "user" else "ai", text) for message, text in kept if text.strip()]
