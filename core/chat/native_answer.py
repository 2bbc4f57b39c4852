"""The answer of a model that searches the web itself, with the same events as an answer from our own search.

The queries, and most of the results, are known before the model writes; titles, and some of the pages, only when it
cites them. A page keeps its first number.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from core.answer import cited_sources, drop_invented
from core.answer.events import (
    Answer,
    Notice,
    RunEvent,
    SearchFinished,
    SearchStarted,
    TextDelta,
    Thought,
    Usage,
    cut_off_notices,
)
from core.base.text import one_line, shorten
from core.base.web_addresses import canonical_url, host_of
from core.chat.link_citations import LinkCitations
from core.llm.pieces import CitationPiece, SearchingPiece, SearchPiece, TextPiece, ThoughtPiece
from core.search import NativeEngine, RawResult, clean_results, strip_service_marks
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchResult, Source

NATIVE = NativeEngine.name
_QUERY_LENGTH = 200

ARTICLE_LINK = "https://laws.invalid/"
"""The start of a link, followed by a number. Such a model cites with links, and with this one it cites a given source."""
CITE_ARTICLES = (
    "（下面是本地法规库中的条文，各有编号。引用条文时在句末写带编号的链接，"
    f"如引用 [1] 写 ([本地法规库]({ARTICLE_LINK}1))；引用网页仍然写网页的链接。）"
)

NO_SOURCES = "以下回答没有来源可以引用。"


def citable(held: Sequence[Source]) -> str:
    """Return the sentence about what an answer can cite without the web; empty where that is nothing."""
    kinds = ["附件"] * any(source.read == "file" and not source.collection for source in held)
    kinds += ["资料中的文件"] * any(source.collection for source in held)
    kinds += ["本地法规库的条文"] * any(source.read != "file" for source in held)
    return f"以下回答只有{'和'.join(kinds)}可以引用，没有网页。" if kinds else ""


class NativeAnswer:
    """Turns the pieces of the stream into the events of the run."""

    def __init__(
        self, query: SearchQuery, given_sources: tuple[Source, ...] = (), *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`given_sources`: numbered sources that the model was given; its own pages are numbered after them."""
        self._query = query
        self._given_sources = given_sources
        self._clock = clock
        self._started_at = clock()
        self._seconds = 0.0
        self._text = ""
        self._links = LinkCitations(self._number_of)
        self._pages: dict[str, SearchResult] = {}
        self._searches: list[SearchPiece] = []
        self._last_search: SearchFinished | None = None

    def events_for(self, piece: SearchingPiece) -> Iterator[RunEvent]:
        """Yield the events of one piece. The usage, as the last piece, brings the answer."""
        match piece:
            case TextPiece(text=text):
                yield from self._text_events(self._links.feed(text))
            case ThoughtPiece(text=text):
                yield Thought(text)
            case SearchPiece():
                yield from self._on_search(piece)
            case CitationPiece():
                yield from self._on_citation(piece)
            case _:
                yield from self.closing_events()
                yield from self._notices()
                yield from cut_off_notices(piece.cut_off)
                yield self._answer()
                yield Usage(piece.input, piece.output, piece.estimated, reasoning=piece.reasoning)

    def _answer(self) -> Answer:
        sources = (*self._given_sources, *self._sources())
        text, invented = drop_invented(self._text, {source.number for source in sources})
        return Answer(text, cited_sources(text, sources), invented)

    def closing_events(self) -> Iterator[RunEvent]:
        """Yield the events that are left when the stream ends, with or without an error."""
        yield from self._text_events(self._links.end())
        if self._searches and self._search_finished() != self._last_search:
            yield from self._search_events()

    @property
    def response(self) -> SearchResponse | None:
        """All queries and results so far; None if the model did not search."""
        return self._search_finished().response if self._searches else None

    # ── Pages ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _on_search(self, search: SearchPiece) -> Iterator[RunEvent]:
        if not self._searches:
            yield SearchStarted(_join_queries(search.queries) or self._query.text)
        self._searches.append(search)
        self._add_pages(RawResult(None, url) for url in search.urls)

    def _on_citation(self, citation: CitationPiece) -> Iterator[RunEvent]:
        if not self._searches:  # some services report only the citations
            yield from self._on_search(SearchPiece((), ()))
        self._add_pages([RawResult(citation.title, citation.url)])
        yield from self._text_events(self._links.feed(""))
        number = self._number_of(citation.url)
        # Without a link in the text a number can be added where the text ends, and nowhere before.
        is_cited = self._text.rstrip().endswith(f"[{number}]")
        if number and citation.is_at_end and not self._links.pending and not is_cited:
            yield from self._text_events(f"[{number}]")

    def _add_pages(self, pages: Iterable[RawResult]) -> None:
        for page in pages:
            for result in clean_results([page], engine=NATIVE, limit=1):
                key = canonical_url(result.url)
                rank = len(self._given_sources) + len(self._pages) + 1
                known = self._pages.setdefault(key, replace(result, rank=rank))
                if known.title == known.source:  # a page without a title has its host as the title
                    self._pages[key] = replace(known, title=result.title)

    def _number_of(self, url: str) -> int | None:
        url = strip_service_marks(url)
        if url.startswith(ARTICLE_LINK):
            numbers = (source.number for source in self._given_sources)
            return next((number for number in numbers if url == f"{ARTICLE_LINK}{number}"), None)
        page = self._pages.get(canonical_url(url)) if host_of(url) else None
        return page.rank if page else None

    def _sources(self) -> tuple[Source, ...]:
        return tuple(Source.from_result(page, number=page.rank) for page in self._pages.values())

    # ── Events ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _text_events(self, text: str) -> Iterator[RunEvent]:
        if not text:
            return
        reported = len(self._last_search.sources) if self._last_search else -1
        if self._searches and len(self._pages) > reported:
            yield from self._search_events()
        self._text += text
        yield TextDelta(text)

    def _search_events(self) -> Iterator[RunEvent]:
        self._seconds = self._seconds or self._clock() - self._started_at
        finished = self._search_finished()
        yield replace(finished, amends=self._last_search is not None)
        self._last_search = finished

    def _search_finished(self) -> SearchFinished:
        results = tuple(self._pages.values())
        failed = not results and all(search.failed for search in self._searches)
        outcome = AttemptOutcome.FAILED if failed else AttemptOutcome.OK if results else AttemptOutcome.EMPTY
        reason = "模型服务没有完成这次搜索。" if failed else ""
        queries = dict.fromkeys(query for search in self._searches for query in search.queries)
        response = SearchResponse(
            replace(self._query, text=_join_queries(queries) or self._query.text),
            results,
            attempts=(Attempt(NATIVE, outcome, self._seconds, reason),),
            provider="" if failed else NATIVE,
            search_time=self._seconds,
        )
        return SearchFinished(response, self._sources())

    def _notices(self) -> Iterator[RunEvent]:
        rests_on = citable(self._given_sources)
        if not self._searches:
            notice = Notice("not_searched", f"模型认为这个问题不需要搜索，没有联网，{rests_on or NO_SOURCES}")
            skipped = Attempt(NATIVE, AttemptOutcome.SKIPPED, reason=notice.text)
            yield SearchFinished(SearchResponse(self._query, attempts=(skipped,)))
            yield notice
        elif not self._pages and all(search.failed for search in self._searches):
            rests_on = rests_on or "以下回答没有来源。"
            yield Notice("unavailable", f"模型自带的搜索没有成功，{rests_on}可以稍后重试，或改用其他引擎。")
        elif not self._pages:
            yield Notice("empty", f"模型搜索过网页，但没有给出来源，{rests_on or NO_SOURCES}")


def _join_queries(queries: Iterable[str]) -> str:
    return "；".join(shorten(one_line(query), _QUERY_LENGTH) for query in queries)
