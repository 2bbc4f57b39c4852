"""The ddgs library: DuckDuckGo and others without a key. It brings its own HTTP client, so it is no HttpEngine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Self

from pydantic import Field

from core.base.http import Deadline
from core.base.settings import Names, Settings
from core.search.engine import DEFAULT_SECONDS, EngineSection, SearchEngine
from core.search.errors import EngineParseError, EngineThrottled, EngineTimeout, EngineUnavailable
from core.search.query import text_with_sites
from core.search.results import EngineResults, RawResult, clean_results
from core.search.types import SearchQuery, SearchType

NOTHING_FOUND = "No results found."
NEWS_BACKENDS = ("duckduckgo", "yahoo")

_REGIONS = {
    "zh": "cn-zh",
    "zh-CN": "cn-zh",
    "zh-TW": "tw-tzh",
    "zh-HK": "hk-tzh",
    "en": "us-en",
    "en-US": "us-en",
    "ja": "jp-jp",
    "ko": "kr-kr",
    "fr": "fr-fr",
    "de": "de-de",
    "es": "es-es",
    "ru": "ru-ru",
}

for noisy in ("ddgs", "primp"):  # below this level they write whole addresses, and the query in them
    logging.getLogger(noisy).setLevel(logging.WARNING)


def _library(**options: Any) -> Any:
    from ddgs import DDGS  # takes a while to import, and is the last engine to be asked

    return DDGS(**options)


class DdgsSettings(EngineSection):
    name = "ddgs"
    backends: Names = Field(
        ("duckduckgo", "brave", "startpage"), description="ddgs 查询的网站，还可以用 mojeek、yahoo、wikipedia"
    )


class DdgsEngine(SearchEngine):
    name = "ddgs"
    label = "DuckDuckGo 等"
    section = DdgsSettings
    is_set_up = False

    def __init__(self, backends: Sequence[str], *, library: Callable[..., Any] = _library) -> None:
        self._backends = tuple(backends)
        self._library = library

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(settings.section(DdgsSettings).backends)

    def search(self, query: SearchQuery | str, num_results: int, *, deadline: Deadline | None = None) -> EngineResults:
        """Search with the ddgs library and return the cleaned results. Raise an `EngineError`."""
        query = SearchQuery(query) if isinstance(query, str) else query
        news = query.type is SearchType.NEWS
        backends = NEWS_BACKENDS if news else self._backends
        seconds = (deadline or Deadline(DEFAULT_SECONDS)).remaining()
        # It starts with two backends at once and then takes one after the other, each with the full timeout.
        client = self._library(timeout=seconds / max(1, len(backends) - 1))
        rows = _rows(
            client.news if news else client.text,
            text_with_sites(query),
            region=_REGIONS.get(query.language, "wt-wt"),
            timelimit=query.time_range[0] if query.time_range else None,
            max_results=num_results,
            backend=",".join(backends),
        )
        return clean_results(map(_result, rows), engine=self.name, limit=num_results)


def _rows(ask: Callable[..., Any], words: str, **options: Any) -> list[dict[str, Any]]:
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    try:
        return [row for row in ask(words, **options) if isinstance(row, dict)]
    except TimeoutException:
        raise EngineTimeout from None
    except RatelimitException:
        raise EngineThrottled from None
    except DDGSException as error:
        # The same words stand for a search without hits and for backends that refused; anything else is a failure.
        if str(error) == NOTHING_FOUND:
            return []
        raise EngineUnavailable(
            "ddgs 使用的搜索网站都连接不上。", cure="请检查网络；在中国大陆通常需要代理，也可以改用其他引擎。"
        ) from None
    except Exception:  # whatever its parsers trip over
        raise EngineParseError from None


def _result(row: dict[str, Any]) -> RawResult:
    return RawResult(row.get("title"), row.get("href") or row.get("url"), row.get("body"), row.get("date"))
