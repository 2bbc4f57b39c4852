"""The messages of a server on their way to the client: only those that answer us, at a bounded pace, and lists of tools
without what can hurt.

The client would start a task for each notification, check results against a schema that the server has written, which
may take for ever, and refuse a whole list for one malformed tool.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from core.base.text import one_line, shorten
from core.mcp_client.tool_listing import MAX_LISTED, MAX_REFUSED, RefusedTool

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, Transport, TransportStreams

MESSAGES_PER_SECOND = 1_000
TOOLS_CHANGED = "notifications/tools/list_changed"
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class Pace:
    """Slows down whoever sends more than so much a second: the loop belongs to all answers."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._began = time.monotonic()
        self._taken = 0

    async def take(self, amount: int) -> None:
        """Wait until the next second where this one is used up."""
        self._taken += amount
        if self._taken >= self._most:
            await anyio.sleep(max(self._began + self._taken / self._most - time.monotonic(), 0))
            self._began, self._taken = time.monotonic(), 0


class MessageFilter:
    """What is known of one connection from the messages that have passed."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        """Set when the server sends no more."""
        self.tools_changed = False
        self.malformed: list[RefusedTool] = []
        """Entries of the list of tools that were left out, since it was last asked for."""

    @asynccontextmanager
    async def filtered(self, transport: Transport) -> AsyncGenerator[TransportStreams]:
        """Open the transport, with the filter between its messages and the client."""
        async with transport as (messages, outgoing), anyio.create_task_group() as group:
            send, receive = anyio.create_memory_object_stream[SessionMessage | Exception]()
            group.start_soon(self._forward, messages, send)
            try:
                yield receive, outgoing
            finally:
                receive.close()
                group.cancel_scope.cancel()

    async def _forward(self, messages: ReadStream[SessionMessage | Exception], send: Any) -> None:
        pace = Pace(MESSAGES_PER_SECOND)
        try:
            async with send:
                async for item in messages:
                    await pace.take(1)
                    if isinstance(item, SessionMessage) and self._is_wanted(item):
                        await send.send(item)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the client is gone
        finally:
            self.ended.set()

    def _is_wanted(self, item: SessionMessage) -> bool:
        """Return whether the client needs a message: no progress and no log."""
        message = item.message
        if isinstance(message, JSONRPCNotification):
            self.tools_changed |= message.method == TOOLS_CHANGED
            return False
        if isinstance(message, JSONRPCResponse) and isinstance(message.result.get("tools"), list):
            message.result["tools"] = self._well_formed(message.result["tools"])
        return True

    def _well_formed(self, tools: list[Any]) -> list[dict[str, Any]]:
        """Return the tools that the client can read, of each only what is used. The client would check results against an
        output schema, and that of a stranger may take for ever."""
        kept = []
        for tool in tools[:MAX_LISTED]:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and _is_object_schema(tool.get("inputSchema")):
                kept.append(_used_part(tool))
            elif len(self.malformed) < MAX_REFUSED:
                shown = shorten(one_line(name), 60) if isinstance(name, str) else "（没有名称）"
                self.malformed.append(RefusedTool(shown, "参数的格式不是 JSON Schema"))
        return kept


def _is_object_schema(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type", "object") == "object"


def _used_part(tool: dict[str, Any]) -> dict[str, Any]:
    described, hints = tool.get("description"), tool.get("annotations")
    known = hints if isinstance(hints, dict) else {}
    return {
        "name": tool["name"],
        "description": described if isinstance(described, str) else "",
        "inputSchema": {"type": "object", **tool["inputSchema"]},
        "annotations": {name: known[name] for name in _HINTS if isinstance(known.get(name), bool)},
    }
