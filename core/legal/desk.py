"""The legal services of an installation, over one library, with the web behind them."""

from __future__ import annotations

from core.legal.case import CaseService
from core.legal.importer import Importer
from core.legal.index import LegalLibrary
from core.legal.regulation import Fallback, RegulationService
from core.legal.verify import Verifier
from core.search.service import SearchService
from core.search.types import SearchQuery, SearchResponse, SearchType
from core.settings import Settings


class LegalDesk:
    def __init__(self, settings: Settings, search: SearchService) -> None:
        self._search = search
        self.library = LegalLibrary(settings.data_dir)
        self.regulations = RegulationService(self.library, self._web(SearchType.REGULATION))
        self.cases = CaseService(self.library, self._web(SearchType.CASE))
        self.verifier = Verifier(self.library)
        self.importer = Importer(self.library)

    def close(self) -> None:
        self.importer.close()

    def _web(self, kind: SearchType) -> Fallback | None:
        """What the library does not hold is searched on the web, where there is an engine for it."""
        if not self._search.available:
            return None

        def search(query: str, limit: int) -> SearchResponse:
            return self._search.search(SearchQuery(query, type=kind, limit=limit), user=None)

        return search
