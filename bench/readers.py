"""One process and many readers: what an answer costs beside a bare event stream, and how late it is when many read."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count

import httpx

from bench.load import (
    ROOT,
    Footprint,
    after_all,
    ask_and_leave,
    at_once,
    environment,
    load_folder,
    open_and_get_ready,
    outside,
    processor_seconds,
    serving,
    use_all_handles,
)
from bench.load_visitor import StockVisitor, StreamVisitor, Visitor
from bench.load_world import (
    ANSWER_SECONDS,
    FIRST_TOKEN_SECONDS,
    SEARCH_SECONDS,
    TOKENS,
    TOKENS_PER_SECOND,
    Sent,
    model_name,
)
from bench.rows import Row
from support.app_server import app_server, free_port, wait_for

ROUNDS = 5
TOGETHER = 10
REST_SECONDS = 2.0
"""After an answer, until the server has kept it and has nothing more to do."""
CHAT, AGENT, BARE, WRITE_STREAM, EXECUTOR = (
    "Chat",
    "Agent",
    "a bare event stream",
    "st.write_stream",
    "AgentExecutor with StreamlitCallbackHandler",
)
LIMITS = {CHAT: 1.6, AGENT: 2.2}
"""Times a bare event stream, one reader at a time."""
CROWDS = {25: 0.5, 50: 2.0}
"""Readers, and how many seconds late the answer of half of them may be complete."""
RESTING = {25: 0.5}
"""Readers, and how many seconds after the last word each of their pages may be at rest."""
STREAMS = 60
GONE = 100
LONG, LONG_PACE = 20_000, 180
"""Written while Streamlit remembers those who have left."""
SOON, LATE = (500, 3_500), (LONG - 3_500, LONG - 500)
"""Between which words of a long answer a token's cost is measured: not at its end, where it is checked."""

NOTE = f"""Search takes {SEARCH_SECONDS} s, the model {FIRST_TOKEN_SECONDS} s to its first token, then {TOKENS_PER_SECOND} tokens a second, {TOKENS} in all. Processor time
is that of the server's process alone, from the question until it is at rest again ({REST_SECONDS:.0f} s later), with the page open already.
The peers do the same job in a few lines (`bench/apps`): `bare_stream.py` passes the model's event stream on, line by line, from a
search on; it keeps, checks, cites and draws nothing. `openai_stream.py` is the openai package's stream in `st.write_stream`,
`agent_executor.py` LangChain's stock agent page. They run with the configuration of Streamlit that the app has.
One at a time: one reader per server, all servers side by side, median of {ROUNDS}; the limits are for this. Of {TOGETHER} at once the bare
stream's are cheaper by half and more, as it wakes up once for several tokens; ours read in bursts already.

Late is what goes beyond {ANSWER_SECONDS:.1f} s, when the last token would come if nobody lost any time; the readers, the model and SearXNG work
on the same two cores. At rest is a page that shows the finished answer with its marks. Lateness grows by what words of the last fifth of the answer come later than those of the second, after their turn
at the model's pace. Bytes are those on the socket, websocket frames compressed as for a browser.

Memory: resident, after one answer, and three minutes after the {GONE} have left, when Streamlit has forgotten their sessions. Long
answer: {LONG:,} tokens, {LONG_PACE} a second, drawn and kept; processor time per token around the {sum(SOON) // 2:,}th beside that around the {sum(LATE) // 2:,}th. It is kept once a
second, all of it: the quicker the model, the more of a token's cost is that."""

_numbers = count(1)


@dataclass(frozen=True)
class Contender:
    name: str
    url: str
    pid: int
    visitor: Callable[[int, str], Visitor]

    def readers(self, how_many: int) -> list[Visitor]:
        return [self.visitor(next(_numbers), self.url) for _ in range(how_many)]


# ── Who competes ──────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def contenders(model: str, search: str) -> Iterator[dict[str, Contender]]:
    """All servers, each after its first answer."""
    with ExitStack() as stack:
        environ = environment(stack.enter_context(load_folder()), model, search)
        chat = stack.enter_context(serving(1, environ))
        agent = stack.enter_context(serving(1, environment(stack.enter_context(load_folder()), model, search)))
        write_stream = stack.enter_context(app_server("bench/apps/openai_stream.py", **environ))
        executor = stack.enter_context(app_server("bench/apps/agent_executor.py", **environ))
        bare_url, bare_pid = stack.enter_context(bare_stream(environ))
        found = [
            Contender(CHAT, chat.url, chat.pids[0], Visitor),
            Contender(AGENT, agent.url, agent.pids[0], lambda number, url: Visitor(number, url, agent=True)),
            Contender(BARE, bare_url, bare_pid, StreamVisitor),
            Contender(WRITE_STREAM, write_stream.url, write_stream.process.pid, StockVisitor),
            Contender(EXECUTOR, executor.url, executor.process.pid, StockVisitor),
        ]
        yield {one.name: one for one in found}


@contextmanager
def bare_stream(environ: dict[str, str]) -> Iterator[tuple[str, int]]:
    port = free_port()
    with load_folder() as folder, (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.apps.bare_stream", str(port)], cwd=ROOT, env=environ, stdout=log, stderr=log
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/health", process, folder / "log")
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()
            process.wait(10)


# ── What an answer costs ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Cost:
    """Of one answer."""

    milliseconds: float
    kilobytes: float


async def cost(contender: Contender, how_many: int) -> Cost:
    readers = contender.readers(how_many)
    await at_once(readers, open_and_get_ready, 0.0)
    await asyncio.sleep(REST_SECONDS)
    before = processor_seconds(contender.pid)
    await at_once(readers, lambda reader: reader.ask(), 0.0)
    await asyncio.sleep(REST_SECONDS)
    spent = processor_seconds(contender.pid) - before
    await at_once(readers, lambda reader: reader.leave(), 0.0)
    all_answered(contender.name, readers)
    received = statistics.median(reader.bytes - reader.bytes_before for reader in readers)
    return Cost(spent * 1000 / how_many, received / 1000)


def all_answered(name: str, readers: Sequence[Visitor]) -> None:
    if unanswered := [reader.remark for reader in readers if not reader.answered]:
        raise RuntimeError(f"{name}: {len(unanswered)} of {len(readers)} were not answered: {unanswered[0]}")


async def one_at_a_time(all_of_them: dict[str, Contender]) -> dict[str, Cost]:
    """Each server has one reader, at the same time as the others have theirs: a busy moment hits all of them alike."""
    rounds = [await asyncio.gather(*(cost(one, 1) for one in all_of_them.values())) for _ in range(ROUNDS)]
    return {
        name: Cost(
            statistics.median(found.milliseconds for found in costs),
            statistics.median(found.kilobytes for found in costs),
        )
        for name, costs in zip(all_of_them, zip(*rounds, strict=True), strict=True)
    }


async def together(all_of_them: dict[str, Contender]) -> dict[str, Cost]:
    return {name: await cost(one, TOGETHER) for name, one in all_of_them.items()}


def cost_rows(costs: dict[str, Cost], when: str, limits: dict[str, float]) -> Iterator[Row]:
    for ours, stock in ((CHAT, WRITE_STREAM), (AGENT, EXECUTOR)):
        title, bare = f"processor time of one answer, {ours}, {when}", costs[BARE].milliseconds
        limit = limits[ours] * bare if ours in limits else None
        yield Row(title, costs[ours].milliseconds, "ms", limit, BARE, bare)
        yield Row(title, costs[ours].milliseconds, "ms", None, stock, costs[stock].milliseconds)


# ── How late it is ────────────────────────────────────────────────────────────────────────────────────────────────────


async def crowd(contender: Contender, how_many: int) -> list[Visitor]:
    readers = contender.readers(how_many)
    await at_once(readers, open_and_get_ready, 0.0)
    await asyncio.sleep(REST_SECONDS)
    await at_once(readers, ask_and_leave, 0.0)
    all_answered(contender.name, readers)
    return readers


def lateness(readers: Sequence[Visitor]) -> float:
    """Seconds, of half of the readers at most."""
    return statistics.median(reader.last_at - reader.asked_at - ANSWER_SECONDS for reader in readers)


def crowd_rows(all_of_them: dict[str, Contender]) -> Iterator[Row]:
    for how_many, limit in CROWDS.items():
        readers = {name: asyncio.run(crowd(all_of_them[name], how_many)) for name in (CHAT, BARE)}
        late = {name: lateness(found) for name, found in readers.items()}
        yield Row(
            f"{how_many} readers at once: last word late, median",
            late[CHAT],
            "s",
            limit,
            BARE,
            late[BARE],
            in_ratio=False,
        )
        resting = max(reader.rested_at - reader.last_at for reader in readers[CHAT])
        title = f"{how_many} answers end together: page at rest after its last word, slowest"
        yield Row(title, resting, "s", RESTING.get(how_many))


def growing_lateness(readers: Sequence[Visitor], sent: dict[str, Sent]) -> float:
    fifth, early, late = TOKENS // 5, list[float](), list[float]()
    for reader in readers:
        shown = 0
        for word, at in reader.arrived:
            for number in range(shown, word + 1):
                delay = at - sent[reader.name].first - number / TOKENS_PER_SECOND
                if fifth <= number < 2 * fifth:
                    early.append(delay)
                elif number >= 4 * fifth:
                    late.append(delay)
            shown = word + 1
    return statistics.median(late) - statistics.median(early)


def stream_row(all_of_them: dict[str, Contender], model: str) -> Row:
    readers = {name: asyncio.run(crowd(all_of_them[name], STREAMS)) for name in (CHAT, BARE)}
    sent = {name: Sent(*times) for name, times in httpx.get(f"{model}/sent").json().items()}
    grown = {name: growing_lateness(found, sent) for name, found in readers.items()}
    return Row(
        f"{STREAMS} streams at once: lateness grows by", grown[CHAT], "s", 0.25, BARE, grown[BARE], in_ratio=False
    )


# ── What is left ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def memory_after(contender: Contender) -> tuple[Footprint, float]:
    """What is left when a hundred have gone; meanwhile, how much dearer a token is at the end of a long answer."""
    await crowd(contender, GONE)
    return await asyncio.gather(after_all(contender.readers(1), [contender.pid]), growth())


async def growth() -> float:
    with outside("model") as (model, _), outside("search") as (search, _), load_folder() as folder:
        environ = environment(folder, model, search, LLM_MODEL=f"openai:{model_name(LONG, LONG_PACE)}")
        with serving(1, environ) as app:
            return await dearer(Visitor(next(_numbers), app.url, tokens=LONG), app.pids[0])


async def dearer(reader: Visitor, pid: int) -> float:
    await open_and_get_ready(reader)
    asking = asyncio.create_task(ask_and_leave(reader))
    spent: dict[int, float] = {}
    while not asking.done():
        await asyncio.sleep(0.1)
        if reader.arrived:
            spent.setdefault(reader.arrived[-1][0], processor_seconds(pid))
    await asking
    return per_token(spent, *LATE) / per_token(spent, *SOON)


def per_token(spent: dict[int, float], first: int, last: int) -> float:
    words = [word for word in spent if first <= word <= last]
    return (spent[words[-1]] - spent[words[0]]) / (words[-1] - words[0])


def rows() -> Iterator[Row]:
    use_all_handles()
    with (
        outside("model") as (model, _),
        outside("search") as (search, _),
        contenders(model, search) as all_of_them,
    ):
        for one in all_of_them.values():
            asyncio.run(crowd(one, 1))  # imports what an answer needs
        idle = Footprint.of(all_of_them[CHAT].pid).megabytes
        single = asyncio.run(one_at_a_time(all_of_them))
        yield from cost_rows(single, "one at a time", LIMITS)
        wire = single[CHAT].kilobytes, single[WRITE_STREAM].kilobytes
        yield Row("through the websocket for one answer", wire[0], "kB", 40, WRITE_STREAM, wire[1])
        yield from cost_rows(asyncio.run(together(all_of_them)), f"{TOGETHER} at once", {})
        yield from crowd_rows(all_of_them)
        yield stream_row(all_of_them, model)
        after, dearer_by = asyncio.run(memory_after(all_of_them[CHAT]))
        yield Row(f"memory after {GONE} readers have gone", after.megabytes, "MB", 1.2 * idle, "before them", idle)
        yield Row("a token at the end of a long answer, beside one at its beginning", dearer_by, "×", 1.15)
