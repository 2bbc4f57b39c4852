"""Real answers of real services, where a developer has them beside the project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.search.errors import (
    EngineError,
    EngineMisconfigured,
    EngineParseError,
    EngineRefusedQuery,
    EngineThrottled,
    EngineUnavailable,
)
from support.engines import answer, scripted, usable

pytestmark = pytest.mark.shared

EXPECTED: dict[str, tuple[str, int | type[EngineError]]] = {
    "exa/error_401_invalid_key.json": ("exa", EngineMisconfigured),
    "exa/search_highlights_2026_first3.json": ("exa", 3),
    "openai/error_401_invalid_key.json": ("native", EngineMisconfigured),
    "openai/responses_web_search.json": ("native", EngineParseError),  # searched, and named no source
    "openai/responses_web_search_allowed_domains.json": ("native", 2),
    "openai/responses_web_search_vercel.json": ("native", 10),
    "openai/chat_web_search_options_unsupported_400.json": ("native", EngineMisconfigured),
    "perplexity/error_401_invalid_key.json": ("perplexity", EngineMisconfigured),
    "searxng/all_engines_unresponsive_200.json": ("searxng", EngineUnavailable),
    "searxng/json_disabled_403.html": ("searxng", EngineMisconfigured),
    "searxng/keyvalue_results_null_url_200.json": ("searxng", 0),
    "searxng/no_query_400.json": ("searxng", EngineRefusedQuery),
    "searxng/search_openclaw_old_format.json": ("searxng", 1),
    "searxng/search_severance_2026.json": ("searxng", 6),
    "serpapi/error_401_invalid_key.json": ("serpapi", EngineMisconfigured),
    "serpapi/google_no_results_200.json": ("serpapi", 0),
    "serpapi/google_plagiarism_2025.json": ("serpapi", 8),
    "tavily/error_400.json": ("tavily", EngineRefusedQuery),
    "tavily/error_401.json": ("tavily", EngineMisconfigured),
    "tavily/error_429.json": ("tavily", EngineThrottled),
    "tavily/search_basic.json": ("tavily", 5),
    "tavily/search_factory.json": ("tavily", 2),
}
OTHER_SHAPES = {
    "exa/results_subset_industry_2026.json",  # results without their envelope
    "openai/chat_search_preview.json",  # chat completions
    "perplexity/sonar_basic.json",
    "perplexity/sonar_citations_search_results.json",
    "perplexity/sonar_vercel_citations.json",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_recorded(shared: Path, name: str) -> None:
    engine, expected = EXPECTED[name]
    path = shared / "data" / "payloads" / name
    meta = path.with_suffix("").with_suffix(".meta.json")
    status = json.loads(meta.read_text("utf-8"))["status"] if meta.exists() else 200
    searching = usable(engine, scripted(answer(path.read_bytes(), status)))
    if isinstance(expected, int):
        found = searching.search("x", 10)
        assert len(found) == expected
        assert all(result.title and result.source for result in found)
    else:
        with pytest.raises(expected):
            searching.search("x", 10)


def test_every_recording_of_these_engines_is_looked_at(shared: Path) -> None:
    folder = shared / "data" / "payloads"
    there = {
        str(path.relative_to(folder))
        for service in ("exa", "openai", "perplexity", "searxng", "serpapi", "tavily")
        for path in (folder / service).iterdir()
        if path.suffix in {".json", ".html"} and not path.name.endswith(".meta.json")
    }
    assert there == set(EXPECTED) | OTHER_SHAPES
