"""The sources of one run, each with one number, with what was read of them and what the model was given."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.base.text import one_line, shorten
from core.base.web_addresses import canonical_url, host_of
from core.reading import Page, ReadingError, ReadOutcome, Span
from core.run.given_texts import FoundSpans, given_places
from core.search import SNIPPET_LENGTH, TITLE_LENGTH
from core.search.types import SearchResult, Source


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A file of the document library in which a search has found something."""

    page: Page
    spans: tuple[Span, ...] = ()
    """Positions of the passages in its text, the best first."""
    collection: str = ""
    """Name of its collection."""
    is_outdated: bool = False
    """True if the collection has a newer version of it."""


class RunSources:
    """The sources of a run, one per address, numbered from 1 in the order in which the model was shown them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_address: dict[str, Source] = {}
        self._pages: dict[int, Page] = {}
        self._found_spans: dict[int, tuple[Span, ...]] = {}
        self._given_spans: dict[int, tuple[Span, ...]] = {}

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(self._by_address.values())

    @property
    def pages(self) -> Mapping[int, Page]:
        """The pages that were read, by the number of the source."""
        return self._pages

    @property
    def found_spans(self) -> Mapping[int, tuple[Span, ...]]:
        """The spans that the document library found for the question, best first, by the number of the source."""
        return self._found_spans

    def add_results(self, results: Sequence[SearchResult]) -> tuple[Source, ...]:
        """Add results as sources and return them, ordered by number. A result that is known keeps its number."""
        with self._lock:
            numbered = {source.number: source for source in map(self._add_result, results)}
        return tuple(numbered[number] for number in sorted(numbered))

    def add_tool_results(self, results: Sequence[SearchResult], tool: str) -> tuple[Source, ...]:
        """Add what a foreign tool has found. What is known already keeps its number and its text."""
        with self._lock:
            before = len(self._by_address)
            numbered = {source.number: source for source in map(self._add_result, results)}
            marked = [self._mark_tool(one, tool) if one.number > before else one for one in numbered.values()]
        return tuple(sorted(marked, key=lambda source: source.number))

    def add_tool_text(self, page: Page, tool: str) -> Source:
        """Add a text that a foreign tool has brought. The same text of the same tool keeps its number."""
        with self._lock:
            known = self._by_address.get(canonical_url(page.address))
            return known or self._mark_tool(self._add_file(page), tool)

    def _mark_tool(self, source: Source, tool: str) -> Source:
        marked = self._by_address[canonical_url(source.url)] = replace(source, tool=tool)
        return marked

    def _add_result(self, result: SearchResult) -> Source:
        known = self._by_address.get(canonical_url(result.url))
        if known is not None:
            return known
        source = Source.from_result(result, number=len(self._by_address) + 1)
        if result.text:
            page = Page.from_search_result(result)
            self._pages[source.number] = page
            source = source if source.read == "library" else with_page_details(source, page)
        self._by_address[canonical_url(result.url)] = source
        return source

    def add_files(self, files: Sequence[Page]) -> tuple[Source, ...]:
        """Add the reader's own files, as sources that were read in full."""
        with self._lock:
            return tuple(self._by_address.get(canonical_url(file.address)) or self._add_file(file) for file in files)

    def add_documents(self, documents: Sequence[FoundDocument]) -> tuple[Source, ...]:
        """Add files of the document library with the spans that were found in them. A file that is known keeps its number
        and gets the new spans in addition."""
        with self._lock:
            return tuple(map(self._add_document, documents))

    def _add_document(self, found: FoundDocument) -> Source:
        file = found.page
        source = self._by_address.get(canonical_url(file.address))
        if source is None:
            start = found.spans[0][0] if found.spans else 0
            source = replace(self._add_file(file, start), collection=found.collection, is_outdated=found.is_outdated)
            self._by_address[canonical_url(file.address)] = source
        known = self._found_spans.get(source.number, ())
        self._found_spans[source.number] = tuple(dict.fromkeys((*known, *found.spans)))
        return source

    def _add_file(self, file: Page, start: int = 0) -> Source:
        """Add a file. Its snippet is what stands at `start`."""
        words = shorten(one_line(file.text[start : start + SNIPPET_LENGTH]), SNIPPET_LENGTH)
        number = len(self._by_address) + 1
        source = Source(
            number, file.title, file.address, words, published=file.published, read="file", characters=file.length
        )
        self._pages[source.number] = file
        self._by_address[canonical_url(file.address)] = source
        return source

    def add_earlier_sources(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        """Add sources of another run, with numbers of this one."""
        return self.add_results(
            [SearchResult(one.title, one.url, one.snippet, host_of(one.url), one.published) for one in sources]
        )

    def add_links(self, addresses: Sequence[str]) -> tuple[Source, ...]:
        """Add addresses that the user typed. They have neither a title nor a snippet yet."""
        return self.add_results([SearchResult(host_of(url), url, "", host_of(url)) for url in addresses])

    def find_by_address(self, address: str) -> Source | None:
        return self._by_address.get(canonical_url(address))

    def refreshed(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        """Return the current state of these sources."""
        return tuple(self._by_address[canonical_url(source.url)] for source in sources)

    def record_outcome(self, source: Source, outcome: ReadOutcome) -> Source:
        """Record how reading a page ended, and return the updated source."""
        with self._lock:
            if isinstance(outcome, ReadingError):
                settled = source if source.number in self._pages else replace(source, unread=outcome.short_reason)
            else:
                self._pages[source.number] = outcome
                settled = with_page_details(source, outcome)
            self._by_address[canonical_url(source.url)] = settled
        return settled

    def forget_given(self) -> None:
        """Forget what a prompt contained that the model has refused."""
        with self._lock:
            for address, source in self._by_address.items():
                if source.number in self._given_spans and not source.given_parts:
                    self._by_address[address] = replace(source, given=0, given_places="")
                    del self._given_spans[source.number]

    def record_given(self, spans: FoundSpans) -> tuple[Source, ...]:
        """Record which parts of the texts a prompt contains, and return the sources for which that is news."""
        with self._lock:
            changed = [source for source in self._by_address.values() if self._add_given(source, spans)]
            return self.refreshed(changed)

    def record_parts(self, number: int, spans: Sequence[Span], parts: int) -> Source:
        """Record that the model has read these parts of a file one after the other. Return the source."""
        with self._lock:
            source = next(source for source in self._by_address.values() if source.number == number)
            self._given_spans[number] = _merged(spans)
            characters = sum(end - start for start, end in self._given_spans[number])
            settled = replace(source, given=characters, given_places="", given_parts=parts)
            self._by_address[canonical_url(source.url)] = settled
        return settled

    def _add_given(self, source: Source, spans: FoundSpans) -> bool:
        new = spans.get(source.number, ())
        given = _merged((*self._given_spans.get(source.number, ()), *new))
        if not new or given == self._given_spans.get(source.number):
            return False
        self._given_spans[source.number] = given
        page = self._pages[source.number]
        characters = sum(end - start for start, end in given)
        settled = replace(source, given=characters, given_places=given_places(page, given))
        self._by_address[canonical_url(source.url)] = settled
        return True


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the spans in order, joined where they overlap or touch."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


def with_page_details(source: Source, page: Page) -> Source:
    """Return the source marked as read, with the title, date and length that its page gives."""
    nameless = source.title in {"", host_of(source.url)}
    return replace(
        source,
        title=(nameless and shorten(one_line(page.title), TITLE_LENGTH)) or source.title,
        snippet=source.snippet or shorten(one_line(page.text[:SNIPPET_LENGTH]), SNIPPET_LENGTH),
        published=page.published or source.published,
        read="page",
        characters=page.length,
        unread="",
        tool="",  # whoever has found it, this is what stands there
    )
