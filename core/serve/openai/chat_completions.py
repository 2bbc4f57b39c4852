"""Answers in the form of /v1/chat/completions."""

from __future__ import annotations

import secrets
import time
from typing import Any

from core.answer.events import Usage
from core.base.errors import AppError
from core.serve.openai.annotations import Annotation
from core.serve.openai.errors import error_body
from core.serve.openai.models import OfferedModel
from core.serve.openai.pieces import ContentPiece, EndPiece, ReasoningPiece
from core.serve.openai.streaming import encode_event

_DONE = b"data: [DONE]\n\n"


class ChatCompletion:
    """One answer as a chat completion: its events while it grows, or one document."""

    def __init__(self, model: OfferedModel, *, reports_usage: bool = True) -> None:
        """`reports_usage`: a stream ends with a chunk that has the usage."""
        self._fixed = {"id": f"chatcmpl-{secrets.token_hex(12)}", "created": int(time.time()), "model": model.id}
        self._reports_usage = reports_usage

    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def add(self, piece: ReasoningPiece | ContentPiece) -> bytes:
        if isinstance(piece, ContentPiece):
            return self._chunk({"content": piece.text})
        return self._chunk({"reasoning_content": piece.text})

    def end(self, piece: EndPiece) -> bytes:
        annotations = _nested(piece.annotations)
        cited = self._chunk({"annotations": annotations}) if annotations else b""
        last = self._chunk({}, finish_reason=piece.finish_reason, wenyuan=piece.document)
        usage = self._event(choices=[], usage=_usage_json(piece.usage)) if self._reports_usage else b""
        return cited + last + usage + _DONE

    def fail(self, error: AppError) -> bytes:
        return encode_event(error_body(error))

    def document(self, reasoning: str, text: str, end: EndPiece) -> dict[str, Any]:
        """Return the whole answer."""
        message = {
            "role": "assistant",
            "content": text,
            "refusal": None,
            "annotations": _nested(end.annotations),
            **({"reasoning_content": reasoning} if reasoning else {}),
        }
        choice = {"index": 0, "message": message, "finish_reason": end.finish_reason, "logprobs": None}
        return {
            "object": "chat.completion",
            **self._fixed,
            "choices": [choice],
            "usage": _usage_json(end.usage),
            "wenyuan": end.document,
        }

    def _chunk(self, delta: dict[str, Any], *, finish_reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return self._event(choices=[choice], **({"usage": None} if self._reports_usage else {}), **more)

    def _event(self, **fields: Any) -> bytes:
        return encode_event({"object": "chat.completion.chunk", **self._fixed, **fields})


def _nested(annotations: Any) -> list[Annotation]:
    """Return the annotations as this interface has them: what is known in an object below the type."""
    return [
        {"type": one["type"], one["type"]: {name: value for name, value in one.items() if name != "type"}}
        for one in annotations
    ]


def _usage_json(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        "estimated": usage.estimated,
    }
