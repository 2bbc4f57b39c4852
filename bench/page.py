"""What the page sends and how soon it is there, measured in a real Chromium."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, WebSocket, sync_playwright

from bench.answers import PAUSE, long_answer
from bench.rows import Row

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.app_server import app_server, free_port  # noqa: E402
from support.openai_server import openai_server  # noqa: E402
from support.visitor import ARGUMENTS, CHROMIUM  # noqa: E402

NOTE = """A row whose peer is 20 messages has none in bare Streamlit, which sends the whole conversation each time. The stock agent's page imports
LangChain before it is drawn, so that its first question waits for nothing; ours is drawn without it."""

IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"


class Counter:
    """Bytes that came over the page's websocket."""

    def __init__(self, page: Page) -> None:
        self.received = 0
        page.on("websocket", self._watch)

    def _watch(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda data: self._add(len(data)))

    def _add(self, size: int) -> None:
        self.received += size


@contextmanager
def visiting(browser: Browser, url: str) -> Iterator[tuple[Page, Counter]]:
    page = browser.new_page()
    counter = Counter(page)
    page.goto(url)
    page.wait_for_selector(IDLE, timeout=30_000)
    try:
        yield page, counter
    finally:
        page.close()


def streamed_bytes(browser: Browser, url: str, done: str) -> int:
    with visiting(browser, url) as (page, counter):
        before = counter.received
        box = page.get_by_test_id("stChatInputTextArea")
        box.fill("问题")
        box.press("Enter")
        page.get_by_text(done).first.wait_for(timeout=120_000)
        page.wait_for_selector(IDLE)
        return counter.received - before


def streaming(browser: Browser) -> Row:
    with openai_server() as model:
        model.script, model.pause = long_answer(), PAUSE
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:script:long"}
        with app_server(**environ) as app:
            ours = streamed_bytes(browser, app.url, " tokens")
    with app_server("bench/apps/write_stream.py") as peer:
        theirs = streamed_bytes(browser, peer.url, "end of answer")
    return Row("streaming a 2,000-token answer, websocket", ours / 1e6, "MB", 0.3, "st.write_stream", theirs / 1e6)


def rerun(browser: Browser) -> list[Row]:
    sizes, opened = {}, {}
    for count in (20, 1_000):
        with app_server("bench/apps/long_conversation.py", BENCH_MESSAGES=str(count)) as app:
            with visiting(browser, app.url) as (page, counter):
                before = counter.received
                page.get_by_text("联网 已禁用").click()
                page.get_by_text("联网 已启用").wait_for()
                page.wait_for_selector(IDLE)
                sizes[count] = counter.received - before
            opened[count] = statistics.median(time_to_open(browser, app.url) for _ in range(5))
    return [
        Row(
            "rerun of a 1,000-message conversation, websocket",
            sizes[1_000] / 1e3,
            "kB",
            60,
            "20 messages",
            sizes[20] / 1e3,
        ),
        Row("opening a 1,000-message conversation", opened[1_000], "s", opened[20] * 1.2, "20 messages", opened[20]),
    ]


def time_to_open(browser: Browser, url: str) -> float:
    started = time.perf_counter()
    with visiting(browser, url):
        return time.perf_counter() - started


def opening(browser: Browser) -> Row:
    with app_server(SEARCH_PROVIDER_PRIORITY="bundled") as app, app_server("bench/apps/switches.py") as peer:
        ours, theirs = list[float](), list[float]()
        for _ in range(8):
            ours.append(time_to_open(browser, app.url))
            theirs.append(time_to_open(browser, peer.url))
    return Row(
        "opening the page", statistics.median(ours[1:]), "s", None, "bare Streamlit", statistics.median(theirs[1:])
    )


REACTION = """([click, words]) => new Promise(done => {
    const started = performance.now();
    const look = () => {
        if (!document.body.textContent.includes(words)) return;
        observer.disconnect();
        done(performance.now() - started);
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, {subtree: true, childList: true, characterData: true});
    const wanted = [...document.querySelectorAll("label, a")].find(one => one.textContent.includes(click));
    (wanted.querySelector("input") ?? wanted).click();
})"""
FIRST_WORDS, MANUAL = "得到每句话都能查到来源的回答", "这是随程序附带的手册"
ACTIONS = {
    "switch 联网": (("联网", "联网 已启用"), ("联网", "联网 已禁用")),
    "switch Agent": (("Agent", "Agent 已启用"), ("Agent", "Agent 已禁用")),
    "another page": (("帮助", MANUAL),),
    "back to the chat page": (("对话", FIRST_WORDS),),
}


def reactions(browser: Browser, url: str) -> dict[str, float]:
    """Milliseconds from the click until the page shows it, in the page's own clock."""
    times: dict[str, list[float]] = {name: [] for name in ACTIONS}
    with visiting(browser, url) as (page, _):
        page.get_by_test_id("stChatInputTextArea").wait_for()
        for _ in range(9):
            for name, steps in ACTIONS.items():
                for step in steps:
                    times[name].append(page.evaluate(REACTION, step))
                    page.wait_for_selector(IDLE)
                    page.wait_for_timeout(150)
    return {name: statistics.median(found) for name, found in times.items()}


def reacting(browser: Browser) -> Iterator[Row]:
    with app_server(SEARCH_PROVIDER_PRIORITY="bundled") as app, app_server("bench/apps/switches.py") as peer:
        ours, theirs = reactions(browser, app.url), reactions(browser, peer.url)
    for name, bare in theirs.items():
        yield Row(f"reaction: {name}", ours[name], "ms", bare * 1.2, "bare Streamlit", bare)


ECHO = """words => new Promise(done => {
    let pressed = 0;
    const look = () => {
        const shown = [...document.querySelectorAll("[data-testid=stChatMessage]")];
        if (!pressed || !shown.some(one => one.textContent.includes(words))) return;
        observer.disconnect();
        done(performance.now() - pressed);
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, {subtree: true, childList: true, characterData: true});
    addEventListener("keydown", event => { if (event.key === "Enter") pressed = performance.now(); }, {capture: true});
})"""


def first_agent_question(browser: Browser) -> Row:
    """The first one that a server is asked: what Agent mode needs was not imported before the page was painted."""

    def once(entry: str) -> float:
        with (
            app_server(entry, SEARCH_PROVIDER_PRIORITY="bundled", OPENAI_API_KEY="k", LLM_MODEL="") as app,
            visiting(browser, f"{app.url}/?mode=agent") as (page, _),
        ):
            page.get_by_test_id("stChatInputTextArea").fill("离婚冷静期有多长？")
            page.evaluate(f"void (window.echoed = ({ECHO})('离婚冷静期有多长'))")
            page.keyboard.press("Enter")
            return float(page.evaluate("window.echoed"))

    ours = statistics.median(once("asgi.py") for _ in range(5))
    stock = statistics.median(once("bench/apps/agent_executor.py") for _ in range(3))
    return Row("first Agent question shown after Enter", ours, "ms", 300, "a stock AgentExecutor page", stock)


def start_up() -> Row:
    """The page is not opened: what it imports then is no part of this."""
    bare = ("-m", "streamlit", "run", "bench/apps/empty.py", "--server.address", "127.0.0.1", "--server.port")

    def once(command: Sequence[str], path: str, port: int) -> float:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            while True:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=1).close()
                    return time.perf_counter() - started
                except OSError:
                    time.sleep(0.02)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()

    ours, theirs = list[float](), list[float]()
    for _ in range(6):
        port = free_port()
        ours.append(once(["make", "run", f"PORT={port}"], "/healthz", port))
        port = free_port()
        theirs.append(once([sys.executable, *bare, str(port)], "/_stcore/health", port))
    ours_median, theirs_median = statistics.median(ours[1:]), statistics.median(theirs[1:])
    return Row(
        "make run until the port answers", ours_median, "s", 2.5, "streamlit run of an empty page", theirs_median
    )


def rows() -> Iterator[Row]:
    yield start_up()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield streaming(browser)
        yield from rerun(browser)
        yield opening(browser)
        yield from reacting(browser)
        yield first_agent_question(browser)
        browser.close()
