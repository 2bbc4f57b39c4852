"""What the manual prints for other programs to paste works as printed, against a real server: configurations of MCP
programs with the SDK's own client, scripts in Python, lines for curl."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from core.serve import Scope
from support.base import ROOT
from support.forked_server import forked_server
from support.labour_law import RECORD
from support.printed import PAGES, Block, blocks, commands, program

pytestmark = pytest.mark.servers

TOOLS = {
    *("web_search", "read_page", "search_statutes", "get_article", "search_cases", "verify_statutes", "check_claims"),
    "search_documents",
}
PRINTED_URL, PRINTED_TOKEN = "http://127.0.0.1:8501", "令牌"


@dataclass(frozen=True)
class Installation:
    """What a reader has: a folder with the program's data, its server, and a token."""

    folder: Path
    url: str
    token: str

    def filled(self, printed: str) -> str:
        """Return what is printed with this server's address and token, as a reader pastes it."""
        return printed.replace(PRINTED_URL, self.url).replace(PRINTED_TOKEN, self.token)

    @property
    def environ(self) -> dict[str, str]:
        path = f"{ROOT}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.folder), **settings(self.folder)}


def settings(folder: Path) -> dict[str, str]:
    return {"DATA_DIR": str(folder / "data"), "SEARCH_PROVIDER_PRIORITY": "bundled", "LEGAL_BUILT_IN": "0"}


def wenyuan(folder: Path, *arguments: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), **settings(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "core", *arguments], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("reader")
    (folder / "laws.jsonl").write_text(json.dumps(RECORD, ensure_ascii=False), "utf-8")
    (folder / "合同").mkdir()
    (folder / "合同" / "租赁.md").write_text("押金在退租后七日内退还。", "utf-8")
    wenyuan(folder, "law", "import", str(folder / "laws.jsonl"))
    wenyuan(folder, "docs", "import", str(folder / "合同"), "--collection", "合同")
    token = re.search(r"wy-[\w-]+", wenyuan(folder, "token", "create", "测试", "--scopes", ",".join(Scope)))
    assert token
    with forked_server(API_ENABLED="true", **settings(folder)) as server:
        yield Installation(folder, server.url, token[0])


def printed(language: str) -> list[Any]:
    """Return the blocks of a language that speak to the services."""
    found = [block for page in PAGES for block in blocks(page) if block.language == language]
    return [pytest.param(one, id=f"{one.page.stem}-{number}") for number, one in enumerate(found)]


# ── MCP ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def tools_of(server: dict[str, Any], environ: dict[str, str]) -> set[str]:
    """Connect as a program with this configuration does, and return the names of the tools."""
    if "command" in server:
        command = shutil.which(server["command"], path=environ["PATH"])
        assert command
        transport = stdio_client(StdioServerParameters(command=command, args=server["args"], env=environ))
        async with Client(transport) as client:
            return {tool.name for tool in (await client.list_tools()).tools}
    async with (
        httpx2.AsyncClient(headers=server.get("headers", {})) as http,
        Client(streamable_http_client(server["url"], http_client=http)) as client,
    ):
        return {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize("block", printed("json"))
def test_the_configurations_of_mcp_programs_lead_to_the_tools(block: Block, installation: Installation) -> None:
    for server in json.loads(installation.filled(block.text))["mcpServers"].values():
        assert asyncio.run(tools_of(server, installation.environ)) == TOOLS


def claude_commands() -> list[str]:
    return [command for page in PAGES for command in commands(page) if program(command) == "claude"]


@pytest.mark.parametrize("command", claude_commands())
def test_the_commands_for_claude_code_name_a_server_that_is_there(command: str, installation: Installation) -> None:
    words = shlex.split(installation.filled(command))
    assert words[:3] == ["claude", "mcp", "add"]
    if "--" in words:
        name, *arguments = words[words.index("--") + 1 :]
        server: dict[str, Any] = {"command": name, "args": arguments}
    else:
        header, _, value = words[words.index("--header") + 1].partition(": ")
        server = {"url": next(word for word in words if word.startswith("http://")), "headers": {header: value}}
    assert asyncio.run(tools_of(server, installation.environ)) == TOOLS


# ── Scripts ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("block", printed("python"))
def test_the_scripts_print_an_answer(block: Block, installation: Installation) -> None:
    done = subprocess.run(
        [sys.executable, "-c", installation.filled(block.text)],
        env={"PATH": os.environ["PATH"], "HOME": str(installation.folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.strip()) > 10


def curl_commands() -> list[str]:
    return [command for page in PAGES for command in commands(page) if program(command) == "curl"]


@pytest.mark.parametrize("command", curl_commands())
def test_the_lines_for_curl_bring_what_they_promise(command: str, installation: Installation) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    filled = command.replace("curl ", "curl --fail-with-body ", 1)
    done = subprocess.run(
        ["bash", "-c", installation.filled(filled)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout
    lines = [line.removeprefix("data: ") for line in done.stdout.splitlines() if line.startswith(("data: ", "{"))]
    documents = [json.loads(line) for line in lines]
    assert documents
    assert not [one for one in documents if "error" in one or one.get("type") == "run_failed"]
