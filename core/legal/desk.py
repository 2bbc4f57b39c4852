"""The legal services of an installation, over one library, with the web behind them."""

from __future__ import annotations

from core.legal.case import CaseService
from core.legal.importer import Importer
from core.legal.index import LegalLibrary
from core.legal.regulation import Fallback, RegulationService
from core.legal.verify import Verifier
from core.search.cache import SessionCache
from core.search.service import SearchService
from core.search.types import SearchQuery, SearchResponse, SearchType
from core.settings import Settings


class LegalDesk:
    def __init__(self, settings: Settings, search: SearchService) -> None:
        self._search = search
        self.public_url = settings.public.url
        self.library = LegalLibrary(settings.data_dir)
        self.verifier = Verifier(self.library)
        self.importer = Importer(self.library)
        self.regulations = self.regulations_for(None)
        self.cases = self.cases_for(None)

    def close(self) -> None:
        self.importer.close()

    @property
    def searches_web(self) -> bool:
        """Whether the web stands in for what was not imported."""
        return self._search.reaches_web

    @property
    def available(self) -> bool:
        """Whether there is anything to look up in: an index, or the web."""
        return self.library.available or self.searches_web

    def regulations_for(self, user: str | None, session_cache: SessionCache | None = None) -> RegulationService:
        """`user` is whose limit counts a search of the web."""
        return RegulationService(self.library, self._web(SearchType.REGULATION, user, session_cache))

    def cases_for(self, user: str | None, session_cache: SessionCache | None = None) -> CaseService:
        return CaseService(self.library, self._web(SearchType.CASE, user, session_cache))

    def _web(self, kind: SearchType, user: str | None, session_cache: SessionCache | None) -> Fallback | None:
        """What the library does not hold is searched on the web, where there is an engine for it."""
        if not self.searches_web:
            return None

        def search(query: str, limit: int) -> SearchResponse:
            return self._search.search(
                SearchQuery(query, type=kind, limit=limit), user=user, session_cache=session_cache
            )

        return search
