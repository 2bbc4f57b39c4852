"""`make load`: many visitors at once, each with one question, through one process of the app started as `make run` does.

    make load                  20, 50 and 100 visitors; the table goes to docs/benchmarks.md
    make load WORKERS=1,2      50 and 100 visitors, one process and two behind nginx; another table there
    make load N=50 SPREAD=30   50 visitors who ask within 30 seconds; the table is only printed
    make load N=20 MODE=agent
    make load N=50 READ=3      three pages are read for each question
    make load ARGS="--kept 0"  on an empty database, and not on one of 20,000 conversations

Everything is on loopback and on the same cores: the app, the model, SearXNG and the visitors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from sqlalchemy import insert

from bench.load_visitor import Visitor
from bench.load_world import (
    FIRST_TOKEN_SECONDS,
    SEARCH_SECONDS,
    TOKENS,
    TOKENS_PER_SECOND,
    Sent,
    answer,
    model_name,
)
from bench.report import write_section
from core.answer.events import Answer
from core.answer.message import Message
from core.answer.stored_message import encode_message
from core.base.compression import plain_text
from core.store import Database
from core.store.backends import SqliteFile
from core.store.conversations import pack
from core.store.tables import conversations, messages, visits
from core.store.text_pairs import pairs_of

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.app_server import app_server, free_port  # noqa: E402
from support.nginx import nginx  # noqa: E402

SIZES = (20, 50, 100)
SIZES_OF_WORKERS = (50, 100)
FIGURES = ROOT / "bench" / "load_figures.json"
"""Of the load of fifty, which `bench.scaling` counts with."""
MOST = 500
KEPT_WITHIN = 15.0
KEPT_BEFORE = 20_000
"""Conversations in the database before the first visitor comes: an empty one hides what grows with it."""
FILLED_AT_ONCE = 1_000
STREAMLIT_REMEMBERS = 125.0
"""Seconds for which Streamlit keeps the session of a closed page, and a little more."""
GARBAGE_STAYS = 63.0
"""Seconds until `asgi.py` has collected it, and a little more."""
WARMING_UP = 6
"""Visitors for each of several processes: nginx chooses by chance, and each process has to import what an answer needs."""
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Footprint:
    """What processes hold, and what they have used."""

    cpu: float
    megabytes: float
    handles: int

    @classmethod
    def of(cls, *pids: int) -> Footprint:
        folders = [Path("/proc") / str(pid) for pid in pids]
        resident = sum(int((folder / "statm").read_text().split()[1]) for folder in folders)
        return cls(
            sum(map(processor_seconds, pids)),
            resident * PAGE_SIZE / 2**20,
            sum(len(list((folder / "fd").iterdir())) for folder in folders),
        )


def processor_seconds(pid: int) -> float:
    """That a process has used, to the nanosecond: its clock has a number that Linux makes of its own (see clock_getcpuclockid)."""
    return time.clock_gettime(~pid << 3 | 2)


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


def use_all_handles() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)


@dataclass(frozen=True)
class Serving:
    """The app, in one process or in several."""

    url: str
    pids: Sequence[int]
    log_path: Path


@contextmanager
def serving(workers: int, environ: Mapping[str, str]) -> Iterator[Serving]:
    if workers == 1:
        with app_server(**environ) as app:
            yield Serving(app.url, [app.process.pid], app.log_path)
        return
    shared = {**environ, "STREAMLIT_SERVER_COOKIE_SECRET": "the same for all", "FORWARDED_ALLOW_IPS": "127.0.0.1"}
    first = free_port()  # on consecutive ports they have different cores
    with ExitStack() as stack:
        apps = [stack.enter_context(app_server(port=str(first + number), **shared)) for number in range(workers)]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wenyuan-nginx-")))
        url = stack.enter_context(nginx(folder, apps, tls=False))
        balancer = int((folder / "pid").read_text())
        yield Serving(url, [*(app.process.pid for app in apps), *_family(balancer)], apps[0].log_path)


def _family(pid: int) -> list[int]:
    """The process, its children and theirs: nginx, and the process that works for it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in _family(int(child)))]


def environment(folder: Path, model: str, search: str, **more: str) -> dict[str, str]:
    return {
        "DATA_DIR": str(folder),
        "LEGAL_BUILT_IN": "0",  # its seconds at the first start are not what is measured
        "OPENAI_API_KEY": "load",
        "OPENAI_BASE_URL": f"{model}/v1",
        "LLM_MODEL": f"openai:{model_name()}",
        "AGENT_STRATEGY": "tools",
        "SEARCH_PROVIDER_PRIORITY": "searxng",
        "SEARXNG_URL": search,
        # To the app all visitors come from one address; in the world that this stands for, each has its own.
        "LIMITS_VISITORS_PER_ADDRESS": str(MOST),
        "LIMITS_ANSWERS_AT_ONCE": str(MOST),
        "READING_PAGES": "0",
        **more,
    }


@dataclass
class Load:
    workers: int
    visitors: list[Visitor]
    kept: int
    sent: dict[str, Sent]
    opening_cpu: float
    starting_cpu: float
    """From the first Enter to the last first token."""
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
        """From Enter to the first word at the visitor's, without what search and model themselves took."""
        outside = SEARCH_SECONDS + FIRST_TOKEN_SECONDS
        return sorted(visitor.first_at - visitor.asked_at - outside for visitor in self.answered)

    def last_tokens(self) -> list[float]:
        """From the model's last word to the same at the visitor's."""
        return sorted(visitor.last_at - self.sent[visitor.name].last for visitor in self.answered)

    def cells(self) -> list[str]:
        count = len(self.visitors)
        page = (self.idle.megabytes - self.before.megabytes) / count
        later = [f"{self.after.megabytes:.0f}", str(self.after.handles)] if self.after else ["–", "–"]
        return [
            str(self.workers),
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

    def figures(self) -> dict[str, float]:
        """Of one answer and one page, for `bench.scaling`."""
        count = len(self.visitors)
        start = self.starting_cpu / count
        return {
            "start_seconds": start,
            "token_seconds": (self.answering_cpu / count - start) / TOKENS,
            "resting_megabytes": self.before.megabytes,
            "page_megabytes": (self.idle.megabytes - self.before.megabytes) / count,
            "answer_megabytes": (self.busy.megabytes - self.idle.megabytes) / count,
            "answer_kilobytes": statistics.mean(visitor.bytes for visitor in self.visitors) / 1000,
        }


HEADER = [
    "processes",
    "visitors",
    "answered",
    "kept",
    "with sources",
    "first token beyond search and model, p50 / p95",
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
                (id, role, plain_text(text))
                for id, role, text in connection.execute(
                    "SELECT conversation_id, role, text FROM messages WHERE finished AND conversation_id NOT LIKE 'load-%'"
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


def fill(folder: Path, count: int) -> None:
    """Fill the database with others' conversations, each of one question and one answer as the visitors will have."""
    database = Database(SqliteFile(folder / "database" / "wenyuan.sqlite3"))
    said = "".join(answer("访客0000"))
    payload = pack(encode_message(Message("assistant", said, (Answer(said),), model="load")))
    blank = pack(encode_message(Message("user", "")))
    said_pairs = pairs_of(said)
    for start in range(0, count, FILLED_AT_ONCE):
        numbers = range(start, min(start + FILLED_AT_ONCE, count))
        talks, seen, asked = [], [], []
        for number in numbers:
            id = f"load-{number:019}"
            times = {"created": float(number), "updated": float(number)}
            talks.append({"id": id, "owner": None, "title": f"问题 {number}", "mode": "chat", **times})
            seen.append({"visitor": f"earlier {number % 5_000}", "conversation_id": id})
            row = {"conversation_id": id, "finished": True, "created": float(number)}
            question = {"role": "user", "text": f"问题 {number}", "pairs": pairs_of(f"问题 {number}"), "payload": blank}
            reply = {"role": "assistant", "text": said, "pairs": said_pairs, "payload": payload}
            asked += [{**row, "position": 1, "id": "q", **question}, {**row, "position": 2, "id": "a", **reply}]
        with database.write() as connection:
            for table, rows in ((conversations, talks), (visits, seen), (messages, asked)):
                connection.execute(insert(table), rows)
    database.close()


async def measure(
    count: int, *, spread: float, agent: bool, wait: bool, read: int, workers: int = 1, kept_before: int = 0
) -> Load:
    with outside("model") as (model, model_pid), outside("search") as (search, search_pid), load_folder() as folder:
        reading = {"READING_PAGES": str(read), "READING_ALLOW_HOSTS": search.removeprefix("http://")}
        fill(folder, kept_before)
        with serving(workers, environment(folder, model, search, **reading)) as app:
            others_than = (*app.pids, model_pid, search_pid, os.getpid())
            first = [
                Visitor(MOST + number, app.url, agent) for number in range(WARMING_UP * workers if workers > 1 else 1)
            ]
            await at_once(first, open_and_get_ready, 0.0)  # imports LangChain, opens the database
            await at_once(first, ask_and_leave, 0.0)
            await asyncio.sleep(3)
            before = Footprint.of(*app.pids)
            visitors = [Visitor(number, app.url, agent) for number in range(1, count + 1)]
            await at_once(visitors, open_and_get_ready, 0.0)
            await asyncio.sleep(2)
            idle = Footprint.of(*app.pids)
            others = machine_busy() - sum(map(processor_seconds, others_than))
            began = time.monotonic()
            print(f"{count} pages are open", flush=True)
            beginning = asyncio.create_task(all_have_begun(visitors, app.pids))
            await at_once(visitors, ask_and_leave, spread)
            beginning.cancel()  # only where somebody was not answered
            seconds = time.monotonic() - began
            others = machine_busy() - sum(map(processor_seconds, others_than)) - others
            kept_count = await kept(folder / "database" / "wenyuan.sqlite3", visitors)
            busy = Footprint.of(*app.pids)
            async with httpx.AsyncClient() as client:
                sent = (await client.get(f"{model}/sent")).json()
            after = await after_all(first, app.pids) if wait else None
            _tell(visitors, app, {"model": model_pid, "search": search_pid, "visitors": os.getpid()})
    return Load(
        workers,
        visitors,
        kept_count,
        {name: Sent(*times) for name, times in sent.items()},
        idle.cpu - before.cpu,
        (beginning.result() if not beginning.cancelled() else idle.cpu) - idle.cpu,
        busy.cpu - idle.cpu,
        others / seconds / (os.cpu_count() or 1),
        before,
        idle,
        busy,
        after,
    )


async def all_have_begun(visitors: Sequence[Visitor], pids: Sequence[int]) -> float:
    """The processor time at which the last of them sees its first word."""
    while not all(visitor.first_at for visitor in visitors):  # noqa: ASYNC110 (a look at numbers)
        await asyncio.sleep(0.02)
    return sum(map(processor_seconds, pids))


async def after_all(visitors: Sequence[Visitor], pids: Sequence[int]) -> Footprint:
    """When Streamlit has forgotten the closed pages: it looks whether any are to be forgotten when one is closed."""
    await asyncio.sleep(STREAMLIT_REMEMBERS)
    for visitor in visitors:
        await visitor.open()
        await visitor.leave()
    await asyncio.sleep(GARBAGE_STAYS)
    return Footprint.of(*pids)


def _tell(visitors: Sequence[Visitor], app: Serving, others: Mapping[str, int]) -> None:
    for remark, count in Counter(visitor.remark for visitor in visitors if not visitor.answered).items():
        print(f"{count} without an answer: {remark}")
    log = app.log_path.read_text("utf-8", errors="replace")
    for line, count in Counter(
        line.split(" ", 2)[-1] for line in log.splitlines() if "WARN" in line or "ERR" in line
    ).items():
        print(f"{count} × in the log: {line}")
    for name, pid in [*((_command(pid), pid) for pid in app.pids), *others.items()]:
        print(f"CPU seconds, {name}: {processor_seconds(pid):.1f}")


def _command(pid: int) -> str:
    return "nginx" if "nginx" in Path(f"/proc/{pid}/comm").read_text() else "app"


@contextmanager
def load_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wenyuan-load-") as folder:
        yield Path(folder)


def table(loads: Sequence[Load]) -> str:
    lines = [HEADER, ["---"] * len(HEADER), *(load.cells() for load in loads)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


WORLD = f"""A model on loopback answers after {FIRST_TOKEN_SECONDS} s with {TOKENS} tokens, {TOKENS_PER_SECOND} a second; a SearXNG on loopback takes {SEARCH_SECONDS} s."""
NOTE = f"""Visitors without a browser: each speaks Streamlit's own protocol (`bench/load_visitor.py`), opens the page, waits until
it is drawn, switches search on, asks one question, reads until the answer is complete, and leaves. All pages are open and at
rest before the first question, and all questions are asked at once. {WORLD}
SQLite, with {KEPT_BEFORE:,} conversations before the first one comes; everything is on the same cores: the model, SearXNG and the visitors too. Answered: every word arrived, once and
in order. Kept: question and whole answer are in the database file afterwards. The first token counts from Enter, without what search and
model themselves take: rerun of the page, prompt, clients, drawing. Memory and file handles "after": three minutes
after all have left, when Streamlit has forgotten their sessions."""
WORKERS_NOTE = """As the table before, but processes of the app behind nginx, with `deploy/nginx.conf`; one is without nginx. Processor
time, memory and handles are of the app's processes and of nginx together. Two processes do not have two cores here: the model,
SearXNG, nginx and the visitors work on the same ones. What is gained is what a second process
gains beside all that; where they are on other machines it is more."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--visitors", type=int, choices=range(1, MOST + 1), metavar=f"1–{MOST}")
    parser.add_argument("--spread", type=float, default=0.0, help="seconds over which the questions are spread")
    parser.add_argument("--mode", choices=("chat", "agent"), default="chat")
    parser.add_argument("--read", type=int, default=0, choices=range(6), help="pages that are read for each question")
    parser.add_argument("--workers", type=_counts, help="processes, or several numbers of them: 1,2")
    parser.add_argument(
        "--kept",
        type=int,
        default=KEPT_BEFORE,
        help="conversations that the database has before, %(default)s if not said",
    )
    parser.add_argument("--no-wait", dest="wait", action="store_false", help="do not wait for what is left afterwards")
    arguments = parser.parse_args()
    use_all_handles()
    loads: list[Load] = []
    for workers in arguments.workers or [1]:
        for size in _sizes(arguments):
            load = asyncio.run(
                measure(
                    size,
                    spread=arguments.spread,
                    agent=arguments.mode == "agent",
                    wait=arguments.wait,
                    read=arguments.read,
                    workers=workers,
                    kept_before=arguments.kept,
                )
            )
            loads.append(load)
            print(table([load]), flush=True)
    if not arguments.visitors and arguments.workers:
        write_section("More than one process", f"{table(loads)}\n\n{WORKERS_NOTE}")
    elif not arguments.visitors:
        write_section("Many visitors", f"{table(loads)}\n\n{NOTE}")
        of_fifty = loads[SIZES.index(50)].figures()
        FIGURES.write_text(json.dumps(of_fifty, indent=1) + "\n", "utf-8")
    return 0 if all(len(load.answered) == load.kept == len(load.visitors) for load in loads) else 1


def _sizes(arguments: argparse.Namespace) -> Sequence[int]:
    if arguments.visitors:
        return [arguments.visitors]
    return SIZES_OF_WORKERS if arguments.workers else SIZES


def _counts(text: str) -> list[int]:
    return [int(count) for count in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
