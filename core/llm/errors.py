"""The ModelErrors. `to_model_error` is the only place where exceptions of model clients are translated.

The clients of OpenAI, Anthropic and others are generated from one template: status errors carry `status_code`,
connection and timeout errors have the same class names. Going by those keeps every provider's package optional.
"""

from __future__ import annotations

from core.base.errors import AppError
from core.llm.context_refusals import named_limit, refuses_length
from core.search import lacks_search

_TIMEOUTS = {"APITimeoutError", "TimeoutException", "TimeoutError"}
_CONNECTIONS = {"APIConnectionError", "TransportError", "ConnectionError", "OSError"}

TRY_AGAIN = "可以重新回答，再试一次。"
TEXT_KEPT = "已写出的内容已保留，可以从那里继续，或重新回答。"
FORBIDDEN = "密钥可能没有使用这个模型的权限，或服务不接受这里的网络。可以换个模型或密钥。"
_BUSY = {429, 503, 529}


class ModelError(AppError):
    kind = "model"
    default_message = "模型没有给出回答。"
    default_cure = "请稍后重试。"

    def after_retries(self) -> ModelError:
        """Return the same error, which says that trying again did not help."""
        self.message = f"{self.message.removesuffix('。')}，重试后仍失败。"
        return self


class ModelAuthError(ModelError):
    kind = "model_auth"
    default_message = "模型服务拒绝了当前的密钥。"
    default_cure = "请在「设置」页面的「模型」里检查密钥是否正确、是否属于所连的服务。"


class ModelNotFound(ModelError):
    kind = "model_not_found"
    default_message = "模型服务中没有这个模型。"
    default_cure = "请在「设置」页面的「模型」里从列表中选一个，并检查服务的地址。"


class ModelCannotSearch(ModelError):
    kind = "model_cannot_search"
    default_message = "当前的模型或其服务没有自带的联网搜索。"


class ModelTimeout(ModelError):
    kind = "model_timeout"
    default_message = "模型在规定时间内没有继续输出。"
    default_cure = TRY_AGAIN


class ModelUnavailable(ModelError):
    kind = "model_unavailable"
    default_message = "连接不上模型服务。"
    default_cure = "请检查网络、代理和模型服务的地址；本机服务请确认已启动。"


class ModelOverloaded(ModelError):
    kind = "model_overloaded"
    default_message = "模型服务正忙。"
    default_cure = "请过一会儿再问，或换个模型。"


class ModelFault(ModelError):
    kind = "model_fault"
    default_message = "模型服务出错。"
    default_cure = "可以换个模型，或稍后再问。"


class ModelQuotaExceeded(ModelError):
    kind = "model_quota"
    default_message = "模型服务的额度已用完。"
    default_cure = "请到模型服务商处充值，或在设置中改用其他模型。"


class ModelRedirected(ModelError):
    """A redirect that was not followed: the question and the key were meant for the configured address."""

    kind = "model_redirected"
    default_message = "模型服务要求转到另一个地址，没有跟随，问题没有发出。"
    default_cure = "请在「设置」页面的「模型」里，把服务的地址改为最终的地址。"


class TooManyCalls(ModelError):
    """The installation's own limit on model calls, counted for all visitors together."""

    kind = "too_many_calls"
    default_message = "所有人合计的模型调用已达到每分钟的上限。"

    def __init__(self, *, retry_after: float) -> None:
        self.retry_after = max(1, round(retry_after))
        super().__init__(cure=f"请在 {self.retry_after} 秒后重试。")


class ModelRefused(ModelError):
    """The service understood the request and refuses it: too long, an unknown parameter, a filter."""

    kind = "model_refused"
    default_message = "模型服务拒绝了这次请求。"
    default_cure = "可能是内容过长或触发了服务商的限制，请缩短问题或新建对话后再试。"


class ModelContextExceeded(ModelRefused):
    """The request is longer than the model takes."""

    kind = "model_context"
    default_message = "内容超过了模型的上下文长度，模型服务没有接受。"
    default_cure = "请缩短问题、新建对话或少附文件。"

    def __init__(self, message: str = "", *, cure: str = "", limit: int | None = None) -> None:
        super().__init__(message, cure=cure)
        self.limit = limit
        """The context length that the service names."""


class ModelEmptyAnswer(ModelError):
    kind = "model_empty"
    default_message = "模型返回了空的回答。"
    default_cure = "请换一种问法，或重新回答。"


class ModelDisconnected(ModelError):
    kind = "model_disconnected"
    default_message = "与模型服务的连接在回答途中断开。"
    default_cure = TRY_AGAIN


def to_model_error(error: BaseException, *, mid_stream: bool = False, searching: bool = False) -> ModelError:
    """Return the ModelError for an exception of a model client. `searching`: the model was to search the web itself."""
    if isinstance(error, ModelError):
        return error
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & _TIMEOUTS:
        return ModelTimeout(cure=TEXT_KEPT if mid_stream else "")
    status = getattr(error, "status_code", None)
    code, body = (str(getattr(error, name, "") or "") for name in ("code", "body"))
    if not mid_stream and refuses_length(status, f"{code} {body} {error}"):
        return ModelContextExceeded(limit=named_limit(f"{body} {error}"))
    if isinstance(status, int):
        return (
            ModelCannotSearch() if searching and lacks_search(status, body) else _error_for_status(status, code + body)
        )
    if mid_stream:
        return ModelDisconnected(cure=TEXT_KEPT)
    if names & _CONNECTIONS:
        return ModelUnavailable()
    if searching and isinstance(error, ValueError):  # LangChain's error for a response that the service gave up
        return ModelError()
    return ModelError(f"模型服务返回了无法识别的内容（{type(error).__name__}）。")


def _error_for_status(status: int, details: str) -> ModelError:
    if 300 <= status < 400:
        return ModelRedirected()
    if status == 401:
        return ModelAuthError()
    if status == 402 or "insufficient_quota" in details:
        return ModelQuotaExceeded()
    if status == 403:
        return ModelAuthError("模型服务拒绝了访问（403）。", cure=FORBIDDEN)
    if status == 404:
        return ModelNotFound()
    if status == 408:
        return ModelTimeout()
    if error := busy_or_broken(status):
        return error
    return ModelRefused(f"模型服务拒绝了这次请求（{status}）。")


def busy_or_broken(status: int) -> ModelOverloaded | ModelFault | None:
    """Return the error of a service that has too much to do, or is broken; None for any other status."""
    if status in _BUSY:
        return ModelOverloaded(f"模型服务正忙（{status}）。")
    return ModelFault(f"模型服务出错（{status}）。") if status >= 500 else None


def is_retryable(error: BaseException) -> bool:
    """Return whether the error is temporary: the same request may succeed in a moment."""
    return isinstance(error, ModelOverloaded | ModelFault | ModelUnavailable)
