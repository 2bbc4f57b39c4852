"""Agent mode: the model thinks, acts and observes until it can answer; the run always ends, and with what was found.

LangChain's AgentExecutor drives the loop, asynchronously on the process-wide event loop. Its callbacks become RunEvents
on a queue (callback_handler), its model is asked through the guard, and whatever stops it early is followed by one last call of
the model, or, when even that is not possible, by quotes from the sources.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakKeyDictionary

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool

from core.agent.callback_handler import AgentCallbackHandler
from core.agent.classic import AgentExecutor
from core.agent.errors import AgentOutputError, BudgetExceeded, LoopDetected
from core.agent.guard import Guard, GuardedAgent, acting_part, let_go, within
from core.agent.memory import remember
from core.agent.prompt import FOR_TOOLS, agent_prompt, describe
from core.agent.react_stream import PlainStream, ReactStream, ToolCallStream
from core.agent.strategy import Agents, Strategies, Strategy
from core.agent.toolbox import TOOLS
from core.agent.tools import ToolContext, ToolFactory
from core.agent.without_model import next_step
from core.answer.citations import cited_sources
from core.answer.events import Answer, Notice, RunEvent, RunFailed, RunStopped, TextDelta, Thought, cut_off
from core.base.errors import AppError
from core.base.http import Deadline
from core.base.text import clean_piece
from core.base.web_addresses import addresses_in
from core.legal.desk import LegalDesk
from core.legal.types import LAWS
from core.llm.errors import ModelError, ModelNotFound, ModelRefused
from core.llm.model import Model, Prompt
from core.llm.pieces import TextPiece, ThoughtPiece, TokenUsage
from core.llm.reasoning import without_thinking
from core.llm.tokens import estimate_tokens
from core.run.evidence import excerptable, within_budget
from core.run.excerpts import SearchState, excerpts
from core.run.laws import WITHOUT_WEB, articles
from core.run.prompts import Preview, answer_prompt, chat_system
from core.run.question import Question
from core.run.reading import attached, reading, to_read
from core.run.service import AnswerService
from core.search.errors import NoEngine
from core.search.format import NOTHING_FOUND, SEARCH_FAILED, without_web
from core.search.types import Source

log = logging.getLogger(__name__)

TRY_CHAT = "也可以切换到 Chat 模式再试。"
FROM_WHAT_WAS_FOUND = "下面的回答根据已经找到的内容写成。"
REPHRASE = "可以换一种问法，或切换到 Chat 模式。"
CANCELLED = "已停止。"
NOT_AWAITED = "没有等到结果。"
ATTACHED = "（用户附上了下面的文件，这是其中与问题有关的段落。）"
READ_FIRST = "（用户要求先读下面的网页，程序已经打开过。）"
EMPTY_HANDED = "没有找到可以引用的资料，也没有写出回答。可以换一种问法、缩小问题的范围，或切换到 Chat 模式。"

NOT_SEARCHED = Notice("not_searched", "智能体认为这个问题不需要搜索，没有查找任何资料，以下回答没有来源可以引用。")

PLAIN_SEARCHES = ("web_search", "regulation_search")
"""The names of tools that can search for a question as it stands."""

Reason = Literal["iterations", "time", "loop"]


@dataclass(kw_only=True, eq=False)
class AgentRunner(AnswerService):
    """The service of Agent mode. `tools` and `sleep` are arguments for other tools, and for tests."""

    mode = "agent"
    legal: LegalDesk | None = None
    tools: Sequence[ToolFactory] = TOOLS
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    agents: Agents = field(default_factory=Agents)
    _strategies: WeakKeyDictionary[Model, Strategies] = field(default_factory=WeakKeyDictionary, init=False)

    def strategies(self, model: Model, wanted: str) -> Strategies:
        return self._strategies.setdefault(model, Strategies(wanted, model.choice))

    def offered(self, context: ToolContext) -> list[BaseTool]:
        return [tool for factory in self.tools if (tool := factory(context)) is not None]

    def preview(self, question: str, variant: str = "") -> Preview:
        """Return the first prompt. `variant`: as in the settings, or with `_tools`; empty: the configured one. The
        model is built, which tells whether it can call tools, but it is not asked."""
        now, links = self.configured(), addresses_in(question)
        search = now.search.for_tools(now.model.choice)
        tools = self.offered(ToolContext(search=search, legal=self.legal, reader=self.reader, links=links))
        if variant or now.model.choice.embedded:
            native = variant.endswith(FOR_TOOLS)
        else:
            strategies = self.strategies(now.model, now.settings.agent.strategy)
            native = strategies.to_try(now.model.chat(), with_tools=bool(tools))[0].tools
        prompt = agent_prompt(
            variant.removesuffix(FOR_TOOLS) or now.settings.agent.prompt,
            strategy="tools" if native else "react",
            question=question,
            model=now.model.choice,
            today=self.today().isoformat(),
        )
        filled = prompt.messages.format_messages(
            tools=describe(tools),
            tool_names=", ".join(tool.name for tool in tools),
            history="",
            input=question,
            agent_scratchpad=[] if native else "",
        )
        messages = [(message.type, str(message.text)) for message in filled]
        return Preview(prompt.path, messages, prompt.notice.text if prompt.notice else "")

    async def events(self, question: Question) -> AsyncIterator[RunEvent]:
        work = _Work(self, question)
        task = asyncio.create_task(work.run())
        try:
            while (event := await work.queue.get()) is not None:
                yield event
            await task
        finally:
            await let_go(task)


class _Work:
    """One question being answered. All state here belongs to this one run."""

    def __init__(self, runner: AgentRunner, question: Question) -> None:
        self.queue: asyncio.Queue[RunEvent | None] = asyncio.Queue()
        self._runner = runner
        self._settings = settings = question.settings
        self._model = question.model
        self._question = question.text
        self._to_read_first = question.options.read
        self._attached = list(attached(question.evidence, question.options.files))
        self._files = question.evidence.sources
        self._history = remember(question.history, settings.agent.history_tokens)
        self._deadline = Deadline(settings.agent.max_execution_time)
        self._acting = acting_part(self._deadline)
        self._evidence = question.evidence
        self._handler = AgentCallbackHandler(
            self._emit, estimated=self._model.choice.embedded, verbose=settings.agent.verbose
        )
        self._search = question.configured.search.for_tools(self._model.choice)
        context = ToolContext(
            search=self._search,
            evidence=self._evidence,
            user=question.options.user,
            session_cache=question.options.session_cache,
            settings=settings,
            time_range=question.options.choices.time_range,
            legal=runner.legal,
            reader=runner.reader,
            question=question.text,
            links=question.links,
            deadline=self._acting,
            emit=self._emit,
        )
        self._tools = runner.offered(context)

    def _emit(self, event: RunEvent) -> None:
        self.queue.put_nowait(event)

    async def run(self) -> None:
        """Put the events of the run on the queue, and None at its end."""
        try:
            for event in self._attached:
                self._emit(event)
            if not self._search.available:
                self._emit(Notice(NoEngine.kind, f"{NoEngine()}这次回答没有联网搜索。"))
            answer = await self._answer()
            if answer is not None:
                if self._settings.agent.verbose:
                    log.info("answer: %s", answer)
                if self._search.available and not (self._handler.used_tools or self._evidence.sources):
                    self._emit(NOT_SEARCHED)
                for notice in cut_off(self._handler.cut_off):
                    self._emit(notice)
                self._emit(Answer(answer, cited_sources(answer, self._evidence.sources)))
                self._emit(self._handler.tokens.usage(iterations=self._handler.turns))
        finally:
            self._handler.close_steps(CANCELLED)
            self.queue.put_nowait(None)

    async def _answer(self) -> str | None:
        """Return the answer, by whatever way. None if only the reason of the failure could be reported."""
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
            return await within(self._act(), self._time_to_act)
        except TimeoutError:
            return await self._after_stop("time", f"已达到 {limits.max_execution_time:g} 秒的时间上限，")
        except BudgetExceeded:
            return await self._after_stop("iterations", f"已达到 {limits.max_iterations} 次的迭代上限，")
        except LoopDetected:
            return await self._after_stop("loop", "智能体在重复同样的操作，已停止，")
        except AgentOutputError as error:
            means = "根据搜索结果" if self._tools else ""
            self._emit(Notice(error.kind, f"{error.message}已改为直接{means}回答。"))
            return await self._plainly()

    # ── Thinking and acting ───────────────────────────────────────────────────────────────────────────────────────

    def _time_to_act(self) -> Deadline:
        """Return the deadline for acting. An answer that has begun may use the whole time of the run."""
        return self._deadline if self._handler.answer else self._acting

    async def _act(self) -> str:
        if self._runner.reader is not None:
            self._runner.reader.warm_up()
        asked = self._question + self._brought_along() + await self._read_first()
        if self._model.choice.embedded:
            return await self._execute(RunnableLambda(self._plan_excerpts), asked)
        chat = await self._model.achat()
        strategies = self._runner.strategies(self._model, self._settings.agent.strategy)
        ways = strategies.to_try(chat, with_tools=bool(self._tools))
        for strategy in ways:
            try:
                self._handler.new_stream = ToolCallStream if strategy.tools else ReactStream
                runnable = self._runner.agents.get(chat, strategy, self._prompt(strategy), self._tools)
                return await self._execute(runnable, asked)
            except (ModelRefused, ModelNotFound, NotImplementedError):
                if self._handler.turns or strategy is ways[-1]:
                    raise
            finally:
                if self._handler.turns and strategy is not ways[0]:
                    # This strategy was accepted, so the service refused the earlier strategy, not the question.
                    strategies.keep_from(strategy)
        raise AssertionError("there is always a way to try")

    def _brought_along(self) -> str:
        return f"\n\n{ATTACHED}\n{self._described(self._files)}" if self._files else ""

    async def _read_first(self) -> str:
        """Read the pages that the reader asked for, before the agent's first thought. Return their text for the prompt."""
        reader = self._runner.reader
        if reader is None or not reader.pages or not self._to_read_first:
            return ""
        wanted = to_read(self._evidence.number_again(self._to_read_first), len(self._to_read_first))
        async with aclosing(reading(reader, self._evidence, wanted, within=self._acting)) as events:  # type: ignore[type-var]
            async for event in events:
                self._emit(event)
        return f"\n\n{READ_FIRST}\n{self._described(self._evidence.now(wanted))}"

    def _described(self, sources: Sequence[Source]) -> str:
        return within_budget(sources, self._settings, pages=self._evidence.pages, question=self._question)[1]

    async def _plan_excerpts(self, given: dict[str, Any]) -> AgentAction | AgentFinish:
        """Decide without a model. What it reads and writes is counted as if it were one."""
        queries = [str(action.tool_input) for action, _ in given["intermediate_steps"]]
        sources = self._excerptable()
        step = next_step(self._question, [tool.name for tool in self._tools], queries, sources)
        answer = "" if step.tool else self._excerpts(sources, searched=bool(queries))
        read = estimate_tokens("".join(source.snippet for source in sources))
        used = TokenUsage(
            estimate_tokens(self._question) + read, estimate_tokens(step.thought + answer), estimated=True
        )
        self._handler.turns += 1
        self._handler.tokens.add(used, answer_share=len(answer) / len(step.thought + answer), tool_results=read)
        self._emit(Thought(step.thought))
        return AgentAction(step.tool, step.query, "") if step.tool else AgentFinish({"output": answer}, "")

    def _excerptable(self) -> list[Source]:
        pages = self._evidence.pages
        kept, _ = within_budget(self._evidence.sources, self._settings, pages=pages, question=self._question)
        return excerptable(kept, self._settings, pages=pages, question=self._question)

    def _excerpts(self, sources: Sequence[Source], *, searched: bool) -> str:
        state: SearchState = "unused"
        if searched:
            state = "empty" if self._handler.tool_succeeded else "failed"
        return excerpts(self._question, sources, search=state)

    async def _execute(self, runnable: Runnable[Any, Any], asked: str) -> str:
        guard = Guard(
            self._handler,
            self._settings.llm,
            says_when_done=self._model.choice.provider == "openai",
            count=self._model.count_call,
            sleep=self._runner.sleep,
        )
        executor = AgentExecutor(
            agent=GuardedAgent(runnable=runnable, guard=guard),
            tools=self._tools,
            max_iterations=self._settings.agent.max_iterations,
            max_execution_time=None,  # the deadline is ours, because it must leave time for the last answer
            handle_parsing_errors=True,
        )
        done = await executor.ainvoke({"input": asked, "history": self._history}, {"callbacks": [self._handler]})
        answer = without_thinking(clean_piece(_text(done["output"])))
        if not answer:
            raise AgentOutputError
        self._handler.finish(answer)
        return answer

    def _prompt(self, strategy: Strategy) -> ChatPromptTemplate:
        prompt = agent_prompt(
            self._settings.agent.prompt,
            strategy="tools" if strategy.tools else "react",
            question=self._question,
            model=self._model.choice,
            today=self._runner.today().isoformat(),
        )
        if prompt.notice:
            self._emit(prompt.notice)
        return prompt.messages

    # ── Answers after a stop or a failure ─────────────────────────────────────────────────────────────────────────

    async def _after_stop(self, reason: Reason, why: str) -> str:
        self._handler.settle()
        self._handler.close_steps(NOT_AWAITED)
        self._emit(RunStopped(reason))
        begun = self._handler.answer.strip()
        advice = REPHRASE if reason == "loop" else ""
        self._emit(Notice(f"agent_{reason}", f"{why}{'回答没有写完。' if begun else FROM_WHAT_WAS_FOUND}{advice}"))
        return begun or await self._write()

    async def _plainly(self) -> str:
        """Search by the program and let the model only write, for a model that cannot keep to the format."""
        search: BaseTool | None = next((tool for tool in self._tools if tool.name in PLAIN_SEARCHES), None)
        try:
            if search and len(self._evidence.sources) == len(self._files):
                await within(self._search_plainly(search), self._time_to_act)
        except TimeoutError:
            log.info("the plain search took too long")
            self._handler.close_steps(NOT_AWAITED)
        return await self._write()

    async def _search_plainly(self, search: BaseTool) -> None:
        """Search for the question as it stands, also in the law library if that answers it well."""
        legal = self._runner.legal
        if legal and search.name == "web_search":
            for event in await articles(legal.articles_for, self._question, self._evidence):
                self._emit(event)
        await search.arun(self._question, callbacks=[self._handler])

    async def _after_failure(self, kind: str, message: str) -> str | None:
        if self._handler.answer or not self._evidence.sources:
            self._emit(RunFailed(kind, f"{message}{TRY_CHAT}"))
            return None
        self._emit(Notice(kind, f"{message}下面是已经找到的资料的摘录。{TRY_CHAT}"))
        return self._quote()

    async def _write(self) -> str:
        """Return the answer of one last model call, from what was found. If the call breaks off, the sources are
        quoted."""
        if self._model.choice.embedded:
            return self._quote()
        written: list[str] = []
        # A model that was told to write labels keeps writing them.
        stream = PlainStream() if self._handler.new_stream is ReactStream else None
        try:
            await within(self._stream_into(written, stream), lambda: self._deadline)
            if text := "".join(written).strip():
                return text
        except TimeoutError:
            log.info("the last answer was not finished in time")
        except ModelError as error:
            if not self._evidence.sources:
                raise
            self._emit(Notice(error.kind, str(error)))
        if written:
            written.append("…\n\n")
            self._emit(TextDelta(written[-1]))
        return "".join(written) + self._quote()

    async def _stream_into(self, written: list[str], stream: PlainStream | None) -> None:
        def tell(pieces: Iterable[TextPiece | ThoughtPiece]) -> None:
            for piece in pieces:
                if isinstance(piece, ThoughtPiece):
                    self._emit(Thought(piece.text))
                else:
                    written.append(piece.text)
                    self._emit(TextDelta(piece.text))

        prompt = self._plain_prompt()
        async with aclosing(self._model.stream(prompt)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                if isinstance(piece, TextPiece) and stream is not None:
                    tell(stream.feed(piece.text))
                elif isinstance(piece, TextPiece | ThoughtPiece):
                    tell([piece])
                else:
                    results = estimate_tokens(prompt[-1][1])
                    self._handler.tokens.add(piece, answer_share=1.0, tool_results=results)
                    self._handler.cut_off = piece.cut_off
        if stream is not None:
            tell(stream.end())

    def _quote(self) -> str:
        """Return the sentences of the sources about the question, each with its number. No model is needed."""
        text = EMPTY_HANDED
        if self._evidence.sources:
            text = self._excerpts(self._excerptable(), searched=True)
        self._emit(TextDelta(text))
        return text

    def _plain_prompt(self) -> Prompt:
        """Return a prompt as in Chat mode: the sources, or why there are none, then the question."""
        sources, searched = self._evidence.sources, self._handler.tool_succeeded
        told = self._described(sources) or (NOTHING_FOUND if searched else SEARCH_FAILED)
        if sources and not searched and all(source.engine == LAWS for source in sources):
            told = f"{without_web(WITHOUT_WEB, inside=True)}\n{told}"
        return answer_prompt(
            self._question,
            told,
            system=chat_system(self._settings.chat.prompt, question=self._question, model=self._model.choice),
            today=self._runner.today(),
            before=self._history,
        )


def _text(output: object) -> str:
    """Return the output as text. Some providers answer in blocks."""
    if isinstance(output, list):
        output = "".join(str(block.get("text", "")) if isinstance(block, dict) else str(block) for block in output)
    return str(output).strip()
