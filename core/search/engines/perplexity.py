"""Perplexity's Search API: plain results, not its answering models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from core.base.http import Request, Response
from core.base.settings import ApiKey
from core.search.engine import KeyedEngine, KeySection, object_list
from core.search.query import language_code, recency
from core.search.results import RawResult
from core.search.types import SearchQuery

MAX_RESULTS = 20
MAX_SITES = 20


class PerplexitySettings(KeySection):
    name = "perplexity"
    api_key: ApiKey | None = Field(None, description="Perplexity 密钥")


class PerplexityEngine(KeyedEngine):
    name = "perplexity"
    label = "Perplexity"
    section = PerplexitySettings
    key_page = "perplexity.ai 的 API 设置页"

    def build_request(self, query: SearchQuery, num_results: int) -> Request:
        body: dict[str, Any] = {"query": query.text, "max_results": min(num_results, MAX_RESULTS)}
        if query.sites:
            body["search_domain_filter"] = list(query.sites[:MAX_SITES])
        if language := language_code(query):
            body["search_language_filter"] = [language]
        if newest := recency(query):
            body["search_recency_filter"] = newest.value
        return Request("POST", "https://api.perplexity.ai/search", headers=self.auth_headers, json=body)

    def parse_response(self, response: Response) -> Iterator[RawResult]:
        for entry in object_list(response.json(), "results"):
            yield RawResult(entry.get("title"), entry.get("url"), entry.get("snippet"), entry.get("date"))
