"""A small installation for MCP: a law, a case, a contract of the operator's own, pages on loopback; and real clients of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mcp import Client, StdioServerParameters

from core.app import App, build_app
from core.base.visitors import COMMAND_LINE
from core.documents import Access
from core.legal.imports.build import import_source
from core.serve.access import OPERATOR, Caller
from core.serve.mcp.server import Context, build_server
from support import invented
from support.base import ROOT, loaded
from support.filled_collections import LEASE, fill_collection
from support.found_pages import FoundPages, found_pages
from support.guiding_cases import guiding_case
from support.labour_law import RECORD

Mode = Literal["auto", "legacy"]
MODES: tuple[Mode, ...] = ("auto", "legacy")
"""The protocol of 2026, and the one before it."""
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
"""Messages of a client that are written by hand."""
MINE = Access(COMMAND_LINE.name)


@dataclass(frozen=True)
class World:
    """An installation, as the environment of its programs."""

    environ: dict[str, str]
    pages: FoundPages

    @property
    def calls(self) -> dict[str, tuple[dict[str, Any], str]]:
        """A call of each tool, and words that its text has."""
        claim = {"text": "月租金为八千六百元[1]。押金是九千元[1]。", "sources": [{"text": LEASE}]}
        return {
            "web_search": ({"query": "全市供水总量"}, "[1] 供水量增加"),
            "read_page": ({"url": f"http://{self.pages.address}/news"}, "全市供水总量"),
            "search_statutes": (
                {"query": "劳动报酬 解除劳动合同", "limit": 3},
                "《中华人民共和国劳动合同法》第三十八条",
            ),
            "get_article": ({"law": "劳动合同法", "article": 38}, "> （二）未及时足额支付劳动报酬的；"),
            "search_cases": ({"query": "指导性案例24号"}, "裁判要旨: 守塔人明知有雾而不鸣笛"),
            "verify_statutes": (
                {"text": "《劳动合同法》第十九条规定，试用期不得超过十二个月。"},
                "≠ 《劳动合同法》第十九条",
            ),
            "check_claims": (claim, "✓ 有据 [1] 月租金为八千六百元"),
            "search_documents": ({"query": "租金"}, "lease.txt · 资料「合同」"),
        }


@contextmanager
def mcp_world(folder: Path) -> Iterator[World]:
    """Fill an installation in a folder."""
    with found_pages() as pages:
        environ = {
            "DATA_DIR": str(folder / "data"),
            "SEARCH_PROVIDER_PRIORITY": "searxng",
            "SEARXNG_URL": f"http://{pages.address}",
            "READING_PAGES": "3",
            "READING_TIMEOUT": "30",
            "READING_ALLOW_HOSTS": pages.address,
            "LEGAL_BUILT_IN": "0",
        }
        pages.open.set()
        law = invented.jsonl(folder / "law.jsonl", RECORD, guiding_case(24))
        import_source(folder / "data" / "legal", law)
        app = build_app(loaded(**environ))
        fill_collection(app, "合同", MINE, lease_txt=LEASE)
        app.close()
        yield World(environ, pages)


@dataclass(frozen=True)
class OwnHost:
    """A server in the process of the test."""

    app: App
    caller: Caller = field(default=OPERATOR)

    def caller_of(self, context: Context) -> Caller:
        return self.caller

    async def open_app(self, context: Context) -> App:
        return self.app


def client_of(app: App, mode: Mode = "auto", caller: Caller = OPERATOR, **options: Any) -> Client:
    """Return a client of a server in this process."""
    return Client(build_server(OwnHost(app, caller)), mode=mode, **options)


def started(environ: dict[str, str]) -> StdioServerParameters:
    """Return how a client starts `wenyuan mcp`."""
    return StdioServerParameters(
        command=sys.executable, args=["-m", "core", "mcp"], cwd=ROOT, env={**os.environ, **environ}
    )
