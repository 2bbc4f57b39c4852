"""The parts that depend on the saved settings, replaced together when somebody saves others."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from core.base.http import Deadline
from core.base.settings import LoadedSettings, SavedSettings, Settings
from core.llm.model import Model
from core.search.engine import CheckedEngine
from core.search.errors import EngineError
from core.search.registry import Chain
from core.search.service import SearchService

log = logging.getLogger(__name__)

CHECK_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class Configured:
    """Settings, model and engines that belong together. An answer keeps the ones it began with."""

    loaded: LoadedSettings
    model: Model
    chain: Chain
    search: SearchService
    _warmed: threading.Event = field(default_factory=threading.Event)

    @property
    def settings(self) -> Settings:
        return self.loaded.values

    @property
    def search_for_tools(self) -> SearchService:
        return self.search.for_tools(self.model.choice)

    def warm_up(self) -> None:
        """Import LangChain and check the engines in the background, once."""
        if not self._warmed.is_set():
            self._warmed.set()
            self.model.warm_up()
            threading.Thread(target=self._check_engines, name="wenyuan-check", daemon=True).start()

    def _check_engines(self) -> None:
        for engine in self.chain.engines:
            if isinstance(engine, CheckedEngine):
                try:
                    engine.check(Deadline(CHECK_SECONDS))
                except EngineError as error:
                    log.warning("engine %s: %s", engine.name, error)


class Configuration:
    """Holder of the configured parts. Thread-safe."""

    def __init__(
        self, first: Configured, saved: SavedSettings, rebuild: Callable[[LoadedSettings, Configured], Configured]
    ) -> None:
        self.current = first
        self.saved = saved
        self._rebuild = rebuild
        self._lock = threading.Lock()

    def latest(self) -> Configured:
        """Return the current parts, rebuilt first if settings were saved since, here or by another process."""
        with self._lock:
            if self.saved.stamp() != self.current.loaded.saved.stamp:
                loaded = self.current.loaded.with_page(self.saved.read())
                self.current = self._rebuild(loaded, self.current)
            return self.current
