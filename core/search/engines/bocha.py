"""Bocha (bochaai.com): Chinese web search for programs, reachable from mainland China. Answers in Bing's old shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import Field

from core.base.http import Request, Response
from core.base.settings import ApiKey
from core.search.engine import KeyedEngine, KeySection, object_list
from core.search.query import recency
from core.search.results import RawResult
from core.search.types import SearchQuery

MAX_RESULTS = 50


class BochaSettings(KeySection):
    name = "bocha"
    api_key: ApiKey | None = Field(None, description="博查密钥")


class BochaEngine(KeyedEngine):
    name = "bocha"
    label = "博查"
    total_path = ("data", "webPages", "totalEstimatedMatches")
    section = BochaSettings
    filters_language = False
    key_page = "open.bochaai.com"

    def build_request(self, query: SearchQuery, num_results: int) -> Request:
        newest = recency(query)
        body: dict[str, Any] = {
            "query": query.text,
            "count": min(num_results, MAX_RESULTS),
            "summary": True,
            "freshness": f"one{newest.title()}" if newest else "noLimit",
        }
        if query.sites:
            body["include"] = "|".join(query.sites)
        return Request("POST", "https://api.bochaai.com/v1/web-search", headers=self.auth_headers, json=body)

    def parse_response(self, response: Response) -> Iterator[RawResult]:
        data = response.json()
        code = int(data["code"])  # a number or a string, and not always the same as the HTTP status
        self.check_status(replace(response, status=code))
        pages = data["data"]["webPages"]  # null when nothing was found
        for entry in object_list(pages, "value") if pages is not None else ():
            # The date is in `datePublished` or, in older answers, in `dateLastCrawled`: Beijing time marked as UTC.
            published = entry.get("datePublished") or entry.get("dateLastCrawled")
            yield RawResult(
                entry.get("name"), entry.get("url"), entry.get("summary") or entry.get("snippet"), published
            )
