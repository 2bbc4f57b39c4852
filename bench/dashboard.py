"""What it costs to record, how soon the dashboard is there over a million events, and what two hours leave in memory."""

from __future__ import annotations

import logging
import os
import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.answers import long_answer
from bench.page import IDLE
from bench.rows import Row, table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from core.answer.events import RunEvent, TextDelta, Usage  # noqa: E402
from core.answer.message import Message, message_from_run  # noqa: E402
from core.app import build_app, extra_sections  # noqa: E402
from core.base.settings import load_settings  # noqa: E402
from core.metrics import MetricsRecorder  # noqa: E402
from core.metrics.recorder import write_batch  # noqa: E402
from core.metrics.records import AnswerRecord, AttemptRecord, Record, SearchRecord  # noqa: E402
from core.metrics.time_spans import DAY  # noqa: E402
from core.run.question import AnswerOptions  # noqa: E402
from core.run.run import Run  # noqa: E402
from core.search.types import Attempt, AttemptOutcome, SearchEnd, SearchQuery, SearchResponse  # noqa: E402
from core.store import Database, MetricsStore  # noqa: E402
from core.store.backends import SqliteFile  # noqa: E402
from support.app_server import app_server  # noqa: E402
from support.visitor import ARGUMENTS, CHROMIUM  # noqa: E402

NOTE = """Counts and memory have no peer but themselves: nothing may be lost, and what two hours add is compared with what a fifth of
them did. The very first opening imports Altair, as any page with its charts does. The database groups the records themselves; what
days that are over add up to is remembered by the process, so that the first look back takes longer than the next."""

EVENTS = 1_000_000
ENGINES = ("searxng", "tavily", "bocha", "google", "ddgs")
HUNDREDS_OF_THOUSANDS = re.compile(r"^\d{3},\d{3} 次$")
"""Searches in ninety days; in one day there are some thousands."""
DATABASE = Path("database") / "wenyuan.sqlite3"

# ── Recording ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Ended:
    """A run of 2,000 tokens that is over."""

    mode, model, seconds = "chat", "m", 20.0
    events: tuple[RunEvent, ...] = (*(TextDelta(piece) for piece in long_answer()), Usage(3_000, 2_000))


def recording(count: int = 3_000) -> Iterator[Row]:
    """While the writer is writing, a little faster than a busy installation: some hundred events a second."""
    attempts = tuple(Attempt(engine, AttemptOutcome.FAILED, 0.3, "超时", "timeout") for engine in ENGINES[:3])
    query = SearchQuery("民法典 离婚冷静期")
    search = SearchEnd(query, 1.0, SearchResponse(query, provider="google"), attempts=attempts)
    with tempfile.TemporaryDirectory() as folder:
        database = Database(SqliteFile(Path(folder) / DATABASE))
        metrics = MetricsRecorder(MetricsStore(database), gather=0.1)
        answer: Run = Ended()  # type: ignore[assignment]
        peer = ("an INSERT committed there", statistics.median(inserts(Path(folder) / "peer.sqlite3", 300)))
        for name, record in (
            ("a search", partial(metrics.record_search, search)),
            ("an answer of 2,000 tokens", partial(metrics.record_answer, answer)),
        ):
            times = []
            for _ in range(count):
                began = time.perf_counter()
                record()
                times.append((time.perf_counter() - began) * 1000)
                time.sleep(0.002)
            yield Row(f"recording {name}, on the calling thread, median", statistics.median(times), "ms", 0.2, *peer)
            yield Row("the same, 99th percentile", statistics.quantiles(times, n=100)[98], "ms", 0.2)
        metrics.close()
        yield Row("records lost", metrics.dropped, "", 0)
        database.close()


def inserts(file: Path, count: int) -> Iterator[float]:
    """Milliseconds of each, as a page would record without a writer."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE record (at, text)")
        for number in range(count):
            began = time.perf_counter()
            connection.execute("INSERT INTO record VALUES (?, ?)", (number, "民法典 离婚冷静期" * 20))
            connection.commit()
            yield (time.perf_counter() - began) * 1000


# ── Opening ───────────────────────────────────────────────────────────────────────────────────────────────────────


def a_million(folder: Path) -> None:
    """Ninety days of records, through the writer's own batches."""
    dice, now = random.Random(8), time.time()
    samples = [_sample(dice) for _ in range(5_000)]
    database = Database(SqliteFile(folder / DATABASE))
    store = MetricsStore(database)
    size = 20_000
    for first in range(0, EVENTS, size):
        batch = [
            replace(dice.choice(samples), at=now - 90 * DAY * (1 - number / EVENTS))
            for number in range(first, first + size)
        ]
        write_batch(store, batch)
    database.close()


def _sample(dice: random.Random) -> Record:
    if dice.random() < 0.3:
        ending, kind = dice.choice([("ok", "")] * 18 + [("failed", "model_timeout"), ("stopped", "user")])
        model = dice.choice(("gpt-5-mini", "qwen3:8b", "deepseek-chat"))
        agent = dice.random() < 0.3
        seconds = dice.lognormvariate(1.5, 0.7)
        tokens = dice.randrange(200, 4_000), dice.randrange(50, 1_500)
        turns = dice.randrange(1, 6) if agent else 0
        return AnswerRecord(0, "agent" if agent else "chat", model, ending, kind, seconds, *tokens, False, turns, turns)
    kind_of_search = dice.choice(("general", "general", "news", "regulation", "case"))
    if dice.random() < 0.25:
        layer = dice.choice(("session", "shared"))
        return SearchRecord(0, kind_of_search, dice.choice(ENGINES), "ok", "", layer, 60.0, 0.001, ())
    attempts: list[AttemptRecord] = []
    for engine in ENGINES:
        if dice.random() < 0.8:
            attempts.append(AttemptRecord(engine, "ok", dice.lognormvariate(-0.5, 0.6), ""))
            break
        failure = dice.choice(("timeout", "unavailable", "blocked", "throttled"))
        attempts.append(AttemptRecord(engine, "failed", dice.lognormvariate(0, 0.6), failure))
    return SearchRecord(0, kind_of_search, attempts[-1].engine, "ok", "", "", None, 1.0, tuple(attempts))


def complete(page: Page) -> None:
    """All charts are drawn, and the script has come to its end."""
    page.locator("[data-testid=stVegaLiteChart]:has(canvas, svg)").nth(1).wait_for()
    page.wait_for_selector(IDLE)


def opening(browser: Browser, folder: Path) -> Iterator[Row]:
    """From the click in the sidebar; beside it, another page of the same app on the same machine."""
    with app_server(DATA_DIR=str(folder), SEARCH_PROVIDER_PRIORITY="bundled") as app:
        opened, looked_back, peer = list[float](), list[float](), list[float]()
        for _ in range(6):
            page = browser.new_page()
            page.goto(app.url)
            page.wait_for_selector(IDLE, timeout=60_000)
            sidebar = page.get_by_test_id("stSidebar")
            began = time.perf_counter()
            sidebar.get_by_text("帮助", exact=True).click()
            page.get_by_text("查找文章").wait_for()
            page.wait_for_selector(IDLE)
            peer.append(time.perf_counter() - began)
            began = time.perf_counter()
            sidebar.get_by_text("运行看板", exact=True).click()
            complete(page)
            opened.append(time.perf_counter() - began)
            began = time.perf_counter()
            page.get_by_text("90 天", exact=True).click()
            page.get_by_test_id("stMetricValue").filter(has_text=HUNDREDS_OF_THOUSANDS).first.wait_for()
            complete(page)
            looked_back.append(time.perf_counter() - began)
            page.close()
    first, first_back = opened[0], looked_back[0]
    opened, looked_back, peer = opened[1:], looked_back[1:], peer[1:]
    beside = ("opening 帮助", statistics.median(peer))
    yield Row("opening the dashboard over 1,000,000 events, median of 5", statistics.median(opened), "s", 1.5, *beside)
    title = "then looking back 90 days, over all of them, median of 5"
    yield Row(title, statistics.median(looked_back), "s", 1.5, *beside)
    yield Row("the very first opening after a start, with the import of Altair", first, "s")
    yield Row("the first look back 90 days after a start, when all of them are counted", first_back, "s")


# ── Two hours ─────────────────────────────────────────────────────────────────────────────────────────────────────


def resident() -> float:
    """Megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def two_hours(questions: int = 2_400) -> Iterator[Row]:
    """A question every three seconds, without the waiting: search, answer, save, and now and then a look at the pages."""
    from streamlit.testing.v1 import AppTest

    import core.app

    with tempfile.TemporaryDirectory() as folder:
        environ = {"DATA_DIR": folder, "SEARCH_PROVIDER_PRIORITY": "bundled", "SEARCH_RATE_LIMIT": "100000"}
        app = core.app._shared = build_app(
            load_settings(ROOT / "settings.yaml", {**environ, "LOG_LEVEL": "ERROR"}, sections=extra_sections())
        )
        logging.disable(logging.WARNING)
        pages = [
            AppTest.from_file(str(ROOT / name), default_timeout=60) for name in ("pages/chat.py", "pages/dashboard.py")
        ]
        for page in pages:
            page.session_state["routed"] = True
        memory: list[float] = []
        conversation = ""
        for number in range(questions):
            question = f"问源怎么设置第 {number} 项？"
            if number % 20 == 0:
                conversation = app.store.create()
            app.store.save(conversation, Message("user", question))
            if number % 10 == 0:
                events = list(app.agent.stream(question))
            else:
                events = list(app.chat.stream(question, options=AnswerOptions(search=number % 3 > 0)))
            app.store.save(conversation, message_from_run(events, seconds=1.0))
            if number % 60 == 59:
                for page in pages:
                    page.run()
                    assert not page.exception
                memory.append(resident())
        app.metrics.flush()
        recorded = len(app.metrics_store.latest_answers(0, questions + 1))
        core.app.close_shared_app()
        logging.disable(logging.NOTSET)
    fifth = len(memory) // 5
    early, late = statistics.median(memory[fifth : fifth + 3]), statistics.median(memory[-3:])
    yield Row("memory after two hours of questions, compared with a fifth of them", late / early, "×", 1.1)
    yield Row("memory after two hours of questions", late, "MB")
    yield Row("answers recorded meanwhile", recorded, "", questions, at_least=True)


def rows() -> Iterator[Row]:
    logging.getLogger("core").setLevel(logging.ERROR)
    yield from recording()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        a_million(Path(folder))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield from opening(browser, Path(folder))
        browser.close()
    yield from two_hours()


if __name__ == "__main__":
    print(table(list(rows())))
