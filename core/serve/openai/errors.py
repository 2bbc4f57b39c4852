"""Errors in the shape of OpenAI, and those of this protocol alone."""

from __future__ import annotations

from typing import Any, ClassVar

from core.base.errors import AppError
from core.serve.errors import ApiError, status_of

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class BadRequest(ApiError):
    """A request that cannot be served as it is. `param` is the field that says so."""

    kind, status = "invalid_request", 400

    def __init__(self, message: str, *, param: str = "", cure: str = "") -> None:
        super().__init__(message, cure=cure)
        self.param = param


class UnknownModel(ApiError):
    kind, status = "unknown_model", 404
    param: ClassVar[str] = "model"


class AnswerBrokenOff(ApiError):
    kind, status = "broken_off", 503
    default_message = "这个回答没有写完就停止了。"
    default_cure = "请重新提问。"


_CODES = {UnknownModel.kind: "model_not_found", "no_token": "invalid_api_key", "token_refused": "invalid_api_key"}


def error_body(error: AppError) -> dict[str, Any]:
    """Return the JSON of an error, as clients of OpenAI read it."""
    status = status_of(error)
    return {
        "error": {
            "message": str(error),
            "type": _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error"),
            "code": _CODES.get(error.kind, error.kind),
            "param": getattr(error, "param", "") or None,
        }
    }
