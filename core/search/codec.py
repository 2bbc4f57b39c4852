"""A response as the caches keep it: JSON, nothing that could run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from core.search.types import SearchQuery, SearchResponse, SearchResult


@dataclass(frozen=True, slots=True)
class Kept:
    saved: float
    """When the results were fetched, in seconds since 1970."""
    response: SearchResponse


def encode(response: SearchResponse, *, saved: float) -> str:
    """Neither the query nor the attempts are kept: whoever reads this has a query of its own, and asked nobody."""
    document = {
        "saved": saved,
        "provider": response.provider,
        "skipped": response.skipped,
        "notes": response.notes,
        "total": response.total,
        "results": [asdict(result) for result in response.results],
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()  # a lone surrogate would crash SQLite and Redis


def decode(text: str, query: SearchQuery) -> Kept:
    """Raises ValueError for whatever `encode` would not have written."""
    try:
        document = json.loads(text)
        response = SearchResponse(
            query=query,
            results=tuple(_result(entry) for entry in document["results"]),
            provider=_typed(document["provider"], str),
            skipped=_typed(document["skipped"], int),
            notes=tuple(_typed(note, str) for note in document["notes"]),
            total=_typed(document["total"], int | None),
        )
        return Kept(saved=float(_typed(document["saved"], float | int)), response=response)
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("not a kept search response") from error


def _result(entry: dict[str, Any]) -> SearchResult:
    return SearchResult(
        title=_typed(entry["title"], str),
        url=_typed(entry["url"], str),
        snippet=_typed(entry["snippet"], str),
        source=_typed(entry["source"], str),
        published=_typed(entry["published"], str | None),
        engine=_typed(entry["engine"], str),
        rank=_typed(entry["rank"], int),
    )


def _typed(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value
