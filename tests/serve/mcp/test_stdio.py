"""`wenyuan mcp`: how it begins and ends, and what reaches the client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from support.base import ROOT
from support.mcp_world import HELLO, LIST, World

pytestmark = pytest.mark.servers  # it is one, though nobody else can reach it
MCP = (sys.executable, "-m", "core", "mcp")


@contextmanager
def running(world: World, command: Sequence[str] = MCP, **environ: str) -> Iterator[subprocess.Popen[str]]:
    """Run the program, and kill it where a test waits in vain for what it says."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    environ = {**os.environ, **world.environ, **environ}
    with subprocess.Popen(command, cwd=ROOT, env=environ, encoding="utf-8", **pipes) as program:
        watch = threading.Timer(60, program.kill)
        watch.start()
        try:
            yield program
        finally:
            watch.cancel()
            program.kill()


@pytest.fixture
def program(world: World) -> Iterator[subprocess.Popen[str]]:
    with running(world) as started_one:
        yield started_one


def send(program: subprocess.Popen[str], *messages: str | dict[str, Any]) -> None:
    assert program.stdin
    for message in messages:
        program.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    program.stdin.flush()


def receive(program: subprocess.Popen[str]) -> dict[str, Any]:
    assert program.stdout
    message: dict[str, Any] = json.loads(program.stdout.readline())
    return message


def test_at_the_end_of_its_input_it_ends_and_has_said_nothing_else(program: subprocess.Popen[str]) -> None:
    send(program, HELLO)
    assert receive(program)["result"]["serverInfo"]["name"] == "wenyuan"
    out, err = program.communicate(timeout=60)
    assert (program.returncode, out, err) == (0, "", "")


def test_it_ends_also_in_the_middle_of_a_long_check(program: subprocess.Popen[str]) -> None:
    draft = "《劳动合同法》第十九条规定，试用期不得超过十二个月，用人单位可以不支付工资。" * 9_000
    params = {"name": "verify_statutes", "arguments": {"text": draft}, "_meta": {"progressToken": 1}}
    send(program, HELLO, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    receive(program)
    assert receive(program)["params"]["message"] == "正在核验法条"
    _, err = program.communicate(timeout=60)
    assert (program.returncode, err) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_the_middle_of_a_call(
    program: subprocess.Popen[str], number: signal.Signals, world: World
) -> None:
    call = {"name": "read_page", "arguments": {"url": f"http://{world.pages.address}/news"}}
    world.pages.open.clear()
    send(
        program,
        HELLO,
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**call, "_meta": {"progressToken": 1}}},
    )
    receive(program)
    assert receive(program)["params"]["message"] == "正在阅读网页"
    program.send_signal(number)
    assert program.wait(timeout=60) == 128 + number
    world.pages.open.set()
    assert program.stderr
    assert program.stderr.read() == ""


def test_a_client_that_has_gone_ends_it(program: subprocess.Popen[str]) -> None:
    assert program.stdout
    assert program.stdin
    program.stdout.close()
    send(program, HELLO)
    program.stdin.close()
    assert program.wait(timeout=60) == 0
    assert program.stderr
    assert program.stderr.read() == ""


def test_half_a_character_costs_no_answer(program: subprocess.Popen[str]) -> None:
    call = {"name": "search_documents", "arguments": {"query": "租金"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, ensure_ascii=False)
    send(program, HELLO, message.replace("租金", r"租\ud800金"))
    receive(program)
    assert receive(program)["id"] == 1


def test_what_the_program_says_of_its_settings_does_not_reach_the_client(world: World) -> None:
    call = {"name": "search_documents", "arguments": {"query": "租金"}}
    with running(world, SEARCH_TIMEOUT="soon") as program:
        send(program, HELLO, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        assert [receive(program)["id"] for _ in range(2)] == [0, 1]
        out, err = program.communicate(timeout=60)
    assert out == ""
    assert "SEARCH_TIMEOUT" in err


TELLS_MODULES = """import atexit, runpy, sys
atexit.register(lambda: print(*sys.modules, sep="\\n", file=sys.stderr))
runpy.run_module("core", run_name="__main__", alter_sys=True)"""
"""`python -m core`, which names at its end all modules that were imported."""


def test_it_imports_neither_streamlit_nor_langchain(world: World) -> None:
    params = {"name": "web_search", "arguments": world.calls["web_search"][0]}
    with running(world, (sys.executable, "-c", TELLS_MODULES, "mcp")) as program:
        send(program, HELLO, {**LIST, "id": 1}, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
        assert [receive(program)["id"] for _ in range(2)] == [0, 1]
        assert "供水量增加" in receive(program)["result"]["content"][0]["text"]
        _, modules = program.communicate(timeout=60)
    packages = {module.partition(".")[0] for module in modules.split()}
    assert {"core", "mcp"} <= packages
    assert {one for one in packages if one.startswith(("streamlit", "langchain", "openai"))} == set()
