"""The registry of search engines, and the chain of those that this installation can use."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Annotated

from pydantic import Field

from core.base.settings import Names, Section, Settings, ValueFormat
from core.search.engine import ClosableEngine, SearchEngine
from core.search.errors import EngineMisconfigured, NoEngine
from core.search.prompt_format import NO_WEB_ENGINE
from core.search.types import SearchQuery

log = logging.getLogger(__name__)

_ADD_WEB_ENGINE = "请管理员在引擎的顺序中加入能联网的引擎，例如不需要密钥的 ddgs。"
MAX_REASONS = 3
"""Number of engines that are named to a reader who has none."""

ENGINES: dict[str, str] = {
    "native": "core.search.engines.native:NativeEngine",
    "perplexity": "core.search.engines.perplexity:PerplexityEngine",
    "exa": "core.search.engines.exa:ExaEngine",
    "tavily": "core.search.engines.tavily:TavilyEngine",
    "serpapi": "core.search.engines.serpapi:SerpapiEngine",
    "zhipu": "core.search.engines.zhipu:ZhipuEngine",
    "bocha": "core.search.engines.bocha:BochaEngine",
    "searxng": "core.search.engines.searxng:SearxngEngine",
    "google": "core.search.engines.google:GoogleEngine",
    "tavily_keyless": "core.search.engines.tavily_keyless:TavilyKeylessEngine",
    "ddgs": "core.search.engines.ddgs:DdgsEngine",
    "bundled": "core.search.engines.bundled:BundledEngine",
}
"""Name → class of each engine, in the default order in which they are asked."""


class EngineOrder(Section):
    name = "search"
    group = "搜索"
    provider_priority: Annotated[Names, ValueFormat("引擎名，逗号分隔")] = Field(
        default_factory=lambda: tuple(ENGINES), description="引擎的顺序"
    )


def is_named_in_order(name: str, settings: Settings) -> bool:
    """Return whether the settings name this engine in the order; by default all engines are in it."""
    order = settings.section(EngineOrder)
    return "provider_priority" in order.model_fields_set and name in order.provider_priority


def engine_sections() -> tuple[type[Section], ...]:
    """Return the settings sections of the engines, for `load_settings`."""
    classes = filter(None, map(engine_class, ENGINES))
    return (EngineOrder, *(engine.section for engine in classes if engine.section is not None))


def engine_class(name: str) -> type[SearchEngine] | None:
    if name not in ENGINES:
        return None
    module, _, class_name = ENGINES[name].partition(":")
    found: type[SearchEngine] = getattr(import_module(module), class_name)
    return found


def engine_label(name: str) -> str:
    """Return the engine's name for readers."""
    engine = engine_class(name)
    return engine.label if engine else name


def unsupported_filters(name: str, query: SearchQuery) -> list[str]:
    """Return sentences about the filters of the query that this engine cannot apply."""
    engine = engine_class(name)
    found = []
    if engine and query.time_range and not engine.filters_time_range:
        found.append(f"{engine.label}不能按时间筛选，时间范围没有起作用。")
    if engine and query.language not in {"", "auto"} and not engine.filters_language:
        found.append(f"{engine.label}不能按语言筛选，语言没有起作用。")
    return found


@dataclass(frozen=True, slots=True)
class UnavailableEngine:
    """An engine that is in the order but cannot be used, and why."""

    name: str
    reason: str
    cure: str
    state: str
    """The reason in a word or two."""
    setting: str = ""
    """The environment variable that is missing or wrong."""

    @property
    def cure_for_administrators(self) -> str:
        """The cure with the name of the environment variable."""
        return f"{self.cure}{f'环境变量是 {self.setting}。' if self.setting else ''}"


@dataclass(frozen=True, slots=True)
class EngineChain:
    """The usable engines in order, and those that cannot be used."""

    engines: tuple[SearchEngine, ...]
    unavailable: tuple[UnavailableEngine, ...]

    @property
    def no_engine_error(self) -> NoEngine:
        """The error for a search without an engine. It names the settings that are really missing."""
        return NoEngine(cure=self.missing_settings or NoEngine.default_cure)

    @property
    def no_web_engine(self) -> str:
        """The sentence that only the manual can be searched, and what to do."""
        return f"{NO_WEB_ENGINE}{self.missing_settings or _ADD_WEB_ENGINE}"

    @property
    def missing_settings(self) -> str:
        """The reasons why engines of the order cannot be used, and the cures; empty if none was left out."""
        return "".join(f"{entry.reason}{entry.cure}" for entry in self.unavailable[:MAX_REASONS])

    def with_open_engines(self, previous: EngineChain) -> EngineChain:
        """Return the chain with an earlier chain's engines that hold a browser; the page changes no settings of these."""
        held = {engine.name: engine for engine in previous.engines if isinstance(engine, ClosableEngine)}
        return replace(self, engines=tuple(held.get(engine.name, engine) for engine in self.engines))


def build_chain(settings: Settings) -> EngineChain:
    """Return the engines in the configured order, and the reasons why others cannot be used."""
    engines: list[SearchEngine] = []
    left_out: list[UnavailableEngine] = []
    for name in dict.fromkeys(settings.section(EngineOrder).provider_priority):
        try:
            engines.append(_build(name, settings))
        except EngineMisconfigured as error:
            left_out.append(UnavailableEngine(name, error.message, error.cure, error.state, error.setting))
    log.info(
        "engines in order: %s; left out: %s",
        ", ".join(engine.name for engine in engines) or "none",
        ", ".join(entry.name for entry in left_out) or "none",
    )
    return EngineChain(tuple(engines), tuple(left_out))


def _build(name: str, settings: Settings) -> SearchEngine:
    engine = engine_class(name)
    if engine is None:
        raise EngineMisconfigured(f"没有名为「{name}」的引擎。", cure=f"可用的名字：{'、'.join(ENGINES)}。")
    return engine.from_settings(settings)
