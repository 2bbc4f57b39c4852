"""What readers are told about the searches of a run."""

from __future__ import annotations

from core.run.search_notices import search_notices
from core.search.types import SearchQuery, SearchResponse

QUERY = SearchQuery("问题")
FAILED = SearchResponse(QUERY, failure="联网搜索没有成功。", cure="请检查网络。")
FOUND = SearchResponse(QUERY, provider="web")
LAWS = SearchResponse(QUERY, provider="laws")


def told(*searches: SearchResponse) -> dict[str, str]:
    return {notice.kind: notice.text for notice in search_notices(searches)}


def test_good_searches_need_no_notice() -> None:
    assert told() == told(FOUND, LAWS) == {}


def test_the_web_has_failed_only_if_no_search_reached_it() -> None:
    assert told(FAILED, FAILED) == told(LAWS, FAILED) == {"web_failed": "联网搜索没有成功。请检查网络。"}
    assert told(FAILED, FOUND) == {}


def test_old_and_skipped_results_of_all_searches_are_told_once() -> None:
    old = [SearchResponse(QUERY, provider="web", stale=True, cache_age=hours * 3600, skipped=2) for hours in (5, 3)]
    said = told(*old, FOUND)
    assert list(said) == ["stale", "partial"]
    assert "5 小时前" in said["stale"]
    assert "有 4 条" in said["partial"]
