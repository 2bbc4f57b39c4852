"""Tavily, with a key. What it shares with the keyless mode is in TavilyApi."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from core.base.http import Request, Response
from core.base.settings import ApiKey
from core.search.engine import HttpEngine, KeyedEngine, KeySection, dig, error_document, object_list
from core.search.errors import EngineQuotaExceeded, EngineThrottled
from core.search.query import language_code
from core.search.results import RawResult
from core.search.types import SearchQuery, SearchType

MAX_RESULTS = 20

# Tavily's own numbers, beyond those of HTTP.
_LIMITS = {
    432: ("Tavily 套餐的额度已用完（432）。", "请到 app.tavily.com 升级套餐，或改用其他引擎。"),
    433: ("Tavily 按量付费的上限已用完（433）。", "请到 app.tavily.com 提高上限，或改用其他引擎。"),
}


class TavilyApi(HttpEngine):
    filters_language = False

    @property
    @abstractmethod
    def auth_headers(self) -> dict[str, str]: ...

    def build_request(self, query: SearchQuery, num_results: int) -> Request:
        body: dict[str, Any] = {"query": query.text, "max_results": min(num_results, MAX_RESULTS)}
        if query.type is SearchType.NEWS:
            body["topic"] = "news"
        elif language_code(query) == "zh":  # there is no filter by language worth the name; a country is only preferred
            body["country"] = "china"
        if query.sites:
            body["include_domains"] = list(query.sites)
        if query.time_range:
            body["time_range"] = query.time_range.value
        return Request("POST", "https://api.tavily.com/search", headers=self.auth_headers, json=body)

    def check_status(self, response: Response) -> None:
        if response.status in _LIMITS:
            message, cure = _LIMITS[response.status]
            raise EngineQuotaExceeded(message, cure=cure, status=response.status)
        if response.status == 429 and (seconds := _seconds_to_wait(response)):
            raise EngineThrottled(retry_after=seconds)
        super().check_status(response)

    def parse_response(self, response: Response) -> Iterator[RawResult]:
        for entry in object_list(response.json(), "results"):
            yield RawResult(entry.get("title"), entry.get("url"), entry.get("content"), entry.get("published_date"))


def _seconds_to_wait(response: Response) -> float | None:
    """Return the seconds that the keyless limit states in its body; None for the limit of a key, which states none."""
    seconds = dig(error_document(response), "error", "retry_after_seconds")
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None  # NaN is not


class TavilySettings(KeySection):
    name = "tavily"
    api_key: ApiKey | None = Field(None, description="Tavily 密钥")


class TavilyEngine(KeyedEngine, TavilyApi):
    name = "tavily"
    label = "Tavily"
    section = TavilySettings
    key_page = "app.tavily.com"
