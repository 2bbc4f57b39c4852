"""What OpenAI's Responses API streams when the model searches by itself, written down as a few pieces.

Strings are said (one delta each); `Search`, `Open`, `Cite` and `Remark` are as below. The order and the fields of the
events are the real ones; the content is invented.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Search:
    query: str
    urls: Sequence[str] = ()
    queries: Sequence[str] = ()
    status: str = "completed"


@dataclass(frozen=True)
class Open:
    url: str


@dataclass(frozen=True)
class Cite:
    """An annotation of the text before it: of its last `length` characters, `back` characters from its end."""

    url: str
    title: str
    length: int = 1
    back: int = 0


@dataclass(frozen=True)
class Remark:
    """What newer models write between two searches."""

    text: str


@dataclass(frozen=True)
class Refuse:
    status: int
    message: str = "Hosted tool 'web_search' is not supported with this model."


class Failed:
    """The response ends as failed."""


def events(pieces: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for number, event in enumerate(_Stream().events(pieces)):
        yield {"sequence_number": number, **event}


def _response(status: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
        **fields,
    }


class _Stream:
    def __init__(self) -> None:
        self._output: list[dict[str, Any]] = []
        self._text: str | None = None
        """None: no message is open."""
        self._notes: list[dict[str, Any]] = []

    def events(self, pieces: Sequence[Any]) -> Iterator[dict[str, Any]]:
        yield {"type": "response.created", "response": _response("in_progress")}
        yield {"type": "response.in_progress", "response": _response("in_progress")}
        for piece in pieces:
            match piece:
                case str():
                    yield from self._say(piece)
                case Cite():
                    yield from self._cite(piece)
                case Remark():
                    yield from self._remark(piece)
                case Failed():
                    failure = {"code": "server_error", "message": "sk-verysecretkey1234567890"}
                    yield {"type": "response.failed", "response": _response("failed", error=failure)}
                    return
                case Search() | Open():
                    yield from self._close()
                    yield from self._search(piece)
                case _:
                    yield {"type": "pause", "piece": piece}
        yield from self._close()
        usage = {
            "input_tokens": 21,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 30,
        }
        yield {"type": "response.completed", "response": _response("completed", output=self._output, usage=usage)}

    def _place(self, **fields: Any) -> dict[str, Any]:
        return {"item_id": f"item_{len(self._output)}", "output_index": len(self._output), **fields}

    def _item(self, **fields: Any) -> dict[str, Any]:
        return {"output_index": len(self._output), "item": {"id": f"item_{len(self._output)}", **fields}}

    def _search(self, piece: Search | Open) -> Iterator[dict[str, Any]]:
        if isinstance(piece, Search):
            action: dict[str, Any] = {"type": "search", "query": piece.query}
            if piece.queries:
                action["queries"] = list(piece.queries)
            if piece.urls:
                action["sources"] = [{"type": "url", "url": url} for url in piece.urls]
            status = piece.status
        else:
            action, status = {"type": "open_page", "url": piece.url}, "completed"
        yield {"type": "response.output_item.added"} | self._item(type="web_search_call", status="in_progress")
        for step in ("in_progress", "searching", "completed"):
            yield {"type": f"response.web_search_call.{step}"} | self._place()
        done = self._item(type="web_search_call", status=status, action=action)
        yield {"type": "response.output_item.done"} | done
        self._output.append(done["item"])

    def _open(self, **fields: Any) -> Iterator[dict[str, Any]]:
        if self._text is None:
            self._text, self._notes = "", []
            message = self._item(type="message", status="in_progress", content=[], role="assistant", **fields)
            yield {"type": "response.output_item.added"} | message
            part = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
            yield {"type": "response.content_part.added"} | self._place(content_index=0, part=part)

    def _say(self, text: str, **fields: Any) -> Iterator[dict[str, Any]]:
        yield from self._open(**fields)
        self._text = f"{self._text}{text}"
        yield {"type": "response.output_text.delta"} | self._place(content_index=0, delta=text, logprobs=[])

    def _cite(self, piece: Cite) -> Iterator[dict[str, Any]]:
        end = len(self._text or "") - piece.back
        note: dict[str, Any] = {"type": "url_citation", "url": piece.url, "title": piece.title}
        note |= {"start_index": end - piece.length, "end_index": end}
        self._notes.append(note)
        place = self._place(content_index=0, annotation_index=len(self._notes) - 1, annotation=note)
        yield {"type": "response.output_text.annotation.added"} | place

    def _remark(self, piece: Remark) -> Iterator[dict[str, Any]]:
        yield from self._close()
        yield from self._say(piece.text, phase="commentary")
        yield from self._close(phase="commentary")

    def _close(self, **fields: Any) -> Iterator[dict[str, Any]]:
        if self._text is None:
            return
        part = {"type": "output_text", "annotations": self._notes, "logprobs": [], "text": self._text}
        yield {"type": "response.output_text.done"} | self._place(content_index=0, text=self._text, logprobs=[])
        yield {"type": "response.content_part.done"} | self._place(content_index=0, part=part)
        done = self._item(type="message", status="completed", role="assistant", content=[part], **fields)
        yield {"type": "response.output_item.done"} | done
        self._output.append(done["item"])
        self._text = None
