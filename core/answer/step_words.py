"""The words for the steps of a run, on the page and for other programs."""

from __future__ import annotations

from core.base.text import time_ago
from core.legal.entities import LAWS, LIBRARY_LABELS
from core.search import registry
from core.search.types import DOCUMENTS, AttemptOutcome, SearchResponse

TOOL_NAMES = {
    "web_search": "搜索",
    "regulation_search": "查法规",
    "case_search": "查案例",
    "read_page": "阅读",
    "document_search": "查资料",
    "read_document": "读资料",
}
LOOK_UPS = {LAWS: "查法规", DOCUMENTS: "查资料"}
"""Names of the searches that the program makes in a library."""


def provider_label(name: str) -> str:
    """Return the label of an engine or of a library."""
    return LIBRARY_LABELS.get(name) or registry.engine_label(name)


def search_summary(response: SearchResponse, *, shown: int = 0) -> str:
    """Return one line: engine, number of results, time and cache age. `shown` is the number given to the model, if
    known."""
    if response.provider == DOCUMENTS:
        return _documents_summary(response)
    if was_paused(response):
        only = f" · 只查了{provider_label(response.provider)}" if response.provider else ""
        return f"引擎暂停中，没有联网搜索{only}"
    if not response.provider:
        return "没有搜索" if was_not_tried(response) else "搜索没有成功"
    found = f"{len(response.results)} 条" if response.results else "没有找到结果"
    if 0 < shown < len(response.results):
        found += f"，取用 {shown} 条"
    parts = [provider_label(response.provider), found, f"{response.search_time:.1f} 秒"]
    if response.failure:
        parts = ["联网搜索没有成功", f"只查了{provider_label(response.provider)}", *parts[1:]]
    if response.from_cache:
        parts.append(f"{'旧' if response.stale else ''}缓存 · {time_ago(response.cache_age or 0).strip()}")
    return " · ".join(parts)


def _documents_summary(response: SearchResponse) -> str:
    """Return where in the reader's collections how much was found."""
    if response.failure:
        return "资料没有查成"
    names = "".join(f"「{name}」" for name in dict.fromkeys(result.source for result in response.results))
    found = f"在资料{names}中找到 {len(response.results)} 处" if names else "在资料中没有找到"
    return f"{found} · {response.search_time:.1f} 秒"


def was_not_tried(response: SearchResponse) -> bool:
    """Return whether the model could have searched and chose not to."""
    return bool(response.attempts) and all(attempt.outcome is AttemptOutcome.SKIPPED for attempt in response.attempts)


def was_paused(response: SearchResponse) -> bool:
    """Return whether the web was not asked, because its engines had failed shortly before."""
    tried = any(attempt.outcome is AttemptOutcome.FAILED for attempt in response.attempts)
    return bool(response.failure) and not tried and any(attempt.was_paused for attempt in response.attempts)
