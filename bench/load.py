"""`make load`: many visitors at once, each with one question, through one process of the app started as `make run` does.

    make load                  20, 50 and 100 visitors; the table goes to docs/benchmarks.md
    make load N=50 SPREAD=30   50 visitors who ask within 30 seconds; the table is only printed
    make load N=20 MODE=agent
    make load N=50 READ=3      three pages are read for each question

Everything is on loopback and on the same cores: the app, the model, SearXNG and the visitors.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.load_visitor import Visitor
from bench.load_world import FIRST_TOKEN_SECONDS, TOKENS, TOKENS_PER_SECOND, Sent, answer
from bench.report import write_section

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.app_server import app_server  # noqa: E402

SIZES = (20, 50, 100)
MOST = 500
KEPT_WITHIN = 15.0
STREAMLIT_REMEMBERS = 125.0
"""Seconds for which Streamlit keeps the session of a closed page, and a little more."""
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Footprint:
    """What a process holds, and what it has used."""

    cpu: float
    megabytes: float
    handles: int

    @classmethod
    def of(cls, pid: int) -> Footprint:
        folder = Path("/proc") / str(pid)
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        resident = int((folder / "statm").read_text().split()[1])
        return cls(
            (int(fields[11]) + int(fields[12])) / TICKS,
            resident * PAGE_SIZE / 2**20,
            len(list((folder / "fd").iterdir())),
        )


def machine_busy() -> float:
    """Seconds that all cores together have worked so far, for whomever."""
    user, nice, system, _idle, _waiting, *more = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    return (user + nice + system + sum(more[:2])) / TICKS


@contextmanager
def outside(kind: str) -> Iterator[tuple[str, int]]:
    """The address and the process of a part of the world."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.load_world", kind], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}", process.pid
    finally:
        process.terminate()
        process.wait(10)


@dataclass
class Load:
    visitors: list[Visitor]
    kept: int
    sent: dict[str, Sent]
    opening_cpu: float
    answering_cpu: float
    others_busy: float
    before: Footprint
    idle: Footprint
    busy: Footprint
    after: Footprint | None

    @property
    def answered(self) -> list[Visitor]:
        return [visitor for visitor in self.visitors if visitor.answered]

    def first_tokens(self) -> list[float]:
        """From Enter to the first word at the visitor's, without what the model itself took."""
        return sorted(visitor.first_at - visitor.asked_at - FIRST_TOKEN_SECONDS for visitor in self.answered)

    def last_tokens(self) -> list[float]:
        """From the model's last word to the same at the visitor's."""
        return sorted(visitor.last_at - self.sent[visitor.name].last for visitor in self.answered)

    def cells(self) -> list[str]:
        count = len(self.visitors)
        page = (self.idle.megabytes - self.before.megabytes) / count
        later = [f"{self.after.megabytes:.0f}", str(self.after.handles)] if self.after else ["–", "–"]
        return [
            str(count),
            f"{len(self.answered) / count:.0%}",
            f"{self.kept / count:.0%}",
            f"{sum(visitor.cited for visitor in self.visitors) / count:.0%}",
            _p50_p95(self.first_tokens()),
            _p50_p95(self.last_tokens()),
            f"{self.answering_cpu / count:.2f} s",
            f"{self.opening_cpu / count:.2f} s",
            f"{self.before.megabytes:.0f} / {self.idle.megabytes:.0f} / {self.busy.megabytes:.0f} / {later[0]} MB",
            f"{page:.2f} MB",
            f"{self.before.handles} / {self.idle.handles} / {self.busy.handles} / {later[1]}",
            f"{statistics.mean(visitor.bytes for visitor in self.visitors) / 1000:.0f} kB",
            f"{self.others_busy:.0%}",
        ]


HEADER = [
    "visitors",
    "answered",
    "kept",
    "with sources",
    "first token beyond the model's, p50 / p95",
    "last token late, p50 / p95",
    "CPU per answer",
    "CPU per page opened",
    "memory before / idle pages / answered / after",
    "per idle page",
    "file handles before / idle pages / answered / after",
    "websocket per visitor",
    "machine busy with other things",
]


def _p50_p95(seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return "–"
    twentieths = statistics.quantiles(seconds, n=20, method="inclusive")
    return f"{twentieths[9]:.2f} / {twentieths[18]:.2f} s"


async def at_once(visitors: Sequence[Visitor], what: Callable[[Visitor], Awaitable[None]], spread: float) -> None:
    """One failure is one visitor's; the others go on."""

    async def one(place: int, visitor: Visitor) -> None:
        await asyncio.sleep(spread * place / len(visitors))
        try:
            await what(visitor)
        except Exception as error:
            visitor.remark = f"{type(error).__name__} {error} · {visitor.remark}"

    await asyncio.gather(*(one(place, visitor) for place, visitor in enumerate(visitors)))


async def open_and_get_ready(visitor: Visitor) -> None:
    await visitor.open()
    await visitor.get_ready()


async def ask_and_leave(visitor: Visitor) -> None:
    try:
        await visitor.ask()
    finally:
        await visitor.leave()


async def kept(database: Path, visitors: Sequence[Visitor]) -> int:
    """Question and whole answer are in the file: how many visitors can say so, after some seconds at most."""
    deadline = time.monotonic() + KEPT_WITHIN
    while True:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            found = {
                (id, role, text)
                for id, role, text in connection.execute(
                    "SELECT conversation_id, role, text FROM messages WHERE finished"
                )
            }
        connection.close()
        count = sum(
            {
                (visitor.conversation, "user", visitor.question),
                (visitor.conversation, "assistant", "".join(answer(visitor.name))),
            }
            <= found
            for visitor in visitors
        )
        if count == len(visitors) or time.monotonic() > deadline:
            return count
        await asyncio.sleep(0.5)


async def measure(count: int, *, spread: float, agent: bool, wait: bool, read: int) -> Load:
    with outside("model") as (model, model_pid), outside("search") as (search, search_pid), _folder() as folder:
        environ = {
            "DATA_DIR": str(folder),
            "OPENAI_API_KEY": "load",
            "OPENAI_BASE_URL": f"{model}/v1",
            "LLM_MODEL": "openai:load",
            "AGENT_STRATEGY": "tools",
            "SEARCH_PROVIDER_PRIORITY": "searxng",
            "SEARXNG_URL": search,
            # To the app all visitors come from one address; in the world that this stands for, each has its own.
            "LIMITS_VISITORS_PER_ADDRESS": str(MOST),
            "LIMITS_ANSWERS_AT_ONCE": str(MOST),
            "READING_PAGES": str(read),
            "READING_ALLOW_HOSTS": search.removeprefix("http://"),
        }
        with app_server(**environ) as app:
            pids = (app.process.pid, model_pid, search_pid, os.getpid())
            first = Visitor(0, app.url, agent)  # imports LangChain, opens the database
            await open_and_get_ready(first)
            await ask_and_leave(first)
            await asyncio.sleep(3)
            before = Footprint.of(app.process.pid)
            visitors = [Visitor(number, app.url, agent) for number in range(1, count + 1)]
            await at_once(visitors, open_and_get_ready, 0.0)
            await asyncio.sleep(2)
            idle = Footprint.of(app.process.pid)
            others = machine_busy() - sum(Footprint.of(pid).cpu for pid in pids)
            began = time.monotonic()
            print(f"{count} pages are open", flush=True)
            await at_once(visitors, ask_and_leave, spread)
            seconds = time.monotonic() - began
            others = machine_busy() - sum(Footprint.of(pid).cpu for pid in pids) - others
            kept_count = await kept(folder / "database" / "wenyuan.sqlite3", visitors)
            busy = Footprint.of(app.process.pid)
            async with httpx.AsyncClient() as client:
                sent = (await client.get(f"{model}/sent")).json()
            after = await _after_all(first, app.process.pid) if wait else None
            _tell(visitors, app.log, pids)
    return Load(
        visitors,
        kept_count,
        {name: Sent(*times) for name, times in sent.items()},
        idle.cpu - before.cpu,
        busy.cpu - idle.cpu,
        others / seconds / (os.cpu_count() or 1),
        before,
        idle,
        busy,
        after,
    )


async def _after_all(visitor: Visitor, pid: int) -> Footprint:
    """When Streamlit has forgotten the closed pages: it looks whether any are to be forgotten when one is closed."""
    await asyncio.sleep(STREAMLIT_REMEMBERS)
    await visitor.open()
    await visitor.leave()
    await asyncio.sleep(3)
    return Footprint.of(pid)


def _tell(visitors: Sequence[Visitor], log: str, pids: Sequence[int]) -> None:
    for remark, count in Counter(visitor.remark for visitor in visitors if not visitor.answered).items():
        print(f"{count} without an answer: {remark}")
    for line, count in Counter(
        line.split(" ", 2)[-1] for line in log.splitlines() if "WARN" in line or "ERR" in line
    ).items():
        print(f"{count} × in the log: {line}")
    names = ("app", "model", "search", "visitors")
    print(
        "CPU seconds:", ", ".join(f"{name} {Footprint.of(pid).cpu:.1f}" for name, pid in zip(names, pids, strict=True))
    )


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wenyuan-load-") as folder:
        yield Path(folder)


def table(loads: Sequence[Load]) -> str:
    lines = [HEADER, ["---"] * len(HEADER), *(load.cells() for load in loads)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


NOTE = f"""Visitors without a browser: each speaks Streamlit's own protocol (`bench/load_visitor.py`), opens the page, waits until
it is drawn, switches search on, asks one question, reads until the answer is complete, and leaves. All pages are open and at
rest before the first question, and all questions are asked at once. A model on loopback answers after {FIRST_TOKEN_SECONDS} s with {TOKENS} tokens,
{TOKENS_PER_SECOND} a second; a SearXNG on loopback answers at once. One process of the app, SQLite, everything on the same cores: the model,
SearXNG and the visitors too. Answered: every word arrived, once and in order. Kept: question and whole answer are in the
database file afterwards. The first token counts from Enter, without the model's own {FIRST_TOKEN_SECONDS} s: rerun of the page, search,
prompt, model's client, drawing. Memory and file handles "after": two minutes after all have left, when Streamlit has forgotten
their sessions."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--visitors", type=int, choices=range(1, MOST + 1), metavar=f"1–{MOST}")
    parser.add_argument("--spread", type=float, default=0.0, help="seconds over which the questions are spread")
    parser.add_argument("--mode", choices=("chat", "agent"), default="chat")
    parser.add_argument("--read", type=int, default=0, choices=range(6), help="pages that are read for each question")
    parser.add_argument("--no-wait", dest="wait", action="store_false", help="do not wait for what is left afterwards")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    loads: list[Load] = []
    for size in [arguments.visitors] if arguments.visitors else SIZES:
        load = asyncio.run(
            measure(
                size, spread=arguments.spread, agent=arguments.mode == "agent", wait=arguments.wait, read=arguments.read
            )
        )
        loads.append(load)
        print(table([load]), flush=True)
    if not arguments.visitors:
        write_section("Many visitors", f"{table(loads)}\n\n{NOTE}")
    return 0 if all(len(load.answered) == load.kept == len(load.visitors) for load in loads) else 1


if __name__ == "__main__":
    sys.exit(main())
