"""Errors of the services, and the HTTP status and JSON of every error."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

from core.answer.events import RunFailed
from core.base.errors import AppError, InputError
from core.checks import CheckInputError
from core.documents import CollectionNotFound, DocumentError, DocumentNotFound
from core.legal import NoLegalIndex
from core.llm.errors import ModelError, TooManyCalls
from core.reading import FileError, ReadingError
from core.run import TooManyQuestions
from core.search.errors import NoEngine, QueryError, RateLimited, SearchError
from core.store import ConversationNotFound, StoreError


class ApiError(AppError):
    """A request that is refused before a service is called."""

    status: ClassVar[int] = 400


class ApiOff(ApiError):
    kind, status = "api_off", 404
    default_message = "这个安装没有打开接口。"
    default_cure = "管理员可以设置 API_ENABLED=true，然后重启。"


class NoToken(ApiError):
    kind, status = "no_token", 401
    default_message = "请求没有带令牌。"
    default_cure = "请在「设置」的「接口」里建一个令牌，放在请求头 Authorization: Bearer 后面。"


class TokenRefused(ApiError):
    kind, status = "token_refused", 401
    default_message = "令牌不对，或者已经过期、撤回。"
    default_cure = "请在「设置」的「接口」里建一个新的。"


class ScopeMissing(ApiError):
    kind, status = "scope_missing", 403

    def __init__(self, wanted: str) -> None:
        super().__init__(f"这个令牌不能用来{wanted}。", cure="请换一个有这项权限的令牌。")


class OriginRefused(ApiError):
    kind, status = "origin_refused", 403
    default_message = "请求来自别的网页，或者用了不认识的主机名。"
    default_cure = "请从程序里调用；主机名不是 localhost 时，请管理员把 PUBLIC_URL 设成这个地址。"


class RequestTooLarge(ApiError):
    kind, status = "too_large", 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"请求超过了 {limit / 2**20:g} MB 的上限，没有处理。", cure="请分成几次发送。")


class BodyTooSlow(ApiError):
    kind, status = "body_too_slow", 408
    default_message = "请求的内容迟迟没有发完，没有处理。"
    default_cure = "请检查网络，再试一次。"


class TooManyRequests(ApiError):
    kind, status = "too_many_requests", 429
    default_message = "这个令牌每分钟的请求已达到上限。"

    def __init__(self, *, retry_after: float) -> None:
        self.retry_after = max(1, math.ceil(retry_after))
        super().__init__(cure=f"请在 {self.retry_after} 秒后再试。")


class TooManyFailures(TooManyRequests):
    kind = "too_many_failures"
    default_message = "这个地址用错误的令牌请求了太多次。"


class RequestTimedOut(ApiError):
    kind, status = "timed_out", 504
    default_message = "这个请求用的时间太长，已经停止。"
    default_cure = "请缩短内容，或分成几次。"


class LibraryNotBuilt(ApiError):
    kind, status = "legal_not_built", 503

    def __init__(self, stage: str) -> None:
        super().__init__(f"法规库正在建立，还不能查：{stage}。", cure="请过一分钟再试。")


class NotFound(ApiError):
    kind, status = "not_found", 404
    default_message = "没有这个地址。"
    default_cure = "接口说明在 /api/v1/openapi.json。"


class MethodRefused(ApiError):
    kind, status = "method_not_allowed", 405
    default_message = "这个地址不接受这种请求方法。"
    default_cure = "查询用 GET，提交用 POST。"

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self.allowed = tuple(sorted(allowed))
        super().__init__(cure=f"可以用 {'、'.join(self.allowed)}。" if self.allowed else "")


class NoJson(ApiError):
    kind, status = "no_json", 400
    default_message = "请求的正文不是 JSON，或者层数太多。"
    default_cure = "请用 UTF-8 编码的 JSON 对象。"


class ContentTypeRefused(ApiError):
    kind, status = "content_type", 415
    default_message = "请求的正文不是 JSON。"
    default_cure = "请写请求头 Content-Type: application/json。"


class UnknownEngine(ApiError):
    kind, status = NoEngine.kind, 422


class InvalidRequest(ApiError):
    kind, status = "invalid_request", 422
    default_message = "请求的内容无法使用。"


_STATUS: tuple[tuple[tuple[type[AppError], ...], int], ...] = (
    ((TooManyQuestions, RateLimited, TooManyCalls), 429),
    ((InputError, QueryError, CheckInputError, FileError), 422),
    ((CollectionNotFound, DocumentNotFound, ConversationNotFound), 404),
    ((DocumentError,), 422),
    ((NoLegalIndex, NoEngine, StoreError), 503),
    ((SearchError, ModelError, ReadingError), 502),
)
"""The first class that fits counts."""
_STATUS_OF_UNREAD = {"address": 422, "private": 422, "denied": 403, "off": 403}
"""The status of a page that was not read for a reason that is not the page's."""


def status_of(error: AppError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, ApiError):
        return error.status
    if isinstance(error, ReadingError) and error.reason in _STATUS_OF_UNREAD:
        return _STATUS_OF_UNREAD[error.reason]
    return next((status for classes, status in _STATUS if isinstance(error, classes)), 500)


def error_of_run(failed: RunFailed) -> AppError:
    """Return the error that ended a run, of the class with its kind: that has its HTTP status."""
    error = AppError.__new__(_class_of_kind(failed.kind))
    AppError.__init__(error, failed.message)
    error.cure = ""  # stands in the message already
    return error


def _class_of_kind(kind: str) -> type[AppError]:
    classes = [AppError]
    for one in classes:  # grows: the subclasses of each follow
        if one.kind == kind:
            return one
        classes += one.__subclasses__()
    return AppError


def error_json(error: AppError) -> dict[str, Any]:
    """Return the JSON of an error, as the command line prints it."""
    return {"error": {"kind": error.kind, "message": str(error)}}


def headers_of(error: AppError) -> dict[str, str]:
    """Return the HTTP headers that go with an error."""
    if status_of(error) == 401:
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, MethodRefused) and error.allowed:
        return {"Allow": ", ".join(error.allowed)}
    if status_of(error) >= 500:  # where it helps, it was tried again already: OpenAI's own clients would multiply that
        return {"X-Should-Retry": "false"}
    seconds = getattr(error, "retry_after", None)
    return {"Retry-After": str(seconds)} if seconds else {}
