"""The addresses of the services: what they import, and when."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from core.serve import close_services
from core.serve.routes import close_at_end
from support.base import ROOT

ASK_WHERE_IT_IS_OFF = """
import asyncio, sys
import httpx2
from starlette.applications import Starlette
from core.serve import API_ROUTES

assert "core.app" not in sys.modules and "mcp" not in sys.modules

async def ask():
    transport = httpx2.ASGITransport(Starlette(routes=API_ROUTES))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.post("/mcp", json={})

answer = asyncio.run(ask())
assert answer.status_code == 404, answer.text
assert "mcp" not in sys.modules
"""


def test_where_the_services_are_off_the_package_mcp_is_not_even_imported() -> None:
    subprocess.run([sys.executable, "-c", ASK_WHERE_IT_IS_OFF], cwd=ROOT, check=True)


def test_what_services_have_started_is_closed_once() -> None:
    closed: list[str] = []

    async def close() -> None:
        closed.append("one")

    close_at_end(close)
    asyncio.run(close_services())
    asyncio.run(close_services())
    assert closed == ["one"]
