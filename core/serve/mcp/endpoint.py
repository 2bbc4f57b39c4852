"""The address /mcp: the door, which needs nothing of the package `mcp`, and behind it the server, imported when somebody
was let in."""

from __future__ import annotations

from typing import Any

from core.base.errors import AppError
from core.serve.door import Door
from core.serve.routes import Lazy

_INVALID_REQUEST = -32600


def rpc_error(error: AppError) -> dict[str, Any]:
    """Return an error in the shape that clients of MCP read, so that they show its sentence."""
    told = {"code": _INVALID_REQUEST, "message": str(error), "data": {"kind": error.kind}}
    return {"jsonrpc": "2.0", "id": None, "error": told}


ENDPOINT = Door(Lazy("core.serve.mcp.streamable_http:SERVICE"), error_body=rpc_error)
