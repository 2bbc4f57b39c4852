"""The legal services of an installation, over one library, with the web behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from core.base.settings import Settings
from core.base.text import one_line
from core.base.visitors import Visitor
from core.legal.imports.job import Importer
from core.legal.library.cases import CaseService
from core.legal.library.catalogue import Catalogue
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.relevance import LONGEST_QUESTION, answers
from core.legal.library.statutes import Fallback, RegulationService
from core.legal.sources import article_source
from core.legal.text.as_of import Period, one_asked_for
from core.legal.text.statute_citations import find_citations
from core.legal.types import LAWS
from core.legal.verify import Author, Mark, Verdict, Verifier
from core.search.cache import SessionCache
from core.search.service import SearchService
from core.search.types import Attempt, Outcome, SearchQuery, SearchResponse, SearchType


@dataclass(frozen=True, slots=True)
class StatuteCheck:
    """法条核验 of a text that cites statutes."""

    verdicts: tuple[Verdict, ...]
    indexed: bool = True
    """False: nothing was imported, so that nothing could be looked up."""


CHECKS_KEPT = 512
JUDGMENTS_KEPT = 32
ARTICLES = 3
"""Beside the results of the web; one who wants more looks on the page 法规与案例."""


class LegalDesk:
    """One for the whole process. `search` returns the web search of the current settings."""

    def __init__(self, settings: Settings, search: Callable[[], SearchService]) -> None:
        self.public_url = settings.public.url
        self.library = LegalLibrary(settings.data_dir, embedding=settings.legal.embedding)
        self.verifier = Verifier(self.library)
        self.importer = Importer(self.library)
        self._search = search

    def catalogue(self) -> Catalogue | None:
        """The directory of what was imported, made once for an index and a day; None before the first import."""
        return _catalogue(self.library, self.library.version, date.today())

    def close(self) -> None:
        self.importer.close()

    @property
    def searches_web(self) -> bool:
        """Whether the web stands in for what was not imported."""
        return self._search().reaches_web

    @property
    def available(self) -> bool:
        """Whether there is anything to look up in: an index, or the web."""
        return self.library.available or self.searches_web

    @property
    def holdings(self) -> str:
        """What the library has and how old it is, in one line; empty before the first import. Every legal answer says it."""
        return _holdings(self.library, self.library.version, date.today())

    def check(self, text: str, question: str = "") -> StatuteCheck | None:
        """None for a text that cites no statute. The same text is looked up once a day and index: pages draw it often.

        `question`: what it answers; a time in it says which law counts.
        """
        today = date.today()
        return _check(self.verifier, text, one_asked_for(question, today), self.library.version, today)

    def cited_in(self, judgment: str) -> tuple[Verdict, ...]:
        """The articles that a judgment cites, each checked; looked up once like an answer's."""
        return _cited_in(self.verifier, judgment, self.library.version, date.today())

    def articles_for(self, question: str, meant: str = "") -> SearchResponse | None:
        """What the library itself has to say to a question, as a search; None for one that it does not answer well.

        `meant`: what a model took the question to mean. It is searched beside the reader's own words, or in their place where
        these say nothing to the library, and never takes away what they find.
        """
        index = self.library.index()
        wordings = _about_law(index, question, meant) if index else []
        if not wordings:
            return None
        as_of = one_asked_for(question, date.today())
        found = RegulationService(self.library).search(wordings[0], ARTICLES, also=wordings[1:], as_of=as_of)
        if not found.results:
            return None
        return SearchResponse(
            SearchQuery(wordings[0], type=SearchType.REGULATION),
            tuple(article_source(self.public_url, one, rank) for rank, one in enumerate(found.results, 1)),
            (Attempt(LAWS, Outcome.OK, found.search_time),),
            provider=LAWS,
            search_time=found.search_time,
            notes=tuple(filter(None, (as_of and as_of.said, found.note))),
        )

    def regulations(
        self, user: Visitor | None, session_cache: SessionCache | None = None, search: SearchService | None = None
    ) -> RegulationService:
        """Return the service for statutes.

        `user` is whose limit counts a search of the web. `search` is the one that an answer under way began with.
        """
        return RegulationService(self.library, self._web(SearchType.REGULATION, user, session_cache, search))

    def cases(
        self, user: Visitor | None, session_cache: SessionCache | None = None, search: SearchService | None = None
    ) -> CaseService:
        """Return the service for cases; the arguments are those of `regulations`."""
        return CaseService(self.library, self._web(SearchType.CASE, user, session_cache, search))

    def _web(
        self, kind: SearchType, user: Visitor | None, session_cache: SessionCache | None, search: SearchService | None
    ) -> Fallback | None:
        """Return the web search for what the library does not hold; None where no engine reaches the web."""
        web = search or self._search()
        if not web.reaches_web:
            return None
        return lambda query, limit: web.search(
            SearchQuery(query, type=kind, limit=limit), user=user, session_cache=session_cache
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


@lru_cache(maxsize=CHECKS_KEPT)
def _check(verifier: Verifier, text: str, asked: Period | None, version: str | None, day: date) -> StatuteCheck | None:
    if version is None:
        cites = any(citation.law for citation in find_citations(text))
        return StatuteCheck((), indexed=False) if cites else None
    verdicts = _different(verifier.verify(text, Author.MODEL, asked=asked))
    return StatuteCheck(tuple(verdicts)) if verdicts else None


@lru_cache(maxsize=JUDGMENTS_KEPT)
def _cited_in(verifier: Verifier, judgment: str, version: str | None, day: date) -> tuple[Verdict, ...]:
    return tuple(_different(verifier.verify(judgment, Author.PERSON))) if version else ()


def _about_law(index: LegalIndex, *wordings: str) -> list[str]:
    """Those that the library answers well; first one that names an article, because the others are only described."""
    lines = dict.fromkeys(one_line(words)[:LONGEST_QUESTION] for words in wordings)
    fitting = [words for words in lines if answers(index, words)]
    return sorted(fitting, key=lambda words: not any(one.law for one in find_citations(words, index.is_known)))


def _different(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Without repetitions; that an article merely exists is not said of one of which more was found."""
    known = {verdict.cited for verdict in verdicts if verdict.mark is not Mark.EXISTS or verdict.note}
    shown = [
        verdict for verdict in verdicts if verdict.mark is not Mark.EXISTS or verdict.note or verdict.cited not in known
    ]
    return list({(one.mark, one.cited, one.quote, one.note): one for one in shown}.values())
