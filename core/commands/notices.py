"""Texts that the commands `search` and `ask` have in common."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from core.base.text import time_ago

if TYPE_CHECKING:
    from core.answer.events import Notice
    from core.search.types import SearchResponse


def notice_lines(notice: Notice) -> Iterator[str]:
    """Yield a notice, and how long the search engine that it is about is paused, on the clock of this machine."""
    yield notice.text
    if notice.pause:
        yield f"搜索引擎{notice.pause.words(datetime.now().astimezone())}。"


def origin_text(response: SearchResponse) -> str:
    """Return how long the search took, and the age of results that come from a cache."""
    cached = f" · {'旧' if response.stale else ''}缓存 · {time_ago(response.cache_age or 0).strip()}"
    return f"{response.search_time:.1f} 秒{cached if response.from_cache else ''}"
