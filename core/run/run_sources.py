"""The sources of one run, each with one number, and their text within the budget of a prompt."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from core.base.settings import ModelChoice, Settings
from core.base.text import one_line, shorten
from core.base.web_addresses import canonical_url, host_of
from core.legal.entities import CASES, LAWS, LIBRARY_LABELS, MAX_ARTICLES
from core.llm import estimate_tokens
from core.reading import Page, ReadingError, ReadOutcome, Span, select_passages
from core.search import SNIPPET_LENGTH, TITLE_LENGTH, sources_block
from core.search.types import SearchResult, Source

BETWEEN_PASSAGES = " …… "
MIN_PASSAGES_LENGTH = 200
"""The fewest characters that a page gets in a prompt: about as many as a snippet has."""
LONGEST_ARTICLE = 1_000
"""Characters of an article in a prompt. Hardly any is longer, so nearly all are shown whole."""
TOKENS_PER_ARTICLE = 150
"""Tokens of the budget for each article: with its heading an article has 120 on average."""
MIN_ARTICLE_PASSAGES = 60
FEWEST_ARTICLES, MOST_FOR_SMALL_MODELS = 3, 5
MAX_FITTING_TRIES = 8
FoundSpans = Mapping[int, Sequence[Span]]
NO_SPANS: FoundSpans = MappingProxyType({})


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
    )


def max_articles(settings: Settings, model: ModelChoice) -> int:
    """Return the number of articles of the law library for a prompt: half of the budget, and fewer for a small model."""
    most = MOST_FOR_SMALL_MODELS if model.is_small else MAX_ARTICLES
    return max(FEWEST_ARTICLES, min(most, settings.chat.source_tokens // 2 // TOKENS_PER_ARTICLE))


def format_within_budget(
    sources: Sequence[Source],
    settings: Settings,
    *,
    pages: Mapping[int, Page] | None = None,
    found_spans: FoundSpans = NO_SPANS,
    question: str = "",
) -> tuple[tuple[Source, ...], str]:
    """Return as many of the first sources as the budget holds, at least one, and their text for the prompt. The room
    beside the snippets is shared by the pages that were read: it holds passages that speak about the question, first of
    all those that the document library has found."""
    kept = tuple(sources)
    while kept:
        block = _sources_block(kept, settings, _article_texts(kept, settings, pages or {}, question))
        if len(kept) == 1 or estimate_tokens(block) <= settings.chat.source_tokens:
            return kept, format_sources(kept, settings, pages=pages or {}, found_spans=found_spans, question=question)
        kept = kept[:-1]
    return (), ""


def format_sources(
    sources: Sequence[Source],
    settings: Settings,
    *,
    pages: Mapping[int, Page],
    found_spans: FoundSpans = NO_SPANS,
    question: str,
) -> str:
    """Return all these sources as text for a model: passages of pages as far as the budget goes, else snippets."""
    return _sources_block(sources, settings, _texts(sources, settings, pages, found_spans, question))


def excerptable(
    sources: Sequence[Source],
    settings: Settings,
    *,
    pages: Mapping[int, Page],
    found_spans: FoundSpans = NO_SPANS,
    question: str,
) -> list[Source]:
    """Return the sources with what a model would read of them as their snippets; of a case that is passages of its text."""
    texts = _texts(sources, settings, pages, found_spans, question)
    for source in sources:
        if source.engine == CASES and source.number in pages:
            texts[source.number] = passages_text(pages[source.number], question, source.snippet, LONGEST_ARTICLE)
    length = settings.search.snippet_length
    return [
        replace(source, snippet=texts.get(source.number) or shorten(one_line(source.snippet), length))
        for source in sources
    ]


def _sources_block(sources: Sequence[Source], settings: Settings, texts: Mapping[int, str]) -> str:
    """Return the block of sources. The model does not need the library's long addresses and gets its name instead."""
    named = [replace(source, url=LIBRARY_LABELS.get(source.engine, source.url)) for source in sources]
    return sources_block(named, snippet_length=settings.search.snippet_length, passages_by_number=texts)


def _article_texts(
    sources: Sequence[Source], settings: Settings, pages: Mapping[int, Page], question: str
) -> dict[int, str]:
    """Return articles, whole where they fit, because half a rule may say the opposite. Together they take at most half of
    the budget. Of a longer one its heading and what is about the question is returned."""
    laws = {source.number: one_line(pages[source.number].text) for source in sources if _is_article(source, pages)}
    tokens = sum(map(estimate_tokens, laws.values()))
    room = settings.chat.source_tokens * sum(map(len, laws.values())) // max(2 * tokens, 1)
    longest = min(LONGEST_ARTICLE, fair_share([len(text) for text in laws.values()], room))
    return {
        number: text if len(text) <= longest else _shortened_article(pages[number], question, longest)
        for number, text in laws.items()
    }


def _is_article(source: Source, pages: Mapping[int, Page]) -> bool:
    return source.engine == LAWS and source.number in pages


def fair_share(lengths: Sequence[int], room: int) -> int:
    """Return the length to which texts are cut so that all have room together. Short ones leave theirs to long ones."""
    shortest_first = sorted(lengths)
    for place, length in enumerate(shortest_first):
        share = room // (len(lengths) - place)
        if length > share:
            return share
        room -= length
    return max(shortest_first, default=0)


def _shortened_article(page: Page, question: str, length: int) -> str:
    heading, _, text = page.text.partition("\n")
    body = replace(page, text=text)
    passages = passages_text(body, question, "", max(length - len(heading), MIN_ARTICLE_PASSAGES))
    return shorten(one_line(f"{heading} {passages}"), length)


def _texts(
    sources: Sequence[Source],
    settings: Settings,
    pages: Mapping[int, Page],
    found_spans: FoundSpans,
    question: str,
) -> dict[int, str]:
    """Return articles, and passages of pages where there is room for them. What a library holds was chosen by the library."""
    read = [source for source in sources if source.number in pages and source.read != "library"]
    articles = _article_texts(sources, settings, pages, question)
    budget = settings.chat.source_tokens
    characters = budget // max(len(read), 1)
    for _ in range(MAX_FITTING_TRIES):
        if not read or characters < MIN_PASSAGES_LENGTH:
            break
        texts = articles | {
            source.number: passages_text(
                pages[source.number],
                question,
                _search_snippet(source),
                characters,
                found_spans.get(source.number, ()),
            )
            for source in read
        }
        tokens = estimate_tokens(_sources_block(sources, settings, texts))
        if tokens <= budget:
            return texts
        characters = int(characters * budget / tokens * 0.95)
    return articles


def _search_snippet(source: Source) -> str:
    """Return the engine's snippet for the query. A reader's own file has none: its snippet is only its beginning."""
    return "" if source.read == "file" else source.snippet


def passages_text(page: Page, question: str, snippet: str, characters: int, found_spans: Sequence[Span] = ()) -> str:
    """Return the page's passages about the question on one line, for the prompt."""
    found = select_passages(page, question, snippet=snippet, budget=characters, found_spans=found_spans)
    return BETWEEN_PASSAGES.join(passage.text for passage in found)
