"""The composition root: the only place that builds long-lived objects."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from core.base.errors import AppError
from core.base.http import trust_fake_addresses
from core.base.logs import configure_logging, hide_in_logs
from core.base.parts import LazyPart, has_built
from core.base.rate_limits import MinuteCounter
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
from core.llm import Model, ModelCallLimit
from core.reading import ReadingSettings
from core.run import Configured
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

if TYPE_CHECKING:
    from core.agent import AgentRunner
    from core.base.embedding import Embedder
    from core.chat import ChatService
    from core.doctor import Diagnosis
    from core.documents import DocumentLibrary, WatchedFolders
    from core.legal import LegalServices, StatuteCheck
    from core.mcp_client import McpServers
    from core.metrics import MetricsRecorder
    from core.reading import Reader
    from core.run import AnswerChecks, AnswerSaver
    from core.search.types import SearchEnd
    from core.store import (
        ConversationStore,
        Database,
        MetricsStore,
        Outbox,
        PreferenceStore,
        ReadPageStore,
        TokenStore,
        Upkeep,
    )

log = logging.getLogger(__name__)


class App:
    """The long-lived objects of a process. Thread-safe, and built once: what saved settings change is in `configured`.
    A command builds what it uses; a server builds all at its start."""

    def __init__(
        self,
        loaded: LoadedSettings,
        *,
        model: Model | None = None,
        engines: Sequence[SearchEngine] | None = None,
        for_command: bool = False,
    ) -> None:
        self.building = threading.RLock()
        self._for_command = for_command
        self._lock = threading.Lock()
        self._configured_first = loaded.values
        self.saved_settings = self._saved_settings_store()
        loaded = loaded.with_saved(self.saved_settings.read())
        settings = loaded.values
        trust_fake_addresses(settings.network.fake_addresses)
        switch_tuning(on=settings.process.tuning == "on")
        self.loop = LoopThread()
        self.redis = RedisLink.from_settings(settings)
        self.model_limit = ModelCallLimit.from_settings(settings, self.redis)
        self._cache = ResultCache.from_settings(settings, self.redis)
        self._limits = SearchLimits.from_settings(settings, self.redis)
        self.configured = self._configure(loaded, model, None if engines is None else EngineChain(tuple(engines), ()))

    # ── Parts ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @LazyPart
    def database(self) -> Database:
        from core.store import Database

        return Database.from_settings(self._configured_first)

    @LazyPart
    def metrics(self) -> MetricsRecorder:
        from core.metrics import MetricsRecorder
        from core.store import RecordFile

        left = RecordFile(self.settings.data_dir / "database" / "records-of-commands.jsonl")
        if self._for_command:
            return MetricsRecorder(left, self.settings.metrics)
        store, take = self.metrics_store, partial(left.move_to, self.metrics_store)
        return MetricsRecorder(store, self.settings.metrics, take_left_records=take)

    @LazyPart
    def metrics_store(self) -> MetricsStore:
        from core.store import MetricsStore

        return MetricsStore(self.database)

    @LazyPart
    def reader(self) -> Reader:
        from core.reading import Reader

        return Reader.from_settings(self.settings, link=self.redis)

    @LazyPart
    def embedder(self) -> Embedder | None:
        from core.base.embedding import Embedder

        return Embedder(self.settings.legal.embedding) if self.settings.legal.embedding else None

    @LazyPart
    def checks(self) -> AnswerChecks:
        from core.checks import MeaningComparison
        from core.run import AnswerChecks

        return AnswerChecks(MeaningComparison(self.embedder) if self.embedder else None)

    @LazyPart
    def chat(self) -> ChatService:
        from core.chat import ChatService
        from core.run import Admission

        return ChatService(
            self.latest_configured,
            loop=self.loop,
            reader=self.reader,
            admission=Admission(self.settings.limits, self.redis),
            checks=self.checks,
            on_run_end=self.metrics.record_answer,
            legal=lambda: self.legal,
            documents=lambda: self.documents,
        )

    @LazyPart
    def mcp(self) -> McpServers:
        """The servers of others, whose tools the agent may use."""
        from core.mcp_client import McpServers

        servers = McpServers(self.loop)
        servers.configure(self.settings.mcp)
        return servers

    @LazyPart
    def agent(self) -> AgentRunner:
        """The agent, built when Agent mode is first used: it imports LangChain's agents."""
        from core.agent import AgentRunner

        exempt_from_garbage_collection()
        return AgentRunner(
            self.latest_configured,
            loop=self.loop,
            reader=self.reader,
            legal=self.legal,
            documents=self.documents,
            mcp=self.mcp,
            admission=self.chat.admission,
            checks=self.checks,
            on_run_end=self.metrics.record_answer,
        )

    @LazyPart
    def legal(self) -> LegalServices:
        """The services of laws and cases."""
        from core.legal import LegalServices

        shared = None
        if self.settings.database.url:
            from core.store import SharedFiles

            shared = SharedFiles(self.database)
        search = lambda: self.search.for_tools(self.model.choice)  # noqa: E731
        return LegalServices(self.settings, search, self.embedder, shared)

    @LazyPart
    def store(self) -> ConversationStore:
        from core.store import ConversationStore

        return ConversationStore(self.database)

    @LazyPart
    def outbox(self) -> Outbox:
        from core.store import Outbox

        return Outbox(self.store)

    @LazyPart
    def preferences(self) -> PreferenceStore:
        from core.store import PreferenceStore

        return PreferenceStore(self.database, self.outbox)

    @LazyPart
    def tokens(self) -> TokenStore:
        from core.store import TokenStore

        return TokenStore(self.database, self.outbox)

    @LazyPart
    def request_counter(self) -> MinuteCounter:
        return MinuteCounter(self.redis)

    @LazyPart
    def failure_counter(self) -> MinuteCounter:
        """Wrong tokens, in this process alone: a flood of them must not reach Redis."""
        return MinuteCounter()

    @LazyPart
    def read_pages(self) -> ReadPageStore:
        from core.store import ReadPageStore

        megabytes = self.settings.section(ReadingSettings).kept_file_megabytes
        return ReadPageStore(self.database, max_file_bytes=megabytes * 2**20)

    @LazyPart
    def keeper(self) -> AnswerSaver:
        from core.run import AnswerSaver

        kept_pages = self.read_pages if self.settings.section(ReadingSettings).keep else None
        return AnswerSaver(self.outbox, self.loop, self.store, kept_pages)

    @LazyPart
    def documents(self) -> DocumentLibrary:
        from core.documents import DocumentLibrary

        return DocumentLibrary.from_settings(self.settings, self.database, self.reader, self.embedder)

    @LazyPart
    def watched_folders(self) -> WatchedFolders:
        from core.documents import WatchedFolders

        return WatchedFolders.from_settings(self.settings, self.documents, self.database)

    @LazyPart
    def upkeep(self) -> Upkeep:
        from core.store import Upkeep

        return Upkeep(self.database, self.settings.retention, others=self.documents.tidy)

    @LazyPart
    def diagnosis(self) -> Diagnosis:
        from core.doctor import Diagnosis

        return Diagnosis(self)

    @property
    def is_agent_built(self) -> bool:
        return has_built(self, "agent")

    def build_for_pages(self) -> None:
        """Build all that pages use, except the agent and the services of law, which take seconds to import."""
        with_what_they_use = ("chat", "keeper", "preferences", "tokens", "mcp", "watched_folders", "upkeep")
        for part in with_what_they_use:
            getattr(self, part)

    def _saved_settings_store(self) -> SavedSettingsStore:
        """Return the store of saved settings. Servers that share a database save there what is valid for all of them."""
        if not self._configured_first.database.url:
            return SavedSettingsFile(self._configured_first.data_dir)
        from core.store import SavedSettingsTable

        return SavedSettingsTable(self.database, secret=cookie_secret())

    # ── Settings ──────────────────────────────────────────────────────────────────────────────────────────────────

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
        if has_built(self, "mcp"):
            self.mcp.configure(settings.mcp)
        chain = chain or build_chain(settings)
        search = SearchService(
            chain.engines,
            settings=settings.search,
            cache=self._cache,
            limits=self._limits,
            health=EngineHealth((engine.name for engine in chain.engines), link=self.redis),
            prepare=lambda query: effective_query(query, settings),
            on_end=self._record_search,
            no_engine_cure=chain.missing_settings,
        )
        return Configured(loaded, model or Model(settings, limit=self.model_limit), chain, search)

    def _record_search(self, end: SearchEnd) -> None:
        self.metrics.record_search(end)

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

    def check_statutes(
        self, text: str, question: str = "", load_source_texts: Callable[[], Mapping[int, str]] = dict
    ) -> StatuteCheck | None:
        """Check the statutes and cases that an answer cites (法条核验, 案号核验). Return None for an answer without any, and
        if the check failed: no answer waits or breaks for it. `load_source_texts` is called only if a case is named."""
        from core.legal import may_cite, may_name_case

        if not (may_cite(text) or may_name_case(text)):
            return None
        try:
            return self.legal.checks.check(clean(text), question, load_source_texts)
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
        """Close all connections, files and threads that there are."""
        self._close_part("legal")
        for engine in self.chain.engines:
            if isinstance(engine, ClosableEngine):
                engine.close()
        self._close_part("mcp")
        self.loop.stop()
        self.search.close()
        for part in ("watched_folders", "documents", "reader", "checks", "outbox", "metrics", "upkeep", "database"):
            self._close_part(part)
        if self.redis:
            self.redis.close()

    def _close_part(self, name: str) -> None:
        if has_built(self, name):
            getattr(self, name).close()


def extra_sections() -> tuple[type[Section], ...]:
    """Return the settings sections that are defined beside what they configure, for `load_settings`."""
    return (*engine_sections(), ReadingSettings)


def build_app(
    loaded: LoadedSettings | None = None,
    *,
    model: Model | None = None,
    engines: Sequence[SearchEngine] | None = None,
    for_command: bool = False,
) -> App:
    """Build the App. `model` and `engines` replace the configured ones, for tests and for programs that have their own.
    A command reports to people itself: only errors are logged unless LOG_LEVEL or AGENT_VERBOSE is set. And it opens no
    database for what it records of its searches and answers: a server will take that."""
    loaded = loaded or load_settings(sections=extra_sections())
    level = loaded.values.log.level
    if for_command and loaded.origins["LOG_LEVEL"] == "default":
        level = "INFO" if loaded.values.agent.verbose else "ERROR"
    configure_logging(level=level, format=loaded.values.log.format, secrets=loaded.values.secrets())
    return App(loaded, model=model, engines=engines, for_command=for_command)


_lock = threading.Lock()
_shared: App | None = None


def shared_app() -> App:
    """Return the App of this process, under the settings that are saved now, here or by another process. The first call
    begins to build an empty law library."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = build_app()
            _shared.build_for_pages()
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
