"""SerpAPI: the result pages of Google, Bing or Baidu, read for us. The key travels in the address."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field

from core.base.http import Request, Response, fetch
from core.base.settings import ApiKey, LowerCase, Settings
from core.search.engine import KeyedEngine, KeySection, dig, object_list
from core.search.errors import EngineParseError, EngineUnavailable
from core.search.query import google_languages, language_code, text_with_sites, time_range_start
from core.search.results import RawResult
from core.search.types import SearchQuery, SearchType, TimeRange


def _google(query: SearchQuery, num_results: int) -> dict[str, str]:
    # Google has dropped the number of results: a page has about ten.
    params = {"engine": "google", "q": text_with_sites(query)}
    if query.type is SearchType.NEWS:
        params["tbm"] = "nws"
    if language := language_code(query):  # of all languages, Google writes only these with a country
        params["hl"] = query.language.lower() if language in {"zh", "pt"} else language
        params["lr"] = google_languages(language)
    if query.time_range:
        params["tbs"] = f"qdr:{query.time_range[0]}"
    return params


# A market is a language and a country.
_BING_MARKETS = {
    "en": "en-US",
    "ja": "ja-JP",
    "ko": "ko-KR",
    "fr": "fr-FR",
    "de": "de-DE",
    "es": "es-ES",
    "ru": "ru-RU",
}
_BING_AGES = {TimeRange.DAY: "ez1", TimeRange.WEEK: "ez2", TimeRange.MONTH: "ez3"}


def _bing(query: SearchQuery, num_results: int) -> dict[str, str]:
    news = query.type is SearchType.NEWS
    params = {"engine": "bing_news" if news else "bing", "q": text_with_sites(query), "count": str(num_results)}
    if market := query.language if "-" in query.language else _BING_MARKETS.get(query.language):
        params["mkt"] = market
    if query.time_range and not news:
        params["filters"] = f'ex1:"{_BING_AGES.get(query.time_range) or _days(query.time_range)}"'
    return params


def _days(time_range: TimeRange) -> str:
    """Return the range of days, counted from 1970."""
    return f"ez5_{int(time_range_start(time_range).timestamp()) // 86_400}_{int(time.time()) // 86_400}"


def _baidu(query: SearchQuery, num_results: int) -> dict[str, str]:
    news = query.type is SearchType.NEWS
    words = text_with_sites(query, separator=" | ")
    params = {"engine": "baidu_news" if news else "baidu", "q": words, "rn": str(num_results)}
    if query.language == "zh-CN":
        params["ct"] = "2"
    if query.time_range and not news:
        started = int(time_range_start(query.time_range).timestamp())
        params["gpc"] = f"stf={started},{int(time.time())}|stftype=1"
    return params


_PARAMETERS: Mapping[str, Callable[[SearchQuery, int], dict[str, str]]] = {
    "google": _google,
    "bing": _bing,
    "baidu": _baidu,
}


class SerpapiSettings(KeySection):
    name = "serpapi"
    api_key: ApiKey | None = Field(None, description="SerpAPI 密钥")
    engine: Annotated[Literal["google", "bing", "baidu"], LowerCase] = Field(
        "google", description="SerpAPI 读取哪个网站的结果页"
    )


class SerpapiEngine(KeyedEngine):
    name = "serpapi"
    label = "SerpAPI"
    total_path = ("search_information", "total_results")
    section = SerpapiSettings
    key_page = "serpapi.com/manage-api-key"

    def __init__(self, api_key: str, *, engine: str = "google", fetch: Callable[..., Response] = fetch) -> None:
        super().__init__(api_key, fetch=fetch)
        self._parameters = _PARAMETERS[engine]

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(cls.require_key(settings), engine=settings.section(SerpapiSettings).engine)

    def build_request(self, query: SearchQuery, num_results: int) -> Request:
        params = {**self._parameters(query, num_results), "api_key": self.api_key}
        return Request("GET", "https://serpapi.com/search.json", params=params)

    def parse_response(self, response: Response) -> Iterator[RawResult]:
        """Return the results. A search that found nothing is a success with an `error` sentence and no list at all."""
        data = response.json()
        status = dig(data, "search_metadata", "status")
        if not isinstance(status, str):
            raise EngineParseError
        if status != "Success":
            raise EngineUnavailable("SerpAPI 没有取到搜索结果页。", cure="请稍后重试。")
        for key in ("organic_results", "news_results"):
            for entry in object_list(data, key) if key in data else ():
                # Baidu's links lead over baidu.com to the page.
                yield RawResult(entry.get("title"), entry.get("link"), entry.get("snippet"), entry.get("date"))
