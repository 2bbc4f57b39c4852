"""Sources to quote from, and what an answer quotes of them."""

from __future__ import annotations

import re
from dataclasses import replace

from core.search.types import Source

SEARCH_SWITCH = Source(
    1,
    "怎样打开联网搜索",
    "http://localhost:8501/help?article=web-search",
    "联网搜索的开关在左侧边栏。打开以后，每个问题都会先搜索再回答。搜索失败时，回答会照常给出。",
)
SEARXNG = Source(
    2,
    "SearXNG 返回 403",
    "http://localhost:8501/help?article=searxng-403",
    "SearXNG 返回 403，是因为服务没有打开 JSON 格式。在 settings.yml 的 search.formats 里加上 json，再重启服务。",
)
WEATHER = Source(3, "城市天气", "https://weather.example/", "明天多云。气温十度。")


def renumbered(source: Source, number: int) -> Source:
    return replace(source, number=number)


def quoted(answer: str) -> list[tuple[str, int]]:
    """Every sentence that is followed by a number, without the lead-in."""
    pairs = re.findall(r"(.+?) ?\[(\d+)\]", answer.partition("\n\n")[2])
    return [(text.strip(), int(number)) for text, number in pairs]
