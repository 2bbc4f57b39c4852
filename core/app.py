"""The composition root: the only place that builds long-lived objects."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from core.base.embedding import Embedder
from core.base.errors import AppError
from core.base.http import trust_fake_addresses
from core.base.logs import configure_logging, hide_in_logs
from core.base.redis_link import RedisLink
from core.base.settings import (
    LoadedSettings,
    SavedSettingsFile,
    SavedSettingsStore,
    Section,
    Settings,
    cookie_secret,
    load_settings,
    log_problems,
)
from core.base.text import clean
from core.base.threads import LoopThread
from core.base.tuning import exempt_from_garbage_collection, switch_tuning
from core.chat import ChatService
from core.checks import MeaningComparison
from core.documents import DocumentLibrary, WatchedFolders
from core.legal import may_cite, may_name_case
from core.llm import Model, ModelCallLimit
from core.metrics import MetricsRecorder
from core.reading import Reader, ReadingSettings
from core.run import Admission, AnswerChecks, AnswerSaver, Configured
from core.search import (
    ClosableEngine,
    EngineChain,
    EngineHealth,
    ResultCache,
    SearchEngine,
    SearchLimits,
    SearchService,
    build_chain,
    effective_query,
    engine_sections,
)
from core.store import (
    ConversationStore,
    Database,
    MetricsStore,
    Outbox,
    PreferenceStore,
    ReadPageStore,
    SavedSettingsTable,
    SharedFiles,
    Upkeep,
)

if TYPE_CHECKING:
    from core.agent import AgentRunner
    from core.doctor import Diagnosis
    from core.legal import LegalServices, StatuteCheck

log = logging.getLogger(__name__)


class App:
    """The long-lived objects of a process. Thread-safe, and built once: what saved settings change is in `configured`."""

    def __init__(
        self, loaded: LoadedSettings, *, model: Model | None = None, engines: Sequence[SearchEngine] | None = None
    ) -> None:
        self.database = Database.from_settings(loaded.values)
        self.saved_settings = _saved_settings_store(loaded.values, self.database)
        loaded = loaded.with_saved(self.saved_settings.read())
        settings = loaded.values
        trust_fake_addresses(settings.network.fake_addresses)
        switch_tuning(on=settings.process.tuning == "on")
        self.loop = LoopThread()
        self.redis = RedisLink.from_settings(settings)
        self.model_limit = ModelCallLimit.from_settings(settings, self.redis)
        self.metrics = MetricsRecorder(MetricsStore(self.database), settings.metrics)
        self._cache = ResultCache.from_settings(settings, self.redis)
        self._limits = SearchLimits.from_settings(settings, self.redis)
        self._lock = threading.Lock()
        self._building = threading.RLock()
        self._agent: AgentRunner | None = None
        self._legal: LegalServices | None = None
        self.configured = self._configure(loaded, model, None if engines is None else EngineChain(tuple(engines), ()))
        self.reader = Reader.from_settings(settings, link=self.redis)
        self._embedder = Embedder(settings.legal.embedding) if settings.legal.embedding else None
        self.checks = AnswerChecks(MeaningComparison(self._embedder) if self._embedder else None)
        self.chat = ChatService(
            self.latest_configured,
            loop=self.loop,
            reader=self.reader,
            admission=Admission(settings.limits, self.redis),
            checks=self.checks,
            on_run_end=self.metrics.record_answer,
            legal=lambda: self.legal,
            documents=lambda: self.documents,
        )
        self.store = ConversationStore(self.database)
        self.outbox = Outbox(self.store)
        self.preferences = PreferenceStore(self.database, self.outbox)
        reading = settings.section(ReadingSettings)
        self.read_pages = ReadPageStore(self.database, max_file_bytes=reading.kept_file_megabytes * 2**20)
        kept_pages = self.read_pages if reading.keep else None
        self.keeper = AnswerSaver(self.outbox, self.loop, self.store, kept_pages)
        self.documents = DocumentLibrary.from_settings(settings, self.database, self.reader, self._embedder)
        self.watched_folders = WatchedFolders.from_settings(settings, self.documents, self.database)
        self.upkeep = Upkeep(self.database, settings.retention, others=self.documents.tidy)

    def latest_configured(self) -> Configured:
        """Return the configured parts, replaced first if settings were saved since, here or by another process."""
        with self._lock:
            if self.saved_settings.stamp() != self.loaded_settings.saved.stamp:
                loaded = self.loaded_settings.with_saved(self.saved_settings.read())
                chain = build_chain(loaded.values).with_open_engines(self.chain)
                self.configured = self._configure(loaded, chain=chain)
            return self.configured

    def _configure(
        self, loaded: LoadedSettings, model: Model | None = None, chain: EngineChain | None = None
    ) -> Configured:
        settings = loaded.values
        hide_in_logs(settings.secrets())
        log_problems(loaded.problems)
        chain = chain or build_chain(settings)
        search = SearchService(
            chain.engines,
            settings=settings.search,
            cache=self._cache,
            limits=self._limits,
            health=EngineHealth((engine.name for engine in chain.engines), link=self.redis),
            prepare=lambda query: effective_query(query, settings),
            on_end=self.metrics.record_search,
            no_engine_cure=chain.missing_settings,
        )
        return Configured(loaded, model or Model(settings, limit=self.model_limit), chain, search)

    @property
    def loaded_settings(self) -> LoadedSettings:
        return self.configured.loaded

    @property
    def settings(self) -> Settings:
        return self.configured.settings

    @property
    def model(self) -> Model:
        return self.configured.model

    @property
    def chain(self) -> EngineChain:
        return self.configured.chain

    @property
    def search(self) -> SearchService:
        return self.configured.search

    @property
    def cache_warnings(self) -> tuple[str, ...]:
        """Warnings of the caches, each once: those that share a Redis miss it together."""
        return tuple(dict.fromkeys(filter(None, (*self.search.warnings, self.reader.warning))))

    @property
    def is_agent_built(self) -> bool:
        return self._agent is not None

    @property
    def agent(self) -> AgentRunner:
        """The agent, built when Agent mode is first used: it imports LangChain's agents."""
        with self._building:
            if self._agent is None:
                from core.agent import AgentRunner

                exempt_from_garbage_collection()
                self._agent = AgentRunner(
                    self.latest_configured,
                    loop=self.loop,
                    reader=self.reader,
                    legal=self.legal,
                    documents=self.documents,
                    admission=self.chat.admission,
                    checks=self.checks,
                    on_run_end=self.metrics.record_answer,
                )
            return self._agent

    @property
    def legal(self) -> LegalServices:
        """The services of laws and cases, built when they are first used."""
        with self._building:
            if self._legal is None:
                from core.legal import LegalServices

                shared = SharedFiles(self.database) if self.settings.database.url else None
                self._legal = LegalServices(
                    self.settings, lambda: self.search.for_tools(self.model.choice), self._embedder, shared
                )
            return self._legal

    def begin_law_library(self) -> None:
        """Begin to build an empty law library, in a thread: already the services of law take a moment to load."""

        def begin() -> None:
            try:
                self.legal.start_built_in_import()
            except (AppError, OSError) as error:
                log.warning("the library of laws was not built: %s", error)

        if self.settings.legal.built_in or self.settings.database.url:
            threading.Thread(target=begin, name="wenyuan-laws", daemon=True).start()

    def begin_watching(self) -> None:
        """Begin to import the watched folders, in a thread."""
        if self.settings.documents.enabled:
            self.watched_folders.start()

    @cached_property
    def diagnosis(self) -> Diagnosis:
        from core.doctor import Diagnosis

        return Diagnosis(self)

    def check_statutes(
        self, text: str, question: str = "", load_source_texts: Callable[[], Mapping[int, str]] = dict
    ) -> StatuteCheck | None:
        """Check the statutes and cases that an answer cites (法条核验, 案号核验). Return None for an answer without any, and
        if the check failed: no answer waits or breaks for it. `load_source_texts` is called only if a case is named."""
        if not (may_cite(text) or may_name_case(text)):
            return None
        try:
            return self.legal.check(clean(text), question, load_source_texts)
        except Exception:
            log.exception("the statutes of an answer could not be checked")
            return None

    def warm_up(self) -> None:
        """Prepare for the first question. No page has to wait for it."""
        self.metrics.start()
        self.upkeep.start()
        self.documents.start()
        self.configured.warm_up()
        self.checks.warm_up()
        self.reader.warm_up()

    def close(self) -> None:
        """Close all connections, files and threads."""
        if self._legal:
            self._legal.close()
        for engine in self.chain.engines:
            if isinstance(engine, ClosableEngine):
                engine.close()
        self.loop.stop()
        self.search.close()
        self.watched_folders.close()
        self.documents.close()
        self.reader.close()
        self.checks.close()
        self.outbox.close()
        self.metrics.close()
        self.upkeep.close()
        self.database.close()
        if self.redis:
            self.redis.close()


def extra_sections() -> tuple[type[Section], ...]:
    """Return the settings sections that are defined beside what they configure, for `load_settings`."""
    return (*engine_sections(), ReadingSettings)


def build_app(
    loaded: LoadedSettings | None = None,
    *,
    model: Model | None = None,
    engines: Sequence[SearchEngine] | None = None,
    errors_only: bool = False,
) -> App:
    """Build the App. `model` and `engines` replace the configured ones, for tests and for programs that have their own.
    With `errors_only`, only errors are logged unless LOG_LEVEL or AGENT_VERBOSE is set: the program reports to people
    itself."""
    loaded = loaded or load_settings(sections=extra_sections())
    level = loaded.values.log.level
    if errors_only and loaded.origins["LOG_LEVEL"] == "default":
        level = "INFO" if loaded.values.agent.verbose else "ERROR"
    configure_logging(level=level, format=loaded.values.log.format, secrets=loaded.values.secrets())
    return App(loaded, model=model, engines=engines)


def _saved_settings_store(settings: Settings, database: Database) -> SavedSettingsStore:
    """Return the store of saved settings. Servers that share a database save there what is valid for all of them."""
    if settings.database.url:
        return SavedSettingsTable(database, secret=cookie_secret())
    return SavedSettingsFile(settings.data_dir)


_lock = threading.Lock()
_shared: App | None = None


def shared_app() -> App:
    """Return the App of this process, under the settings that are saved now, here or by another process. The first call
    begins to build an empty law library."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = build_app()
            _shared.begin_law_library()
            _shared.begin_watching()
        app = _shared
    app.latest_configured()
    return app


def is_ready() -> bool:
    """Return whether this process has an App whose database answers. Never waits for one to be built."""
    app = _shared
    return app is not None and app.database.answers()


def close_idle_connections() -> None:
    """Close idle database connections that many readers at once have left, if this process has an App."""
    if app := _shared:
        app.database.close_idle_connections()


def close_shared_app() -> None:
    """Close the App of this process, if there is one."""
    global _shared
    with _lock:
        app, _shared = _shared, None
    if app is not None:
        app.close()
