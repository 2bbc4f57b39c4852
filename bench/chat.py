"""Chat mode: how soon the first word is on the page, and what drawing citations costs."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.answers import long_answer
from bench.page import visiting
from bench.rows import Row
from core.answer.html.markdown import BlockStream, render_html
from core.search.types import Source

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.app_server import app_server
from support.openai_server import Thinks, in_turn, openai_server
from support.visitor import ARGUMENTS, CHROMIUM

NOTE = (
    """The write_stream page is `bench/apps/openai_stream.py`. There is no stock page that shows a model's reasoning."""
)

SOURCES = [Source(n, f"标题{n}", f"https://example.org/{n}", "摘要") for n in range(1, 6)]
WATCH = """selector => { window.firstWord = 0; new MutationObserver(() => {
  if (!window.firstWord && document.querySelector(selector)) window.firstWord = performance.timeOrigin + performance.now();
}).observe(document.body, {childList: true, subtree: true}); }"""
THOUGHTS = Thinks("先想一想用户要的是什么，再想想从哪里查起。" * 20, parts=80, pause=0.02)


MODEL_THINKS = 0.5
"""Seconds before its first word, as a quick real model needs; a page that has just been sent is drawn by then."""


def first_token(browser: Browser) -> Iterator[Row]:
    with openai_server() as model:
        model.script, model.pause = ["第一个词 ", "第二个词 "] * 20, 0.02
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:script:x"}
        pages = {"asgi.py": ".wy-answer", "bench/apps/openai_stream.py": "[aria-label*=assistant] p"}
        found: dict[float, list[float]] = {MODEL_THINKS: [], 0.0: []}
        for entry, selector in pages.items():
            with app_server(entry, SEARCH_PROVIDER_PRIORITY="bundled", **environ) as app:
                for first_pause, delays in found.items():
                    model.first_pause = first_pause
                    delays.append(median_delay(browser, app.url, selector, lambda: model.first_token_at))
        (ours, stock), (at_once, stock_at_once) = found.values()
        title = f"first token: from a model that thinks {MODEL_THINKS} s to the page"
        yield Row(title, ours, "ms", 60, "st.write_stream", stock)
        title = "first token: from a model that answers at once, the question itself not yet drawn"
        yield Row(title, at_once, "ms", None, "st.write_stream", stock_at_once)


def first_thought(browser: Browser) -> Iterator[Row]:
    with openai_server() as model:
        model.reply = in_turn([MODEL_THINKS, THOUGHTS, "回答。"])
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:reply"}
        with app_server(SEARCH_PROVIDER_PRIORITY="bundled", **environ) as app:
            delay = median_delay(browser, app.url, ".wy-thought", lambda: model.first_thought_at)
            yield Row("first thought: from the service's first reasoning to the page", delay, "ms", 60)


def median_delay(browser: Browser, url: str, selector: str, sent_at: Callable[[], float]) -> float:
    """Both clocks are this machine's: the model server notes when it sends, the page when it shows."""
    delays: list[float] = []
    for _ in range(11):
        with visiting(browser, url) as (page, _counter):
            page.evaluate(WATCH, selector)
            box = page.get_by_test_id("stChatInputTextArea")
            box.fill("问题")
            box.press("Enter")
            page.locator(selector).first.wait_for(timeout=20_000)
            delays.append(page.evaluate("window.firstWord") / 1000 - sent_at())
    return statistics.median(delays[1:]) * 1000


def citations() -> Iterator[Row]:
    text = "".join(long_answer(9_000))[:20_000]
    times, blocks = [], BlockStream()
    for start in range(0, len(text), 12):
        began = time.perf_counter()
        for block in (*blocks.feed(text[start : start + 12]), *blocks.open_blocks):
            render_html(block.text, SOURCES)
        times.append((time.perf_counter() - began) * 1000)
    anew = []
    for end in range(200, len(text), 400):
        began = time.perf_counter()
        render_html(text[:end], SOURCES)
        anew.append((time.perf_counter() - began) * 1000)
    beside = ("the whole text anew", statistics.median(anew))
    yield Row("drawing a 20,000-character answer, per update, median", statistics.median(times), "ms", 5, *beside)
    yield Row("the same, 99th percentile", statistics.quantiles(times, n=100)[98], "ms", 5)


def rows() -> Iterator[Row]:
    yield from citations()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield from first_token(browser)
        yield from first_thought(browser)
        browser.close()
