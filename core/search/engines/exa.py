"""Exa: search by meaning. Without `contents` it sends addresses and titles only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

from pydantic import Field

from core.base.http import Request, Response, fetch
from core.base.settings import ApiKey, Flag, Settings
from core.search.engine import KeyedEngine, KeySection, dig, error_document, object_list
from core.search.errors import EngineQuotaExceeded
from core.search.query import time_range_start
from core.search.results import SNIPPET_LENGTH, RawResult
from core.search.types import SearchQuery, SearchType

_BUDGETS = {
    "API_KEY_BUDGET_EXCEEDED": "这个 Exa 密钥用完了为它设定的预算。",
    "TEAM_BUDGET_EXCEEDED": "Exa 团队的预算已用完。",
}


class ExaSettings(KeySection):
    name = "exa"
    api_key: ApiKey | None = Field(None, description="Exa 密钥")
    text: Flag = Field(False, description="取网页开头的正文，而不是与问题相关的片段")


class ExaEngine(KeyedEngine):
    name = "exa"
    label = "Exa"
    section = ExaSettings
    filters_language = False
    key_page = "dashboard.exa.ai"

    def __init__(self, api_key: str, *, text: bool = False, fetch: Callable[..., Response] = fetch) -> None:
        super().__init__(api_key, fetch=fetch)
        self._contents = {"text": {"maxCharacters": SNIPPET_LENGTH}} if text else {"highlights": True}

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(cls.require_key(settings), text=settings.section(ExaSettings).text)

    def build_request(self, query: SearchQuery, num_results: int) -> Request:
        """Return the request. It has no parameter for the language: Exa goes by the meaning of the query."""
        body: dict[str, Any] = {"query": query.text, "numResults": num_results, "contents": self._contents}
        if query.type is SearchType.NEWS:
            body["category"] = "news"
        if query.sites:
            body["includeDomains"] = list(query.sites)
        if query.time_range:  # leaves out every page without a date
            body["startPublishedDate"] = time_range_start(query.time_range).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return Request("POST", "https://api.exa.ai/search", headers={"x-api-key": self.api_key}, json=body)

    def check_status(self, response: Response) -> None:
        if response.status == 402:
            raise EngineQuotaExceeded(_BUDGETS.get(str(dig(error_document(response), "tag")), ""))
        super().check_status(response)

    def parse_response(self, response: Response) -> Iterator[RawResult]:
        for entry in object_list(response.json(), "results"):
            yield RawResult(entry.get("title"), entry.get("url"), _passages(entry), entry.get("publishedDate"))


def _passages(entry: dict[str, Any]) -> Any:
    highlights = entry.get("highlights")
    if isinstance(highlights, list) and highlights:
        return " … ".join(piece for piece in highlights if isinstance(piece, str))
    return entry.get("text") or entry.get("summary")
