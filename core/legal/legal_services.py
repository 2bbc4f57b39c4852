"""Legal services of an installation: one library, its import, its checks, and the web search as a fallback."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from core.base.embedding import Embedder
from core.base.parts import LazyPart, has_built
from core.base.settings import Settings
from core.base.text import one_line
from core.base.visitors import Visitor
from core.legal.article_sources import article_source
from core.legal.entities import LAWS, MAX_ARTICLES
from core.legal.library.case_search import CaseService
from core.legal.library.catalogue import Catalogue
from core.legal.library.examples import WELL_KNOWN, example_article, example_case_query, example_queries
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.relevance import MAX_QUESTION_LENGTH, is_legal_question, may_be_legal_question
from core.legal.library.shared_library import SharedFolder
from core.legal.library.statutes import Fallback, RegulationResponse, RegulationService
from core.legal.text.periods import Period, single_past_period
from core.legal.text.statute_citations import Citation, find_citations
from core.search import SearchService, SessionCache
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchType

if TYPE_CHECKING:
    from core.legal.contracts.review import ContractReviewer
    from core.legal.imports.build import OnProgress
    from core.legal.imports.import_job import Importer, ImportJob
    from core.legal.statute_checks import StatuteChecks
    from core.legal.verify import Verifier

_MOST_NAMED = 5
"""Number of articles that count of those that a model names."""


class LegalServices:
    """Entry point to the law library, the statute check and the searches for laws and cases."""

    def __init__(
        self,
        settings: Settings,
        search: Callable[[], SearchService],
        embedder: Embedder | None = None,
        shared: SharedFolder | None = None,
    ) -> None:
        self.public_url = settings.public.url
        self.library = LegalLibrary(settings.data_dir, embedder=embedder, shared=shared)
        self.building = threading.RLock()
        self._mirrors = dict(settings.legal.mirrors)
        self._built_in = settings.legal.built_in
        self._search = search

    @LazyPart
    def checks(self) -> StatuteChecks:
        from core.legal.statute_checks import StatuteChecks

        return StatuteChecks(self.library)

    @property
    def verifier(self) -> Verifier:
        return self.checks.verifier

    @LazyPart
    def contracts(self) -> ContractReviewer:
        from core.legal.contracts.review import ContractReviewer

        return ContractReviewer(self.library)

    @LazyPart
    def importer(self) -> Importer:
        from core.legal.imports.import_job import Importer

        return Importer(self.library, self._mirrors)

    def start_built_in_import(self) -> ImportJob | None:
        """Start to build the library from the laws that come with the program, unless that is off or already done, here or
        by another app server. Return the job that runs, or None. Raise AppError or OSError."""
        self.library.refresh()
        return self.importer.start_if_new() if self._built_in else None

    def build_empty_library(self, on_progress: OnProgress, *, may_download: bool) -> None:
        """Build an empty library from the laws that come with the program, unless that is off. Raises AppError."""
        self.library.refresh()
        if not self._built_in or self.library.available:
            return
        from core.legal.imports.law_package import LAW_PACKAGE, installed_law_package

        if may_download or installed_law_package():
            from core.legal.imports.import_run import law_import

            law_import(self.library, LAW_PACKAGE, on_progress=on_progress)

    def catalogue(self) -> Catalogue | None:
        """Return the directory of the imported laws, or None before the first import. Built once per index and day."""
        return _catalogue(self.library, self.library.version, date.today())

    @property
    def example_article(self) -> tuple[str, str] | None:
        """Law and article to begin with; while the library is being built, the one that it will have. None without
        both."""
        if index := self.library.index():
            return example_article(index)
        job = self.importer.job if has_built(self, "importer") else None
        return WELL_KNOWN if job and job.is_running else None

    @property
    def example_queries(self) -> list[str]:
        """Queries for laws that find something in this library."""
        return _example_queries(self.library, self.library.version, date.today())

    @property
    def example_case_query(self) -> str:
        """Query that finds a case in this library, or empty."""
        return _example_case_query(self.library, self.library.version, date.today())

    def close(self) -> None:
        if has_built(self, "importer"):
            self.importer.close()

    @property
    def searches_web(self) -> bool:
        """True if the web is searched for what was not imported."""
        return self._search().reaches_web

    @property
    def is_available(self) -> bool:
        """True if there is an index or a web search to look things up in."""
        return self.library.available or self.searches_web

    def has_texts(self, library: str) -> bool:
        """Return whether anything was imported into a library: LAWS or CASES."""
        index = self.library.index()
        return bool(index and index.counts()[library])

    @property
    def library_summary(self) -> str:
        """Size and age of the library in one line, shown with every legal answer. Empty before the first import."""
        return _holdings(self.library, self.library.version, date.today())

    def may_have_articles_for(self, question: str) -> bool:
        """Return whether the question is close enough to the library for a model to be asked for words of statutes. One that
        names its article needs no others."""
        index, words = self.library.index(), one_line(question)[:MAX_QUESTION_LENGTH]
        return index is not None and not _names_article(index, words) and may_be_legal_question(index, words)

    def articles_for(
        self, question: str, rewritten_question: str = "", statute_wording: str = "", *, limit: int = MAX_ARTICLES
    ) -> SearchResponse | None:
        """Search the library for articles that answer a question; None if it has no good answer. A model's
        `rewritten_question` is searched beside the reader's own words, or alone if these find nothing. A model's
        `statute_wording` and the articles that it names are searched beside them, and never alone."""
        index = self.library.index()
        if index is None:
            return None
        words, named, unknown = _parts_of_wording(index, statute_wording)
        wordings = _legal_wordings(index, question, rewritten_question)
        if not wordings and (named or is_legal_question(index, words)):
            wordings = [one_line(rewritten_question or question)[:MAX_QUESTION_LENGTH]]
        if not wordings:
            return None
        best, *others = wordings
        as_of = single_past_period(question, date.today())
        found = RegulationService(self.library).search(
            best, limit, other_wordings=[*others, words], named_articles=named, as_of=as_of
        )
        if not found.results:
            return None
        missing = f"模型提到的{'、'.join(unknown)}，库中没有，没有采用。" if unknown else ""
        return SearchResponse(
            SearchQuery(best, type=SearchType.REGULATION),
            tuple(article_source(self.public_url, one, rank) for rank, one in enumerate(found.results, 1)),
            (Attempt(LAWS, AttemptOutcome.OK, found.search_time),),
            provider=LAWS,
            search_time=found.search_time,
            notes=tuple(filter(None, (as_of and as_of.search_note, found.note, missing))),
        )

    def regulations(
        self,
        visitor: Visitor | None,
        session_cache: SessionCache | None = None,
        search: SearchService | None = None,
        *,
        skip_caches: bool = False,
    ) -> RegulationService:
        """Return the service for statutes. `visitor` is whose limit counts a search of the web. `search` is the one that
        an answer under way began with; `skip_caches` is for its searches of the web."""
        fallback = self._web_fallback(SearchType.REGULATION, visitor, session_cache, search, skip_caches)
        return RegulationService(self.library, fallback)

    def look_up(self, query: str, limit: int = 10, *, as_of: Period | None = None) -> RegulationResponse:
        """Search the library for statutes, and never the web. Raise NoLegalIndex."""
        return RegulationService(self.library).search(query, limit, as_of=as_of)

    def cases(
        self,
        visitor: Visitor | None,
        session_cache: SessionCache | None = None,
        search: SearchService | None = None,
        *,
        skip_caches: bool = False,
    ) -> CaseService:
        """Return the service for cases; the arguments are those of `regulations`."""
        fallback = self._web_fallback(SearchType.CASE, visitor, session_cache, search, skip_caches)
        return CaseService(self.library, fallback)

    def _web_fallback(
        self,
        kind: SearchType,
        visitor: Visitor | None,
        cache: SessionCache | None,
        search: SearchService | None,
        skip_caches: bool,
    ) -> Fallback | None:
        """Return the web search for what the library does not hold; None where no engine reaches the web."""
        web = search or self._search()
        if not web.reaches_web:
            return None
        return lambda query, limit: web.search(
            SearchQuery(query, type=kind, limit=limit), visitor=visitor, session_cache=cache, skip_caches=skip_caches
        )


# What follows holds for one version of the library, `version`, on one day.


@lru_cache(maxsize=1)
def _catalogue(library: LegalLibrary, version: str | None, day: date) -> Catalogue | None:
    index = library.index() if version else None
    return Catalogue(index) if index else None


@lru_cache(maxsize=1)
def _example_queries(library: LegalLibrary, version: str | None, day: date) -> list[str]:
    index = library.index() if version else None
    return example_queries(library, index) if index else []


@lru_cache(maxsize=1)
def _example_case_query(library: LegalLibrary, version: str | None, day: date) -> str:
    index = library.index() if version else None
    return example_case_query(library, index) if index else ""


@lru_cache(maxsize=1)
def _holdings(library: LegalLibrary, version: str | None, day: date) -> str:
    index = library.index()
    if index is None or not (laws := len(index.laws())):
        return ""
    return f"法规库：{laws:,} 部，截至 {index.newest() or '日期不详'}"


def _legal_wordings(index: LegalIndex, *wordings: str) -> list[str]:
    """Return the wordings that the library answers well, those that name an article first."""
    lines = dict.fromkeys(one_line(words)[:MAX_QUESTION_LENGTH] for words in wordings)
    fitting = [words for words in lines if is_legal_question(index, words)]
    return sorted(fitting, key=lambda words: not _names_article(index, words))


def _names_article(index: LegalIndex, words: str) -> bool:
    return any(citation.law for citation in find_citations(words, index.is_known))


def _parts_of_wording(index: LegalIndex, wording: str) -> tuple[str, list[Citation], list[str]]:
    """Return the words that a model wrote, the articles that it names and the library holds, and those that it does not."""
    words, named, unknown = "", [], []
    position = 0
    for citation in find_citations(wording, index.is_known):
        law = index.resolve(citation.law) if citation.law else None
        if law and index.article(law.id, citation.article):
            named.append(citation)
        elif citation.law:
            unknown.append(f"《{citation.law}》{citation.article}")
        words += wording[position : citation.start]
        position = citation.end
    return one_line(words + wording[position:]), named[:_MOST_NAMED], unknown
