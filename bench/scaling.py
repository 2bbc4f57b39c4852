"""`python -m bench.scaling`: how much a given number of readers needs, by simulation, into docs/scaling.md.

The figures of one answer were measured (`make load`, and Redis's own count of commands); how people behave is assumed. A
process is one core on which starts of answers and tokens are worked off in the order in which they come; readers stay with the
process that their cookie chose.
"""

from __future__ import annotations

import heapq
import math
import random
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

REPORT = Path(__file__).resolve().parent.parent / "docs" / "scaling.md"


@dataclass(frozen=True)
class Measured:
    """One process, one core of the machine of docs/benchmarks.md."""

    start_seconds: float = 0.025
    """Of processor time, from Enter to the first token: page, search, prompt."""
    token_seconds: float = 0.00031
    """Of processor time, for each token: stream, drawing, keeping."""
    resting_megabytes: float = 170.0
    page_megabytes: float = 0.25
    answer_kilobytes: float = 30.0
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
    tokens_per_second: float = 50.0
    model_seconds: float = 0.5


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
        memory = processes * measured.resting_megabytes + readers * measured.page_megabytes
        lines.append(
            f"| {readers:,} | {rate:,.0f} | {processes:,} | {memory / 1000:,.1f} GB | "
            f"{rate * measured.database_writes:,.0f} | {processes * 2:,} | {rate * measured.redis_commands:,.0f} | "
            f"{rate * measured.answer_kilobytes * 8 / 1000:,.0f} Mbit/s |"
        )
    return f"One core carries **{most} readers** at these figures.\n\n" + "\n".join(lines)


def main() -> int:
    written = REPORT.read_text("utf-8")
    before, _, rest = written.partition("<!-- simulated -->\n")
    _, _, after = rest.partition("<!-- /simulated -->")
    found = table(Measured(), Assumed())
    print(found)
    REPORT.write_text(f"{before}<!-- simulated -->\n{found}\n<!-- /simulated -->{after}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
