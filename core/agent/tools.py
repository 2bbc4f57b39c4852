"""The base of the agent's tools, and the web search. Tools are built anew for every run, with that run's own context.

A tool joins by adding its factory to TOOLS (tool_registry.py), or by being passed to AgentRunner. It never raises: an
error is returned to the model as a sentence, because an exception would end the whole run.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from math import inf
from typing import Annotated, Any, Literal

from langchain_core.tools import BaseTool
from pydantic import BaseModel, BeforeValidator, Field

from core.answer.events import RunEvent, SearchFinished, SearchStarted, SourcesGiven
from core.base.errors import AppError
from core.base.http import Deadline
from core.base.settings import Settings
from core.base.text import one_line
from core.base.visitors import COMMAND_LINE, Visitor
from core.legal import LegalServices
from core.mcp_client import ForeignTool, McpServers
from core.reading import Reader
from core.run import Approvals, ChosenCollections, GrowingPrompt, RunSources, SourceBudget, format_sources
from core.run.prompts import MAX_MODEL_QUERY_LENGTH, contains_instructions
from core.search import NOTHING_FOUND, SearchService, SessionCache, web_failure_note
from core.search.errors import AllEnginesFailed, QueryError
from core.search.types import SearchQuery, SearchResponse, SearchType, Source, TimeRange

log = logging.getLogger(__name__)

OBSERVATION_TOKENS = 3_000
"""Tokens of an observation where no model has been asked what it takes."""

PROMPT_FULL = "读过的内容已经占满模型的上下文长度，没有再查。"


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The objects of one run that its tools may use."""

    search: SearchService
    run_sources: RunSources = field(default_factory=RunSources)
    visitor: Visitor | None = COMMAND_LINE
    session_cache: SessionCache | None = None
    skip_caches: bool = False
    """True if the reader asked for a new search (重新搜索)."""
    settings: Settings = field(default_factory=Settings)
    prompt: GrowingPrompt = field(default_factory=lambda: GrowingPrompt(SourceBudget.fixed(OBSERVATION_TOKENS)))
    """The room that is left for what the tools read."""
    time_range: TimeRange | None = None
    legal: LegalServices | None = None
    reader: Reader | None = None
    documents: ChosenCollections | None = None
    """The collections of documents that were chosen for the question."""
    question: str = ""
    is_query_part_of_question: bool = False
    """True if no model writes the queries: they are words of the question, sometimes only a few of them."""
    links: Sequence[str] = ()
    """The addresses that the user typed. Besides the sources only these may be opened."""
    mcp: McpServers | None = None
    foreign: Sequence[ForeignTool] = ()
    """The tools of foreign MCP servers that may be used."""
    approvals: Approvals = field(default_factory=Approvals)
    not_counted: Callable[[float], AbstractContextManager[None]] = lambda seconds: nullcontext()
    """Lets at most so many seconds pass that do not count as the run's."""
    deadline: Deadline = field(default_factory=lambda: Deadline(inf))
    emit: Callable[[RunEvent], None] = lambda event: None

    async def give_texts(self, sources: Sequence[Source], question: str, call_id: str) -> str:
        """Return the text of these sources as far as there is room for it in the prompt, and tell the reader."""
        known = self.run_sources
        async with self.prompt.turns:
            fitted = await asyncio.to_thread(
                format_sources,
                sources,
                self.settings,
                budget=self.prompt.next_budget(),
                pages=known.pages,
                found_spans=known.found_spans,
                question=question,
            )
            self.prompt.add(fitted.text)
        if given := known.record_given(fitted.spans):
            self.emit(SourcesGiven(given, call_id))
        return fitted.text


ToolFactory = Callable[[ToolContext], BaseTool | None]
"""A function that builds a tool for one run. None: the tool cannot be used here and is not offered."""


class Observation(str):
    """The text of a tool's result for the model, with its success and a summary: AgentExecutor hands on only this text."""

    ok: bool
    summary: str

    def __new__(cls, text: str, *, ok: bool, summary: str) -> Observation:
        self = super().__new__(cls, text)
        self.ok, self.summary = ok, summary
        return self


ToolResult = tuple[Observation, dict[str, Any] | None]
"""LangChain's content and artifact."""


def failed_observation(sentence: str, *, advice: str = "") -> Observation:
    return Observation(f"（工具没有成功：{sentence}{advice}）", ok=False, summary=sentence)


class AgentTool(BaseTool):
    """A tool that cannot raise. Subclasses write `use`; the events it emits carry the id of the call."""

    context: ToolContext = Field(exclude=True, repr=False)
    other_names: tuple[str, ...] = ()
    """Names that models may write instead of its own."""
    takes_names: bool = False
    """True if its arguments keep their names in ReAct text, also where there is only one."""
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_validation_error: Any = lambda error: failed_observation(
        "工具的输入不符合要求。", advice="请按工具说明中的参数重新填写。"
    )

    async def use(self, call_id: str, *args: Any, **kwargs: Any) -> ToolResult:
        raise NotImplementedError

    def _run(self, *args: Any, run_manager: Any = None, **kwargs: Any) -> ToolResult:
        return asyncio.run(self._arun(*args, run_manager=run_manager, **kwargs))

    async def _arun(self, *args: Any, run_manager: Any = None, **kwargs: Any) -> ToolResult:
        if self.context.prompt.is_full:
            return failed_observation(PROMPT_FULL, advice="请根据已有的内容回答。"), None
        try:
            return await self.use(str(run_manager.run_id) if run_manager else "", *args, **kwargs)
        except Exception as error:
            return self._failure_result(error)

    @contextmanager
    def announce_search(self, query: SearchQuery, call_id: str) -> Iterator[None]:
        """Emit SearchStarted and, if the search fails, SearchFinished. The caller emits SearchFinished on success."""
        _refuse_leaking_query(query.text)
        self.context.emit(SearchStarted(query.text, call_id=call_id))
        started = time.monotonic()
        try:
            yield
        except AppError as error:
            attempts = error.attempts if isinstance(error, AllEnginesFailed) else ()
            failed = SearchResponse(query, attempts=attempts, failure=error.message, cure=error.cure)
            failed = replace(failed, search_time=time.monotonic() - started)
            self.context.emit(SearchFinished(failed, call_id=call_id))
            raise

    def _failure_result(self, error: Exception) -> ToolResult:
        if isinstance(error, AppError):
            log.warning("tool %s: %s", self.name, error)
            advice = "可以换一个搜索词再试，或根据已有的内容回答；不要编造来源。"
            return failed_observation(str(error), advice=advice), None
        log.error("tool %s failed with a bug", self.name, exc_info=error)
        return failed_observation("工具内部出错。", advice="请根据已有的内容回答；不要编造来源。"), None


def _refuse_leaking_query(query: str) -> None:
    """Raise QueryError on a query that may leak data: a page can ask the model to put its instructions in a query."""
    if len(query) > MAX_MODEL_QUERY_LENGTH:
        raise QueryError(
            f"搜索词有 {len(query):,} 个字符，超过了 {MAX_MODEL_QUERY_LENGTH} 个字符的上限，没有执行搜索。",
            cure="请只写几个关键词。",
        )
    if contains_instructions(query):
        raise QueryError("搜索词重复了给模型的指令，没有执行搜索。", cure="请只写与问题有关的关键词。")


def _search_type(value: Any) -> Any:
    """Return a known type of search, or None. Models write 新闻, `NEWS` or an invented type, and still want a search."""
    value = {"新闻": "news", "法规": "regulation", "案例": "case"}.get(str(value), str(value).strip().lower())
    return value if value in list(SearchType) else None


class WebSearchInput(BaseModel):
    query: str = Field(
        description="搜索查询关键词,应该具体、清晰、针对性强",
        examples=["英伟达 2025 财年 第四季度 营收", "劳动合同法 第三十八条 司法解释"],
    )
    search_type: Annotated[Literal["general", "news", "regulation", "case"] | None, BeforeValidator(_search_type)] = (
        Field(default=None, description="可选：general 一般（默认）、news 新闻、regulation 法规、case 案例")
    )


class WebSearchTool(AgentTool):
    name: str = "web_search"
    description: str = "搜索互联网获取实时信息。当需要了解最新事件、实时数据、当前新闻或验证信息时使用此工具。"
    args_schema: Any = WebSearchInput

    async def use(self, call_id: str, query: str, search_type: str | None = None) -> ToolResult:
        context, kind = self.context, SearchType(search_type or "general")
        language = context.settings.search.language
        whole = context.question if context.is_query_part_of_question else ""
        asked = SearchQuery(
            one_line(query), type=kind, language=language, time_range=context.time_range, question=whole
        )
        with self.announce_search(asked, call_id):
            found = await context.search.asearch(
                asked,
                visitor=context.visitor,
                session_cache=context.session_cache,
                skip_caches=context.skip_caches,
            )
        return await self._report_result(found, call_id)

    async def _report_result(self, response: SearchResponse, call_id: str) -> ToolResult:
        sources = self.context.run_sources.add_results(response.results[: self.context.settings.search.result_count])
        self.context.emit(SearchFinished(response.without_texts, sources, call_id=call_id))
        text = NOTHING_FOUND
        if sources:
            text = await self.context.give_texts(sources, response.query.text, call_id)
        if response.failure:
            text = f"{web_failure_note(response.failure, has_local_results=True)}\n{text}"
            return Observation(text, ok=False, summary=f"{response.failure}{response.cure}"), response.to_json()
        summary = f"找到 {len(response.results)} 条结果" if sources else "没有找到结果"
        return Observation(text, ok=True, summary=summary), response.to_json()


MANUAL_ONLY = (
    "搜索问源自己的内置手册。没有能联网的搜索引擎，搜不到互联网上的任何信息；"
    "只有问题是关于问源怎么使用时才用此工具，其他问题请直接回答，并说明没有联网核实。"
)
"""The description of the search where no engine reaches the web."""


def build_web_search(context: ToolContext) -> BaseTool | None:
    if not context.search.has_engines:
        return None
    return (
        WebSearchTool(context=context)
        if context.search.reaches_web
        else WebSearchTool(context=context, description=MANUAL_ONLY)
    )
