"""What a command imports and starts: no more than it needs. Its figures are in docs/benchmarks.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.app import build_app
from core.base.parts import has_built
from support.base import ROOT, loaded
from support.command import EMBEDDED, Core, core
from support.waiting import until

__all__ = ["core"]

NEVER = (
    "langsmith",
    "langchain",
    "openai",
    "anthropic",
    "streamlit",
    "sqlalchemy",
    "playwright",
    "pandas",
    "numpy",
    "mcp",
)
UNUSED = {
    "search": ("starlette", "PIL", "markdown_it", "core.legal.library", "core.chat", "core.reading.reader"),
    "ask": ("starlette", "core.agent", "core.legal.contracts", "core.doctor"),
}
"""Modules, and packages with all that is in them."""

RUN = """
import json, os, sys
from core.command_line import main
status = main(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules), os.times().children_user]))
"""


def run_alone(*arguments: str, data: Path) -> tuple[int, list[str], float]:
    """Run a command in a process of its own. Return its status, what it has imported, and the seconds of its children."""
    environ = {**os.environ, **EMBEDDED, "DATA_DIR": str(data)}
    command = [sys.executable, "-c", RUN, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    status, modules, seconds = json.loads(done.stdout.splitlines()[-1])
    return status, modules, seconds


@pytest.mark.parametrize(
    "arguments",
    [("search", "怎么打开联网搜索"), ("ask", "怎么打开联网搜索？", "--search"), ("ask", "怎么打开联网搜索？")],
    ids=["search", "ask --search", "ask"],
)
def test_a_command_imports_and_starts_only_what_it_needs(arguments: tuple[str, ...], tmp_path: Path) -> None:
    status, modules, seconds = run_alone(*arguments, data=tmp_path)
    unwanted = (*NEVER, *UNUSED[arguments[0]])
    assert [name for name in modules if name in unwanted or name.startswith(tuple(f"{one}." for one in unwanted))] == []
    assert status == 0
    assert seconds == 0, "no page is read, so no process that reads pages is started"


def test_a_command_leaves_its_figures_to_the_next_server(core: Core, tmp_path: Path) -> None:
    data = {"DATA_DIR": str(tmp_path)}
    assert core("search", "怎么打开联网搜索", **data).returncode == 0
    assert core("ask", "怎么备份？", "--search", **data).returncode == 0
    assert not (tmp_path / "database" / "wenyuan.sqlite3").exists()
    app = build_app(loaded(**data), engines=[])
    try:
        app.metrics.start()
        until(lambda: len(app.metrics_store.latest_searches(0, 10)) == 2)
        assert len(app.metrics_store.latest_answers(0, 10)) == 1
    finally:
        app.close()


def test_a_server_builds_before_the_first_page_what_every_page_uses() -> None:
    app = build_app(loaded(), engines=[])
    try:
        assert not has_built(app, "chat")
        app.build_for_pages()
        used = (
            "chat",
            "reader",
            "checks",
            "metrics",
            "store",
            "outbox",
            "keeper",
            "preferences",
            "read_pages",
            "documents",
        )
        assert [name for name in used if not has_built(app, name)] == []
        assert not app.is_agent_built
    finally:
        app.close()
