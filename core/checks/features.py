"""The features of a statement beside the passages that speak of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import add

from core.answer.checked import Difference
from core.base.chinese.script import folded
from core.base.text import is_chinese
from core.checks.facts import Facts, differences
from core.checks.numbers import Agreement, best_agreement
from core.checks.passages import Context, pair_code
from core.checks.wording import Conflict, asks, compact, conflicts, without_glosses

_CLAUSE_END = re.compile(r"[，,；;：:。]")
_PART_END = re.compile(r"[；;。！？!?\n]")
_RUN = re.compile(r"[^\W_]+")
_SHORT_CLAUSE = 4
# Function words: characters that say nothing about the subject of a sentence.
_EMPTY = frozenset("的了着过是在也都就还而且与和及或并等被把给让使对于从向以将会能这那其此个之所一有为可不")
_POINTS_BACK = re.compile("^(?:这|该|此|它|他|她|其)|这种|这些|这个")
LONGEST_STATEMENT = 600


@dataclass(frozen=True)
class Claim:
    """A statement, split into pairs, clauses and facts once for all its sources."""

    text: str

    @cached_property
    def bare(self) -> str:
        """The text without foreign names behind a Chinese one: a Chinese source need not repeat them."""
        return without_glosses(self.text[: 2 * LONGEST_STATEMENT])

    @cached_property
    def compact(self) -> str:
        return compact(self.bare)[:LONGEST_STATEMENT]

    @cached_property
    def pairs(self) -> list[str]:
        """The pairs of neighbouring characters, none across a comma, each once, in their order."""
        runs = _RUN.findall(folded(self.bare))
        return list(dict.fromkeys(pair for run in runs for pair in map(add, run, run[1:])))

    @cached_property
    def is_chinese(self) -> bool:
        return is_chinese(self.text)

    @cached_property
    def codes(self) -> list[int]:
        """The pairs in the form by which sources are indexed."""
        return list(map(pair_code, self.pairs))

    @cached_property
    def clauses(self) -> list[str]:
        parts = (compact(part) for part in _CLAUSE_END.split(self.bare))
        return [part for part in parts if len(part) >= _SHORT_CLAUSE] or [self.compact]

    @cached_property
    def facts(self) -> Facts:
        return Facts.of(self.text[: 2 * LONGEST_STATEMENT])


@dataclass(frozen=True)
class Comparison:
    """A statement beside the best passages of its sources."""

    claim: Claim
    context: Context

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The facts that differ. Only if there are any, the nearest clause is searched for what the source says
        instead."""
        stated, source = self.claim.facts, self.context.facts
        if not stated or not any(differences(stated, source, self.context.nearest)):
            return ()
        return tuple(differences(stated, source, Facts.joined([self.nearest_clause, self.context.nearest])))

    @cached_property
    def coverage(self) -> float:
        """The share of the statement's pairs that the passages have."""
        return self.covered_by(len(self.context.covered))

    def covered_by(self, windows: int) -> float:
        covered = self.context.covered[:windows]
        return covered[-1].bit_count() / len(self.claim.pairs) if covered and self.claim.pairs else 0.0

    @cached_property
    def asked(self) -> bool:
        """True if the best passage asks instead of stating."""
        if not self.context.windows:
            return False
        window = self.context.windows[0]
        start, end = window.source.spans[self.best_sentence]
        return asks(window.source.text[start:end])

    @cached_property
    def best_sentence(self) -> int:
        """The sentence of the best window that has more of the statement."""
        window = self.context.windows[0]
        return max((window.first, window.last), key=self._pairs_in)

    def _pairs_in(self, sentence: int) -> int:
        there = self.context.windows[0].source.compact(sentence)
        return sum(pair in there for pair in self.claim.pairs)

    @cached_property
    def best_in_order(self) -> int:
        """The number of characters of the statement that the best sentence has in the same order."""
        return self._common(self.best_sentence) if self.context.windows else 0

    def _common(self, sentence: int) -> int:
        return common_subsequence(self.claim.compact, self.context.windows[0].source.compact(sentence))

    @cached_property
    def conflicts(self) -> list[Conflict]:
        return conflicts(self.claim.compact, self.context.compact)

    @cached_property
    def nearest_clause(self) -> Facts:
        """The facts of the clause, between two semicolons, that has most of the statement."""
        windows = self.context.windows
        texts = (window.source.evidence(window.first, window.last).text for window in windows)
        parts = [part for text in texts for part in _PART_END.split(text)]
        return Facts.of(max(parts, key=self._shares, default=""))

    def _shares(self, part: str) -> int:
        there, told = folded(part), Facts.of(part).quantities
        numbers = sum(best_agreement(one, told) is Agreement.SAME for one in self.claim.facts.quantities)
        return sum(pair in there for pair in self.claim.pairs) + 2 * numbers

    def features(self) -> tuple[float, ...]:
        measured = _Measured(self)
        return tuple(measure(measured) for measure in FEATURES.values())


class _Measured:
    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.statement = comparison.claim.compact
        self.length = max(1, len(self.statement))
        self.passages = comparison.context.compact
        self.pairs = set(map(add, self.passages, self.passages[1:]))
        self.pieces, self.uncovered = _pieces(self.statement, self.passages)
        self.clauses = [_share(clause, self.pairs) for clause in comparison.claim.clauses]

    def in_pieces(self, length: int) -> float:
        return sum(piece for piece in self.pieces if piece >= length) / self.length


FEATURES: dict[str, Callable[[_Measured], float]] = {
    "two windows": lambda m: m.comparison.covered_by(2),
    "in order": lambda m: common_subsequence(m.statement, m.passages) / m.length,
    "in order, one sentence": lambda m: m.comparison.best_in_order / m.length,
    "in long pieces": lambda m: m.in_pieces(10),
    "first clause": lambda m: m.clauses[0],
    "last clause": lambda m: m.clauses[-1],
    "left over": lambda m: math.log1p(sum(character not in _EMPTY for character in m.uncovered)),
    "differences": lambda m: min(2.0, len(m.comparison.differences)),
    "asked": lambda m: float(m.comparison.asked),
    "points back": lambda m: float(bool(_POINTS_BACK.search(m.comparison.claim.text))),
}  # fmt: skip
"""The features, by the names under which `scoring.WEIGHTS` has their weights."""


def _pieces(statement: str, passages: str) -> tuple[list[int], list[str]]:
    """Split the statement into the longest pieces that stand in the passages. Return their lengths and the characters
    left over."""
    pieces: list[int] = []
    uncovered: list[str] = []
    start = 0
    while start < len(statement):
        end = start + 2
        while end <= len(statement) and statement[start:end] in passages:
            end += 1
        length = end - 1 - start
        if length >= 2:
            pieces.append(length)
            start += length
        else:
            uncovered.append(statement[start])
            start += 1
    return pieces, uncovered


def _share(text: str, pairs: set[str]) -> float:
    return sum(text[place : place + 2] in pairs for place in range(len(text) - 1)) / max(1, len(text) - 1)


def common_subsequence(one: str, other: str) -> int:
    """Return the length of the longest common subsequence. Each row of the table is the bits of one number."""
    wanted = set(one)
    places: dict[str, int] = {}
    for place, character in enumerate(other):
        if character in wanted:
            places[character] = places.get(character, 0) | 1 << place
    full = row = (1 << len(other)) - 1
    for character in one:
        matching = row & places.get(character, 0)
        row = ((row + matching) | (row - matching)) & full
    return len(other) - row.bit_count()
