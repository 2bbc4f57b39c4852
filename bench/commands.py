"""The command line: processor time from the start of a command to its end, beside a Python that only imports `openai`."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.rows import Row

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 7
QUESTION = "怎么打开联网搜索？"
COMMANDS = {
    "search": (["search", QUESTION], 0.5),
    "ask": (["ask", QUESTION], 1.0),
    "ask --search": (["ask", QUESTION, "--search"], 1.0),
}
"""Each command with the seconds that it may take."""
BARE = "import openai"

NOTE = f"""Processor time of the process, median of {ROUNDS} runs, each in turn with the Python that only imports openai. Model and engine are
those that are built in, and a run before has built the law library: what is measured is starting, answering and ending."""


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "",
            "DATA_DIR": folder,
            "SEARCH_PROVIDER_PRIORITY": "bundled",
            "LLM_MODEL": "",
        }

        def seconds(*arguments: str) -> float:
            return _processor_seconds([sys.executable, *arguments], environ)

        for name, (arguments, limit) in COMMANDS.items():
            seconds("-m", "core", *arguments)
            own, bare = list[float](), list[float]()
            for _ in range(ROUNDS):
                own.append(seconds("-m", "core", *arguments))
                bare.append(seconds("-c", BARE))
            yield Row(f"wenyuan {name}", statistics.median(own), "s", limit, BARE, statistics.median(bare))


def _processor_seconds(command: list[str], environ: dict[str, str]) -> float:
    """Run a program and return its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, env=environ, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
