"""`python -m bench.scaling`: how much a given number of readers needs, by simulation, into docs/scaling.md and docs/deployment.md.

The figures of one answer were measured (`make load` keeps them, and Redis counts its commands); how people behave is assumed. A
process is one core on which starts of answers and tokens are worked off in the order in which they come; readers stay with the
process that their cookie chose.
"""

from __future__ import annotations

import heapq
import json
import math
import random
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "bench" / "load_figures.json"


@dataclass(frozen=True)
class Measured:
    """One process, one core of the machine of docs/benchmarks.md."""

    start_seconds: float
    """Of processor time, from Enter to the first token: page, search, prompt."""
    token_seconds: float
    """Of processor time, for each token: stream, drawing, keeping."""
    resting_megabytes: float
    page_megabytes: float
    answer_megabytes: float
    """Of an answer that is being written."""
    answer_kilobytes: float
    """Through the websocket, compressed, opening the page included."""
    database_writes: float = 15.0
    """Of an answer of ten seconds: conversation, question, once a second as it grows, its end, its figures."""
    redis_commands: float = 33.0
    """Of a question with search, as Redis counts them: six limits by script, and the cache; eight round trips."""


@dataclass(frozen=True)
class Assumed:
    think_seconds: float = 75.0
    """Between the end of an answer and the next question: half of all take less than 45."""
    think_spread: float = 1.0
    tokens: float = 480.0
    tokens_spread: float = 0.6
    tokens_per_second: float = 60.0
    model_seconds: float = 0.42
    """Until the first token, a search before it."""


LATE = 1.0
"""Seconds to the first token beyond the model's, that nineteen of twenty readers see at most."""
DRAW_EVERY = 0.25
"""Seconds. Under load the page joins the tokens of so long a time: work comes in such pieces."""
MINUTES = 30


def _lognormal(mean: float, spread: float, chance: random.Random) -> float:
    return chance.lognormvariate(math.log(mean) - spread**2 / 2, spread)


def first_tokens(readers: int, measured: Measured, assumed: Assumed, seed: int) -> list[float]:
    """Seconds beyond the model's, of every question that the readers of one process ask within half an hour."""
    chance = random.Random(seed)
    # When, what (0: a question, 1: tokens), whose, tokens left.
    coming: list[tuple[float, int, int, float]] = [
        (chance.uniform(0, assumed.think_seconds), 0, reader, 0.0) for reader in range(readers)
    ]
    heapq.heapify(coming)
    free_at, waits = 0.0, list[float]()
    while coming:
        now, what, reader, left = heapq.heappop(coming)
        if now > MINUTES * 60:
            break
        if what == 0:
            free_at = max(free_at, now) + measured.start_seconds
            waits.append(free_at - now)
            tokens = _lognormal(assumed.tokens, assumed.tokens_spread, chance)
            heapq.heappush(coming, (free_at + assumed.model_seconds, 1, reader, tokens))
            continue
        drawn = min(left, assumed.tokens_per_second * DRAW_EVERY)
        free_at = max(free_at, now) + drawn * measured.token_seconds
        if left > drawn:
            heapq.heappush(coming, (max(now + DRAW_EVERY, free_at), 1, reader, left - drawn))
        else:
            rest = _lognormal(assumed.think_seconds, assumed.think_spread, chance)
            heapq.heappush(coming, (free_at + rest, 0, reader, 0.0))
    return waits


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18]


def readers_per_core(measured: Measured, assumed: Assumed) -> int:
    """The most for whom nineteen of twenty first tokens come in time."""
    low, high = 10, 2_000
    while high - low > 10:
        middle = (low + high) // 2
        late = statistics.median(p95(first_tokens(middle, measured, assumed, seed)) for seed in range(3))
        low, high = (middle, high) if late <= LATE else (low, middle)
    return low


def with_uneven_shares(readers: int, most: int) -> int:
    """Processes, so that also the fullest of them has no more than `most`: cookies are dealt out by chance."""
    count = math.ceil(readers / most)
    while readers / count + math.sqrt(2 * readers / count * math.log(max(count, 2))) > most:
        count += 1
    return count


def measured_table(measured: Measured) -> str:
    rows = {
        "processor time from Enter to the first token": (
            f"{measured.start_seconds * 1000:.0f} ms",
            "until the last of fifty has its own",
        ),
        "processor time for each token after that": (
            f"{measured.token_seconds * 1000:.2f} ms",
            "the rest of an answer's processor time",
        ),
        "memory of a process at rest": (f"{measured.resting_megabytes:.0f} MB", ""),
        "memory of an open page": (f"{measured.page_megabytes:.2f} MB", ""),
        "memory of an answer that is being written": (f"{measured.answer_megabytes:.2f} MB", ""),
        "through the websocket": (f"{measured.answer_kilobytes:.0f} kB", "opening the page and one answer, compressed"),
        "writes to the database": (
            f"{measured.database_writes:.0f}",
            "conversation, question, the growing answer once a second, its end, its figures",
        ),
        "Redis": (f"{measured.redis_commands:.0f} commands in 8 round trips", "Redis's own count over five questions"),
    }
    lines = ["| what | figure | how |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {what} | {figure} | {how} |" for what, (figure, how) in rows.items())])


ADD = (
    (1, "nothing: `make run`"),
    (
        8,
        "[more processes](#more-than-one-core) on a machine with a core for each; `CACHE_URL` for limits and caches that they share",
    ),
    (100, "[several servers](#several-servers): PostgreSQL, Redis, nginx"),
    (math.inf, "the same, with a pooler (PgBouncer) before PostgreSQL"),
)


def deployment_table(measured: Measured, assumed: Assumed) -> str:
    most = readers_per_core(measured, assumed)
    lines = ["| readers at once | processes, each on a core | memory | what to add |", "| --- | --- | --- | --- |"]
    for readers in (100, 500, 1_000, 2_000, 10_000, 100_000):
        processes = with_uneven_shares(readers, most)
        add = next(text for up_to, text in ADD if processes <= up_to)
        lines.append(
            f"| {readers:,} | {processes:,} | {gigabytes(readers, processes, measured, assumed):,.1f} GB | {add} |"
        )
    return "\n".join(
        [
            f"Measured: a process takes {measured.resting_megabytes:.0f} MB, an open page {measured.page_megabytes:.2f} MB more, an answer that is being "
            f"written {measured.answer_megabytes:.2f} MB.",
            f"Computed: one core carries **{most} readers** who read and think between their questions ([how](scaling.md)).",
            "",
            *lines,
        ]
    )


def gigabytes(readers: int, processes: int, measured: Measured, assumed: Assumed) -> float:
    """Nobody's answer is longer in the making than all its tokens take."""
    seconds = assumed.model_seconds + assumed.tokens / assumed.tokens_per_second
    writing = readers * seconds / (assumed.think_seconds + seconds)
    pages = readers * measured.page_megabytes + writing * measured.answer_megabytes
    return (processes * measured.resting_megabytes + pages) / 1000


def table(measured: Measured, assumed: Assumed) -> str:
    most = readers_per_core(measured, assumed)
    cycle = assumed.think_seconds + assumed.model_seconds + assumed.tokens / assumed.tokens_per_second
    lines = [
        "| readers at once | questions a second | processes (cores) | memory | database writes a second | database connections | "
        "Redis commands a second | to readers |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for readers in (100, 1_000, 10_000, 100_000):
        rate, processes = readers / cycle, with_uneven_shares(readers, most)
        lines.append(
            f"| {readers:,} | {rate:,.0f} | {processes:,} | {gigabytes(readers, processes, measured, assumed):,.1f} GB | "
            f"{rate * measured.database_writes:,.0f} | {processes * 2:,} | {rate * measured.redis_commands:,.0f} | "
            f"{rate * measured.answer_kilobytes * 8 / 1000:,.0f} Mbit/s |"
        )
    return f"One core carries **{most} readers** at these figures.\n\n" + "\n".join(lines)


def write_between(name: str, mark: str, text: str) -> None:
    """In docs/, between two comments."""
    document = ROOT / "docs" / name
    before, opening, rest = document.read_text("utf-8").partition(f"<!-- {mark} -->\n")
    _, closing, after = rest.partition(f"<!-- /{mark} -->")
    document.write_text(f"{before}{opening}{text}\n{closing}{after}", "utf-8")
    print(f"{text}\n")


def main() -> int:
    measured, assumed = Measured(**json.loads(FIGURES.read_text("utf-8"))), Assumed()
    write_between("scaling.md", "measured", measured_table(measured))
    write_between("scaling.md", "simulated", table(measured, assumed))
    write_between("deployment.md", "computed", deployment_table(measured, assumed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
