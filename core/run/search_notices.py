"""Notices on the searches of a run, in the same words in both modes and on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.answer.events import Notice
from core.base.text import time_ago
from core.legal.entities import LIBRARY_LABELS
from core.search.types import DOCUMENTS, SearchResponse, first_pause


def search_notices(searches: Sequence[SearchResponse]) -> Iterator[Notice]:
    """Yield each notice once for all searches of a run: the web was not reached, results are old, results were skipped."""
    failed = [search for search in searches if search.failure and search.provider != DOCUMENTS]
    if failed and not any(_has_reached_web(search) for search in searches):
        pause = first_pause(attempt for search in failed for attempt in search.attempts)
        yield Notice("web_failed", f"{failed[0].failure}{failed[0].cure}".rstrip(), pause)
    if ages := [search.cache_age or 0 for search in searches if search.stale]:
        age = time_ago(max(ages))
        yield Notice("stale", f"搜索引擎暂时没有答复，以下来源是{age}保存的旧结果，可能已经过时。")
    if skipped := sum(search.skipped for search in searches):
        yield Notice("partial", f"有 {skipped} 条搜索结果无法读取，已经跳过，其余的照常使用。")


def _has_reached_web(search: SearchResponse) -> bool:
    return not search.failure and search.provider not in LIBRARY_LABELS
