"""An answer with everything in it that a run can leave behind."""

from __future__ import annotations

from core.answer.events import (
    Answer,
    Notice,
    RunFailed,
    RunStopped,
    SearchFinished,
    Thought,
    ToolFinished,
    ToolStarted,
    Usage,
)
from core.answer.message import Message
from core.search.types import (
    Attempt,
    AttemptOutcome,
    SearchQuery,
    SearchResponse,
    SearchResult,
    SearchType,
    Source,
    TimeRange,
)

FULL = Message(
    "assistant",
    "答案[1]",
    (
        ToolStarted("web_search", "民法典", "c1"),
        SearchFinished(
            SearchResponse(
                SearchQuery("民法典", SearchType.REGULATION, 5, "zh-CN", TimeRange.YEAR, ("gov.cn",)),
                (SearchResult("题", "https://gov.cn/", "摘要", "gov.cn", "2024-01-01", "tavily", 3),),
                (
                    Attempt("exa", AttemptOutcome.FAILED, 1.5, "超时", "timeout", "重试"),
                    Attempt("tavily", AttemptOutcome.OK, 0.5),
                ),
                "tavily",
                True,
                12.5,
                True,
                0.75,
                2,
                ("注",),
            ),
            (Source(1, "题", "https://gov.cn/", "摘要", "tavily"),),
        ),
        ToolFinished("web_search", False, "失败", "c1"),
        Thought("想"),
        Notice("timeout", "搜索超时。"),
        Answer("答案[1]", (Source(1, "题", "https://gov.cn/", "摘要", "tavily"),)),
        Usage(10, 20, True, {"thinking": 5}),
        RunStopped("iterations"),
        RunFailed("model", "失败了"),
    ),
    (Source(1, "题", "https://gov.cn/", "摘要", "tavily"),),
    3.25,
    "id1",
    "gpt-5-mini",
    "agent",
    1_700_000_000.5,
)
