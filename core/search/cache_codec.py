"""Search responses as the caches store them: JSON, so that nothing in it can run."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from core.base.text import clean, one_line, shorten
from core.base.web_addresses import host_of, is_web_url
from core.search.results import SNIPPET_LENGTH, TEXT_LENGTH, TITLE_LENGTH
from core.search.types import SearchQuery, SearchResponse, SearchResult

NAME_LENGTH = 40
NOTE_LENGTH = 500


def encode(response: SearchResponse, *, saved_at: float) -> str:
    """Return the response as JSON, without query and attempts: a later reader has its own query and asked no engine.
    `saved_at` is the time at which the results were fetched, in seconds since 1970."""
    document = {
        "saved": saved_at,
        "provider": response.provider,
        "skipped": response.skipped,
        "notes": response.notes,
        "total": response.total,
        "results": [asdict(result) for result in response.results],
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()  # a lone surrogate would crash SQLite and Redis


def decode(text: str, query: SearchQuery) -> tuple[float, SearchResponse]:
    """Return `saved_at` and the response. Raise ValueError for anything that `encode` did not write: others may be able
    to write to the cache."""
    try:
        document = json.loads(text)
        response = SearchResponse(
            query=query,
            results=tuple(map(_result, _typed(document["results"], list))),
            provider=_line(document["provider"], NAME_LENGTH),
            skipped=_typed(document["skipped"], int),
            notes=tuple(_line(note, NOTE_LENGTH) for note in _typed(document["notes"], list)),
            total=_typed(document["total"], int | None),
        )
        saved_at = float(_typed(document["saved"], float | int))
    except (KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError("not a kept search response") from error
    if not response.results or not math.isfinite(saved_at):
        raise ValueError("a kept search response without results or time")
    return saved_at, response


def _result(entry: dict[str, Any]) -> SearchResult:
    url, published = _typed(entry["url"], str), entry["published"]
    if not is_web_url(url):
        raise ValueError("a kept result that leads nowhere")
    return SearchResult(
        title=_line(entry["title"], TITLE_LENGTH),
        url=url,
        snippet=_line(entry["snippet"], SNIPPET_LENGTH),
        source=host_of(url),
        published=None if published is None else _line(published, NAME_LENGTH),
        engine=_line(entry["engine"], NAME_LENGTH),
        rank=_typed(entry["rank"], int),
        text=clean(_typed(entry.get("text", ""), str)[:TEXT_LENGTH]),
    )


def _line(text: Any, length: int) -> str:
    return shorten(one_line(_typed(text, str)), length)


def _typed(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value
