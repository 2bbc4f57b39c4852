"""A server made with the library `mcp` itself: an honest one that speaks the newest protocol and the older ones.

with library_server() as url: ...          # streamable HTTP
python mcp_library_server.py               # standard input
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations
from pydantic import BaseModel


class Page(BaseModel):
    title: str
    url: str
    snippet: str


class Found(BaseModel):
    results: list[Page]


def build() -> MCPServer:
    server = MCPServer("lighthouses")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    async def look_up(topic: str) -> Found:
        """在灯塔资料里查找。"""
        return Found(results=[Page(title=topic, url="https://lighthouse.example/a", snippet="塔高 36 米。")])

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    async def count(to: int, context: Context) -> str:
        """数到一个数，一路报告进度。"""
        for n in range(to):
            await context.report_progress(n, to)
        return f"数到了 {to}。"

    return server


@contextmanager
def library_server(*, stateless: bool = False, port: int = 0) -> Iterator[str]:
    """Serve over HTTP on loopback and yield the address."""
    from support.waiting import until  # not known to whoever runs this file

    listening = socket.create_server(("127.0.0.1", port))
    app = build().streamable_http_app(stateless_http=stateless)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="test-server")
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


if __name__ == "__main__":
    build().run("stdio")
