"""What reading Google through Chrome costs, against a site on loopback that plays Google: `python -m bench.google`.

The site runs in a process of its own. Pages have 400 kB, of which three quarters are scripts, as Google's have.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

from bench.rows import Row, table  # noqa: E402
from core.base.http import Deadline  # noqa: E402
from core.search.chrome import Browser, find_chrome  # noqa: E402
from core.search.engines.google import GoogleEngine, parse_results  # noqa: E402
from support.chrome import Watched, watched  # noqa: E402
from support.google_site import google_results, wait_until  # noqa: E402

SITE = """
import sys
sys.path[:0] = ["tests"]
from support.google_site import google_site
with google_site() as site:
    print(site.url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def site() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", SITE], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate("", timeout=10)


def timed(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def cold(url: str) -> Iterator[Row]:
    """From nothing to the results of the first search."""

    def search_once() -> None:
        browser = Browser(find_chrome(), origins=(url,))
        times.append(timed(lambda: search(GoogleEngine(browser, base_url=url), "冷启动")))
        browser.close()

    times: list[float] = []
    for _ in range(3):
        search_once()
    yield Row("first search: Chrome started and the page read, median of 3", statistics.median(times), "s", 3.0)


def search(engine: GoogleEngine, words: str) -> None:
    assert len(engine.search(words, 10, deadline=Deadline(30))) == 10


def settled_memory(watch: Watched) -> int:
    """When the last page has gone: its process takes a moment longer than the search."""
    wait_until(lambda: not any("--type=renderer" in command for command in watch.processes().values()), 10)
    return watch.memory()


def warm(url: str, watch: Watched) -> Iterator[Row]:
    browser = Browser(find_chrome(), origins=(url,))
    engine = GoogleEngine(browser, base_url=url)
    for n in range(10):
        search(engine, f"预热 {n}")
    after_10 = settled_memory(watch)
    times = [timed(lambda n=n: search(engine, f"搜索 {n}")) for n in range(50)]  # type: ignore[misc]
    yield Row("search with Chrome running, page of 400 kB, median of 50", statistics.median(times), "s", 0.6)
    yield Row("the same, slowest of 50", max(times), "s", 2.0)
    with ThreadPoolExecutor(4) as pool:
        at_once = [timed(lambda: list(pool.map(lambda n: search(engine, f"同时 {n}"), range(4)))) for _ in range(10)]
    yield Row(
        "four searches at once, until the last one has its results, median of 10", statistics.median(at_once), "s", 2.0
    )
    growth = settled_memory(watch) / after_10
    yield Row("memory of Chrome after 100 searches, compared with 10", growth, "×", 1.1)
    yield Row("memory of Chrome after 10 searches", after_10 / 1e6, "MB")
    browser.close()
    left = not wait_until(lambda: not watch.processes(), 2)
    yield Row("processes left 2 s after the end", len(watch.processes()) if left else 0, "", 0)
    yield Row("profile folders left", len(watch.profiles()), "", 0)


def parsing() -> Iterator[Row]:
    html = google_results(size=400_000)
    times = [timed(lambda: parse_results(html, "https://www.google.com/search?q=x")) for _ in range(20)]
    yield Row("parsing a page of 400 kB", statistics.median(times) * 1000, "ms")


def rows() -> Iterator[Row]:
    yield from parsing()
    with site() as url, watched() as watch:
        yield from cold(url)
        yield from warm(url, watch)


if __name__ == "__main__":
    print(table(list(rows())))
