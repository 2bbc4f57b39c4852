"""Chat mode: how soon the first word is on the page, and what drawing citations costs."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.answers import long_answer
from bench.page import visiting
from bench.rows import Row
from core.answer.markdown import Blocks, render_html
from core.search.types import Source

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.app_server import app_server
from support.openai_server import openai_server
from support.visitor import ARGUMENTS, CHROMIUM

SOURCES = [Source(n, f"标题{n}", f"https://example.org/{n}", "摘要") for n in range(1, 6)]
WATCH = """() => { window.firstWord = 0; new MutationObserver(() => {
  if (!window.firstWord && document.querySelector('.wy-answer')) window.firstWord = performance.timeOrigin + performance.now();
}).observe(document.body, {childList: true, subtree: true}); }"""


MODEL_THINKS = 0.5
"""Seconds before its first word, as a quick real model needs; a page that has just been sent is drawn by then."""


def first_token(browser: Browser) -> Iterator[Row]:
    """Both clocks are this machine's: the model server notes when it sends, the page when it shows."""
    with openai_server() as model:
        model.script, model.pause = ["第一个词 ", "第二个词 "] * 20, 0.02
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:script:x"}
        with app_server(SEARCH_PROVIDER_PRIORITY="bundled", **environ) as app:

            def median_delay(first_pause: float) -> float:
                model.first_pause = first_pause
                delays: list[float] = []
                for _ in range(11):
                    with visiting(browser, app.url) as (page, _counter):
                        page.evaluate(WATCH)
                        box = page.get_by_test_id("stChatInputTextArea")
                        box.fill("问题")
                        box.press("Enter")
                        page.locator(".wy-answer").first.wait_for(timeout=20_000)
                        delays.append(page.evaluate("window.firstWord") / 1000 - model.first_token_at)
                return statistics.median(delays[1:]) * 1000

            yield Row(
                f"first token: from a model that thinks {MODEL_THINKS} s to the page",
                median_delay(MODEL_THINKS),
                "ms",
                60,
            )
            yield Row(
                "first token: from a model that answers at once, the question itself not yet drawn",
                median_delay(0),
                "ms",
            )


def citations() -> Iterator[Row]:
    text = "".join(long_answer(9_000))[:20_000]
    times, blocks = [], Blocks()
    for start in range(0, len(text), 12):
        began = time.perf_counter()
        for block in (*blocks.feed(text[start : start + 12]), *blocks.open):
            render_html(block.text, SOURCES)
        times.append((time.perf_counter() - began) * 1000)
    yield Row("drawing a 20,000-character answer, per update, median", statistics.median(times), "ms", 5)
    yield Row("the same, 99th percentile", statistics.quantiles(times, n=100)[98], "ms", 5)


def rows() -> Iterator[Row]:
    yield from citations()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield from first_token(browser)
        browser.close()
