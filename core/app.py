"""The composition root: the only place that builds long-lived objects."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from core.base.http.networks import trust_fake_addresses
from core.base.lazy import Lazy
from core.base.logs import configure_logging, hide_in_logs
from core.base.redis import RedisLink
from core.base.settings import (
    LoadedSettings,
    SavedFile,
    SavedSettings,
    Section,
    Settings,
    cookie_secret,
    load_settings,
    report_problems,
)
from core.base.threads import LoopThread
from core.base.tuning import exempt_from_garbage_collection, switch_tuning
from core.chat.service import ChatService
from core.legal.text.statute_citations import may_cite
from core.llm.limits import ModelLimit
from core.llm.model import Model
from core.metrics import Metrics
from core.reading import Reader, ReadingSettings
from core.run.admission import Admission
from core.run.checking import Checks
from core.run.configured import Configuration, Configured
from core.run.keeper import Keeper
from core.search.cache import ResultCache
from core.search.engine import ClosableEngine, SearchEngine
from core.search.health import Health
from core.search.limits import SearchLimits
from core.search.query import effective_query
from core.search.registry import Chain, build_chain, engine_sections
from core.search.service import SearchService
from core.store import ConversationStore, Database, MetricsStore, Outbox, Preferences, ReadPages, StoredSettings

if TYPE_CHECKING:
    from core.agent.runner import AgentRunner
    from core.doctor import Diagnosis
    from core.legal.desk import LegalDesk, StatuteCheck

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class App:
    """Everything a process shares. Thread-safe, and built once: what saved settings change is in `configuration`."""

    configuration: Configuration
    loop: LoopThread
    calls: ModelLimit
    reader: Reader
    chat: ChatService
    lazy_agent: Lazy[AgentRunner]
    lazy_legal: Lazy[LegalDesk]
    database: Database
    store: ConversationStore
    outbox: Outbox
    preferences: Preferences
    read_pages: ReadPages
    keeper: Keeper
    checks: Checks
    metrics: Metrics
    redis: RedisLink | None = None

    @property
    def configured(self) -> Configured:
        return self.configuration.current

    @property
    def saved(self) -> SavedSettings:
        return self.configuration.saved

    @property
    def loaded(self) -> LoadedSettings:
        return self.configured.loaded

    @property
    def settings(self) -> Settings:
        return self.configured.settings

    @property
    def model(self) -> Model:
        return self.configured.model

    @property
    def chain(self) -> Chain:
        return self.configured.chain

    @property
    def search(self) -> SearchService:
        return self.configured.search

    @property
    def cache_warnings(self) -> tuple[str, ...]:
        """Warnings of the caches, each once: those that share a Redis miss it together."""
        return tuple(dict.fromkeys(filter(None, (*self.search.warnings, self.reader.warning))))

    @property
    def agent(self) -> AgentRunner:
        """The agent, built when Agent mode is first used: it imports LangChain's agents."""
        return self.lazy_agent()

    @property
    def legal(self) -> LegalDesk:
        return self.lazy_legal()

    @cached_property
    def diagnosis(self) -> Diagnosis:
        from core.doctor import Diagnosis

        return Diagnosis(self)

    def check_statutes(self, text: str, question: str = "") -> StatuteCheck | None:
        """Check the statutes that an answer cites (法条核验). Return None for an answer without statutes, and if the
        check failed: no answer waits or breaks for it."""
        if not may_cite(text):
            return None
        try:
            return self.legal.check(text, question)
        except Exception:
            log.exception("the statutes of an answer could not be checked")
            return None

    def warm_up(self) -> None:
        """Prepare what the first question needs and no page has to wait for."""
        self.metrics.start()
        self.configured.warm_up()

    def close(self) -> None:
        """Close everything that holds a connection, a file or a thread."""
        if desk := self.lazy_legal.built:
            desk.close()
        for engine in self.chain.engines:
            if isinstance(engine, ClosableEngine):
                engine.close()
        self.loop.stop()
        self.search.close()
        self.reader.close()
        self.checks.close()
        self.outbox.close()
        self.metrics.close()
        self.database.close()
        if self.redis:
            self.redis.close()


def brought_sections() -> tuple[type[Section], ...]:
    """Return the settings sections that are defined beside what they configure, for `load_settings`."""
    return (*engine_sections(), ReadingSettings)


def build_app(
    loaded: LoadedSettings | None = None,
    *,
    model: Model | None = None,
    engines: Sequence[SearchEngine] | None = None,
    quiet: bool = False,
) -> App:
    """Build the App. `model` and `engines` replace the configured ones, for tests and for programs that have their own.
    `errors_only`: log only errors unless LOG_LEVEL is set, for a program that reports to people itself."""
    loaded = loaded or load_settings(sections=brought_sections())
    level = "ERROR" if quiet and loaded.origins["LOG_LEVEL"] == "default" else loaded.values.log.level
    configure_logging(level=level, secrets=loaded.values.secrets())
    database = Database.from_settings(loaded.values)
    saved = _saved(loaded.values, database)
    loaded = loaded.with_page(saved.read())
    settings = loaded.values
    trust_fake_addresses(settings.network.fake_addresses)
    switch_tuning(on=settings.process.tuning == "on")
    loop = LoopThread()
    redis = RedisLink.from_settings(settings)
    calls = ModelLimit.from_settings(settings, redis)
    metrics = Metrics(MetricsStore(database), settings.metrics)
    cache, limits = ResultCache.from_settings(settings, redis), SearchLimits.from_settings(settings, redis)

    def configure(loaded: LoadedSettings, model: Model | None = None, chain: Chain | None = None) -> Configured:
        settings = loaded.values
        hide_in_logs(settings.secrets())
        report_problems(loaded.problems)
        chain = chain or build_chain(settings)
        search = SearchService(
            chain.engines,
            settings=settings.search,
            cache=cache,
            limits=limits,
            health=Health((engine.name for engine in chain.engines), link=redis),
            prepare=lambda query: effective_query(query, settings),
            on_end=metrics.search_ended,
        )
        return Configured(loaded, model or Model(settings, limit=calls), chain, search)

    configuration = Configuration(
        configure(loaded, model, None if engines is None else Chain(tuple(engines), left_out=())),
        saved,
        rebuild=lambda loaded, before: configure(loaded, chain=build_chain(loaded.values).keeping(before.chain)),
    )
    legal = Lazy(lambda: _legal_desk(configuration))
    reader = Reader.from_settings(settings, link=redis)
    chat = ChatService(
        configuration.latest,
        loop=loop,
        reader=reader,
        admission=Admission(settings.limits, redis),
        on_answer=metrics.answer_ended,
        look_up=lambda question, meant: legal().articles_for(question, meant),
    )
    store = ConversationStore(database)
    outbox = Outbox(store)
    read_pages = ReadPages(database)
    return App(
        configuration=configuration,
        loop=loop,
        calls=calls,
        reader=reader,
        chat=chat,
        lazy_agent=Lazy(lambda: _agent_runner(chat, legal())),
        lazy_legal=legal,
        database=database,
        store=store,
        outbox=outbox,
        preferences=Preferences(database, outbox),
        read_pages=read_pages,
        keeper=Keeper(outbox, loop, read_pages if settings.section(ReadingSettings).keep else None),
        checks=Checks(),
        metrics=metrics,
        redis=redis,
    )


def _legal_desk(configuration: Configuration) -> LegalDesk:
    from core.legal.desk import LegalDesk

    return LegalDesk(configuration.current.settings, lambda: configuration.current.search_for_tools)


def _agent_runner(chat: ChatService, legal: LegalDesk) -> AgentRunner:
    from core.agent.runner import AgentRunner

    exempt_from_garbage_collection()
    return AgentRunner(
        chat.configured,
        loop=chat.loop,
        reader=chat.reader,
        legal=legal,
        admission=chat.admission,
        on_answer=chat.on_answer,
    )


def _saved(settings: Settings, database: Database) -> SavedSettings:
    """Return the store of saved settings. Servers that share a database save there what is valid for all of them."""
    if settings.database.url:
        return StoredSettings(database, secret=cookie_secret())
    return SavedFile(settings.data_dir)


_lock = threading.Lock()
_shared: App | None = None


def shared_app() -> App:
    """Return the App of this process, under the settings that are saved now, here or by another process."""
    global _shared
    with _lock:
        app = _shared = _shared or build_app()
    app.configuration.latest()
    return app


def let_idle_go() -> None:
    """Close idle file handles of this process's App, if there is one, that many readers at once have left."""
    if app := _shared:
        app.database.let_idle_go()


def close_shared_app() -> None:
    """Close the App of this process, if there is one."""
    global _shared
    with _lock:
        app, _shared = _shared, None
    if app is not None:
        app.close()
