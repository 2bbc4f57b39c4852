from . import errors, registry, types
from .cache import ResultCache, SessionCache
from .engine import CheckableEngine, ClosableEngine, SearchEngine
from .engines.native import (
    BARE_TOOL,
    EXTRAS,
    NativeEngine,
    lacks_search,
    not_supported_error,
    search_queries,
    search_tool,
    strip_service_marks,
    takes_bare_tool,
    visited_urls,
)
from .failover import describe_attempt
from .health import EngineHealth, Rest
from .manual import find_article, manual_articles
from .prompt_format import (
    CLOSE_FENCE,
    LINE_MARK,
    NO_WEB_ENGINE,
    NOTHING_FOUND,
    OPEN_FENCE,
    SEARCH_FAILED,
    PromptText,
    QuotedText,
    fence_safe,
    sources_block,
    web_failure_note,
)
from .query import LANGUAGES, MAX_LENGTH, TIME_RANGES, describe_filters, effective_query
from .registry import (
    EngineChain,
    EngineOrder,
    build_chain,
    engine_class,
    engine_label,
    engine_sections,
    unsupported_filters,
)
from .results import SNIPPET_LENGTH, TITLE_LENGTH, RawResult, clean_results
from .search_limits import SearchLimits
from .service import SearchService

__all__ = [
    "BARE_TOOL",
    "CLOSE_FENCE",
    "EXTRAS",
    "LANGUAGES",
    "LINE_MARK",
    "MAX_LENGTH",
    "NOTHING_FOUND",
    "NO_WEB_ENGINE",
    "OPEN_FENCE",
    "SEARCH_FAILED",
    "SNIPPET_LENGTH",
    "TIME_RANGES",
    "TITLE_LENGTH",
    "CheckableEngine",
    "ClosableEngine",
    "EngineChain",
    "EngineHealth",
    "EngineOrder",
    "NativeEngine",
    "PromptText",
    "QuotedText",
    "RawResult",
    "Rest",
    "ResultCache",
    "SearchEngine",
    "SearchLimits",
    "SearchService",
    "SessionCache",
    "build_chain",
    "clean_results",
    "describe_attempt",
    "describe_filters",
    "effective_query",
    "engine_class",
    "engine_label",
    "engine_sections",
    "errors",
    "fence_safe",
    "find_article",
    "lacks_search",
    "manual_articles",
    "not_supported_error",
    "registry",
    "search_queries",
    "search_tool",
    "sources_block",
    "strip_service_marks",
    "takes_bare_tool",
    "types",
    "unsupported_filters",
    "visited_urls",
    "web_failure_note",
]
