"""Legal services of an installation: one library, its import, its checks, and the web search as a fallback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from core.base.embedding import Embedder
from core.base.settings import Settings
from core.base.text import one_line
from core.base.visitors import Visitor
from core.legal.article_sources import article_source
from core.legal.contracts.review import ContractReviewer
from core.legal.entities import LAWS
from core.legal.imports.import_job import Importer
from core.legal.library.case_search import CaseService
from core.legal.library.catalogue import Catalogue
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.relevance import MAX_QUESTION_LENGTH, is_legal_question
from core.legal.library.statutes import Fallback, RegulationService
from core.legal.text.periods import Period, single_past_period
from core.legal.text.statute_citations import find_citations
from core.legal.verify import Author, StatuteFinding, StatuteMark, Verifier
from core.search import SearchService, SessionCache
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchType


@dataclass(frozen=True, slots=True)
class StatuteCheck:
    """Result of the statute check (法条核验) of one text."""

    findings: tuple[StatuteFinding, ...]
    has_index: bool = True
    """False if no law was imported, so nothing could be looked up."""


CHECK_CACHE_SIZE = 512
JUDGMENT_CACHE_SIZE = 32
MAX_ARTICLES = 3
"""Number of articles shown beside the results of the web. The page 法规与案例 shows more."""


class LegalServices:
    """Entry point to the law library, the statute check and the searches for laws and cases."""

    def __init__(
        self, settings: Settings, search: Callable[[], SearchService], embedder: Embedder | None = None
    ) -> None:
        self.public_url = settings.public.url
        self.library = LegalLibrary(settings.data_dir, embedder=embedder)
        self.verifier = Verifier(self.library)
        self.contracts = ContractReviewer(self.library)
        self.importer = Importer(self.library)
        self._search = search

    def catalogue(self) -> Catalogue | None:
        """Return the directory of the imported laws, or None before the first import. Built once per index and day."""
        return _catalogue(self.library, self.library.version, date.today())

    def close(self) -> None:
        self.importer.close()

    @property
    def searches_web(self) -> bool:
        """True if the web is searched for what was not imported."""
        return self._search().reaches_web

    @property
    def is_available(self) -> bool:
        """True if there is an index or a web search to look things up in."""
        return self.library.available or self.searches_web

    @property
    def library_summary(self) -> str:
        """Size and age of the library in one line, shown with every legal answer. Empty before the first import."""
        return _holdings(self.library, self.library.version, date.today())

    def check(self, text: str, question: str = "") -> StatuteCheck | None:
        """Check the statutes that a text cites; None for a text that cites none. Cached per text, index and day. A time
        in the question that the text answers decides which version of a law counts."""
        today = date.today()
        return _check(self.verifier, text, single_past_period(question, today), self.library.version, today)

    def findings_in_judgment(self, judgment: str) -> tuple[StatuteFinding, ...]:
        """Return the findings for the articles that a judgment cites. Cached like `check`."""
        return _cited_in(self.verifier, judgment, self.library.version, date.today())

    def articles_for(self, question: str, rewritten_question: str = "") -> SearchResponse | None:
        """Search the library for articles that answer a question; None if it has no good answer. A model's
        `rewritten_question` is searched beside the reader's own words, or alone if these find nothing."""
        index = self.library.index()
        wordings = _legal_wordings(index, question, rewritten_question) if index else []
        if not wordings:
            return None
        best, *others = wordings
        as_of = single_past_period(question, date.today())
        found = RegulationService(self.library).search(best, MAX_ARTICLES, other_wordings=others, as_of=as_of)
        if not found.results:
            return None
        return SearchResponse(
            SearchQuery(best, type=SearchType.REGULATION),
            tuple(article_source(self.public_url, one, rank) for rank, one in enumerate(found.results, 1)),
            (Attempt(LAWS, AttemptOutcome.OK, found.search_time),),
            provider=LAWS,
            search_time=found.search_time,
            notes=tuple(filter(None, (as_of and as_of.search_note, found.note))),
        )

    def regulations(
        self, visitor: Visitor | None, session_cache: SessionCache | None = None, search: SearchService | None = None
    ) -> RegulationService:
        """Return the service for statutes. `visitor` is whose limit counts a search of the web. `search` is the one that
        an answer under way began with."""
        fallback = self._web_fallback(SearchType.REGULATION, visitor, session_cache, search)
        return RegulationService(self.library, fallback)

    def cases(
        self, visitor: Visitor | None, session_cache: SessionCache | None = None, search: SearchService | None = None
    ) -> CaseService:
        """Return the service for cases; the arguments are those of `regulations`."""
        return CaseService(self.library, self._web_fallback(SearchType.CASE, visitor, session_cache, search))

    def _web_fallback(
        self, kind: SearchType, visitor: Visitor | None, cache: SessionCache | None, search: SearchService | None
    ) -> Fallback | None:
        """Return the web search for what the library does not hold; None where no engine reaches the web."""
        web = search or self._search()
        if not web.reaches_web:
            return None
        return lambda query, limit: web.search(
            SearchQuery(query, type=kind, limit=limit), visitor=visitor, session_cache=cache
        )


# What follows holds for one version of the library, `version`, on one day.


@lru_cache(maxsize=1)
def _catalogue(library: LegalLibrary, version: str | None, day: date) -> Catalogue | None:
    index = library.index() if version else None
    return Catalogue(index) if index else None


@lru_cache(maxsize=1)
def _holdings(library: LegalLibrary, version: str | None, day: date) -> str:
    index = library.index()
    if index is None or not (laws := len(index.laws())):
        return ""
    return f"法规库：{laws:,} 部，截至 {index.newest() or '日期不详'}"


@lru_cache(maxsize=CHECK_CACHE_SIZE)
def _check(verifier: Verifier, text: str, asked: Period | None, version: str | None, day: date) -> StatuteCheck | None:
    if version is None:
        cites = any(citation.law for citation in find_citations(text))
        return StatuteCheck((), has_index=False) if cites else None
    findings = _without_duplicates(verifier.verify(text, Author.MODEL, asked_period=asked))
    return StatuteCheck(findings) if findings else None


@lru_cache(maxsize=JUDGMENT_CACHE_SIZE)
def _cited_in(verifier: Verifier, judgment: str, version: str | None, day: date) -> tuple[StatuteFinding, ...]:
    return _without_duplicates(verifier.verify(judgment, Author.PERSON)) if version else ()


def _legal_wordings(index: LegalIndex, *wordings: str) -> list[str]:
    """Return the wordings that the library answers well, those that name an article first."""
    lines = dict.fromkeys(one_line(words)[:MAX_QUESTION_LENGTH] for words in wordings)
    fitting = [words for words in lines if is_legal_question(index, words)]
    return sorted(fitting, key=lambda words: not any(one.law for one in find_citations(words, index.is_known)))


def _without_duplicates(findings: Sequence[StatuteFinding]) -> tuple[StatuteFinding, ...]:
    """Remove repeated findings, and a bare "exists" about an article for which there is another finding."""
    bare = {one for one in findings if one.mark is StatuteMark.EXISTS and not one.note}
    known = {one.cited for one in findings if one not in bare}
    shown = [one for one in findings if one not in bare or one.cited not in known]
    return tuple({(one.mark, one.cited, one.quote, one.note): one for one in shown}.values())
