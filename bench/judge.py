"""How right 让模型复核 is with a given model: `python -m bench judge --model NAME [--base-url URL] [--limit N] [--write]`.

The labelled statements of ../shared/data/claims go through the prompt, parser and acceptance of the program. Each statement has
one source; `--together` of them go into one call. Models that need no server: `yes-man` says 支持 to everything and quotes the
nearest sentence, `no-man` 不支持, and `bribed` knows what is accepted: it says 支持 with whatever sentence gets through.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from bench import report
from bench.fit_checks import CLAIMS
from bench.rows import markdown_table
from bench.shares import wilson
from core.answer.check_results import SourceCheck, SourceText, Verdict
from core.app import extra_sections
from core.base.chinese.sentences import split_sentences
from core.base.errors import AppError
from core.base.settings import load_settings
from core.checks import check_statement
from core.llm import Model, ask_once
from core.llm.pieces import TokenUsage
from core.run.second_opinion import (
    MAX_TOKENS,
    JudgedCitation,
    ModelVerdict,
    accept_verdict,
    parse_verdicts,
    second_opinion_prompt,
)

TITLE = "The judge"
CITECHECK_SHARE = 0.2
"""Share of the statements that come from dev.jsonl."""
SECONDS = 900.0
NOTE = """`python -m bench judge --model NAME --base-url URL --write` adds a row. False: statements that are wrong by one change; of
these, those that the model made ◇ 有据, and of those that the rules had called ✓ the ones that it lowered to 未核. True: faithful
statements; those that the rules had left open and the model made ◇ 有据, and the ✓ that it lowered. Shares with 95 % Wilson
intervals; a small sample has a wide one. The statements are those that `core/checks/word_places.py` was chosen on,
so unseen ones may do worse. `bribed`, `yes-man` and `no-man` are no models: they show the worst that a judge can do, whoever won it
over. Only `bribed` knows which of all sentences is accepted.

Two votes, the second in the opposite order (`--votes 2`), are not used: with the 1.5B model on the same 40 statements false 支持 fell
only from 19 to 16 and true 支持 from 11 to 8, for 693 tokens each instead of 371; accepted as ◇ 有据 were none either way."""


# ── The statements ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Claim:
    kind: str
    """The kind of change; for a true statement how far it is from the words of the source."""
    is_true: bool
    citation: JudgedCitation


def read_claims(limit: int | None, seed: int) -> list[Claim]:
    """Return the statements in random order, at most so many, a fifth of them from CiteCheck."""
    chance = random.Random(seed)
    pairs = [row for name in ("minimal_pairs.dev", "minimal_pairs.law.dev") for row in _read(name)]
    others = _read("dev")
    size = len(pairs) + round(len(pairs) * CITECHECK_SHARE) if limit is None else limit
    from_citecheck = min(len(others), round(size * CITECHECK_SHARE))
    rows = chance.sample(others, from_citecheck) + chance.sample(pairs, min(len(pairs), size - from_citecheck))
    chance.shuffle(rows)
    return [_claim(row) for row in rows]


def _read(name: str) -> list[dict[str, Any]]:
    path = CLAIMS.with_name(f"{name}.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def _claim(row: dict[str, Any]) -> Claim:
    source = SourceText(1, row.get("source") or row["quote"])
    citation = JudgedCitation((0, 0), row["statement"], check_statement(row["statement"], source), source)
    if "type" not in row:
        return Claim("CiteCheck", bool(row["label"]), citation)
    is_true = row["label"] == "supported"
    return Claim(row["distance"] if is_true else row["type"], is_true, citation)


# ── The judges ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Reply(NamedTuple):
    text: str
    usage: TokenUsage = TokenUsage(0, 0, estimated=False)
    seconds: float = 0.0


Judge = Callable[[Sequence[JudgedCitation]], Awaitable[Reply]]


def connected_judge(name: str, base_url: str) -> Judge:
    environ = {**os.environ, "DATA_DIR": tempfile.mkdtemp(), "LLM_MODEL": name if ":" in name else f"openai:{name}"}
    environ |= {"OPENAI_BASE_URL": base_url} if base_url else {}
    environ = {"OPENAI_API_KEY": "none", "LLM_FIRST_TOKEN_TIMEOUT": "600", "LLM_TOTAL_TIMEOUT": "900", **environ}
    settings = load_settings(report.REPORT.parent.parent / "settings.yaml", environ, sections=extra_sections()).values
    model = Model(settings)

    async def ask(citations: Sequence[JudgedCitation]) -> Reply:
        prompt, began = second_opinion_prompt(citations), time.monotonic()
        text, usage = await ask_once(model, prompt, max_tokens=MAX_TOKENS, seconds=SECONDS)
        return Reply(text, usage, time.monotonic() - began)

    return ask


def remembering_judge(judge: Judge, path: Path) -> Judge:
    """Return the judge with a memory for its replies, so that another acceptance can be tried without asking again."""
    known = dict(map(json.loads, path.read_text("utf-8").splitlines())) if path.exists() else {}

    async def ask(citations: Sequence[JudgedCitation]) -> Reply:
        prompt = second_opinion_prompt(citations)
        if prompt not in known:
            text, usage, seconds = await judge(citations)
            known[prompt] = text, usage.input, usage.output, seconds
            with path.open("a", encoding="utf-8") as file:
                print(json.dumps([prompt, known[prompt]], ensure_ascii=False), file=file)
        text, read, written, seconds = known[prompt]
        return Reply(text, TokenUsage(read, written, estimated=False), seconds)

    return ask


def invented_judge(said: str, choose: Callable[[JudgedCitation], str]) -> Judge:
    async def reply(citations: Sequence[JudgedCitation]) -> Reply:
        return Reply("\n".join(f"{number}｜{said}｜「{choose(one)}」" for number, one in enumerate(citations, 1)))

    return reply


def nearest_sentence(citation: JudgedCitation) -> str:
    wanted = set(pairwise(citation.statement))
    return max(split_sentences(citation.source.text), key=lambda one: len(wanted & set(pairwise(one))), default="")


def acceptable_sentence(citation: JudgedCitation) -> str:
    """Return any sentence, or clause, with which the statement would be accepted."""
    sentences = split_sentences(citation.source.text)
    clauses = (clause for sentence in sentences for clause in re.split("[，,；;：:]", sentence))
    for quote in (*sentences, *map("".join, pairwise(sentences)), *clauses):
        told = accept_verdict(citation, ModelVerdict(True, quote))
        if told is not None and told.verdict is Verdict.SUPPORTED:
            return quote
    return ""


INVENTED = {
    "yes-man": invented_judge("支持", nearest_sentence),
    "no-man": invented_judge("不支持", nearest_sentence),
    "bribed": invented_judge("支持", acceptable_sentence),
}


# ── The measurement ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Judged:
    claim: Claim
    said: ModelVerdict | None
    told: SourceCheck | None

    @property
    def was_green(self) -> bool:
        return self.claim.citation.check.verdict is Verdict.SUPPORTED

    @property
    def was_open(self) -> bool:
        return self.claim.citation.check.verdict is Verdict.UNCHECKED

    def is_now(self, verdict: Verdict) -> bool:
        return self.told is not None and self.told.verdict is verdict


@dataclass
class Measured:
    rows: list[Judged]
    tokens: int = 0
    seconds: float = 0.0
    failed_calls: int = 0


async def measure(claims: Sequence[Claim], judge: Judge, *, together: int, votes: int) -> Measured:
    """Ask the judge about all statements. What the rules accuse would not be asked about: it is not counted."""
    found = Measured([])
    for first in range(0, len(claims), together):
        batch = claims[first : first + together]
        try:
            verdicts = await _ask(judge, [claim.citation for claim in batch], votes, found)
        except AppError as error:
            print(f"a call failed: {error}", flush=True)
            found.failed_calls += 1
            verdicts = {}
        found.rows += (_judged(claim, verdicts.get(place)) for place, claim in enumerate(batch))
    return found


async def _ask(
    judge: Judge, citations: Sequence[JudgedCitation], votes: int, found: Measured
) -> dict[int, ModelVerdict]:
    """Return the verdicts by place. Of two votes the second sees the statements in the opposite order; both must agree."""
    places = range(len(citations))
    agreed: dict[int, ModelVerdict] | None = None
    for order in (places, places[::-1])[:votes]:
        text, usage, seconds = await judge([citations[place] for place in order])
        found.tokens, found.seconds = found.tokens + usage.input + usage.output, found.seconds + seconds
        said = {order[number - 1]: one for number, one in parse_verdicts(text).items() if number <= len(order)}
        agreed = said if agreed is None else _agreement(agreed, said)
    return agreed or {}


def _agreement(one: dict[int, ModelVerdict], two: dict[int, ModelVerdict]) -> dict[int, ModelVerdict]:
    return {place: said for place, said in one.items() if place in two and two[place].supports == said.supports}


def _judged(claim: Claim, said: ModelVerdict | None) -> Judged:
    is_asked = claim.citation.check.verdict in (Verdict.UNCHECKED, Verdict.SUPPORTED)
    return Judged(claim, said, accept_verdict(claim.citation, said) if said and is_asked else None)


# ── The report ────────────────────────────────────────────────────────────────────────────────────────────────────────


def share(rows: Sequence[Judged], holds: Callable[[Judged], bool]) -> str:
    count = sum(map(holds, rows))
    if not rows:
        return "–"
    low, high = wilson(count, len(rows))
    return f"{count}/{len(rows)} = {count / len(rows):.1%} ({low:.1%}–{high:.1%})"


def is_made_supported(row: Judged) -> bool:
    return row.was_open and row.is_now(Verdict.SUPPORTED)


def is_lowered(row: Judged) -> bool:
    return row.was_green and row.is_now(Verdict.UNCHECKED)


KIND_HEADER = ("kind", "statements", "✓ by rules", "✓ lowered", "◇ 有据", "◇ 不符", "the model said 支持 / 不支持")


def kind_lines(rows: Sequence[Judged]) -> Iterator[Sequence[str]]:
    for is_true, title in ((False, "false"), (True, "true")):
        these = [row for row in rows if row.claim.is_true is is_true]
        yield _kind_line(f"{title}: all", these)
        for kind in sorted({row.claim.kind for row in these}):
            yield _kind_line(f"{title}: {kind}", [row for row in these if row.claim.kind == kind])


def _kind_line(name: str, rows: Sequence[Judged]) -> Sequence[str]:
    green = [row for row in rows if row.was_green]
    said = [row.said.supports for row in rows if row.said]
    return (
        name,
        str(len(rows)),
        str(len(green)),
        str(sum(map(is_lowered, rows))),
        share(rows, is_made_supported),
        str(sum(row.is_now(Verdict.CONTRADICTED) for row in rows)),
        f"{sum(said)} / {len(said) - sum(said)}",
    )


HEADER = (
    "model",
    "statements",
    "false ◇ 有据",
    "false ✓ lowered",
    "true ◇ 有据, of those left open",
    "true ✓ lowered",
    "tokens each",
    "seconds each",
)


def model_line(name: str, found: Measured) -> Sequence[str]:
    false, true = ([row for row in found.rows if row.claim.is_true is wanted] for wanted in (False, True))
    asked = max(1, len(found.rows))
    return (
        name,
        str(len(found.rows)),
        share(false, is_made_supported),
        share([row for row in false if row.was_green], is_lowered),
        share([row for row in true if row.was_open], is_made_supported),
        share([row for row in true if row.was_green], is_lowered),
        f"{found.tokens / asked:.0f}",
        f"{found.seconds / asked:.1f}",
    )


def write_line(line: Sequence[str]) -> None:
    """Add a model's line to docs/benchmarks.md, or replace its old one."""
    old = report.REPORT.read_text("utf-8") if report.REPORT.exists() else ""
    section = re.search(rf"^## {TITLE}\n(.*?)(?=^## |\Z)", old, re.MULTILINE | re.DOTALL)
    known = re.findall(r"^\| (.+) \|$", section[1], re.MULTILINE)[2:] if section else []
    lines = {cells.split(" | ")[0]: cells.split(" | ") for cells in known} | {line[0]: list(line)}
    report.write_section(TITLE, f"{markdown_table(HEADER, lines.values())}\n\n{NOTE}")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench judge", description=__doc__)
    parser.add_argument("--model", required=True, help=f"a model's name, or one of {', '.join(INVENTED)}")
    parser.add_argument("--base-url", default="", help="an OpenAI-compatible address; else that of the settings")
    parser.add_argument("--limit", type=int, help="statements, drawn at random; else all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=5, help="statements in one call")
    parser.add_argument("--votes", type=int, choices=(1, 2), default=1, help="2: asked again in the opposite order")
    parser.add_argument("--replies", type=Path, help="a file that keeps the replies, to be used again")
    parser.add_argument("--name", default="", help="the name in the table, if it is not the model's")
    parser.add_argument("--write", action="store_true", help="write the row into docs/benchmarks.md")
    options = parser.parse_args(arguments)
    claims = read_claims(options.limit, options.seed)
    if not claims:
        print("judge · skipped, it needs ../shared/data/claims")
        return 0
    judge = INVENTED.get(options.model) or connected_judge(options.model, options.base_url)
    judge = remembering_judge(judge, options.replies) if options.replies else judge
    found = asyncio.run(measure(claims, judge, together=options.together, votes=options.votes))
    print(markdown_table(KIND_HEADER, kind_lines(found.rows)))
    line = model_line(options.name or options.model, found)
    print(f"\n{markdown_table(HEADER, [line])}\n{found.failed_calls} calls failed.")
    if options.write:
        write_line(line)
    return 0
