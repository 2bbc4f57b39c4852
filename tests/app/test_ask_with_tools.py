"""The command `ask` with tools of foreign MCP servers: on a terminal it asks before a change, elsewhere it refuses."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.app import build_app
from core.doctor import diagnose
from support.base import ROOT, loaded
from support.command import Core, core
from support.mcp_servers import NOTE, calls, running, stdio_entry
from support.openai_server import Call, OpenAIServer, in_turn, openai_server
from support.reading import kept_workers

__all__ = ["core", "kept_workers"]

READS = Call("notes__read_note", json.dumps({"name": "会议"}))
DELETES = Call("notes__delete_note", json.dumps({"name": "会议"}))


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "record"
    yield path
    assert running(path) == []


def connected(model: OpenAIServer, record: Path, behaviour: str = "honest") -> dict[str, str]:
    return {
        "LLM_MODEL": "openai:reply",
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "k",
        "AGENT_STRATEGY": "tools",
        "SEARCH_PROVIDER_PRIORITY": "bundled",
        "MCP_SERVERS": json.dumps({"notes": stdio_entry(behaviour, record)}),
        "MCP_WAIT": "60",
    }


def test_events_and_text_name_tool_and_sources(core: Core, model: OpenAIServer, record: Path) -> None:
    said = "会议定于 2026 年 3 月 5 日上午九点[1]。"
    model.reply = in_turn([READS], [said])
    done = core("ask", "会议在什么时候？", "--mode", "agent", "--json", **connected(model, record))
    events = [json.loads(line) for line in done.stdout.splitlines()]
    by_type = {event["type"]: event for event in events}
    assert (by_type["tool_started"]["tool"], by_type["tool_started"]["server"]) == ("notes.read_note", "notes")
    (found,) = by_type["sources_found"]["sources"]
    assert (found["number"], found["read"], found["tool"]) == (1, "file", "notes.read_note")
    assert by_type["answer"]["sources"] == [found | by_type["answer"]["sources"][0]]
    assert by_type["checked"]["statements"][0]["verdict"] == "supported"
    model.reply = in_turn([READS], [said])
    text = core("ask", "会议在什么时候？", "--mode", "agent", **connected(model, record))
    assert f"外部工具 notes.read_note：{len(NOTE)} 字" in text.stderr
    assert "[1] notes.read_note：会议\n" in text.stdout
    assert "mcp:" not in text.stdout


def test_where_nobody_can_answer_a_change_is_refused(core: Core, model: OpenAIServer, record: Path) -> None:
    model.reply = in_turn([DELETES], ["没有删除。"])
    done = core("ask", "删掉会议笔记", "--mode", "agent", stdin="y\n", **connected(model, record))
    assert "没有人可以按「允许」" in done.stderr
    assert "没有删除。" in done.stdout
    assert calls(record) == []


@pytest.mark.parametrize(("typed", "called"), [("y\n", ["delete_note"]), ("\n", []), ("\x04", [])])
def test_on_a_terminal_it_asks(model: OpenAIServer, record: Path, typed: str, called: list[str]) -> None:
    model.reply = in_turn([DELETES], ["就这样。"])
    terminal, other_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "core", "ask", "删掉会议笔记", "--mode", "agent"],
        cwd=ROOT,
        env={**os.environ, **connected(model, record)},
        stdin=other_end,
        stdout=subprocess.PIPE,
        stderr=other_end,
        text=True,
    )
    os.close(other_end)
    shown = b""
    while b"[y/N] " not in shown:
        shown += os.read(terminal, 4096)
    assert '"name": "会议"' in shown.decode()
    os.write(terminal, typed.encode())
    answered = process.communicate(timeout=60)[0]
    os.close(terminal)
    assert "就这样。" in answered
    assert calls(record) == called


def test_the_diagnosis_asks_each_server(model: OpenAIServer, record: Path, tmp_path: Path) -> None:
    servers = {
        "notes": stdio_entry("lists garbage", record),
        "gone": {"url": "http://127.0.0.1:9/mcp"},
        "off": stdio_entry("honest", tmp_path / "off", enabled=False),
    }
    app = build_app(loaded(MCP_SERVERS=json.dumps(servers)), engines=[])
    try:
        checks = {one.name: one for one in diagnose(app) if one.name.startswith("MCP")}
    finally:
        app.close()
    assert checks["MCP 服务器 notes"].ok
    assert "个工具可用" in checks["MCP 服务器 notes"].message
    assert "不能用" in checks["MCP 服务器 notes"].message
    assert (checks["MCP 服务器 gone"].ok, checks["MCP 服务器 gone"].message) == (False, "MCP 服务器 gone 连接不上。")
    assert "MCP_SERVERS" in checks["MCP 服务器 gone"].cure
    assert checks["MCP 服务器 off"].off
    assert not (tmp_path / "off").exists()
