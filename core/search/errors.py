"""Errors of searches. After an EngineError the next engine is asked; its class says how long the failed one rests.

EngineBlocked is a captcha, a consent page or a 403. EngineMisconfigured is a wrong key, no Chrome, or JSON that is
switched off, with the cure. EngineParseError is an answer that is not what the engine's API promises.
"""

from __future__ import annotations

from typing import ClassVar

from core.base.errors import AppError
from core.search.types import Attempt, AttemptOutcome

HALF_AN_HOUR = 1800.0
"""Rest after an error that only a change of the settings can mend. It ends, as the change may be made elsewhere."""
NEVER = 0


class SearchError(AppError):
    kind = "search"
    default_message = "搜索没有成功。"


class QueryError(SearchError):
    """The query was refused before anything was sent."""

    kind = "query"
    default_message = "搜索词为空，没有执行搜索。"
    default_cure = "请输入要查找的内容。"


class RateLimited(SearchError):
    kind = "rate_limited"
    default_message = "搜索次数已达到每分钟的上限。"

    def __init__(self, *, retry_after: float) -> None:
        self.retry_after = max(1, round(retry_after))
        super().__init__(cure=f"请在 {self.retry_after} 秒后重试。")


class NoEngine(SearchError):
    kind = "no_engine"
    default_message = "没有可用的搜索引擎。"
    default_cure = "请管理员在引擎的顺序中加入至少一个引擎。"


class EngineError(SearchError):
    """One engine failed; the next one in the chain takes over."""

    kind = "engine"
    default_message = "搜索引擎返回了错误。"
    rest_seconds: ClassVar[float] = 60.0
    strikes: ClassVar[int] = 1
    """Number of failures in a row after which the engine rests. NEVER: a single query can cause it at any time."""
    is_process_local: ClassVar[bool] = False
    """True if the cause is in the settings of this process: other app servers are not warned."""

    def __init__(self, message: str = "", *, cure: str = "", status: int = 0) -> None:
        super().__init__(message, cure=cure)
        self.status = status
        """The HTTP status that the engine answered with, where that says something."""

    def attempt(self, engine: str, seconds: float) -> Attempt:
        """Return what the engine did: it failed in this way."""
        return Attempt(engine, AttemptOutcome.FAILED, seconds, self.message, self.kind, self.cure, self.status)

    @property
    def rest(self) -> float:
        """Seconds for which the engine is not asked."""
        return self.rest_seconds


class EngineTimeout(EngineError):
    kind = "timeout"
    default_message = "搜索超时。"
    default_cure = "请检查网络，或稍后重试；也可以请管理员在设置中调长搜索的时限。"
    rest_seconds = 15.0


class EngineUnavailable(EngineError):
    kind = "unavailable"
    default_message = "搜索服务不可用。"
    default_cure = "请检查网络或服务地址。"
    rest_seconds = 30.0


class EngineThrottled(EngineError):
    kind = "throttled"
    default_message = "搜索引擎要求放慢速度（429）。"
    rest_seconds = 60.0

    def __init__(self, message: str = "", *, cure: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, cure=cure, status=429)
        self.retry_after = retry_after

    @property
    def rest(self) -> float:
        return self.rest_seconds if self.retry_after is None else min(max(self.retry_after, 1.0), 3600.0)


class EngineBlocked(EngineError):
    kind = "blocked"
    default_message = "搜索引擎拒绝了自动访问。"
    default_cure = "需要人工处理，程序不会反复尝试。"
    rest_seconds = 3600.0


class EngineMisconfigured(EngineError):
    kind = "misconfigured"
    default_message = "搜索引擎的配置有误。"
    rest_seconds = HALF_AN_HOUR
    is_process_local = True

    def __init__(
        self, message: str = "", *, cure: str = "", status: int = 0, state: str = "不可用", setting: str = ""
    ) -> None:
        super().__init__(message, cure=cure, status=status)
        self.state = state
        """State of the engine in a word or two, for a list of engines."""
        self.setting = setting
        """The environment variable that is missing or wrong, for administrators. Readers are not shown it."""


class EngineQuotaExceeded(EngineError):
    kind = "quota"
    default_message = "搜索引擎的额度已用完。"
    default_cure = "请到服务商处充值，或改用其他引擎。"
    rest_seconds = HALF_AN_HOUR
    is_process_local = True


class EngineParseError(EngineError):
    kind = "parse"
    default_message = "搜索引擎返回的内容无法读取。"
    rest_seconds = 60.0
    strikes = 5


class EngineRefusedQuery(EngineError):
    """The engine refused this one query, with a redirect or a 400. It does not rest for other queries."""

    kind = "query_refused"
    default_message = "搜索引擎不接受这次的搜索词。"
    default_cure = "请换一种写法再搜索。"
    strikes = NEVER


class AllEnginesFailed(SearchError):
    """No engine answered and no old results were cached. `attempts` says what each engine did."""

    kind = "all_failed"
    default_message = "所有搜索引擎都没有成功。"
    default_cure = "请检查网络，或稍后重试。"

    def __init__(
        self, message: str = "", *, cure: str = "", attempts: tuple[Attempt, ...] = (), cause: str = ""
    ) -> None:
        super().__init__(message, cure=cure)
        self.attempts = attempts
        self.cause = cause
        """Most frequent `kind` of error among the engines: timeout, unavailable, …"""
