"""Labelled statements with their sources, and what the checks say of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from bench.changed_sentences import VERBATIM, make_sentences
from bench.fit_checks import CLAIMS, claims
from bench.shares import share_cell
from core.answer.check_results import SourceCheck, SourceText, Verdict
from core.checks.check import check_parsed_statement
from core.checks.features import ParsedStatement
from core.checks.scoring import SCORING_MODEL, ScoringModel
from core.checks.source_index import IndexedSource

ENGLISH = Path(__file__).with_name("english_pairs.jsonl")


class Claim(NamedTuple):
    kind: str
    """The kind of change; for a faithful statement how far it is from the words of the source."""
    is_true: bool
    statement: str
    source: str


class Judged(NamedTuple):
    claim: Claim
    check: SourceCheck

    @property
    def is_green(self) -> bool:
        return self.check.verdict is Verdict.SUPPORTED

    @property
    def is_contradicted(self) -> bool:
        return self.check.verdict is Verdict.CONTRADICTED

    @property
    def is_absent(self) -> bool:
        return self.check.verdict is Verdict.ABSENT

    @property
    def is_accused(self) -> bool:
        return self.is_contradicted or self.is_absent


class ClaimSet(NamedTuple):
    name: str
    found: Sequence[Judged]

    def of(self, *, is_true: bool) -> list[Judged]:
        return [one for one in self.found if one.claim.is_true is is_true]

    def by_kind(self, *, is_true: bool) -> dict[str, list[Judged]]:
        """Return the statements by kind, in the order of the first of each."""
        found: dict[str, list[Judged]] = {}
        for one in self.of(is_true=is_true):
            found.setdefault(one.claim.kind, []).append(one)
        return found


def judge_claims(claims: Iterable[Claim], model: ScoringModel = SCORING_MODEL) -> Iterator[Judged]:
    """Yield each statement with its check by words. A source of several is read once."""
    for text, group in groupby(claims, lambda claim: claim.source):
        source = IndexedSource(SourceText(1, text))
        for claim in group:
            yield Judged(claim, check_parsed_statement(ParsedStatement(claim.statement), source, model))


# ── Sets ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def minimal_pairs(name: str) -> list[Claim]:
    """Return the pairs of a file beside CiteCheck; none if it is not there."""
    path = CLAIMS.with_name(f"{name}.jsonl")
    return [_claim(row) for row in _read(path)] if path.is_file() else []


def english_pairs(language: str) -> list[Claim]:
    """Return the statements in this language about English passages."""
    return [_claim(row) for row in _read(ENGLISH) if row["language"] == language]


def changed_sentences() -> list[Claim]:
    """Return sentences of CiteCheck's documents, as they are and changed."""
    sources = list(dict.fromkeys(row["quote"] for row in claims()))
    return [Claim(one.kind, one.kind == VERBATIM, one.statement, one.source) for one in make_sentences(sources)]


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _claim(row: dict[str, Any]) -> Claim:
    is_true = row["label"] == "supported"
    return Claim(row["distance"] if is_true else row["type"], is_true, row["statement"], row["source"])


# ── Table ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

SMALLEST_KIND = 8
"""The number of statements from which a kind has a line of its own: a share of fewer says nothing."""
HEADER = ("sentences", "number", "✓", "✗ 不符", "○ 未见")


def table_lines(one: ClaimSet) -> Iterator[Sequence[str]]:
    """Yield the lines of a set: false ones by the kind of change, faithful ones by distance."""
    yield f"**{one.name}**", *[""] * (len(HEADER) - 1)
    for is_true, title in ((False, "false"), (True, "faithful")):
        yield _line(title, one.of(is_true=is_true))
        kinds = sorted(one.by_kind(is_true=is_true).items())
        if len(kinds) > 1:
            yield from (_line(f"{title}: {kind}", found) for kind, found in kinds if len(found) >= SMALLEST_KIND)


def _line(name: str, found: Sequence[Judged]) -> Sequence[str]:
    verdicts: Sequence[Callable[[Judged], bool]] = (
        lambda one: one.is_green,
        lambda one: one.is_contradicted,
        lambda one: one.is_absent,
    )
    return name, str(len(found)), *(share_cell(sum(map(holds, found)), len(found)) for holds in verdicts)
