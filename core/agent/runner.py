"""Agent mode: the model thinks, acts and observes until it can answer; the run always ends, and with what was found.

LangChain's AgentExecutor drives the loop, asynchronously on the process-wide event loop. Its callbacks become RunEvents
on a queue, its model is asked through the guard. Whatever stops it early is followed by one last call of the model or, if
that is not possible, by quotes from the sources.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakKeyDictionary

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool

from core.agent.agent_prompt import TOOLS_SUFFIX, build_agent_prompt, describe_tools
from core.agent.callback_handler import AgentCallbackHandler
from core.agent.classic import AgentExecutor
from core.agent.errors import AgentOutputError, BudgetExceeded, LoopDetected
from core.agent.foreign_tools import McpTool, description_tokens, foreign_tools, that_fit
from core.agent.guard import GuardedAgent, ModelGuard, acting_deadline, cancel_task, run_within
from core.agent.memory import history_text
from core.agent.react_parser import strip_blanks
from core.agent.react_stream import ReactStream, ToolCallStream, UnlabelledStream
from core.agent.strategy import AgentCache, Strategy, StrategyMemory
from core.agent.tool_registry import TOOLS
from core.agent.tools import ToolContext, ToolFactory
from core.agent.without_model import next_step
from core.answer import cited_sources
from core.answer.events import (
    Answer,
    Notice,
    RunEvent,
    RunFailed,
    RunStopped,
    SearchFinished,
    SourcesGiven,
    TextDelta,
    Thought,
    cut_off_notices,
)
from core.base.errors import AppError
from core.base.http import Deadline
from core.base.text import clean_piece
from core.base.web_addresses import find_urls
from core.documents import DocumentLibrary
from core.legal import LegalServices
from core.legal.entities import LAWS
from core.llm import Model, Prompt, estimate_tokens, strip_thinking
from core.llm.errors import ModelContextExceeded, ModelError, ModelNotFound, ModelRefused
from core.llm.pieces import TextPiece, ThoughtPiece, TokenUsage
from core.mcp_client import ForeignTool, McpServers
from core.run import (
    LESS_GIVEN,
    WEB_SEARCH_FAILED,
    AnswerService,
    ChosenCollections,
    FittedSources,
    GrowingPrompt,
    Question,
    SearchState,
    SourceBudget,
    WholeReading,
    attach_files,
    budget_after_refusal,
    excerptable,
    find_source_budget,
    format_within_budget,
    read_sources,
    search_articles,
    search_documents,
    search_notices,
    select_pages,
    write_excerpts,
)
from core.run.prompts import PromptPreview, answer_prompt, chat_system_template, instructions_text
from core.search import NOTHING_FOUND, SEARCH_FAILED, web_failure_note
from core.search.errors import NoEngine
from core.search.types import SearchResponse, Source

log = logging.getLogger(__name__)

TRY_CHAT = "也可以切换到 Chat 模式再试。"
FROM_WHAT_WAS_FOUND = "下面的回答根据已经找到的内容写成。"
REPHRASE = "可以换一种问法，或切换到 Chat 模式。"
CANCELLED = "已停止。"
NO_RESULT_IN_TIME = "没有等到结果。"
ATTACHED_FILES = "（用户附上了下面的文件。）"
REQUESTED_PAGES = "（用户要求先读下面的网页，程序已经打开过。）"
NO_ENGINE_TO_ASK = "（没有可用的搜索引擎，没有搜索。请根据自己的知识回答，并告诉用户：搜索不可用，回答没有经过联网核实；不要编造来源。）"
NO_ANSWER = "没有找到可以引用的资料，也没有写出回答。可以换一种问法、缩小问题的范围，或切换到 Chat 模式。"

NO_SOURCES = Notice("no_sources", "Agent 查找过，但没有得到可以引用的来源，以下回答没有核验过。")
NOT_SEARCHED = Notice("not_searched", "Agent 认为这个问题不需要搜索，没有查找任何资料，以下回答没有来源可以引用。")

QUESTION_SEARCH_TOOLS = ("web_search", "regulation_search")
"""The names of tools that can search for a question as it stands."""

FOREIGN_SHARE = 4
"""Tools of foreign servers may take a fourth of the model's context length: they stand in every prompt."""
PROMPT_TOKENS = 3_000
"""Tokens of the agent's prompt beside sources and history: instructions, tools, thoughts."""

StopReason = Literal["iterations", "time", "loop"]


@dataclass(kw_only=True, eq=False)
class AgentRunner(AnswerService):
    """The service of Agent mode. `tools` and `sleep` are arguments for other tools, and for tests."""

    mode = "agent"
    legal: LegalServices | None = None
    documents: DocumentLibrary | None = None
    mcp: McpServers | None = None
    tools: Sequence[ToolFactory] = TOOLS
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    agents: AgentCache = field(default_factory=AgentCache)
    _strategies: WeakKeyDictionary[Model, StrategyMemory] = field(default_factory=WeakKeyDictionary, init=False)

    def strategies(self, model: Model, wanted: str) -> StrategyMemory:
        return self._strategies.setdefault(model, StrategyMemory(wanted, model.choice))

    def offered_tools(self, context: ToolContext) -> list[BaseTool]:
        own = [tool for factory in self.tools if (tool := factory(context)) is not None]
        return [*own, *foreign_tools(context)]

    def preview(self, question: str, variant: str = "") -> PromptPreview:
        """Return the first prompt. `variant`: as in the settings, or with `_tools`; empty: the configured one. The
        model is built, which tells whether it can call tools, but it is not asked."""
        now, links = self.configured(), find_urls(question)
        search = now.search.for_tools(now.model.choice)
        known = self.mcp.known_tools if self.mcp and not now.model.choice.is_embedded else ()
        context = ToolContext(search=search, legal=self.legal, reader=self.reader, links=links, foreign=known)
        tools = self.offered_tools(context)
        if variant or now.model.choice.is_embedded:
            native = variant.endswith(TOOLS_SUFFIX)
        else:
            strategies = self.strategies(now.model, now.settings.agent.strategy)
            native = strategies.candidates(now.model.chat_model(), with_tools=bool(tools))[0].uses_tools
        prompt = build_agent_prompt(
            variant.removesuffix(TOOLS_SUFFIX) or now.settings.agent.prompt,
            strategy="tools" if native else "react",
            question=question,
            model=now.model.choice,
            today=self.today().isoformat(),
        )
        filled = prompt.messages.format_messages(
            tools=describe_tools(tools),
            tool_names=", ".join(tool.name for tool in tools),
            history="",
            input=question,
            agent_scratchpad=[] if native else "",
        )
        messages = [(message.type, str(message.text)) for message in filled]
        return PromptPreview(prompt.path, messages, prompt.notice.text if prompt.notice else "")

    async def events(self, question: Question) -> AsyncGenerator[RunEvent]:
        preface = _preface(question, question.settings.agent.history_tokens)
        foreign, notices = await self._foreign_tools(question)
        for notice in notices:
            yield notice
        beside = PROMPT_TOKENS + estimate_tokens(preface + question.text) + sum(map(description_tokens, foreign))
        budget = await find_source_budget(question.settings, question.model, beside=beside)
        for attached in attach_files(question.run_sources, question.options.files):
            yield attached
        whole = WholeReading(question.model, question.text, budget, question.run_sources)
        async with aclosing(whole.read(await _fit_files(question, budget), question.run_sources.sources)) as reading:
            async for read in reading:
                yield read
        # The time of the run begins now: the reading takes as long as the files are.
        work = _AgentAnswer(self, question, budget, await self._open_collections(question), whole, foreign)
        task = asyncio.create_task(work.run())
        try:
            while (event := await work.queue.get()) is not None:
                yield event
            await task
        finally:
            await cancel_task(task)

    async def _foreign_tools(self, question: Question) -> tuple[list[ForeignTool], list[Notice]]:
        """Return the tools of foreign servers for a question, and the notices on those that cannot be used."""
        if self.mcp is None or question.model.choice.is_embedded:
            return [], []
        offered = await self.mcp.offered_tools()
        notices = [Notice(error.kind, f"{error.message}这次没有用它的工具。{error.cure}") for error in offered.errors]
        room = await question.model.context_length() // FOREIGN_SHARE if offered.tools else 0
        kept = that_fit(offered.tools, room)
        if left := len(offered.tools) - len(kept):
            notices.append(Notice("mcp_tools", f"外部工具太多，模型的上下文放不下，这次没有用其中的 {left} 个。"))
        return kept, notices

    async def _open_collections(self, question: Question) -> ChosenCollections | None:
        wanted = question.options.collections
        if self.documents is None or not wanted:
            return None
        return await asyncio.to_thread(ChosenCollections.open, self.documents, question.options.access, wanted)


async def _fit_files(question: Question, budget: SourceBudget) -> FittedSources:
    """Return the attached files as the agent's first prompt would have them."""
    known = question.run_sources
    files_budget = GrowingPrompt(budget).files_budget()
    return await asyncio.to_thread(
        format_within_budget,
        known.sources,
        question.settings,
        budget=files_budget,
        pages=known.pages,
        question=question.text,
    )


class _AgentAnswer:
    """One question being answered. All state here belongs to this one run."""

    def __init__(
        self,
        runner: AgentRunner,
        question: Question,
        budget: SourceBudget,
        documents: ChosenCollections | None,
        whole: WholeReading,
        foreign: Sequence[ForeignTool] = (),
    ) -> None:
        self.queue: asyncio.Queue[RunEvent | None] = asyncio.Queue()
        self._searches: list[SearchResponse] = []
        self._runner = runner
        self._settings = settings = question.settings
        self._model = question.model
        self._question = question.text
        self._requested_sources = question.options.sources_to_read
        self._files = question.run_sources.sources
        self._accepted_question = question
        self._preface = _preface(question, settings.agent.history_tokens)
        self._deadline = Deadline(settings.agent.max_execution_time)
        self._acting_deadline = acting_deadline(self._deadline)
        self._run_sources = question.run_sources
        self._handler = AgentCallbackHandler(
            self._emit, estimated=self._model.choice.is_embedded, verbose=settings.agent.verbose
        )
        self._notes = whole.notes
        self._handler.tokens.add(whole.usage, answer_share=0.0, tool_results=whole.usage.input)
        self._documents = documents
        self._budget = budget
        self._prompt_so_far = GrowingPrompt(budget)
        self._chain = question.configured.chain
        self._search = question.configured.search.for_tools(self._model.choice)
        self._links = question.links
        context = ToolContext(
            search=self._search,
            run_sources=self._run_sources,
            visitor=question.options.visitor,
            session_cache=question.options.session_cache,
            skip_caches=question.options.skip_caches,
            settings=settings,
            prompt=self._prompt_so_far,
            time_range=question.options.choices.time_range,
            legal=runner.legal,
            documents=documents,
            reader=runner.reader,
            question=question.text,
            is_query_part_of_question=self._model.choice.is_embedded,
            links=self._links,
            mcp=runner.mcp,
            foreign=foreign,
            approvals=question.approvals,
            not_counted=self._not_counted,
            deadline=self._acting_deadline,
            emit=self._emit,
        )
        self._tools = runner.offered_tools(context)
        self._handler.foreign = {tool.name: tool.foreign for tool in self._tools if isinstance(tool, McpTool)}

    def _emit(self, event: RunEvent) -> None:
        if isinstance(event, SearchFinished):
            self._searches.append(event.response)
        self.queue.put_nowait(event)

    async def run(self) -> None:
        """Put the events of the run on the queue, and None at its end."""
        try:
            for notice in self._documents.problem_notices if self._documents else ():
                self._emit(notice)
            if not self._search.reaches_web:
                self._emit(self._no_web_notice())
            answer = await self._answer()
            if answer is not None:
                if self._settings.agent.verbose:
                    log.info("answer: %s", answer)
                for notice in (*self._search_notices(), *self._unsourced_notices()):
                    self._emit(notice)
                for notice in cut_off_notices(self._handler.cut_off):
                    self._emit(notice)
                self._emit(Answer(answer, cited_sources(answer, self._run_sources.sources)))
                self._emit(self._handler.tokens.usage(iterations=self._handler.turns))
        finally:
            self._handler.close_steps(CANCELLED)
            self.queue.put_nowait(None)

    def _no_web_notice(self) -> Notice:
        if self._search.has_engines:
            return Notice(NoEngine.kind, self._chain.no_web_engine)
        return Notice(NoEngine.kind, f"{self._chain.no_engine_error}这次回答没有联网搜索。")

    def _search_notices(self) -> Iterator[Notice]:
        """Return the notices on the run's searches. That there is no engine for the web was said at the start."""
        reachable = self._search.reaches_web
        return search_notices([search for search in self._searches if reachable or not search.failure])

    def _unsourced_notices(self) -> list[Notice]:
        """Return the notice on an answer for which nothing was looked up or found. The embedded model says it itself."""
        if self._run_sources.sources:
            return []
        if self._handler.used_tools:
            return [] if self._model.choice.is_embedded else [NO_SOURCES]
        return [NOT_SEARCHED] if self._search.has_engines else []

    async def _answer(self) -> str | None:
        """Return the answer, in whatever way it came. None if only the failure could be reported."""
        try:
            return await self._act_or_stop()
        except AppError as error:
            return await self._after_failure(error.kind, str(error))
        except Exception:
            log.exception("an agent run met a bug")
            return await self._after_failure("internal", str(AppError()))

    async def _act_or_stop(self) -> str:
        limits = self._settings.agent
        try:
            return await run_within(self._act_with_less_if_refused(), self._current_deadline)
        except TimeoutError:
            return await self._after_stop("time", f"已达到 {limits.max_execution_time:g} 秒的时间上限，")
        except BudgetExceeded:
            return await self._after_stop("iterations", f"已达到 {limits.max_iterations} 次的迭代上限，")
        except LoopDetected:
            return await self._after_stop("loop", "Agent 在重复同样的操作，已停止，")
        except AgentOutputError as error:
            means = "根据搜索结果" if self._tools else ""
            self._emit(Notice(error.kind, f"{error.message}已改为直接{means}回答。"))
            return await self._answer_without_format()

    # ── Thinking and acting ───────────────────────────────────────────────────────────────────────────────────────

    def _current_deadline(self) -> Deadline:
        """Return the deadline for acting. An answer that has begun may use the whole time of the run."""
        return self._deadline if self._handler.answer else self._acting_deadline

    @contextmanager
    def _not_counted(self, most: float) -> Iterator[None]:
        """Let at most so many seconds pass that do not count: the reader is asked something."""
        began = time.monotonic()
        self._extend(most)
        try:
            yield
        finally:
            self._extend(min(time.monotonic() - began, most) - most)

    def _extend(self, seconds: float) -> None:
        self._deadline.extend(seconds)
        self._acting_deadline.extend(seconds)

    async def _act_with_less_if_refused(self) -> str:
        """Act; once more with less if the first prompt was too long, else answer from a new, shorter prompt."""
        try:
            return await self._act()
        except ModelContextExceeded as error:
            await self._take_less(error)
            if not self._handler.turns:
                return await self._act()
            return await self._write_last_answer()

    async def _take_less(self, error: ModelContextExceeded) -> None:
        self._preface = _preface(self._accepted_question, self._settings.agent.history_tokens // 2)
        beside = PROMPT_TOKENS + estimate_tokens(self._preface + self._question)
        prompt = beside + self._prompt_so_far.used
        self._budget = await budget_after_refusal(
            self._budget, self._settings, self._model, error, prompt=prompt, beside=beside
        )
        self._prompt_so_far.restart(self._budget)
        self._run_sources.forget_given()
        self._emit(LESS_GIVEN)

    async def _act(self) -> str:
        if self._runner.reader is not None and (self._search.reaches_web or self._links):
            self._runner.reader.warm_up()
        asked = self._question + await self._attached_files_text() + await self._read_requested_pages()
        if self._model.choice.is_embedded:
            return await self._execute(RunnableLambda(self._plan_excerpts), asked)
        if not self._tools:  # nothing to decide: a format for calling tools would only get in the way
            self._handler.new_stream = ToolCallStream
            self._handler.turns += 1
            return await self._write_last_answer()
        chat = await self._model.achat_model()
        strategies = self._runner.strategies(self._model, self._settings.agent.strategy)
        ways = strategies.candidates(chat, with_tools=bool(self._tools))
        for strategy in ways:
            try:
                self._handler.new_stream = ToolCallStream if strategy.uses_tools else ReactStream
                runnable = self._runner.agents.get(chat, strategy, self._prompt(strategy), self._tools)
                return await self._execute(runnable, asked)
            except ModelContextExceeded:
                raise
            except (ModelRefused, ModelNotFound, NotImplementedError):
                if self._handler.turns or strategy is ways[-1]:
                    raise
            finally:
                if self._handler.turns and strategy is not ways[0]:
                    # This strategy was accepted, so the service refused the earlier strategy, not the question.
                    strategies.remember_accepted(strategy)
        raise AssertionError("there is always a way to try")

    async def _attached_files_text(self) -> str:
        if not self._files:
            return ""
        return f"\n\n{ATTACHED_FILES}\n{await self._sources_text(self._files, self._prompt_so_far.files_budget())}"

    async def _read_requested_pages(self) -> str:
        """Read the pages that the reader asked for, before the agent's first thought. Return their text for the prompt."""
        reader = self._runner.reader
        if reader is None or not reader.max_pages or not self._requested_sources:
            return ""
        requested = self._run_sources.add_earlier_sources(self._requested_sources)
        wanted = select_pages(requested, len(self._requested_sources))
        pages = read_sources(reader, self._run_sources, wanted, outer_deadline=self._acting_deadline)
        async with aclosing(pages) as events:
            async for event in events:
                self._emit(event)
        read = self._run_sources.refreshed(wanted)
        return f"\n\n{REQUESTED_PAGES}\n{await self._sources_text(read, self._prompt_so_far.next_budget())}"

    async def _sources_text(self, sources: Sequence[Source], budget: SourceBudget) -> str:
        """Return the text of sources for the prompt that grows."""
        text = self._given_text(await self._fit_sources(sources, budget))
        self._prompt_so_far.add(text)
        return text

    def _given_text(self, fitted: FittedSources) -> str:
        """Return the text for the prompt, and tell the reader what is in it."""
        if given := self._run_sources.record_given(fitted.spans):
            self._emit(SourcesGiven(given))
        return fitted.text

    async def _fit_sources(self, sources: Sequence[Source], budget: SourceBudget) -> FittedSources:
        return await asyncio.to_thread(
            format_within_budget,
            sources,
            self._settings,
            budget=budget,
            pages=self._run_sources.pages,
            found_spans=self._run_sources.found_spans,
            question=self._question,
            notes=self._notes,
        )

    async def _plan_excerpts(self, given: dict[str, Any]) -> AgentAction | AgentFinish:
        """Return the next step without a model. The texts are counted as if a model read and wrote them."""
        queries = [str(action.tool_input) for action, _ in given["intermediate_steps"]]
        sources = await self._excerptable()
        step = next_step(self._question, [tool.name for tool in self._tools], queries, sources)
        answer = "" if step.tool else self._excerpts(sources, searched=bool(queries))
        read, written = estimate_tokens("".join(source.snippet for source in sources)), step.thought + answer
        used = TokenUsage(estimate_tokens(self._question) + read, estimate_tokens(written), estimated=True)
        self._handler.turns += 1
        self._handler.tokens.add(used, answer_share=len(answer) / len(written), tool_results=read)
        self._emit(Thought(step.thought))
        return AgentAction(step.tool, step.query, "") if step.tool else AgentFinish({"output": answer}, "")

    async def _excerptable(self) -> list[Source]:
        fitted = await self._fit_sources(self._run_sources.sources, self._budget)
        return await asyncio.to_thread(
            excerptable,
            fitted.sources,
            self._settings,
            pages=self._run_sources.pages,
            found_spans=self._run_sources.found_spans,
            question=self._question,
        )

    def _excerpts(self, sources: Sequence[Source], *, searched: bool) -> str:
        state: SearchState = "empty" if self._handler.tool_succeeded else "failed"
        return write_excerpts(self._question, sources, search=state if searched else "unused")

    async def _execute(self, runnable: Runnable[Any, Any], question_text: str) -> str:
        guard = ModelGuard(
            self._handler,
            self._settings.llm,
            reports_end=self._model.choice.provider == "openai",
            count_call=self._model.count_call,
            sleep=self._runner.sleep,
        )
        executor = AgentExecutor(
            agent=GuardedAgent(runnable=runnable, guard=guard),
            tools=self._tools,
            max_iterations=self._settings.agent.max_iterations,
            max_execution_time=None,  # the deadline is ours, because it must leave time for the last answer
            handle_parsing_errors=True,
        )
        inputs = {"input": question_text, "history": self._preface}
        done = await executor.ainvoke(inputs, {"callbacks": [self._handler]})
        answer = strip_thinking(clean_piece(_output_text(done["output"])))
        if not answer:
            raise AgentOutputError
        self._handler.finish(answer)
        return answer

    def _prompt(self, strategy: Strategy) -> ChatPromptTemplate:
        prompt = build_agent_prompt(
            self._settings.agent.prompt,
            strategy="tools" if strategy.uses_tools else "react",
            question=self._question,
            model=self._model.choice,
            today=self._runner.today().isoformat(),
        )
        if prompt.notice:
            self._emit(prompt.notice)
        return prompt.messages

    # ── Answers after a stop or a failure ─────────────────────────────────────────────────────────────────────────

    async def _after_stop(self, reason: StopReason, explanation: str) -> str:
        self._handler.settle()
        self._handler.close_steps(NO_RESULT_IN_TIME)
        self._emit(RunStopped(reason))
        begun = strip_blanks(self._handler.answer)
        result, advice = "回答没有写完。" if begun else FROM_WHAT_WAS_FOUND, REPHRASE if reason == "loop" else ""
        self._emit(Notice(f"agent_{reason}", f"{explanation}{result}{advice}"))
        return begun or await self._write_last_answer()

    async def _answer_without_format(self) -> str:
        """Search by the program and let the model only write, for a model that cannot keep to the format."""
        search: BaseTool | None = next((tool for tool in self._tools if tool.name in QUESTION_SEARCH_TOOLS), None)
        try:
            if (search or self._documents) and len(self._run_sources.sources) == len(self._files):
                await run_within(self._search_once(search), self._current_deadline)
        except TimeoutError:
            log.info("the plain search took too long")
            self._handler.close_steps(NO_RESULT_IN_TIME)
        return await self._write_last_answer()

    async def _search_once(self, tool: BaseTool | None) -> None:
        """Search for the question as it stands, also in the chosen collections, and in the law library if that answers it
        well."""
        legal, documents = self._runner.legal, self._documents
        if documents:
            for event in (await search_documents(documents, self._question, self._run_sources)).events:
                self._emit(event)
        if tool and legal and tool.name == "web_search":
            for event in await search_articles(legal, self._question, self._run_sources):
                self._emit(event)
        if tool:
            await tool.arun(self._question, callbacks=[self._handler])

    async def _after_failure(self, kind: str, message: str) -> str | None:
        if self._handler.answer or not self._run_sources.sources:
            self._emit(RunFailed(kind, f"{message}{TRY_CHAT}"))
            return None
        self._emit(Notice(kind, f"{message}下面是已经找到的资料的摘录。{TRY_CHAT}"))
        return await self._quote_sources()

    async def _write_last_answer(self) -> str:
        """Return the answer of one last model call, from what was found. If it breaks off, the sources are quoted."""
        if self._model.choice.is_embedded:
            return await self._quote_sources()
        written: list[str] = []
        # A model that was told to write labels keeps writing them.
        stream = UnlabelledStream() if self._handler.new_stream is ReactStream else None
        try:
            await run_within(self._stream_answer(written, stream), lambda: self._deadline)
            if text := strip_blanks("".join(written)):
                return text
        except TimeoutError:
            log.info("the last answer was not finished in time")
        except ModelError as error:
            if not self._run_sources.sources:
                raise
            self._emit(Notice(error.kind, str(error)))
        if written:
            written.append("…\n\n")
            self._emit(TextDelta(written[-1]))
        return "".join(written) + await self._quote_sources()

    async def _stream_answer(self, written: list[str], stream: UnlabelledStream | None) -> None:
        def emit_pieces(pieces: Iterable[TextPiece | ThoughtPiece]) -> None:
            for piece in pieces:
                if isinstance(piece, ThoughtPiece):
                    self._emit(Thought(piece.text))
                else:
                    written.append(piece.text)
                    self._emit(TextDelta(piece.text))

        prompt = await self._last_prompt()
        async with aclosing(self._model.stream(prompt)) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextPiece) and stream is not None:
                    emit_pieces(stream.feed(piece.text))
                elif isinstance(piece, TextPiece | ThoughtPiece):
                    emit_pieces([piece])
                else:
                    self._handler.tokens.add(piece, answer_share=1.0, tool_results=estimate_tokens(prompt[-1][1]))
                    self._handler.cut_off = piece.cut_off
        if stream is not None:
            emit_pieces(stream.end())

    async def _quote_sources(self) -> str:
        """Return the sentences of the sources about the question, each with its number. No model is needed."""
        text = self._excerpts(await self._excerptable(), searched=True) if self._run_sources.sources else NO_ANSWER
        self._emit(TextDelta(text))
        return text

    async def _last_prompt(self) -> Prompt:
        """Return a prompt as in Chat mode: the sources, or why there are none, then the question."""
        sources, searched = self._run_sources.sources, self._handler.tool_succeeded
        failed = SEARCH_FAILED if self._tools else NO_ENGINE_TO_ASK
        fitted = await self._fit_sources(sources, self._budget)
        context = self._given_text(fitted) or (NOTHING_FOUND if searched else failed)
        if sources and not searched and all(source.engine == LAWS or source.collection for source in sources):
            context = f"{web_failure_note(WEB_SEARCH_FAILED, has_local_results=True)}\n{context}"
        return answer_prompt(
            self._question,
            context,
            system=chat_system_template(self._settings.chat.prompt, question=self._question, model=self._model.choice),
            today=self._runner.today(),
            preface=self._preface,
        )


def _preface(question: Question, history_tokens: int) -> str:
    """Return what stands before the question in every prompt: the wishes of the caller, and the conversation so far."""
    return instructions_text(question.options.instructions) + history_text(question.history, history_tokens)


def _output_text(output: object) -> str:
    """Return the output as text. Some providers answer in blocks."""
    if isinstance(output, list):
        output = "".join(str(block.get("text", "")) if isinstance(block, dict) else str(block) for block in output)
    return strip_blanks(str(output))
