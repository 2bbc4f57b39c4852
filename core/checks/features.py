"""The features of a statement beside the passages that speak of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import add

from core.answer.check_results import Difference
from core.base.chinese.script import comparison_form
from core.base.text import is_chinese
from core.checks.facts import Facts, find_differences
from core.checks.source_index import PassageContext, lone_digits, pair_code
from core.checks.wording import compact, is_question, remove_glosses
from core.comparison import ParsedClauses
from core.comparison.numbers import QuantityMatch, best_match

_CLAUSE_END = re.compile(r"[，,；;：:。]")
_PART_END = re.compile(r"[；;。！？!?\n]")
_RUN = re.compile(r"[^\W_]+")
_SHORT_CLAUSE = 4
FUNCTION_CHARACTERS = frozenset(
    "的了着过是在也都就还而且与和及或并等被把给让使对于从向以将会能这那其此个之所一有为可不"
)
"""Characters that say nothing about the subject of a sentence."""
_STATUTE = re.compile(
    r"^\s*(?:根据|依据|依照|按照|按)?(?:中华人民共和国)?《[^《》]{2,40}》第[^，,：:。]{1,24}?[条款项](?:的?规定|明确|指出)?[，,：:]"
)
"""A statute that a statement names before it says what stands there. Whether it stands there is checked elsewhere."""
_POINTS_BACK = re.compile("^(?:这|该|此|它|他|她|其)|这种|这些|这个")
LONGEST_STATEMENT = 600


def blank_out_statute(text: str) -> str:
    return _STATUTE.sub(lambda cited: " " * len(cited[0]), text)


@dataclass(frozen=True)
class ParsedStatement:
    """A statement, split into pairs, clauses and facts once for all its sources."""

    text: str

    @cached_property
    def text_without_glosses(self) -> str:
        """The text without foreign names behind a Chinese one: a Chinese source need not repeat them."""
        return remove_glosses(self.text[: 2 * LONGEST_STATEMENT])

    @cached_property
    def compact_text(self) -> str:
        return compact(self.text_without_glosses)[:LONGEST_STATEMENT]

    @cached_property
    def pairs(self) -> list[str]:
        """The pairs of neighbouring characters, none across a comma, each once, in their order."""
        runs = _RUN.findall(comparison_form(self.text_without_glosses))
        return list(dict.fromkeys(pair for run in runs for pair in map(add, run, run[1:])))

    @cached_property
    def is_chinese(self) -> bool:
        return is_chinese(self.text)

    @cached_property
    def pair_codes(self) -> list[int]:
        """The pairs in the form by which sources are indexed."""
        return list(map(pair_code, self.pairs))

    @cached_property
    def digits(self) -> set[str]:
        """The numbers of one digit, which stand in no pair where blanks are around them."""
        return lone_digits(comparison_form(self.text_without_glosses))

    @cached_property
    def clauses(self) -> list[str]:
        parts = (compact(part) for part in _CLAUSE_END.split(self.text_without_glosses))
        return [part for part in parts if len(part) >= _SHORT_CLAUSE] or [self.compact_text]

    @cached_property
    def clauses_by_part(self) -> ParsedClauses:
        """The words for the comparison word by word, without the statute that the statement cites."""
        return ParsedClauses.from_text(blank_out_statute(self.text[: 2 * LONGEST_STATEMENT]))

    @cached_property
    def facts(self) -> Facts:
        return Facts.from_text(blank_out_statute(self.text[: 2 * LONGEST_STATEMENT]))


@dataclass(frozen=True)
class SourceComparison:
    """A statement beside the best passages of its sources."""

    statement: ParsedStatement
    context: PassageContext

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The facts that differ. Only if there are any, the nearest clause is searched for what the source says
        instead."""
        stated, source = self.statement.facts, self.context.facts
        if not stated or not any(find_differences(stated, source, self.context.best_window_facts)):
            return ()
        return tuple(
            find_differences(stated, source, Facts.merge([self.nearest_clause_facts, self.context.best_window_facts]))
        )

    @cached_property
    def coverage(self) -> float:
        """The share of the statement's pairs that the passages have."""
        return self.coverage_by(len(self.context.covered_pairs))

    def coverage_by(self, window_count: int) -> float:
        covered = self.context.covered_pairs[:window_count]
        return covered[-1].bit_count() / len(self.statement.pairs) if covered and self.statement.pairs else 0.0

    @cached_property
    def is_question(self) -> bool:
        """True if the best passage asks instead of stating."""
        if not self.context.windows:
            return False
        window = self.context.windows[0]
        start, end = window.source.spans[self.best_sentence]
        return is_question(window.source.text[start:end])

    @cached_property
    def best_sentence(self) -> int:
        """The sentence of the best window that has more of the statement."""
        window = self.context.windows[0]
        return max((window.first, window.last), key=self._pairs_in)

    def _pairs_in(self, sentence: int) -> int:
        there = self.context.windows[0].source.compact_sentence(sentence)
        return sum(pair in there for pair in self.statement.pairs)

    @cached_property
    def best_common_length(self) -> int:
        """The number of characters of the statement that the best sentence has in the same order."""
        return self._common_length(self.best_sentence) if self.context.windows else 0

    def _common_length(self, sentence: int) -> int:
        return common_subsequence_length(
            self.statement.compact_text, self.context.windows[0].source.compact_sentence(sentence)
        )

    @cached_property
    def nearest_clause_facts(self) -> Facts:
        """The facts of the clause, between two semicolons, that has most of the statement."""
        windows = self.context.windows
        texts = (window.source.quoted_passage(window.first, window.last).text for window in windows)
        parts = [part for text in texts for part in _PART_END.split(text)]
        return Facts.from_text(max(parts, key=self._overlap_score, default=""))

    def _overlap_score(self, part: str) -> int:
        there, told = comparison_form(part), Facts.from_text(part).quantities
        numbers = sum(best_match(one, told) is QuantityMatch.SAME for one in self.statement.facts.quantities)
        return sum(pair in there for pair in self.statement.pairs) + 2 * numbers

    def features(self) -> tuple[float, ...]:
        measured = _Measurements(self)
        return tuple(measure(measured) for measure in FEATURES.values())


class _Measurements:
    def __init__(self, comparison: SourceComparison) -> None:
        self.comparison = comparison
        self.statement = comparison.statement.compact_text
        self.length = max(1, len(self.statement))
        self.passages = comparison.context.compact_text
        self.pairs = set(map(add, self.passages, self.passages[1:]))
        self.pieces, self.uncovered = _split_into_pieces(self.statement, self.passages)
        self.clauses = [_pair_share(clause, self.pairs) for clause in comparison.statement.clauses]

    def share_in_pieces(self, min_length: int) -> float:
        return sum(piece for piece in self.pieces if piece >= min_length) / self.length


FEATURES: dict[str, Callable[[_Measurements], float]] = {
    "two windows": lambda m: m.comparison.coverage_by(2),
    "in order": lambda m: common_subsequence_length(m.statement, m.passages) / m.length,
    "in order, one sentence": lambda m: m.comparison.best_common_length / m.length,
    "in long pieces": lambda m: m.share_in_pieces(10),
    "first clause": lambda m: m.clauses[0],
    "last clause": lambda m: m.clauses[-1],
    "left over": lambda m: math.log1p(sum(character not in FUNCTION_CHARACTERS for character in m.uncovered)),
    "differences": lambda m: min(2.0, len(m.comparison.differences)),
    "asked": lambda m: float(m.comparison.is_question),
    "points back": lambda m: float(bool(_POINTS_BACK.search(m.comparison.statement.text))),
}  # fmt: skip
"""The features, by the names under which `scoring.WEIGHTS` has their weights."""


def _split_into_pieces(statement: str, passages: str) -> tuple[list[int], list[str]]:
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


def _pair_share(text: str, pairs: set[str]) -> float:
    return sum(text[place : place + 2] in pairs for place in range(len(text) - 1)) / max(1, len(text) - 1)


def common_subsequence_length(one: str, other: str) -> int:
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
