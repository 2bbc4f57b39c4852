"""The interface of a search engine, and the template for HTTP engines.

An HTTP engine says how to ask (`build_request`) and how to read the answer (`parse_response`): two small pure
functions. It performs no I/O and knows nothing of caches, limits, failover or pages.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from core.base.http import Deadline, Request, Response, errors, fetch
from core.base.settings import ApiKey, ModelChoice, Section, Settings, variable_name
from core.search.errors import (
    EngineBlocked,
    EngineError,
    EngineMisconfigured,
    EngineParseError,
    EngineQuotaExceeded,
    EngineRefusedQuery,
    EngineThrottled,
    EngineTimeout,
    EngineUnavailable,
)
from core.search.results import EngineResults, RawResult, clean_results
from core.search.types import SearchQuery, SearchResult

DEFAULT_SECONDS = 5.0


class SearchEngine(ABC):
    """A search engine. Each has one file with everything that is known about it, and one line in the registry."""

    name: str
    label: ClassVar[str] = ""
    """Name for readers; empty: `name` is used."""
    section: ClassVar[type[Section] | None] = None
    """Settings of the engine."""
    filters_language: ClassVar[bool] = True
    filters_time_range: ClassVar[bool] = True
    """False if its server has no parameter for it, or none that works. The reader is told."""
    is_cacheable: ClassVar[bool] = True
    reaches_web: ClassVar[bool] = True
    test_question: ClassVar[str] = "今天的新闻"
    is_set_up: bool = True
    """True if an administrator set it up: then its failure matters even if another engine answers."""
    missing_setup: EngineMisconfigured | None = None
    """Error that describes missing setup of an engine that can be used all the same."""

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Build the engine. Raise EngineMisconfigured with the cure if a key or a server is missing; the chain then
        goes on without it."""
        return cls()

    def for_tools(self, model: ModelChoice) -> Self | None:
        """Return the engine for the tools of an agent with this model; None if they do not use it."""
        return self

    @abstractmethod
    def search(
        self, query: SearchQuery, num_results: int, *, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        """Return the results; an empty list if there are none. Raise an `EngineError` if the engine cannot answer."""


@runtime_checkable
class CheckableEngine(Protocol):
    """An engine whose server can be tested at the start."""

    name: str

    def check(self, deadline: Deadline) -> None: ...


@runtime_checkable
class ClosableEngine(Protocol):
    """An engine that holds a resource which must be closed at the end, such as a browser."""

    def close(self) -> None: ...


class HttpEngine(SearchEngine):
    """An engine that is asked over HTTP. Subclasses write `build_request` and `parse_response`."""

    total_path: ClassVar[tuple[str, ...]] = ()
    """Path in its JSON to the total number of results."""

    def __init__(self, *, fetch: Callable[..., Response] = fetch) -> None:
        self._fetch = fetch

    @abstractmethod
    def build_request(self, query: SearchQuery, num_results: int) -> Request: ...

    @abstractmethod
    def parse_response(self, response: Response) -> Iterable[RawResult] | EngineResults:
        """Read an answer with status 200. Raise only EngineError, whatever shape the data has."""

    def check_status(self, response: Response) -> None:
        """Raise the error of a status other than 2xx. Override it for engines with their own numbers or words."""
        raise_for_status(response)

    def search(self, query: SearchQuery | str, num_results: int, *, deadline: Deadline | None = None) -> EngineResults:
        """Ask the engine and return its cleaned results. Raise an `EngineError`."""
        query = SearchQuery(query) if isinstance(query, str) else query
        try:
            request = self.build_request(query, num_results)
            response = self._fetch(request, deadline=deadline or Deadline(DEFAULT_SECONDS))
            self.check_status(response)
            found = self.parse_response(response)
            if not isinstance(found, EngineResults):  # a generator runs here, and may find unexpected data
                total = dig(response.json(), *self.total_path) if self.total_path else None
                found = clean_results(found, engine=self.name, limit=num_results, total=total)
        except errors.HttpError as error:
            raise to_engine_error(error) from None
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
            raise EngineParseError(f"{self.name} 返回的内容与其接口说明不符。") from None
        if found.skipped and not found:
            raise EngineParseError(f"{self.name} 返回了 {found.skipped} 条结果，但没有一条可用。")
        del found[num_results:]
        return found


class EngineSection(Section):
    group = "引擎"


class KeySection(EngineSection):
    api_key: ApiKey | None = None


class KeyedEngine(HttpEngine):
    """An HTTP engine that needs a key."""

    section: ClassVar[type[KeySection]]
    key_page: ClassVar[str]
    """Page on which a reader gets the key."""

    def __init__(self, api_key: str, *, fetch: Callable[..., Response] = fetch) -> None:
        super().__init__(fetch=fetch)
        self.api_key = api_key

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(cls.require_key(settings))

    @classmethod
    def require_key(cls, settings: Settings) -> str:
        key = settings.section(cls.section).api_key
        if key is None:
            raise missing_key_error(cls.key_variable(), cls.key_page, label=cls.label)
        return key.get_secret_value()

    @classmethod
    def key_variable(cls) -> str:
        return variable_name(cls.section.name, "api_key")

    @property
    def auth_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_key}"}

    def check_status(self, response: Response) -> None:
        if response.status == 401 and not is_out_of_credit(response):
            raise EngineMisconfigured(
                f"{self.name} 拒绝了当前的密钥（401）。",
                status=401,
                cure=f"请检查 {self.key_variable()} 是否完整、是否已过期，可到 {self.key_page} 重新获取。",
            )
        super().check_status(response)


# Services say in words that the money is gone, under whatever status they use for bad keys or for haste.
_OUT_OF_CREDIT = re.compile(
    rb"run out of|out of credits?|no_more_credits|budget_exceeded|exceeded your (current )?quota"
    rb"|insufficient[ _](quota|balance|credits?|funds)|not (have )?enough (money|credits?|balance)",
    re.IGNORECASE,
)


def is_out_of_credit(response: Response) -> bool:
    if response.status == 402:
        return True
    return response.status in {401, 403, 429} and _OUT_OF_CREDIT.search(response.body[:10_000]) is not None


def raise_for_status(response: Response) -> None:
    """Raise the `EngineError` of a status other than 2xx."""
    status = response.status
    if 200 <= status < 300:
        return
    if is_out_of_credit(response):
        raise EngineQuotaExceeded
    if status == 401:
        cure = "请检查密钥是否正确、是否已过期。"
        raise EngineMisconfigured("搜索引擎拒绝了当前的密钥（401）。", cure=cure, status=status)
    if status == 403:
        raise EngineBlocked("搜索引擎拒绝访问（403）。", status=status)
    if status == 408 or status == 504:
        raise EngineTimeout(f"搜索引擎自己超时了（{status}）。", status=status)
    if status == 429:
        raise EngineThrottled(retry_after=told_seconds(response))
    if status >= 500:
        raise EngineUnavailable(f"搜索引擎内部出错（{status}）。", cure="请稍后重试。", status=status)
    raise EngineRefusedQuery(f"搜索引擎不接受这次请求（{status}）。", status=status)


def told_seconds(response: Response) -> float | None:
    """Return the seconds of the Retry-After header. The rare form with a date counts as missing."""
    value = response.headers.get("Retry-After")
    return float(value) if value and value.strip().isdecimal() else None


def error_document(response: Response) -> Any:
    """Return the decoded body of an error, or None: gateways answer in HTML, whatever the service promises."""
    try:
        return response.json()
    except errors.HttpInvalidJson:
        return None


def dig(data: Any, *path: str) -> Any:
    """Return the value at this path of a decoded answer, or None if the answer has another shape."""
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def object_list(data: Any, *path: str) -> list[dict[str, Any]]:
    """Return the list of objects at this path. An entry of another type becomes an empty object and counts as skipped."""
    found = dig(data, *path)
    if not isinstance(found, list):
        raise EngineParseError
    return [entry if isinstance(entry, dict) else {} for entry in found]


def to_engine_error(error: errors.HttpError) -> EngineError:
    """Return the EngineError for a failed HTTP exchange."""
    kinds: dict[type[errors.HttpError], type[EngineError]] = {
        errors.HttpTimeout: EngineTimeout,
        errors.HttpCancelled: EngineTimeout,
        errors.HttpInvalidRequest: EngineMisconfigured,
        errors.HttpRedirect: EngineRefusedQuery,
        errors.HttpTooLarge: EngineParseError,
        errors.HttpInvalidJson: EngineParseError,
    }
    return kinds.get(type(error), EngineUnavailable)(error.message, cure=error.cure)


def missing_key_error(variable: str, key_page: str, *, label: str, part: str = "引擎") -> EngineMisconfigured:
    """Return the error for an engine without its key. `part`: where the settings page takes the key."""
    cure = f"到 {key_page} 获取密钥，填在「设置」页面的「{part}」里。"
    return EngineMisconfigured(f"还没有「{label}」的密钥。", cure=cure, state="缺少密钥", setting=variable)
