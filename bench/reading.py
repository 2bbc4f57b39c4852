"""Pages read over a loopback web whose servers take their time, cut into passages, and what is left of them."""

from __future__ import annotations

import gc
import os
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path
from statistics import mean

import httpx
import trafilatura
from lxml import html
from trafilatura.readability_lxml import Document

from bench.load import Footprint
from bench.rows import Row

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from core.answer.events import PageRead, RunEvent, TextDelta
from core.app import App, build_app
from core.base.cache import DiskTtlCache
from core.base.http import Deadline
from core.base.visitors import Visitor
from core.reading import Page, Reader, ReadingSettings, ReadOutcome, select_passages
from core.reading.charset_detection import decode_body
from core.reading.page_cache import PageCache
from core.reading.worker_pool import WorkerPool
from core.run.question import AnswerOptions
from core.search.engine import SearchEngine
from core.search.types import SearchQuery, SearchResult
from support.base import loaded
from support.corpus import Sample, samples
from support.faults import Behaviour, Peer, Server, message
from support.openai_server import openai_server

WORDS = [
    "经济",
    "发展",
    "数据",
    "记者",
    "今年",
    "增长",
    "市场",
    "企业",
    "政策",
    "服务",
    "居民",
    "消费",
    "投资",
    "项目",
    "城市",
    "建设",
    "问题",
    "工作",
]
QUESTION = "今年居民消费增长了多少？"
DELAYS = (0.05, 0.3, 0.8)
ROUNDS = 15
MODEL_SECONDS = 0.5
"""Before its first word."""
QUICK, SLOWER = (0.05, 0.1, 0.2), (0.05, 0.3, 0.45)
AT_ONCE = 50
HOSTS = 30
OURS = "as we read it"
_questions = count()

NOTE = """The page of 400 kB has 600 links in menus, 250 paragraphs of text and 200 kB of scripts, as portals have. Times are the
median of 15 runs, with the worker's processes started. What is kept and left: 34 pages of our own (tests/reading/pages), in
which every sentence that a reader came for and every piece of what surrounds it is marked by hand; short pages, so that
what surrounds them weighs more than on the web. The rules were written by those who wrote the pages. readability is the copy
that trafilatura brings; readability-lxml itself could not be had when this was measured.

The model gets what was read, so its first word waits for the slowest page, and comes that much later: within 0.3 s where
pages answer within 0.2 s, not where they take as long as the model does (the row without a limit). Of the 50
questions each has three pages of its own, on 30 hosts, and a model that answers after 0.5 s; everything is in one process.

Without a peer: passages, as nobody else cuts pages so; the memory of a worker; the first token, which is already a difference from an
answer without pages; and counts."""


def rows() -> Iterator[Row]:
    body = portal_page(random.Random(7))
    workers = WorkerPool(1)
    began = time.perf_counter()
    workers.extract(body, "text/html", Deadline(60))
    yield Row("a worker started, first page extracted", time.perf_counter() - began, "s")
    took = median(lambda: workers.extract(body, "text/html", Deadline(60)))
    workers.close()
    alone = median(lambda: trafilatura.extract(body))
    title = f"a page of {len(body) // 1000} kB extracted"
    yield Row(title, took * 1e3, "ms", 80, "trafilatura's defaults, in the same process", alone * 1e3)
    with ExitStack() as stack:
        servers = [stack.enter_context(Server(late(body, delay))) for delay in DELAYS]
        reader = Reader(ReadingSettings(allow_hosts=tuple(server.host for server in servers)))
        stack.callback(reader.close)
        reader.warm_up()
        addresses = [server.url for server in servers]
        reader.read_all(addresses, deadline=Deadline(60))
        beyond = median(lambda: three_pages(reader, addresses)) - max(DELAYS)
        pool = stack.enter_context(ThreadPoolExecutor(len(addresses)))
        fetched = median(lambda: list(pool.map(httpx.get, addresses))) - max(DELAYS)
        title = "three pages read and cut, beyond the slowest answer (0.8 s)"
        yield Row(title, beyond * 1e3, "ms", 150, "fetched at once, not read", fetched * 1e3)
        page = reader.read(addresses[0], deadline=Deadline(60))
        yield from from_the_cache(reader, addresses[0])
    yield Row(
        f"passages of {page.length:,} characters",
        median(lambda: select_passages(page, QUESTION, snippet=page.text[900:1100], budget=1_500)) * 1e3,
        "ms",
    )
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    yield Row("memory of a worker at most", largest, "MB")
    yield from kept_and_left()
    yield from first_tokens()
    yield from many_at_once()


def from_the_cache(reader: Reader, address: str) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        reader._cache = PageCache(DiskTtlCache(Path(folder)), good_for=3600)
        first = reader.read(address, deadline=Deadline(60))
        took = median(lambda: reader.read(address, deadline=Deadline(60)))
        assert reader.read(address, deadline=Deadline(60)).fetched_at == first.fetched_at
        reader._cache.close()
        reader._cache = None
        with closing(sqlite3.connect(Path(folder) / "peer.sqlite3")) as peer:
            peer.execute("CREATE TABLE page (address TEXT PRIMARY KEY, text TEXT)")
            peer.execute("INSERT INTO page VALUES (?, ?)", (address, first.text))
            row_read = median(lambda: peer.execute("SELECT text FROM page WHERE address = ?", (address,)).fetchone())
    title = "the same page a second time, from the cache on disk"
    yield Row(title, took * 1e3, "ms", 2, "a row of SQLite, as it is", row_read * 1e3)


# ── What is kept and what is left ─────────────────────────────────────────────────────────────────────────────────────


def kept_and_left() -> Iterator[Row]:
    workers = WorkerPool(1)
    tools: dict[str, Callable[[bytes], str]] = {
        OURS: lambda body: workers.extract(body, "text/html", Deadline(60)).text,
        "trafilatura's defaults": lambda body: trafilatura.extract(body) or "",
        "readability": by_readability,
    }
    pages = [sample for sample in samples() if not sample.reason and sample.name.endswith(".html")]
    kept = {name: average(pages, tool, Sample.kept) for name, tool in tools.items()}
    left = {name: average(pages, tool, Sample.left) for name, tool in tools.items()}
    workers.close()
    for peer in list(tools)[1:]:
        yield Row(
            f"main text kept, {len(pages)} pages", kept[OURS] * 100, "%", 97, peer, kept[peer] * 100, at_least=True
        )
    for peer in list(tools)[1:]:
        yield Row(f"surroundings left, {len(pages)} pages", left[OURS] * 100, "%", 20, peer, left[peer] * 100)


def average(pages: Sequence[Sample], tool: Callable[[bytes], str], share: Callable[[Sample, str], float]) -> float:
    return mean(share(sample, tool(sample.body)) for sample in pages)


def by_readability(body: bytes) -> str:
    summary: str = Document(html.fromstring(decode_body(body, ""))).summary()
    return str(html.fromstring(summary).text_content())


# ── In an answer ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Finds(SearchEngine):
    """At once, other pages for every question."""

    name = "finds"

    def __init__(self, servers: Sequence[Server]) -> None:
        self._servers = servers
        self._numbers = count()

    def search(self, query: SearchQuery, num_results: int, *, deadline: Deadline | None = None) -> list[SearchResult]:
        numbers = [next(self._numbers) for _ in range(3)]
        urls = [f"{self._servers[number % len(self._servers)].url}{number}" for number in numbers]
        return [SearchResult(f"结果{url[-1]}", url, "居民消费增长", url.split("/")[2]) for url in urls]


@contextmanager
def answering(servers: Sequence[Server], pages: int) -> Iterator[App]:
    """An App whose pages are on these servers, in turn."""
    with openai_server() as model, tempfile.TemporaryDirectory() as folder:
        model.first_pause = MODEL_SECONDS
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:ok", "DATA_DIR": folder}
        environ |= {"READING_PAGES": str(pages), "LIMITS_ANSWERS_AT_ONCE": "500", "SEARCH_ENGINE_QUOTA": "10000"}
        environ["READING_ALLOW_HOSTS"] = ",".join(server.host for server in servers)
        app = build_app(loaded(**environ), engines=[Finds(servers)])
        try:
            list(asked(app))  # imports LangChain, starts the processes
            yield app
        finally:
            app.close()


def asked(app: App) -> Iterator[RunEvent]:
    """Each by another visitor, in other words: nobody's limit counts, and no search is shared."""
    number = next(_questions)
    return app.chat.stream(
        f"{QUESTION}（{number}）", options=AnswerOptions(search=True, visitor=Visitor(f"访客{number}"))
    )


def first_tokens() -> Iterator[Row]:
    without = first_token(QUICK, pages=0)
    for delays, limit in ((QUICK, 300.0), (SLOWER, None)):
        later = first_token(delays, pages=3) - without
        yield Row(f"first token later with three pages of up to {max(delays):g} s", later * 1e3, "ms", limit)


def first_token(delays: Sequence[float], pages: int) -> float:
    body = portal_page(random.Random(7))

    with ExitStack() as stack:
        servers = [stack.enter_context(Server(late(body, delay))) for delay in delays]
        app = stack.enter_context(answering(servers, pages))
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            events = asked(app)
            next(event for event in events if isinstance(event, TextDelta))
            times.append(time.perf_counter() - began)
            list(events)
    return sorted(times)[ROUNDS // 2]


def many_at_once() -> Iterator[Row]:
    body = portal_page(random.Random(7))
    with ExitStack() as stack:
        servers = [
            stack.enter_context(Server(late(body, DELAYS[n % 3]), address=f"127.0.1.{n + 1}")) for n in range(HOSTS)
        ]
        app = stack.enter_context(answering(servers, pages=3))
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        memory, answers = [], []
        for _ in range(4):
            began = time.perf_counter()
            answers = list(pool.map(lambda _: list(asked(app)), range(AT_ONCE)))
            took = time.perf_counter() - began
            gc.collect()
            memory.append(Footprint.of(os.getpid()).megabytes)
    read = [event for events in answers for event in events if isinstance(event, PageRead)]
    answered = sum(events[-1].type == "usage" for events in answers)
    what = f"{AT_ONCE} questions at once, three pages each"
    yield Row(f"{what}: answered", answered, "questions", AT_ONCE, at_least=True)
    yield Row(f"{what}: pages read in their time", sum(event.source.read == "page" for event in read), "pages")
    yield Row(f"{what}: seconds", took, "s")
    yield Row(f"{what}: memory after four such rounds, compared with two", memory[3] / memory[1], "×", 1.1)


def three_pages(reader: Reader, addresses: list[str]) -> None:
    """Each is cut as it comes."""

    def cut(_: str, outcome: ReadOutcome) -> None:
        assert isinstance(outcome, Page), outcome
        select_passages(outcome, QUESTION, budget=1_500)

    reader.read_all(addresses, deadline=Deadline(60), on_outcome=cut)


def median(call: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return sorted(times)[ROUNDS // 2]


def late(body: bytes, delay: float) -> Behaviour:
    answer = message(body, "Content-Type: text/html; charset=utf-8")

    def behave(peer: Peer) -> None:
        while peer.read_request() and not peer.wait(delay):
            peer.send(answer)

    return behave


def portal_page(chance: random.Random) -> bytes:
    menu = "".join(f'<li class="item"><a href="/c/{n}.html" title="栏目">栏目{n}</a></li>' for n in range(300))
    story = "".join(f"<p>{''.join(chance.choices(WORDS, k=50))}。</p>" for _ in range(250))
    head = '<meta charset="utf-8"><title>今年居民消费</title><meta name="pubdate" content="2024-10-12">'
    page = f"<!doctype html><html><head>{head}</head><body><ul>{menu}</ul><article>{story}</article><ul>{menu}</ul>"
    missing = 400_000 - len(page.encode())
    return f"{page}<script>/*{'x' * missing}*/</script></body></html>".encode()
