"""The sources of one run: each has one number, given once; and as many of them as a prompt has room for."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from core.base.settings import Settings
from core.llm.tokens import estimate_tokens
from core.search.format import sources_block
from core.search.results import canonical
from core.search.types import SearchResult, Source


class Evidence:
    """Numbered from 1 in the order in which the model met them, one number per address."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_address: dict[str, Source] = {}

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(self._by_address.values())

    def number(self, results: Sequence[SearchResult]) -> tuple[Source, ...]:
        """The same results as sources, ascending: one that was met before keeps its number and comes first."""
        with self._lock:
            numbered = {source.number: source for source in map(self._numbered, results)}
        return tuple(numbered[number] for number in sorted(numbered))

    def _numbered(self, result: SearchResult) -> Source:
        source = Source.of(result, number=len(self._by_address) + 1)
        return self._by_address.setdefault(canonical(result.url), source)


def within_budget(sources: Sequence[Source], settings: Settings) -> tuple[tuple[Source, ...], str]:
    """As many of the first sources as the budget holds, at least one, and the text that carries them."""
    kept = tuple(sources)
    while kept:
        block = sources_block(kept, snippet_length=settings.search.snippet_length)
        if len(kept) == 1 or estimate_tokens(block) <= settings.chat.source_tokens:
            return kept, block
        kept = kept[:-1]
    return (), ""
