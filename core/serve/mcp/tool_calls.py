"""The work of the tools: from arguments to the result of a service, and to its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from core.legal.entities import CaseFilter, CaseType
from core.search import engine_label
from core.search.types import SearchQuery, SearchType, TimeRange
from core.serve import claims, collections, law, web
from core.serve.law_library import wait_for_library
from core.serve.mcp import arguments, texts
from core.serve.mcp.calls import Call

Document = dict[str, Any]


def _web_search(call: Call, given: arguments.WebSearchArguments) -> Document:
    engines = "、".join(engine_label(engine.name) for engine in call.app.chain.engines)
    call.report(f"正在搜索，依次用{engines}" if engines else "正在搜索")
    language = call.app.settings.search.language
    time_range = TimeRange(given.time_range) if given.time_range else None
    query = SearchQuery(given.query, SearchType(given.type), language=language, time_range=time_range)
    found = web.search_web(call.app, call.caller, query, deadline=call.deadline)
    return {**found, "results": found["results"][: given.limit]}


def _read_page(call: Call, given: arguments.ReadPageArguments) -> Document:
    call.report("正在阅读网页")
    return web.read_page(call.app, call.caller, given.url, given.start, given.length, deadline=call.deadline)


def _search_statutes(call: Call, given: arguments.SearchStatutesArguments) -> Document:
    wait_for_library(call.app, call.deadline, call.report)
    return law.search_statutes(call.app, call.caller, given.query, given.as_of, given.limit)


def _get_article(call: Call, given: arguments.GetArticleArguments) -> Document:
    wait_for_library(call.app, call.deadline, call.report)
    return law.get_article(call.app, call.caller, given.law, given.article, given.as_of)


def _search_cases(call: Call, given: arguments.SearchCasesArguments) -> Document:
    wait_for_library(call.app, call.deadline, call.report)
    wanted = CaseFilter(CaseType(given.type) if given.type else None, given.cause, given.court, given.year)
    return law.search_cases(call.app, call.caller, given.query, wanted, given.limit)


def _verify_statutes(call: Call, given: arguments.VerifyStatutesArguments) -> Document:
    wait_for_library(call.app, call.deadline, call.report)
    return law.verify_statutes(call.app, call.caller, given.text, given.as_of, call.report)


def _check_claims(call: Call, given: arguments.CheckClaimsArguments) -> Document:
    sources = [source.model_dump() for source in given.sources]
    return claims.check_claims(call.app, call.caller, given.text, sources, call.report)


def _search_documents(call: Call, given: arguments.SearchDocumentsArguments) -> Document:
    return collections.search_documents(call.app, call.caller, given.query, given.collections, given.limit)


class ToolCall(NamedTuple):
    work: Callable[[Call, Any], Document]
    text: Callable[[Document], str]


TOOL_CALLS = {
    "web_search": ToolCall(_web_search, texts.search_text),
    "read_page": ToolCall(_read_page, texts.page_text),
    "search_statutes": ToolCall(_search_statutes, texts.statutes_text),
    "get_article": ToolCall(_get_article, texts.article_text),
    "search_cases": ToolCall(_search_cases, texts.cases_text),
    "verify_statutes": ToolCall(_verify_statutes, texts.verification_text),
    "check_claims": ToolCall(_check_claims, texts.claims_text),
    "search_documents": ToolCall(_search_documents, texts.documents_text),
}
