"""Answers in the form of /v1/responses: the reasoning and the message are items, and every change of one is an event."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from itertools import count
from typing import Any, Literal

from core.answer.events import Usage
from core.base.errors import AppError
from core.serve.errors import status_of
from core.serve.openai.models import OfferedModel
from core.serve.openai.pieces import ContentPiece, EndPiece, ReasoningPiece
from core.serve.openai.streaming import encode_event

Item = dict[str, Any]
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ModelResponse:
    """One answer as a response: its events while it grows, or one document. All reasoning comes before the text."""

    def __init__(self, model: OfferedModel, instructions: str | None) -> None:
        self._fixed = {
            "id": f"resp_{secrets.token_hex(12)}",
            "object": "response",
            "created_at": int(time.time()),
            "model": model.id,
            "instructions": instructions,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "store": False,
            "text": {"format": {"type": "text"}},
            "truncation": "disabled",
            "previous_response_id": None,
            "metadata": {},
        }
        self._numbers = count()
        self._reasoning_id = f"rs_{secrets.token_hex(12)}"
        self._message_id = f"msg_{secrets.token_hex(12)}"
        self._reasoning = ""
        self._text = ""
        self._open: Literal["", "reasoning", "message"] = ""
        """The item that grows."""

    def begin(self) -> bytes:
        begun = self._response("in_progress")
        return self._event("response.created", response=begun) + self._event("response.in_progress", response=begun)

    def add(self, piece: ReasoningPiece | ContentPiece) -> bytes:
        if isinstance(piece, ReasoningPiece):
            return b"".join(self._add_reasoning(piece.text))
        return b"".join(self._add_text(piece.text))

    def end(self, piece: EndPiece) -> bytes:
        return b"".join((*self._end_reasoning(), *self._end_message(piece), self._last_event(piece)))

    def fail(self, error: AppError) -> bytes:
        code = "rate_limit_exceeded" if status_of(error) == 429 else "server_error"
        failed = {"error": {"code": code, "message": str(error)}, "output": self._items([], "incomplete")}
        return self._event("response.failed", response=self._response("failed", **failed))

    def document(self, reasoning: str, text: str, end: EndPiece) -> dict[str, Any]:
        """Return the whole answer."""
        self._reasoning, self._text = reasoning, text
        return self._ended(end)

    # ── Events ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _add_reasoning(self, text: str) -> Iterator[bytes]:
        place = {"item_id": self._reasoning_id, "output_index": 0, "summary_index": 0}
        if not self._open:
            self._open = "reasoning"
            yield self._event("response.output_item.added", output_index=0, item=self._reasoning_item("in_progress"))
            empty = {"type": "summary_text", "text": ""}
            yield self._event("response.reasoning_summary_part.added", **place, part=empty)
        self._reasoning += text
        yield self._event("response.reasoning_summary_text.delta", **place, delta=text)

    def _end_reasoning(self) -> Iterator[bytes]:
        if self._open != "reasoning":
            return
        place = {"item_id": self._reasoning_id, "output_index": 0, "summary_index": 0}
        whole = {"type": "summary_text", "text": self._reasoning}
        yield self._event("response.reasoning_summary_text.done", **place, text=self._reasoning)
        yield self._event("response.reasoning_summary_part.done", **place, part=whole)
        yield self._event("response.output_item.done", output_index=0, item=self._reasoning_item())

    def _add_text(self, text: str) -> Iterator[bytes]:
        if self._open != "message":
            yield from self._end_reasoning()
            self._open = "message"
            item = self._message_item([], "in_progress")
            yield self._event("response.output_item.added", output_index=self._message_index, item=item)
            yield self._event("response.content_part.added", **self._message_place, part=_output_text("", []))
        self._text += text
        yield self._event("response.output_text.delta", **self._message_place, delta=text, logprobs=[])

    def _end_message(self, end: EndPiece) -> Iterator[bytes]:
        if self._open != "message":
            return
        place, annotations = self._message_place, list(end.annotations)
        for number, annotation in enumerate(annotations):
            yield self._event(
                "response.output_text.annotation.added", **place, annotation_index=number, annotation=annotation
            )
        yield self._event("response.output_text.done", **place, text=self._text, logprobs=[])
        yield self._event("response.content_part.done", **place, part=_output_text(self._text, annotations))
        item = self._message_item(annotations, _item_status(end))
        yield self._event("response.output_item.done", output_index=self._message_index, item=item)

    def _last_event(self, end: EndPiece) -> bytes:
        response = self._ended(end)
        return self._event(f"response.{response['status']}", response=response)

    def _event(self, name: str, **fields: Any) -> bytes:
        return encode_event({"type": name, "sequence_number": next(self._numbers), **fields}, name)

    # ── The response and its items ────────────────────────────────────────────────────────────────────────────────

    def _response(self, status: str, **fields: Any) -> dict[str, Any]:
        empty: Item = {"output": [], "usage": None, "error": None, "incomplete_details": None}
        return {**self._fixed, "status": status, **empty, **fields}

    def _ended(self, end: EndPiece) -> dict[str, Any]:
        reason = _INCOMPLETE.get(end.finish_reason)
        return self._response(
            "incomplete" if reason else "completed",
            output=self._items(list(end.annotations), _item_status(end)),
            usage=_usage_json(end.usage),
            incomplete_details={"reason": reason} if reason else None,
            wenyuan=end.document,
        )

    def _items(self, annotations: list[Item], status: str) -> list[Item]:
        reasoning = [self._reasoning_item()] if self._reasoning else []
        return [*reasoning, *([self._message_item(annotations, status)] if self._text else [])]

    def _reasoning_item(self, status: str = "completed") -> Item:
        summary = [{"type": "summary_text", "text": self._reasoning}] if self._reasoning else []
        return {"id": self._reasoning_id, "type": "reasoning", "summary": summary, "status": status}

    def _message_item(self, annotations: list[Item], status: str) -> Item:
        content = [_output_text(self._text, annotations)] if self._text else []
        fixed = {"id": self._message_id, "type": "message", "role": "assistant"}
        return {**fixed, "status": status, "content": content}

    @property
    def _message_index(self) -> int:
        return int(bool(self._reasoning))

    @property
    def _message_place(self) -> dict[str, Any]:
        return {"item_id": self._message_id, "output_index": self._message_index, "content_index": 0}


def _output_text(text: str, annotations: list[Item]) -> Item:
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def _item_status(end: EndPiece) -> str:
    return "incomplete" if end.finish_reason in _INCOMPLETE else "completed"


def _usage_json(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
        "estimated": usage.estimated,
    }
