"""The answer of a model that searches the web itself, with the same events as an answer from our own search.

The queries, and most of the results, are known before the model writes; titles, and some of the pages, only when it
cites them. A page keeps its first number.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from core.answer.citations import cited_sources
from core.answer.events import (
    Answer,
    Notice,
    RunEvent,
    SearchFinished,
    SearchStarted,
    TextDelta,
    Thought,
    Usage,
    cut_off,
)
from core.answer.link_citations import LinkCitations
from core.base.text import one_line, shorten
from core.base.web_addresses import canonical, host_of
from core.llm.pieces import CitationPiece, SearchingPiece, SearchPiece, TextPiece, ThoughtPiece
from core.search.engines.native import NativeEngine, plain_url
from core.search.results import RawResult, clean_results
from core.search.types import Attempt, Outcome, SearchQuery, SearchResponse, SearchResult, Source

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
    kinds = ["附件"] * any(source.read == "file" for source in held)
    kinds += ["本地法规库的条文"] * any(source.read != "file" for source in held)
    return f"以下回答只有{'和'.join(kinds)}可以引用，没有网页。" if kinds else ""


class NativeAnswer:
    """Turns the pieces of the stream into the events of the run."""

    def __init__(
        self, query: SearchQuery, held: tuple[Source, ...] = (), *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`given_sources`: numbered sources that the model was given; its own pages are numbered after them."""
        self._query = query
        self._held = held
        self._clock = clock
        self._begun = clock()
        self._seconds = 0.0
        self._text = ""
        self._links = LinkCitations(self._number_of)
        self._pages: dict[str, SearchResult] = {}
        self._searches: list[SearchPiece] = []
        self._told: SearchFinished | None = None

    def take(self, piece: SearchingPiece) -> Iterator[RunEvent]:
        """Yield the events of one piece. The usage, as the last piece, brings the answer."""
        match piece:
            case TextPiece(text=text):
                yield from self._say(self._links.feed(text))
            case ThoughtPiece(text=text):
                yield Thought(text)
            case SearchPiece():
                yield from self._searched(piece)
            case CitationPiece():
                yield from self._cited(piece)
            case _:
                yield from self.broken_off()
                yield from self._remarks()
                yield from cut_off(piece.cut_off)
                yield Answer(self._text, cited_sources(self._text, (*self._held, *self._sources())))
                yield Usage(piece.input, piece.output, piece.estimated, reasoning=piece.reasoning)

    def broken_off(self) -> Iterator[RunEvent]:
        """Yield the events that are left when the stream ends, with or without an error."""
        yield from self._say(self._links.end())
        if self._searches and self._finished() != self._told:
            yield from self._tell()

    @property
    def response(self) -> SearchResponse | None:
        """All queries and results so far; None if the model did not search."""
        return self._finished().response if self._searches else None

    # ── Pages ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _searched(self, search: SearchPiece) -> Iterator[RunEvent]:
        if not self._searches:
            yield SearchStarted(_words(search.queries) or self._query.text)
        self._searches.append(search)
        self._add(RawResult(None, url) for url in search.urls)

    def _cited(self, citation: CitationPiece) -> Iterator[RunEvent]:
        if not self._searches:  # some services report only the citations
            yield from self._searched(SearchPiece((), ()))
        self._add([RawResult(citation.title, citation.url)])
        yield from self._say(self._links.feed(""))
        number = self._number_of(citation.url)
        # Without a link in the text a number can be added where the text ends, and nowhere before.
        if number and citation.here and not self._links.held and not self._text.rstrip().endswith(f"[{number}]"):
            yield from self._say(f"[{number}]")

    def _add(self, pages: Iterable[RawResult]) -> None:
        for page in pages:
            for result in clean_results([page], engine=NATIVE, limit=1):
                key = canonical(result.url)
                known = self._pages.setdefault(key, replace(result, rank=len(self._held) + len(self._pages) + 1))
                if known.title == known.source:  # a page without a title has its host as the title
                    self._pages[key] = replace(known, title=result.title)

    def _number_of(self, url: str) -> int | None:
        url = plain_url(url)
        if url.startswith(ARTICLE_LINK):
            return next((source.number for source in self._held if url == f"{ARTICLE_LINK}{source.number}"), None)
        page = self._pages.get(canonical(url)) if host_of(url) else None
        return page.rank if page else None

    def _sources(self) -> tuple[Source, ...]:
        return tuple(Source.of(page, number=page.rank) for page in self._pages.values())

    # ── Events ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _say(self, text: str) -> Iterator[RunEvent]:
        if not text:
            return
        told = len(self._told.sources) if self._told else -1
        if self._searches and len(self._pages) > told:
            yield from self._tell()
        self._text += text
        yield TextDelta(text)

    def _tell(self) -> Iterator[RunEvent]:
        self._seconds = self._seconds or self._clock() - self._begun
        finished = self._finished()
        yield replace(finished, amends=self._told is not None)
        self._told = finished

    def _finished(self) -> SearchFinished:
        results = tuple(self._pages.values())
        failed = not results and all(search.failed for search in self._searches)
        outcome = Outcome.FAILED if failed else Outcome.OK if results else Outcome.EMPTY
        reason = "模型服务没有完成这次搜索。" if failed else ""
        queries = dict.fromkeys(query for search in self._searches for query in search.queries)
        response = SearchResponse(
            replace(self._query, text=_words(queries) or self._query.text),
            results,
            attempts=(Attempt(NATIVE, outcome, self._seconds, reason),),
            provider="" if failed else NATIVE,
            search_time=self._seconds,
        )
        return SearchFinished(response, self._sources())

    def _remarks(self) -> Iterator[RunEvent]:
        rests_on = citable(self._held)
        if not self._searches:
            notice = Notice("not_searched", f"模型认为这个问题不需要搜索，没有联网，{rests_on or NO_SOURCES}")
            skipped = Attempt(NATIVE, Outcome.SKIPPED, reason=notice.text)
            yield SearchFinished(SearchResponse(self._query, attempts=(skipped,)))
            yield notice
        elif not self._pages and all(search.failed for search in self._searches):
            rests_on = rests_on or "以下回答没有使用搜索结果。"
            yield Notice("unavailable", f"模型自带的搜索没有成功，{rests_on}可以稍后重试，或改用其他引擎。")
        elif not self._pages:
            yield Notice("empty", f"模型搜索过网页，但没有给出来源，{rests_on or NO_SOURCES}")


def _words(queries: Iterable[str]) -> str:
    return "；".join(shorten(one_line(query), _QUERY_LENGTH) for query in queries)
