"""Which engines there are, and which of them this installation can use."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib import import_module

from core.base.settings import Settings
from core.search.engine import SearchEngine
from core.search.errors import EngineMisconfigured
from core.search.types import SearchQuery

log = logging.getLogger(__name__)

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
"""Name → where its class is. An engine's module is imported only when the engine is in the chain."""


_LABELS = {
    "native": "模型自带搜索",
    "perplexity": "Perplexity",
    "exa": "Exa",
    "tavily": "Tavily",
    "serpapi": "SerpAPI",
    "zhipu": "智谱",
    "bocha": "博查",
    "searxng": "SearXNG",
    "google": "Google",
    "tavily_keyless": "Tavily（免密钥）",
    "ddgs": "DuckDuckGo 等",
    "bundled": "内置手册",
    # No engines, but they answer too: what was imported on the page 法规与案例.
    "laws": "本地法规库",
    "cases": "本地案例库",
}


_WITHOUT_LANGUAGE = {"exa", "tavily", "tavily_keyless", "zhipu", "bocha", "bundled"}
_WITHOUT_TIME_RANGE = {"bundled"}
"""Engines whose servers have no parameter for it, or none that filters."""


def unheeded_limits(name: str, query: SearchQuery) -> list[str]:
    """What was asked for and this engine cannot do, for the reader who wonders."""
    found = []
    if query.time_range and name in _WITHOUT_TIME_RANGE:
        found.append(f"{label_of(name)}不能按时间筛选，时间范围没有起作用。")
    if query.language not in {"", "auto"} and name in _WITHOUT_LANGUAGE:
        found.append(f"{label_of(name)}不能按语言筛选，语言没有起作用。")
    return found


def label_of(name: str) -> str:
    """The engine as readers know it."""
    return _LABELS.get(name, name)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An engine that is in the order but cannot be used, and why."""

    name: str
    reason: str
    cure: str
    state: str
    """The same in a word or two."""


@dataclass(frozen=True, slots=True)
class Chain:
    engines: tuple[SearchEngine, ...]
    left_out: tuple[LeftOut, ...]


def build_chain(settings: Settings) -> Chain:
    """The engines in the configured order; what cannot be used is left out, and says why."""
    engines: list[SearchEngine] = []
    left_out: list[LeftOut] = []
    for name in dict.fromkeys(settings.search.provider_priority):
        try:
            engines.append(_build(name, settings))
        except EngineMisconfigured as error:
            left_out.append(LeftOut(name, error.message, error.cure, error.state))
    log.info(
        "engines in order: %s; left out: %s",
        ", ".join(engine.name for engine in engines) or "none",
        ", ".join(entry.name for entry in left_out) or "none",
    )
    return Chain(tuple(engines), tuple(left_out))


def _build(name: str, settings: Settings) -> SearchEngine:
    if name not in ENGINES:
        raise EngineMisconfigured(f"没有名为「{name}」的引擎。", cure=f"可用的名字：{'、'.join(ENGINES)}。")
    module, _, class_name = ENGINES[name].partition(":")
    engine: SearchEngine = getattr(import_module(module), class_name).from_settings(settings)
    return engine
