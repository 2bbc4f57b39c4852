"""Whether a passage of a source says a whole statement, or says it with a difference that contradicts it.

Each clause of the statement is laid over a clause of the passage (`alignment`). Clauses of one part of the statement, between
two semicolons, stand near one another in the passage; what the clauses around them add, a condition, a speaker or an
exception, must not be left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

from core.comparison.alignment import ClauseMatch, Objection, Words, match_clause
from core.comparison.differences import Contradiction, are_exchanged, find_contradiction, find_exchange
from core.comparison.lexicon import SOURCE_SAYS, SPEECH
from core.comparison.passages import ClauseSequence, PassageClause, merge_openings
from core.comparison.words import VALUES, split_clauses

MAX_CLAUSES = 24
"""The number of clauses that a statement may have. A longer one says more than one thing."""
_AHEAD = 3
"""The number of clauses of the passage between two that the statement joins."""
_JOINED = 2
"""The number of clauses of the statement that one clause of the passage may say."""
_NEARBY = 3
"""The number of clauses on each side in which a value may belong to the same thing."""
_LIKE_IT = 0.3
"""The share of the words that agree, which a clause nearby must have to be meant as well."""
_SPECIFIC = 3.0
"""The weight of words, without values, by which a clause is recognised wherever it stands."""
_CLEARLY_THE_SAME = 0.6
"""The share of a clause that must agree before the parties of two clauses count as exchanged."""
_PART_END = re.compile("[；;。！!？?\n]+")

Chain = tuple[ClauseMatch, ...]


@dataclass(frozen=True)
class ParsedClauses:
    """The words of a statement, by parts and clauses. Positions are those of the text."""

    parts: tuple[tuple[Words, ...], ...]

    @classmethod
    def from_text(cls, text: str) -> ParsedClauses:
        parts: list[tuple[Words, ...]] = []
        start = 0
        for end in [*_PART_END.finditer(text), None]:
            stop = end.start() if end else len(text)
            # Blanks keep the positions of what follows.
            clauses = merge_openings(split_clauses(" " * start + text[start:stop]))
            clauses = [clause for clause in clauses if not _names_source(clause)] or clauses
            if clauses:
                parts.append(tuple(clauses))
            start = end.end() if end else stop
        return cls(tuple(parts))

    @property
    def clauses(self) -> list[Words]:
        return [clause for part in self.parts for clause in part]

    @property
    def count(self) -> int:
        return sum(map(len, self.parts))


@dataclass(frozen=True, slots=True)
class Agreement:
    """The clauses of the passage that say the statement, or what is in the way."""

    chain: Chain = ()
    objections: tuple[Objection, ...] = ()

    @property
    def is_same(self) -> bool:
        return bool(self.chain)


class StatementAlignment:
    """A statement beside a passage."""

    def __init__(self, statement: ParsedClauses, passage: ClauseSequence) -> None:
        self._statement, self._passage = statement, passage
        self._matches: dict[tuple[int, int, int, int], ClauseMatch | None] = {}
        self._words: dict[tuple[int, int, int], tuple[Words, Words]] = {}

    @cached_property
    def agreement(self) -> Agreement:
        """The clauses that say the statement, each part in one place."""
        chain: Chain = ()
        for number in range(len(self._statement.parts)):
            found = self.find_part(number)
            if not found.is_same:
                return found
            chain += found.chain
        return Agreement(chain)

    def _match(self, part: int, first: int, last: int, place: int) -> ClauseMatch | None:
        key = (part, first, last, place)
        if key not in self._matches:
            self._matches[key] = match_clause(*self._stated(part, first, last), self._passage, place)
        return self._matches[key]

    def _stated(self, part: int, first: int, last: int) -> tuple[Words, Words]:
        """Return the words of neighbouring clauses, and those before them but for what only says when or where."""
        key = (part, first, last)
        if key not in self._words:
            parts = self._statement.parts
            before = [*(clause for one in parts[:part] for clause in one), *parts[part][:first]]
            earlier = [word for clause in before if not _is_opening(clause) for word in clause]
            self._words[key] = ([word for clause in parts[part][first:last] for word in clause], earlier)
        return self._words[key]

    def find_part(self, part: int) -> Agreement:
        """Return how one place of the passage says a part of the statement."""
        stated = self._statement.parts[part]
        said: list[dict[int, Chain]] = [{} for _ in range(len(stated) + 1)]
        said[0] = {-1: ()}
        for first in range(len(stated)):
            for before, chain in said[first].items():
                for last in range(first + 1, min(first + _JOINED, len(stated)) + 1):
                    for match in self._continuations(part, first, last, before):
                        said[last].setdefault(match.place, (*chain, match))
        refused: tuple[Objection, ...] = ()
        for chain in said[-1].values():
            refused = tuple(self._context_objections(stated, chain))
            if not refused:
                return Agreement(chain)
        return Agreement((), refused)

    def _continuations(self, part: int, first: int, last: int, before: int) -> Iterator[ClauseMatch]:
        stated, clauses = self._statement.parts[part], self._passage.clauses
        places = range(len(clauses)) if first == 0 else self._places_after(before, stated[first - 1])
        for place in places:
            match = self._match(part, first, last, place)
            if not match or match.objections or self._has_rival(stated[first:last], before, match):
                continue
            if before >= 0 and not self._passage.may_share_subject(before, min(match.places)):
                continue
            if match.pairs[0][0].start <= stated[first][-1].start or self._has_clause(match, stated[first]):
                yield match

    def _has_clause(self, match: ClauseMatch, stated: Words) -> bool:
        """Return whether a clause that was taken for the subject stands there as a whole: 顾长河 is not 顾长河的孙女."""
        wanted = [word.key for word in stated if not word.is_harmless]
        used = (self._passage.clauses[place].words for place in match.places)
        return any([word.key for word in words if not word.is_harmless] == wanted for words in used)

    def _places_after(self, before: int, last: Words) -> range:
        """Return where the next clause may stand. What somebody says, and what holds under a condition, is in its
        sentence."""
        clauses = self._passage.clauses
        ahead = range(before, min(len(clauses), before + _AHEAD + 1))
        gap = next((place for place in ahead[1:] if not self._passage.follows(place)), ahead.stop)
        ahead = range(before, gap)
        names_case = len(last) > 2 and last[-1].key in {"的", "时"} and all(word.key != "是" for word in last)
        if not names_case and not any(word.kind in {"attribution", "condition", "cause"} for word in last):
            return ahead
        part = clauses[before].part
        return range(before, next((place for place in ahead if clauses[place].part != part), ahead.stop))

    def _has_rival(self, stated: Sequence[Words], before: int, match: ClauseMatch) -> bool:
        """Return whether a clause in between says something like it, with another number of the same unit."""
        units = {word.unit for clause in stated for word in clause if word.kind == "number"}
        keys = {word.key for clause in stated for word in clause if not word.is_harmless}
        between = set(range(before + 1, match.place)) - match.places if units and before >= 0 else ()
        return any(
            not keys.isdisjoint(clause.keys)
            and any(word.unit in units for word in clause.words if word.kind == "number")
            for clause in (self._passage.clauses[place] for place in between)
        )

    def _context_objections(self, stated: Sequence[Words], chain: Chain) -> Iterator[Objection]:
        """Yield what the clauses around the aligned ones change: a condition, a speaker or an exception left out."""
        used = frozenset(place for match in chain for place in match.places)
        is_attributed = any(word.key in SPEECH for clause in stated for word in clause)
        for place in sorted(used):
            for number, clause in self._passage.clauses_around(place):
                if number in used:
                    continue
                if number < place and self._limits(number, place) and not self._names(clause):
                    yield Objection("condition", (), clause.words)
                if number < place and clause.is_attribution and not self._speaks_later(number, place + 1, used):
                    yield Objection("attribution", (), clause.words)
                if number > place and clause.is_exception and not self._names(clause):
                    yield Objection("exception", (), clause.words)
            limit = self._passage.proviso_after(place)
            if limit and limit not in used and not self._names(self._passage.clauses[limit]):
                yield Objection("exception", (), self._passage.clauses[limit].words)
            if self._passage.clauses[place].is_quoted and not is_attributed:
                yield Objection("attribution", (), ())
            if self._passage.is_asked(place):
                yield Objection("question", (), ())
            if self._passage.clauses[place].is_latin:
                yield from self._rest_of_sentence(place, used)

    def _limits(self, place: int, behind: int) -> bool:
        """Return whether a clause behind this one holds only with it. An item says itself which of the cases it is about."""
        clauses = self._passage.clauses
        clause = clauses[place]
        if "下列" in clause.text and any(one.is_numbered for one in clauses[place + 1 : behind + 1]):
            return False
        is_opening = clause.is_scope and self._passage.opens_sentence(place) and not clauses[place + 1].is_attribution
        return clause.is_condition or is_opening or self._passage.is_case_of_rule(place)

    def _rest_of_sentence(self, place: int, used: frozenset[int]) -> Iterator[Objection]:
        """Yield what else the sentence says. The words that turn the meaning are not listed for other languages."""
        for number in self._passage.statement_around(place):
            if number not in used:
                yield Objection("skipped", (), self._passage.clauses[number].words)

    def _names(self, clause: PassageClause) -> bool:
        """Return whether the statement has all the words of a clause, though in another place."""
        return all(word.key in self._keys for word in clause.words if not word.is_harmless)

    @cached_property
    def _keys(self) -> set[str]:
        return {word.key for part in self._statement.parts for clause in part for word in clause}

    def _speaks_later(self, number: int, place: int, used: frozenset[int]) -> bool:
        clauses = self._passage.clauses
        return any(clauses[later].is_attribution and later in used for later in range(number + 1, place))

    # ── Contradiction ─────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def contradiction(self) -> Contradiction | None:
        """The difference in a clause that is recognised by its own words or by the clause before."""
        for part, clauses in enumerate(self._statement.parts):
            said: set[int] = set()
            for first in range(len(clauses)):
                found = self._matches_of(part, first)
                near = [match for match in found if any(0 <= match.place - place <= 2 for place in said)] or found
                same = {match.place for match in near if all(map(_only_says_less, match.objections))}
                follows = near is not found
                if not same and (other := self._other(clauses[first], near, follows=follows, is_first=first == 0)):
                    return other
                said = same
        return self._exchange_between_clauses()

    def _exchange_between_clauses(self) -> Contradiction | None:
        """Return two parties of which each stands in the place of the other, in two clauses."""
        clauses = [(part, first) for part, one in enumerate(self._statement.parts) for first in range(len(one))]
        best = [max(found, key=lambda match: match.share) for place in clauses if (found := self._matches_of(*place))]
        gaps = [gap for match in best if match.share >= _CLEARLY_THE_SAME for gap in match.gaps]
        for one, other in combinations(gaps, 2):
            if are_exchanged(one, other):
                return Contradiction("party", one.extra, other.extra)
        joined = ([*one, *other] for part in self._statement.parts for one, other in pairwise(part))
        return next(filter(None, map(self._exchange, joined)), None)

    def _matches_of(self, part: int, first: int) -> list[ClauseMatch]:
        places = range(len(self._passage.clauses))
        return [match for place in places if (match := self._match(part, first, first + 1, place))]

    def _other(
        self, clause: Words, found: Sequence[ClauseMatch], *, follows: bool, is_first: bool
    ) -> Contradiction | None:
        """Return what a clause of the passage says otherwise. `follows`: the places are those behind what was said."""
        for match in sorted(found, key=lambda match: -match.share):
            own = sum(word.weight for word, _, _ in match.pairs if word.kind not in VALUES)
            if not (follows or is_first or own >= _SPECIFIC):
                continue
            if not follows and self._passage.is_rule(match.place) and self._passage.has_cases(match.place):
                continue
            other = find_contradiction(match, follows=follows)
            is_alone = [len(gap.extra) for gap in match.gaps] == [1]
            if other and (follows or is_alone or not self._stands_nearby(other.stated, match)):
                return other
        return self._exchange(clause)

    def _exchange(self, stated: Words) -> Contradiction | None:
        """Return two parties that a clause of the passage, or two neighbours, name the other way round."""
        clauses = self._passage.clauses
        for place, clause in enumerate(clauses):
            joined = [*(clauses[place - 1].words if place else ()), *clause.words]
            if other := find_exchange(stated, clause.words) or find_exchange(stated, joined):
                return other
        return None

    def _stands_nearby(self, stated: Words, match: ClauseMatch) -> bool:
        """Return whether the stated value is given for something else nearby. The clause may be about that."""
        values = {word.key for word in stated if word.kind in VALUES}
        own = {word.key for word, _, _ in match.pairs if word.kind not in VALUES and not word.is_harmless}
        near = self._passage.clauses[max(0, match.place - _NEARBY) : match.place + _NEARBY + 1]
        return any(
            not values.isdisjoint(clause.keys) and len(own & clause.keys) >= _LIKE_IT * len(own) for clause in near
        )


def _only_says_less(objection: Objection) -> bool:
    """Return whether the statement contradicts nothing: it leaves out words that are no value and no name in letters."""
    return objection.kind in {"subject", "skipped"} and not any(word.kind in VALUES for word in objection.found)


def _names_source(clause: Words) -> bool:
    """Return whether a clause only says that the source says it: 文章认为."""
    return clause[-1].key in SPEECH and "".join(word.text for word in clause[:-1]) in SOURCE_SAYS


def _is_opening(clause: Words) -> bool:
    """Return whether a clause only says when or where: 在2005年的运动会上."""
    ends = {"上", "中", "时", "期间", "time:之后", "time:之前"}
    return clause[0].key in {"在", "随着"} or clause[0].kind == "date" or clause[-1].key in ends
