"""What a search engine is: one method. And the template that makes an HTTP engine two small pure halves.

An HTTP engine says how to ask (`build_request`) and how to read the answer (`parse_response`). It performs no I/O and
knows nothing of caches, limits, failover or pages; everything around it is here or in the service.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol, Self, runtime_checkable

from core.errors import (
    EngineBlocked,
    EngineError,
    EngineMisconfigured,
    EngineParseError,
    EngineQuotaExceeded,
    EngineThrottled,
    EngineTimeout,
    EngineUnavailable,
    HttpCancelled,
    HttpConnectError,
    HttpError,
    HttpInvalidJson,
    HttpInvalidRequest,
    HttpProtocolError,
    HttpRedirect,
    HttpTimeout,
    HttpTooLarge,
)
from core.http import Deadline, Request, Response, fetch
from core.search.results import Found, RawResult, clean_results
from core.search.types import SearchQuery, SearchResult
from core.settings import Settings

DEFAULT_SECONDS = 5.0


@runtime_checkable
class SearchEngine(Protocol):
    """Raises an `EngineError` when it cannot answer; an empty list means that the engine really found nothing."""

    name: str

    def search(
        self, query: SearchQuery, num_results: int, *, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]: ...


class HttpEngine(ABC):
    """One file per engine: subclass this, set `name`, write the two halves and `from_settings`."""

    name: ClassVar[str]

    def __init__(self, *, fetch: Callable[..., Response] = fetch) -> None:
        self._fetch = fetch

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Raises EngineMisconfigured, with the cure, where a key or a server is missing: the chain goes on without."""

    @abstractmethod
    def build_request(self, query: SearchQuery, num_results: int) -> Request: ...

    @abstractmethod
    def parse_response(self, response: Response) -> Iterable[RawResult] | Found:
        """Reads an answer with status 200. Whatever shape the data has, raise nothing but an EngineError."""

    def check_status(self, response: Response) -> None:
        """What a status other than 2xx means. Override where the engine has its own numbers or words."""
        raise_for_status(response)

    def search(self, query: SearchQuery | str, num_results: int, *, deadline: Deadline | None = None) -> Found:
        query = SearchQuery(query) if isinstance(query, str) else query
        try:
            request = self.build_request(query, num_results)
            response = self._fetch(request, deadline=deadline or Deadline(DEFAULT_SECONDS))
            self.check_status(response)
            found = self.parse_response(response)
        except HttpError as error:
            raise translate(error) from None
        except (KeyError, TypeError, AttributeError, ValueError, IndexError):
            raise EngineParseError(f"{self.name} 返回的内容与其接口说明不符。") from None
        return found if isinstance(found, Found) else clean_results(found, engine=self.name, limit=num_results)


def raise_for_status(response: Response) -> None:
    status = response.status
    if 200 <= status < 300:
        return
    if status == 401:
        raise EngineMisconfigured("搜索引擎拒绝了当前的密钥（401）。", cure="请检查密钥是否正确、是否已过期。")
    if status == 402:
        raise EngineQuotaExceeded
    if status == 403:
        raise EngineBlocked("搜索引擎拒绝访问（403）。")
    if status == 408 or status == 504:
        raise EngineTimeout(f"搜索引擎自己超时了（{status}）。")
    if status == 429:
        raise EngineThrottled(retry_after=_seconds(response.headers.get("Retry-After")))
    if status >= 500:
        raise EngineUnavailable(f"搜索引擎内部出错（{status}）。", cure="请稍后重试。")
    raise EngineParseError(f"搜索引擎不接受这次请求（{status}）。")


def _seconds(value: str | None) -> float | None:
    """Retry-After in its plain form; the rare form with a date is treated as not given."""
    return float(value) if value and value.strip().isdecimal() else None


def translate(error: HttpError) -> EngineError:
    """A failed exchange, as a reason to try the next engine."""
    kinds: dict[type[HttpError], type[EngineError]] = {
        HttpTimeout: EngineTimeout,
        HttpCancelled: EngineTimeout,
        HttpConnectError: EngineUnavailable,
        HttpInvalidRequest: EngineMisconfigured,
        HttpRedirect: EngineMisconfigured,
        HttpTooLarge: EngineParseError,
        HttpProtocolError: EngineUnavailable,
        HttpInvalidJson: EngineParseError,
    }
    return kinds.get(type(error), EngineUnavailable)(error.message, cure=error.cure)


def missing_key(name: str, variable: str, where: str) -> EngineMisconfigured:
    return EngineMisconfigured(f"没有设置 {variable}。", cure=f"到 {where} 获取密钥，然后设置环境变量 {variable}。")


__all__ = [
    "Found",
    "HttpEngine",
    "RawResult",
    "Request",
    "Response",
    "SearchEngine",
    "missing_key",
    "raise_for_status",
    "translate",
]
