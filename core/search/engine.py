"""What a search engine is: one method. And the template that makes an HTTP engine two small pure halves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from core.search.types import SearchQuery, SearchResult


@runtime_checkable
class SearchEngine(Protocol):
    """Raises an `EngineError` when it cannot answer; an empty list means that the engine really found nothing."""

    name: str

    def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]: ...


@dataclass(frozen=True, slots=True)
class RawResult:
    """One result as an engine's parser reads it: any field may still be missing, hostile or of the wrong type."""

    title: Any
    url: Any
    snippet: Any = ""
    published: Any = None


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None


class EngineName:
    """The names used in configuration, in attempts and on the page."""

    BUNDLED: ClassVar[str] = "bundled"
