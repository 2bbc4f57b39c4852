"""Zhipu's web search (open.bigmodel.cn): good Chinese results, reachable from mainland China."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from core.base.http import Request, Response, fetch
from core.base.settings import ApiKey, LowerCase, Settings
from core.search.engine import KeyedEngine, KeySection, dig, error_document, object_list
from core.search.errors import EngineQuotaExceeded, EngineRefusedQuery
from core.search.query import recency
from core.search.results import RawResult
from core.search.types import SearchQuery

MAX_CHARACTERS = 70  # a longer query is refused
MAX_RESULTS = 50
SENSITIVE, IN_DEBT = "1301", "1113"  # the codes tell apart what has the same status


class ZhipuSettings(KeySection):
    name = "zhipu"
    api_key: ApiKey | None = Field(None, description="智谱搜索密钥")
    engine: Annotated[Literal["search_std", "search_pro", "search_pro_sogou", "search_pro_quark"], LowerCase] = Field(
        "search_std", description="智谱搜索的档次"
    )


class ZhipuEngine(KeyedEngine):
    name = "zhipu"
    label = "智谱"
    section = ZhipuSettings
    filters_language = False
    key_page = "open.bigmodel.cn"

    def __init__(self, api_key: str, *, engine: str = "search_std", fetch: Callable[..., Response] = fetch) -> None:
        super().__init__(api_key, fetch=fetch)
        self._engine = engine

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(cls.require_key(settings), engine=settings.section(ZhipuSettings).engine)

    def build_request(self, query: SearchQuery, num_results: int) -> Request:
        body: dict[str, Any] = {
            "search_query": query.text[:MAX_CHARACTERS],
            "search_engine": self._engine,
            "search_intent": False,
            "count": min(num_results, MAX_RESULTS),
            "content_size": "medium",
        }
        if len(query.sites) == 1:  # the filter takes one site; a legal search is then told by its words alone
            body["search_domain_filter"] = query.sites[0]
        if newest := recency(query):
            body["search_recency_filter"] = f"one{newest.title()}"
        return Request("POST", "https://open.bigmodel.cn/api/paas/v4/web_search", headers=self.auth_headers, json=body)

    def check_status(self, response: Response) -> None:
        code = str(dig(error_document(response), "error", "code"))
        if code == SENSITIVE:
            raise EngineRefusedQuery("智谱认为搜索词包含敏感内容，没有执行搜索。", cure="请换一种说法。")
        if code == IN_DEBT:
            raise EngineQuotaExceeded
        super().check_status(response)

    def parse_response(self, response: Response) -> Iterator[RawResult]:
        for entry in object_list(response.json(), "search_result"):
            yield RawResult(entry.get("title"), entry.get("link"), entry.get("content"), entry.get("publish_date"))
