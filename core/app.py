"""The composition root: the only place that builds long-lived objects."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from core.base.http import Deadline
from core.base.http.networks import trust_fake_addresses
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
from core.run.keeper import Keeper
from core.search.cache import ResultCache
from core.search.engine import CheckedEngine, ClosableEngine, SearchEngine
from core.search.errors import EngineError
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

CHECK_SECONDS = 10.0


@dataclass(frozen=True)
class App:
    """Everything a process shares. Thread-safe. It never changes: other settings make another App of the same parts."""

    loaded: LoadedSettings
    saved: SavedSettings
    loop: LoopThread
    calls: ModelLimit
    model: Model
    chain: Chain
    search: SearchService
    reader: Reader
    chat: ChatService
    database: Database
    store: ConversationStore
    outbox: Outbox
    preferences: Preferences
    read_pages: ReadPages
    keeper: Keeper
    checks: Checks
    metrics: Metrics
    redis: RedisLink | None = None
    _warmed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.chat.look_up = lambda question, meant: self.legal.articles_for(question, meant)  # noqa: PLW0108 (built when first asked)

    @property
    def settings(self) -> Settings:
        return self.loaded.values

    @property
    def cache_warnings(self) -> tuple[str, ...]:
        """Each once: what shares a Redis misses it together."""
        return tuple(dict.fromkeys(filter(None, (*self.search.warnings, self.reader.warning))))

    @property
    def agent_is_built(self) -> bool:
        return "agent" in vars(self)

    @cached_property
    def agent(self) -> AgentRunner:
        """Built when somebody first asks for Agent mode: it brings LangChain's agents with it."""
        from core.agent.runner import AgentRunner

        exempt_from_garbage_collection()
        return AgentRunner(
            self.settings,
            model=self.model,
            search=self.search,
            loop=self.loop,
            reader=self.reader,
            legal=self.legal,
            admission=self.chat.admission,
            on_answer=self.metrics.answer_ended,
        )

    @cached_property
    def legal(self) -> LegalDesk:
        from core.legal.desk import LegalDesk

        return LegalDesk(self.settings, self.search.for_tools(self.model.choice))

    @cached_property
    def diagnosis(self) -> Diagnosis:
        from core.doctor import Diagnosis

        return Diagnosis(self)

    def check_statutes(self, text: str, question: str = "") -> StatuteCheck | None:
        """法条核验 of an answer to a question; None for one without statutes, and when it failed: no answer waits or breaks for it."""
        if not may_cite(text):
            return None
        try:
            return self.legal.check(text, question)
        except Exception:
            log.exception("the statutes of an answer could not be checked")
            return None

    def warm_up(self) -> None:
        """What the first question needs and no page has to wait for: LangChain, and whether the engines answer."""
        if not self._warmed.is_set():
            self._warmed.set()
            self.model.warm_up()
            self.metrics.start()
            threading.Thread(target=self._check_engines, name="wenyuan-check", daemon=True).start()

    def _check_engines(self) -> None:
        for engine in self.chain.engines:
            if isinstance(engine, CheckedEngine):
                try:
                    engine.check(Deadline(CHECK_SECONDS))
                except EngineError as error:
                    log.warning("engine %s: %s", engine.name, error)

    def renewed(self) -> App:
        """An App under what is saved from the page now. Answers under way end on the old one, which needs no closing:
        all that has to be closed goes on in the new one."""
        loaded = self.loaded.with_page(self.saved.read())
        settings = loaded.values
        hide_in_logs(settings.secrets())
        report_problems(loaded.problems)
        model = Model(settings, limit=self.calls)
        chain = build_chain(settings).keeping(self.chain)
        search = self.search.with_engines(chain.engines, _health(chain, self.redis))
        app = replace(
            self,
            loaded=loaded,
            model=model,
            chain=chain,
            search=search,
            chat=replace(self.chat, settings=settings, model=model, search=search, cannot_search=set()),
            _warmed=threading.Event(),
        )
        app.__dict__["legal"] = self.legal.searching(search.for_tools(model.choice))
        return app

    def close(self) -> None:
        if "legal" in self.__dict__:
            self.legal.close()
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
    """The settings that stand beside what they configure, for `load_settings`."""
    return (*engine_sections(), ReadingSettings)


def build_app(
    loaded: LoadedSettings | None = None,
    *,
    model: Model | None = None,
    engines: Sequence[SearchEngine] | None = None,
    quiet: bool = False,
) -> App:
    """`model` and `engines` replace the configured ones: for tests, and for programs that bring their own.

    `quiet`: a program that tells people itself what happened logs nothing but bugs, unless LOG_LEVEL asks for more.
    """
    loaded = loaded or load_settings(sections=brought_sections())
    level = "ERROR" if quiet and loaded.origins["LOG_LEVEL"] == "default" else loaded.values.log.level
    configure_logging(level=level, secrets=loaded.values.secrets())
    database = Database.from_settings(loaded.values)
    saved = _saved(loaded.values, database)
    loaded = loaded.with_page(saved.read())
    settings = loaded.values
    hide_in_logs(settings.secrets())
    report_problems(loaded.problems)
    trust_fake_addresses(settings.network.fake_addresses)
    switch_tuning(on=settings.process.tuning == "on")
    loop = LoopThread()
    redis = RedisLink.from_settings(settings)
    calls = ModelLimit.from_settings(settings, redis)
    model = model or Model(settings, limit=calls)
    chain = build_chain(settings) if engines is None else Chain(tuple(engines), left_out=())
    metrics = Metrics(MetricsStore(database), settings.metrics)
    search = SearchService(
        chain.engines,
        settings=settings.search,
        cache=ResultCache.from_settings(settings, redis),
        limits=SearchLimits.from_settings(settings, redis),
        health=_health(chain, redis),
        prepare=lambda query: effective_query(query, settings),
        on_end=metrics.search_ended,
    )
    reader = Reader.from_settings(settings, link=redis)
    chat = ChatService(
        settings,
        model=model,
        search=search,
        loop=loop,
        reader=reader,
        admission=Admission(settings.limits, redis),
        on_answer=metrics.answer_ended,
    )
    store = ConversationStore(database)
    outbox = Outbox(store)
    read_pages = ReadPages(database)
    return App(
        loaded=loaded,
        saved=saved,
        loop=loop,
        calls=calls,
        model=model,
        chain=chain,
        search=search,
        reader=reader,
        chat=chat,
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


def _saved(settings: Settings, database: Database) -> SavedSettings:
    """Several servers share a database, and save there what holds for all of them."""
    if settings.database.url:
        return StoredSettings(database, secret=cookie_secret())
    return SavedFile(settings.data_dir)


def _health(chain: Chain, redis: RedisLink | None) -> Health:
    return Health((engine.name for engine in chain.engines), link=redis)


_lock = threading.Lock()
_shared: App | None = None


def shared_app() -> App:
    """The App of this process: the page, the ASGI hooks and the health check all mean this one.

    Nobody keeps it longer than a run of a page: after somebody has saved settings, here or in another process, it is
    another one.
    """
    global _shared
    with _lock:
        if _shared is None:
            _shared = build_app()
        elif _shared.saved.stamp() != _shared.loaded.saved.stamp:
            _shared = _shared.renewed()
        return _shared


def let_idle_go() -> None:
    """File handles of the App of this process, if there is one, that many readers at once have left behind."""
    if app := _shared:
        app.database.let_idle_go()


def close_shared_app() -> None:
    global _shared
    with _lock:
        app, _shared = _shared, None
    if app is not None:
        app.close()
