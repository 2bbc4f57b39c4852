"""Turn the asked query into the one that engines receive, with language, sites and words filled in."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from core.base.settings import Settings
from core.base.text import is_chinese, one_line
from core.search.types import SearchQuery, SearchType, TimeRange

MAX_LENGTH = 400
"""Longest text sent to an engine. Engines read no more, and some servers refuse longer addresses."""

LANGUAGES = {
    "zh-CN": "中文",
    "en": "英文",
    "ja": "日文",
    "ko": "韩文",
    "fr": "法文",
    "de": "德文",
    "es": "西班牙文",
    "ru": "俄文",
}
TIME_RANGES = {
    TimeRange.DAY: "最近一天",
    TimeRange.WEEK: "最近一周",
    TimeRange.MONTH: "最近一月",
    TimeRange.YEAR: "最近一年",
}

_OTHER_SCRIPTS = re.compile("[\u3040-\u30ff\uac00-\ud7af]")  # kana and hangul: Han characters there are not Chinese
_DAYS = {TimeRange.DAY: 1, TimeRange.WEEK: 7, TimeRange.MONTH: 30, TimeRange.YEAR: 365}


def effective_query(query: SearchQuery, settings: Settings) -> SearchQuery:
    """Return the query that engines receive. The response and the caches keep the one that was asked."""
    text = one_line(query.text)[:MAX_LENGTH]
    sites, words = _legal_sites_and_words(query.type, settings)
    language = query.language or settings.search.language
    if language == "auto":
        language = _detect_language(text)
    return replace(
        query,
        text=" ".join((text, *(word for word in words if word not in text))),
        sites=query.sites or sites,
        language="zh-CN" if language == "zh" else language,  # some engines know Chinese only with a country
        question=one_line(query.question)[:MAX_LENGTH],
    )


def _legal_sites_and_words(kind: SearchType, settings: Settings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if kind is SearchType.REGULATION:
        return settings.legal.regulation_sites, settings.legal.regulation_words
    if kind is SearchType.CASE:
        return settings.legal.case_sites, settings.legal.case_words
    return (), ()


def _detect_language(text: str) -> str:
    """Return the language of the text; `auto` if it is not clear, and engines then get no language."""
    if _OTHER_SCRIPTS.search(text):
        return "auto"
    if is_chinese(text):
        return "zh-CN"
    return "en" if text.isascii() else "auto"


def language_code(query: SearchQuery) -> str:
    """Return `zh` for `zh-CN`; empty if no language was chosen."""
    return "" if query.language == "auto" else query.language.partition("-")[0]


def google_languages(code: str) -> str:
    """Return Google's own names for the languages that pages may be in."""
    return "lang_zh-CN|lang_zh-TW" if code == "zh" else f"lang_{code}"


def describe_filters(query: SearchQuery) -> list[str]:
    """Return the filters of the query in words: 最近一周, 英文."""
    limits = [TIME_RANGES[query.time_range]] if query.time_range else []
    if query.language not in {"", "auto"}:
        limits.append(LANGUAGES.get(query.language, query.language))
    return limits


def text_with_sites(query: SearchQuery, *, separator: str = " OR ") -> str:
    """Return the words with a `site:` operator for each site, for engines that have no parameter for it."""
    operators = [f"site:{site}" for site in query.sites if not _covered(site, query.sites)]
    if len(operators) < 2:
        return " ".join((query.text, *operators))
    return f"{query.text} ({separator.join(operators)})"


def _covered(site: str, sites: tuple[str, ...]) -> bool:
    """Return whether a shorter name in the list includes this one. Engines ignore words after about thirty."""
    return any(site.endswith(f".{other}") for other in sites)


def recency(query: SearchQuery) -> TimeRange | None:
    """Return the time range for engines without a news search: news is what was written in the last month."""
    if query.time_range is None and query.type is SearchType.NEWS:
        return TimeRange.MONTH
    return query.time_range


def time_range_start(time_range: TimeRange) -> datetime:
    """Return the moment at which this time range begins."""
    return datetime.now(UTC) - timedelta(days=_DAYS[time_range])


def _time_range_since(day: date) -> TimeRange | None:
    """Return the shortest time range that reaches back to a day; None if none does."""
    return next((one for one in TimeRange if time_range_start(one).date() <= day), None)


def parse_time_range(text: str) -> TimeRange:
    """Return the time range with this name, or the shortest one that reaches back to this date. Raise ValueError with the
    reason for people."""
    with suppress(ValueError):
        return TimeRange(text)
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"要写 {'、'.join(TimeRange)} 或日期如 2026-03-01") from None
    if day > date.today():
        raise ValueError("这一天还没有到")
    if (found := _time_range_since(day)) is None:
        raise ValueError("搜索引擎最多只能限定最近一年")
    return found
