"""The operations of the HTTP API, each once: the routes and the OpenAPI description are both made from this table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core import __version__
from core.app import App
from core.base.http import Deadline
from core.legal.entities import CaseFilter, CaseType
from core.search.types import SearchQuery, SearchType, TimeRange
from core.serve.access import Caller, Scope
from core.serve.claims import check_claims, check_pairs
from core.serve.collections import (
    list_collections,
    list_files,
    remove_collection,
    remove_file,
    search_documents,
)
from core.serve.errors import MethodRefused, NotFound
from core.serve.http.operation import Operation
from core.serve.http.request_models import (
    AnswerRequest,
    ArticleRequest,
    CaseSearch,
    ClaimCheck,
    CollectionRequest,
    DocumentQuery,
    FileRequest,
    FileUpload,
    NoFields,
    PageReading,
    PairCheck,
    StatuteSearch,
    StatuteVerification,
    WebSearch,
)
from core.serve.law import get_article, search_cases, search_statutes, verify_statutes
from core.serve.schemas import (
    AnswerDocument,
    ApiInfo,
    ArticleResult,
    CaseSearchResult,
    ClaimCheckResult,
    CollectionList,
    DocumentSearchResult,
    FileList,
    PageText,
    PairCheckResult,
    Removed,
    StatuteSearchResult,
    StoredFile,
    VerificationResult,
    WebSearchResult,
)
from core.serve.web import read_page, search_web

PREFIX = "/api/v1"


def find_operation(method: str, path: str) -> tuple[Operation, Mapping[str, str]]:
    """Return the operation for a request, and the fields that are in its path. Raise NotFound or MethodRefused."""
    matches = [(one, fields) for one in OPERATIONS if (fields := one.match(path)) is not None]
    wanted = "GET" if method == "HEAD" else method
    for operation, fields in matches:
        if operation.method == wanted:
            return operation, fields
    if matches:
        raise MethodRefused(operation.method for operation, _ in matches)
    raise NotFound


# ── What they do ──────────────────────────────────────────────────────────────────────────────────────────────────


def _describe_api(_app: App, _caller: Caller) -> dict[str, Any]:
    return {"name": "问源", "version": __version__, "openapi": f"{PREFIX}/openapi.json"}


def _search_web(
    app: App,
    caller: Caller,
    *,
    query: str,
    type: SearchType,
    limit: int,
    since: TimeRange | None,
    language: str,
    engine: str,
    deadline: Deadline,
) -> dict[str, Any]:
    language = language or app.settings.search.language
    return search_web(app, caller, SearchQuery(query, type, limit, language, since), engine, deadline)


def _search_cases(
    app: App, caller: Caller, *, query: str, type: CaseType | None, cause: str, court: str, year: int | None, limit: int
) -> dict[str, Any]:
    return search_cases(app, caller, query, CaseFilter(type, cause, court, year), limit)


# ── The table ─────────────────────────────────────────────────────────────────────────────────────────────────────

_COLLECTION = "/documents/{collection}"
_FILE = "/documents/{collection}/files/{name}"

OPERATIONS = (
    Operation("GET", "/", "程序的名称和版本", NoFields, ApiInfo, None, _describe_api),
    Operation("GET", "/search", "搜索网络", WebSearch, WebSearchResult, Scope.SEARCH, _search_web, takes_deadline=True),
    Operation(
        "POST", "/search", "搜索网络", WebSearch, WebSearchResult, Scope.SEARCH, _search_web, takes_deadline=True
    ),
    Operation("GET", "/page", "读一个网页的文字", PageReading, PageText, Scope.SEARCH, read_page, takes_deadline=True),
    Operation("POST", "/page", "读一个网页的文字", PageReading, PageText, Scope.SEARCH, read_page, takes_deadline=True),
    Operation(
        "POST",
        "/ask",
        "提问：返回逐个事件（text/event-stream），或一份 JSON",
        AnswerRequest,
        AnswerDocument,
        Scope.ASK,
    ),
    Operation(
        "POST",
        "/law/search",
        "按法名、条号或内容查法条",
        StatuteSearch,
        StatuteSearchResult,
        Scope.LAW,
        search_statutes,
    ),
    Operation(
        "GET",
        "/law/article",
        "取一条法条，可以是过去某一天的",
        ArticleRequest,
        ArticleResult,
        Scope.LAW,
        get_article,
    ),
    Operation(
        "POST",
        "/law/verify",
        "核验文字引用的每一条法条和案号",
        StatuteVerification,
        VerificationResult,
        Scope.LAW,
        verify_statutes,
    ),
    Operation("POST", "/law/cases", "查案例", CaseSearch, CaseSearchResult, Scope.LAW, _search_cases),
    Operation(
        "POST",
        "/check",
        "核验文字里的每一处引用，来源是否这样说",
        ClaimCheck,
        ClaimCheckResult,
        Scope.CHECK,
        check_claims,
    ),
    Operation(
        "POST",
        "/check/pairs",
        "核验一句句话和各自的来源",
        PairCheck,
        PairCheckResult,
        Scope.CHECK,
        check_pairs,
    ),
    Operation("GET", "/documents", "列出资料集", NoFields, CollectionList, Scope.DOCUMENTS, list_collections),
    Operation(
        "POST",
        "/documents/search",
        "在资料集里检索",
        DocumentQuery,
        DocumentSearchResult,
        Scope.DOCUMENTS,
        search_documents,
    ),
    Operation("GET", _COLLECTION, "列出资料集里的文件", CollectionRequest, FileList, Scope.DOCUMENTS, list_files),
    Operation(
        "DELETE",
        _COLLECTION,
        "删除资料集和其中的文件，不能恢复",
        CollectionRequest,
        Removed,
        Scope.CHANGE_DOCUMENTS,
        remove_collection,
    ),
    Operation(
        "PUT",
        _FILE,
        "上传文件：没有这个资料集就新建，同名的文件被替换；之后在后台读取",
        FileUpload,
        StoredFile,
        Scope.CHANGE_DOCUMENTS,
    ),
    Operation(
        "DELETE",
        _FILE,
        "删除文件，不能恢复",
        FileRequest,
        Removed,
        Scope.CHANGE_DOCUMENTS,
        remove_file,
    ),
)
