"""The parts that depend on the saved settings. They are replaced together when other settings are saved."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field

from core.base.http import Deadline
from core.base.settings import LoadedSettings, Settings
from core.llm import Model
from core.search import CheckableEngine, EngineChain, SearchService
from core.search.errors import EngineError

log = logging.getLogger(__name__)

CHECK_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class Configured:
    """Settings, with the model and the engines that they name. An answer keeps those with which it began."""

    loaded: LoadedSettings
    model: Model
    chain: EngineChain
    search: SearchService
    _warmed: threading.Event = field(default_factory=threading.Event)

    @property
    def settings(self) -> Settings:
        return self.loaded.values

    def warm_up(self) -> None:
        """Import LangChain and check the engines in the background, once."""
        if not self._warmed.is_set():
            self._warmed.set()
            self.model.warm_up()
            threading.Thread(target=self._check_engines, name="wenyuan-check", daemon=True).start()

    def _check_engines(self) -> None:
        for engine in self.chain.engines:
            if isinstance(engine, CheckableEngine):
                try:
                    engine.check(Deadline(CHECK_SECONDS))
                except EngineError as error:
                    log.warning("engine %s: %s", engine.name, error)
