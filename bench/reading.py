"""Pages read over a loopback web whose servers take their time, and cut into passages."""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.rows import Row

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from core.base.http import Deadline
from core.reading import Outcome, Page, Reader, ReadingSettings, passages
from core.reading.workers import ExtractionWorkers
from support.faults import Behaviour, Peer, Server, message

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

NOTE = """The page of 400 kB has 600 links in menus, 250 paragraphs of text and 200 kB of scripts, as portals have. Times are the
median of 15 runs, with the worker's processes started."""


def rows() -> Iterator[Row]:
    body = portal_page(random.Random(7))
    workers = ExtractionWorkers(1)
    began = time.perf_counter()
    workers.extract(body, "text/html", Deadline(60))
    yield Row("a worker started, first page extracted", time.perf_counter() - began, "s")
    took = median(lambda: workers.extract(body, "text/html", Deadline(60)))
    workers.close()
    yield Row(f"a page of {len(body) // 1000} kB extracted", took * 1e3, "ms", 80)
    with ExitStack() as stack:
        servers = [stack.enter_context(Server(late(body, delay))) for delay in DELAYS]
        reader = Reader(ReadingSettings(allow_hosts=tuple(server.host for server in servers)))
        stack.callback(reader.close)
        reader.warm_up()
        addresses = [server.url for server in servers]
        reader.read_all(addresses, deadline=Deadline(60))
        beyond = median(lambda: three_pages(reader, addresses)) - max(DELAYS)
        yield Row("three pages read and cut, beyond the slowest answer (0.8 s)", beyond * 1e3, "ms", 150)
        page = reader.read(addresses[0], deadline=Deadline(60))
    yield Row(
        f"passages of {page.length:,} characters",
        median(lambda: passages(page, QUESTION, around=page.text[900:1100], budget=1_500)) * 1e3,
        "ms",
    )
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    yield Row("memory of a worker at most", largest, "MB")


def three_pages(reader: Reader, addresses: list[str]) -> None:
    """Each is cut as it comes."""

    def cut(_: str, outcome: Outcome) -> None:
        assert isinstance(outcome, Page), outcome
        passages(outcome, QUESTION, budget=1_500)

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
