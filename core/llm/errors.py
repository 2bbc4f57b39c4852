"""Whatever a model client raises becomes one of our ModelErrors, here and nowhere else.

The clients of OpenAI, Anthropic and others are generated from one template: status errors carry `status_code`,
connection and timeout errors have the same class names. Going by those keeps every provider's package optional.
"""

from __future__ import annotations

from core.base.errors import (
    ModelAuthError,
    ModelCannotSearch,
    ModelDisconnected,
    ModelError,
    ModelNotFound,
    ModelOverloaded,
    ModelQuotaExceeded,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from core.search.engines.native import lacks_search

_TIMEOUTS = {"APITimeoutError", "TimeoutException", "TimeoutError"}
_CONNECTIONS = {"APIConnectionError", "TransportError", "ConnectionError", "OSError"}


def translate(error: BaseException, *, mid_stream: bool = False, searching: bool = False) -> ModelError:
    if isinstance(error, ModelError):
        return error
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & _TIMEOUTS:
        return ModelTimeout()
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        body = str(getattr(error, "body", "") or "")
        if searching and lacks_search(status, body):
            return ModelCannotSearch()
        return _by_status(status, str(getattr(error, "code", "") or ""), body)
    if mid_stream:
        return ModelDisconnected()
    if names & _CONNECTIONS:
        return ModelUnavailable()
    if searching and isinstance(error, ValueError):  # how LangChain passes on a response that the service gave up
        return ModelError()
    return ModelError(f"模型服务返回了无法识别的内容（{type(error).__name__}）。")


def _by_status(status: int, code: str, body: str) -> ModelError:
    if status == 401:
        return ModelAuthError()
    if status == 402 or "insufficient_quota" in (code + body):
        return ModelQuotaExceeded()
    if status == 403:
        return ModelAuthError("模型服务不允许当前密钥访问（403）。")
    if status == 404:
        return ModelNotFound()
    if status == 408:
        return ModelTimeout()
    if status == 429 or status >= 500:
        return ModelOverloaded(f"模型服务正忙（{status}）。")
    return ModelRefused(f"模型服务拒绝了这次请求（{status}）。")


def worth_retrying(error: BaseException) -> bool:
    """A passing trouble: the same request may succeed in a moment."""
    return isinstance(error, ModelOverloaded | ModelUnavailable)
