"""The sources of one run: each has one number, given once; and as much of them as a prompt has room for."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.base.settings import Settings
from core.base.text import one_line, shorten
from core.base.web_addresses import canonical, host_of
from core.legal.types import CASES, LAWS, LIBRARIES
from core.llm.tokens import estimate_tokens
from core.reading import Outcome, Page, ReadingError, passages
from core.search.format import sources_block
from core.search.results import SNIPPET_LENGTH, TITLE_LENGTH
from core.search.types import SearchResult, Source

BETWEEN_PASSAGES = " …… "
SHORTEST_PASSAGES = 200
"""Characters of a page: a snippet has as many."""
LONGEST_ARTICLE = 1_000
"""Characters: an article of a law is shown whole, and hardly any is longer."""
TRIES = 8


class Evidence:
    """Numbered from 1 in the order in which the model met them, one number per address."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_address: dict[str, Source] = {}
        self._pages: dict[int, Page] = {}

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(self._by_address.values())

    @property
    def pages(self) -> Mapping[int, Page]:
        """What was read, by the number of the source."""
        return self._pages

    def number(self, results: Sequence[SearchResult]) -> tuple[Source, ...]:
        """The same results as sources, ascending: one that was met before keeps its number and comes first."""
        with self._lock:
            numbered = {source.number: source for source in map(self._numbered, results)}
        return tuple(numbered[number] for number in sorted(numbered))

    def _numbered(self, result: SearchResult) -> Source:
        known = self._by_address.get(canonical(result.url))
        if known is not None:
            return known
        source = Source.of(result, number=len(self._by_address) + 1)
        if result.text:
            page = Page.sent_along(result)
            self._pages[source.number] = page
            source = source if source.read == "library" else as_read(source, page)
        self._by_address[canonical(result.url)] = source
        return source

    def attach(self, files: Sequence[Page]) -> tuple[Source, ...]:
        """What the reader has brought along, as sources that were read in full."""
        with self._lock:
            return tuple(self._by_address.get(canonical(file.address)) or self._attached(file) for file in files)

    def _attached(self, file: Page) -> Source:
        begins = shorten(one_line(file.text[:SNIPPET_LENGTH]), SNIPPET_LENGTH)
        source = Source(
            len(self._by_address) + 1, file.title, file.address, begins, read="file", characters=file.length
        )
        self._pages[source.number] = file
        self._by_address[canonical(file.address)] = source
        return source

    def number_again(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        """Sources of another run, as sources of this one."""
        return self.number(
            [
                SearchResult(source.title, source.url, source.snippet, host_of(source.url), source.published)
                for source in sources
            ]
        )

    def number_links(self, addresses: Sequence[str]) -> tuple[Source, ...]:
        """What the user typed: nobody has said yet what stands there."""
        return self.number([SearchResult(host_of(address), address, "", host_of(address)) for address in addresses])

    def at(self, address: str) -> Source | None:
        return self._by_address.get(canonical(address))

    def now(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        """The same sources, as they are by now."""
        return tuple(self._by_address[canonical(source.url)] for source in sources)

    def settle(self, source: Source, outcome: Outcome) -> Source:
        """The source as it is now that somebody tried to read it."""
        with self._lock:
            if isinstance(outcome, ReadingError):
                settled = source if source.number in self._pages else replace(source, unread=outcome.mark)
            else:
                self._pages[source.number] = outcome
                settled = as_read(source, outcome)
            self._by_address[canonical(source.url)] = settled
        return settled


def as_read(source: Source, page: Page) -> Source:
    """The same source, with what its page says of itself."""
    nameless = source.title in {"", host_of(source.url)}
    return replace(
        source,
        title=(nameless and shorten(one_line(page.title), TITLE_LENGTH)) or source.title,
        snippet=source.snippet or shorten(one_line(page.text[:SNIPPET_LENGTH]), SNIPPET_LENGTH),
        published=page.published or source.published,
        read="page",
        characters=page.length,
        unread="",
    )


def within_budget(
    sources: Sequence[Source], settings: Settings, *, pages: Mapping[int, Page] | None = None, question: str = ""
) -> tuple[tuple[Source, ...], str]:
    """As many of the first sources as the budget holds, at least one, and the text that carries them.

    What is left beside the snippets is shared by the pages that were read: passages that speak about the question.
    """
    kept = tuple(sources)
    while kept:
        block = _block(kept, settings, _articles(kept, settings, pages or {}))
        if len(kept) == 1 or estimate_tokens(block) <= settings.chat.source_tokens:
            return kept, described(kept, settings, pages=pages or {}, question=question)
        kept = kept[:-1]
    return (), ""


def described(sources: Sequence[Source], settings: Settings, *, pages: Mapping[int, Page], question: str) -> str:
    """All of these as a model reads them: passages of what was read, as far as the budget goes, and snippets."""
    return _block(sources, settings, _texts(sources, settings, pages, question))


def excerptable(
    sources: Sequence[Source], settings: Settings, *, pages: Mapping[int, Page], question: str
) -> list[Source]:
    """Return the sources with what a model would read of them as their snippets; of a case that is passages of its text."""
    texts = _texts(sources, settings, pages, question)
    for source in sources:
        if source.engine == CASES and source.number in pages:
            texts[source.number] = quoted(pages[source.number], question, source.snippet, LONGEST_ARTICLE)
    length = settings.search.snippet_length
    return [
        replace(source, snippet=texts.get(source.number) or shorten(one_line(source.snippet), length))
        for source in sources
    ]


def _block(sources: Sequence[Source], settings: Settings, texts: Mapping[int, str]) -> str:
    """The addresses of a library are long, and the model has no use for them."""
    named = [replace(source, url=LIBRARIES.get(source.engine, source.url)) for source in sources]
    return sources_block(named, snippet_length=settings.search.snippet_length, passages=texts)


def _articles(sources: Sequence[Source], settings: Settings, pages: Mapping[int, Page]) -> dict[int, str]:
    """A rule is read whole, because half of it may say the opposite, unless all of them would take more than half of the room."""
    laws = [source.number for source in sources if source.engine == LAWS and source.number in pages]
    longest = min(LONGEST_ARTICLE, settings.chat.source_tokens // (2 * max(len(laws), 1)))
    return {number: shorten(one_line(pages[number].text), longest) for number in laws}


def _texts(sources: Sequence[Source], settings: Settings, pages: Mapping[int, Page], question: str) -> dict[int, str]:
    """Return articles, and passages of pages where there is room for them. What a library holds was chosen by the library."""
    read = [source for source in sources if source.number in pages and source.read != "library"]
    articles = _articles(sources, settings, pages)
    budget = settings.chat.source_tokens
    characters = budget // max(len(read), 1)
    for _ in range(TRIES):
        if not read or characters < SHORTEST_PASSAGES:
            break
        texts = {
            source.number: quoted(pages[source.number], question, _found_by(source), characters) for source in read
        }
        tokens = estimate_tokens(_block(sources, settings, articles | texts))
        if tokens <= budget:
            return articles | texts
        characters = int(characters * budget / tokens * 0.95)
    return articles


def _found_by(source: Source) -> str:
    """What an engine quoted for the query; of a reader's own file there is only its beginning."""
    return "" if source.read == "file" else source.snippet


def quoted(page: Page, question: str, snippet: str, characters: int) -> str:
    """What the page says about the question, on one line, as the prompt carries it."""
    found = passages(page, question, around=snippet, budget=characters)
    return BETWEEN_PASSAGES.join(passage.text for passage in found)
