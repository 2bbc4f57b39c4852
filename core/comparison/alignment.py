"""The alignment of a clause of a statement with a clause of a passage, word by word.

Equal words are paired in order. Whatever is left over on either side is judged: harmless words may be left over, a word
that turns the meaning may not, and a value in the place of another is a difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from core.base.chinese.calendar import WrittenDate
from core.base.chinese.quantities import Quantity
from core.comparison.lexicon import ADDED, CORRESPONDING, DROPPED, RANKS, SPEECH
from core.comparison.numbers import QuantityMatch, match_quantity
from core.comparison.passages import PRONOUNS, ClauseSequence
from core.comparison.stated_dates import is_same_date
from core.comparison.words import VALUES, Word

_NEW_RUN = 0.6
"""What beginning another run costs, compared with one character more."""
_LEAST_SHARED = 0.4
"""The share of a clause's weight that a clause of the passage must have to be compared with it."""
_CLAUSES_BACK = 4
"""The number of clauses before an aligned one in which its subject or its date may stand."""
LINKS = frozenset(
    [
        "cause:因此",
        "cause:但",
        "cause:从而",
        "cause:反而",
        "那么",
        "例如",
        "于是",
        "quantifier:特别是",
        "condition:即使",
    ]
)
"""Words at the beginning of a clause that only tie it to the one before."""
_GOES_ON = frozenset({"latin", "quantifier", "negation", "comparison"})
"""The kinds of words behind a name by which another thing is meant, or by which something is said of only a part of it."""
_PERSONS = frozenset(["他", "她", "它", "他们", "她们", "它们"])
_NOW = "如今"
"""The key of the words for now. They are harmless but in the place of a date."""
_SPEAKER = frozenset({"我", "我们", "本人"})
"""The words by which somebody who is quoted speaks of himself."""
_PREPOSITIONS = frozenset(
    ["在", "于", "以", "通过", "经", "经过", "对", "向", "从", "自", "随着", "attribution:据", "cause:因", "cause:为了"]
)
"""Words before what only says when, where or how."""

_LIGHT = frozenset(["依法", "实施", "前款", "规定", "有关", "本人", "行为", "或者", "modality:或"])
"""Words that a rule may be told without."""
_OR = frozenset(["、", "或者", "modality:或", "和", "与", "及", "以及"])
_AND = frozenset(["并", "且", "并且", "而且"])
_LEAST_TOLD = 4
"""The number of words that are told again, and not by chance."""
_SHORT_ATTRIBUTE = 2
"""The number of characters of a word that only tells which is meant."""
_PREFIXES = frozenset(
    "副前原老女男非反次准亚新旧小大全半多少未无假真主总分子母外内东西南北上下中后左右高低长短各每某双单"
)
"""The single characters that do."""
Words = Sequence[Word]


class EqualRun(NamedTuple):
    """Words that are the same on both sides, one after the other."""

    stated: int
    found: int
    length: int

    @property
    def stated_end(self) -> int:
        return self.stated + self.length

    @property
    def found_end(self) -> int:
        return self.found + self.length


class Objection(NamedTuple):
    """A difference: its kind, the words of the statement, and the words of the passage."""

    kind: str
    stated: Words
    found: Words


class Gap(NamedTuple):
    """The words between two runs, without the harmless ones."""

    extra: Words
    skipped: Words
    is_inside: bool
    """False before the first run and behind the last one."""


@dataclass(frozen=True, slots=True)
class ClauseMatch:
    """A clause of the statement beside a clause of the passage."""

    place: int
    places: frozenset[int]
    """The clauses of the passage that were used."""
    pairs: tuple[tuple[Word, int, Word], ...]
    """Each word of the statement with its counterpart, and the clause of the passage where that stands."""
    objections: tuple[Objection, ...]
    gaps: tuple[Gap, ...]
    share: float
    """The share of the clause's weight that agrees."""
    weight: float


# ── Runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def align(stated: Words, found: Words) -> list[EqualRun]:
    """Return the best runs in order, where long runs are worth more than scattered words."""
    runs = _all_runs(stated, found)
    weights = [sum(word.weight for word in stated[run.stated : run.stated_end]) for run in runs]
    best: list[float] = []
    links: list[tuple[int, int]] = []
    for place, run in enumerate(runs):
        most, link, cut_by = weights[place] - _NEW_RUN, -1, 0
        for earlier in range(place):
            one = runs[earlier]
            cut = max(0, one.stated_end - run.stated, one.found_end - run.found)
            if one.stated >= run.stated or one.found >= run.found or cut >= run.length:
                continue
            lost = sum(word.weight for word in stated[run.stated : run.stated + cut]) if cut else 0.0
            if (value := best[earlier] + weights[place] - lost - _NEW_RUN) > most:
                most, link, cut_by = value, earlier, cut
        best.append(most)
        links.append((link, cut_by))
    return [run for run in _chain(runs, best, links) if _is_run(run, stated)]


def _all_runs(stated: Words, found: Words) -> list[EqualRun]:
    """Return every longest run of equal words."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(found):
        places[word.key].append(place)
    runs: list[EqualRun] = []
    taken: set[tuple[int, int]] = set()
    for start, word in enumerate(stated):
        for there in places.get(word.key, ()):
            if (start, there) in taken:
                continue
            length = _common_length(stated, start, found, there)
            taken.update((start + step, there + step) for step in range(length))
            run = EqualRun(start, there, length)
            if _is_run(run, stated):
                runs.append(run)
    return runs


def _common_length(stated: Words, start: int, found: Words, there: int) -> int:
    most = min(len(stated) - start, len(found) - there)
    return next((step for step in range(most) if stated[start + step].key != found[there + step].key), most)


def _is_run(run: EqualRun, stated: Words) -> bool:
    """Return False for a single character between others: it is part of another word."""
    return run.length > 1 or len(stated) == 1 or not stated[run.stated].is_single


def _chain(runs: Sequence[EqualRun], best: Sequence[float], links: Sequence[tuple[int, int]]) -> list[EqualRun]:
    chain: list[EqualRun] = []
    place = max(range(len(runs)), key=best.__getitem__, default=-1)
    while place >= 0:
        run, (link, cut) = runs[place], links[place]
        chain.append(EqualRun(run.stated + cut, run.found + cut, run.length - cut))
        place = link
    return chain[::-1]


# ── A clause at a place ───────────────────────────────────────────────────────────────────────────────────────────────


def match_clause(stated: Words, earlier: Words, passage: ClauseSequence, place: int) -> ClauseMatch | None:
    """Return the best match of a clause at this place of the passage, alone or with the clause before it. `earlier`:
    the words of the statement before the clause."""
    own = passage.clauses[place].keys
    before = passage.clauses[place - 1].keys if passage.follows(place) else frozenset[str]()
    shared = sum(word.weight for word in stated if word.key in own)
    also = sum(word.weight for word in stated if word.key in before and word.key not in own) if before else 0.0
    if not shared + also:
        return None
    total = sum(word.weight for word in stated)
    alone = joined = None
    if shared >= _LEAST_SHARED * total:
        alone = _Comparison(stated, passage, place, place, earlier).match(total)
        if alone and not alone.objections:
            return alone
    if before and shared + also >= _LEAST_SHARED * total:
        joined = _Comparison(stated, passage, place - 1, place, earlier).match(total)
    return min(filter(None, (alone, joined)), key=lambda one: (len(one.objections), -one.share), default=None)


class _Comparison:
    """A clause of the statement beside one clause of the passage, or two."""

    def __init__(self, stated: Words, passage: ClauseSequence, first: int, place: int, earlier: Words) -> None:
        self.stated, self.passage, self.first, self.place, self.earlier = stated, passage, first, place, earlier
        self.before = passage.clauses[first].words if first < place else ()
        self.found = [*self.before, *passage.clauses[place].words]
        self.border = len(self.before)
        self.places = {first, place}

    def match(self, total: float) -> ClauseMatch | None:
        runs = align(self.stated, self.found)
        self.leaves_asides = not any(
            self.found[run.found + step].is_aside for run in runs for step in range(run.length)
        )
        if not runs or (self.border and not runs[0].found < self.border < runs[-1].found_end):
            return None
        weight = sum(word.weight for run in runs for word in self.stated[run.stated : run.stated_end])
        objections = tuple(self._objections(runs))
        return ClauseMatch(
            self.place,
            frozenset(self.places),
            tuple(self._pairs(runs)),
            objections,
            tuple(_gaps(self.stated, self.found, runs)),
            weight / total,
            weight,
        )

    def _pairs(self, runs: Sequence[EqualRun]) -> Iterator[tuple[Word, int, Word]]:
        for run in runs:
            for step in range(run.length):
                there = run.found + step
                clause = self.first if there < self.border else self.place
                yield self.stated[run.stated + step], clause, self.found[there]

    def _objections(self, runs: Sequence[EqualRun]) -> Iterator[Objection]:
        if self.border:
            yield from self._judge_border(runs)
        edges = [EqualRun(0, 0, 0), *runs, EqualRun(len(self.stated), len(self.found), 0)]
        for number, (left, right) in enumerate(pairwise(edges)):
            extra, skipped = self.stated[left.stated_end : right.stated], self.found[left.found_end : right.found]
            if extra or skipped:
                yield from self._judge_gap(extra, skipped, is_first=number == 0, is_last=number == len(runs))
            if not extra and 0 < number < len(runs) and self._ends_list_item(left.found_end, skipped):
                yield Objection("number", (), skipped)

    def _ends_list_item(self, place: int, skipped: Words) -> bool:
        """Return whether a number stands at the end of an item, so that it is not of the next one: 学生820人、教师."""
        return self.found[place - 1].kind == "number" and any(word.kind == "pause" for word in skipped)

    def _judge_border(self, runs: Sequence[EqualRun]) -> Iterator[Objection]:
        """Yield an objection if the first of two clauses does not begin, or the second one does not go on, with what is
        aligned: it then has a subject of its own."""
        goes_on = next(run for run in runs if run.found_end > self.border)
        for opening in (self.found[: runs[0].found], self.found[self.border : max(goes_on.found, self.border)]):
            if not all(_is_link(word) or word.kind == "date" for word in opening):
                yield Objection("subject", (), opening)
        if self.passage.clauses[self.first].is_condition:
            aligned = {place for run in runs for place in range(run.found, run.found_end)}
            left = [one for place, one in enumerate(self.before) if place not in aligned and not one.is_harmless]
            if left and not self._is_alternative(left):
                yield Objection("condition", (), left)

    def _judge_gap(self, extra: Words, skipped: Words, *, is_first: bool, is_last: bool) -> Iterator[Objection]:
        real_skipped = [word for word in skipped if not word.is_harmless and not (word.is_aside and self.leaves_asides)]
        light = [word for word in extra if word.is_harmless and not word.is_particle]
        added = ADDED if not any(word.is_turning for word in real_skipped) else ()
        left = [word for word in extra if not word.is_harmless and word.key not in added]
        if extra and skipped:
            left, real_skipped = _without_corresponding(left, skipped), _without_corresponding(real_skipped, extra)
        if [word.key for word in left] == [word.key for word in real_skipped]:
            left, real_skipped = [], []
        if is_first and left:
            left = self._without_subject(left, skipped)
        if is_first and not real_skipped and all(word.key in SPEECH for word in left) and self._is_announced():
            left = []
        left = [word for word in left if not (word.kind == "date" and self._is_dated(word))]
        if len(left) == len(real_skipped) == 1 and _is_same_quantity(left[0], real_skipped[0]):
            left = real_skipped = []
        if left and not real_skipped and self._is_repeated(left):
            left = []
        if real_skipped and (self._is_alternative(skipped) or self._is_told(real_skipped)):
            real_skipped = []
        if left or (light and real_skipped and not is_first):
            yield Objection(_kind_of(left, real_skipped), left or light, real_skipped)
        elif self._is_then(real_skipped):
            yield Objection("date", (), real_skipped)
        elif is_first and any(word.key in _PERSONS for word in extra) and self._has_subject(real_skipped):
            yield Objection("subject", extra, real_skipped)
        elif is_first:
            yield from self._judge_opening(skipped, real_skipped)
        elif turning := self._turning(real_skipped):
            yield Objection(turning[0].kind, (), turning)
        elif real_skipped and (
            self._narrows_rule(skipped, real_skipped)
            or (self._goes_on(skipped, real_skipped) if is_last else self._is_broken(skipped, real_skipped))
        ):
            yield Objection("skipped", (), real_skipped)

    def _judge_opening(self, opening: Words, skipped: Words) -> Iterator[Objection]:
        """Judge what the passage says before the first aligned word. `skipped`: without the harmless words."""
        own = {word.key for word in self.earlier}
        skipped = [word for word in skipped if word.key not in LINKS and not (own & SPEECH and word.key in _SPEAKER)]
        strange = [word for word in skipped if word.key not in own and word.key not in DROPPED and word.kind != "date"]
        if turning := self._turning(skipped):
            yield Objection(turning[0].kind, (), turning)
        elif (strange and (self.earlier or _is_attribute(opening))) or (
            skipped and _is_phrase(skipped[-1], self.stated[0])
        ):
            yield Objection("subject", (), skipped)

    @staticmethod
    def _has_subject(skipped: Words) -> bool:
        return any(word.kind != "date" and word.key not in LINKS | DROPPED | _SPEAKER for word in skipped)

    def _turning(self, skipped: Words) -> list[Word]:
        """Return the words of the passage that must not be left out. 将 says nothing beside a date."""
        return [
            word
            for word in skipped
            if word.is_turning
            and word.key not in DROPPED
            and not (word.key == "time:将" and self._is_before_date(word))
        ]

    def _is_before_date(self, word: Word) -> bool:
        return next((one.kind == "date" for one in self.found if one.start >= word.end and not one.is_harmless), False)

    def _goes_on(self, skipped: Words, real: Words) -> bool:
        """Return whether the aligned words only describe what follows: 夺冠 in 夺冠的希望, free in free for children."""
        is_described = skipped[0].key in {"的", "之"} and any(word.kind not in VALUES for word in real)
        return is_described or _is_phrase(self.stated[-1], real[0])

    def _is_broken(self, skipped: Words, real: Words) -> bool:
        """Return whether what the passage says in between may belong to somebody else."""
        units = {word.unit for word in self.stated if word.kind == "number"}
        if any(word.kind == "number" and word.unit in units for word in real):
            return True
        dates = {word.key for word in self.stated if word.kind == "date"}
        if dates and any(word.kind == "date" and word.key not in dates for word in real):
            return True
        if _changes_head(skipped):
            return True
        if real and (real[0].kind == "latin" or (len(skipped) == 1 and real[0].is_single)):
            return True
        if real and any(map(_is_rank, self.stated)):
            return True
        has_pause = any(word.kind == "pause" for word in skipped)
        return has_pause and "pause" not in {skipped[0].kind, skipped[-1].kind}

    def _is_then(self, skipped: Words) -> bool:
        """Return whether a date or a span of time was left out, and the statement speaks of now, or of no time."""
        dates = [word for word in skipped if word.kind == "date"]
        return len(dates) > 1 or (bool(dates) and any(word.key == _NOW for word in self.stated))

    def _narrows_rule(self, skipped: Words, real: Words) -> bool:
        """Return whether a rule holds only with what was left out. Words that it repeats, or that add nothing, may be, and so
        may one of several things that it names."""
        if not self.passage.is_rule(self.place):
            return False
        is_item = {skipped[0].key, skipped[-1].key} & _OR and not any(word.key in _AND for word in skipped)
        told = {word.key for word in self.stated} | _LIGHT | DROPPED
        return not is_item and any(word.key not in told for word in real)

    def _without_subject(self, left: list[Word], skipped: Words) -> list[Word]:
        """Leave out the subject if a clause before begins with it, and this one has no other."""
        keys = [word.key for word in left if word.kind != "date"]
        is_name = all(word.kind in {"", "latin", "date"} for word in left)
        if not keys or not is_name or not all(_is_link(word) for word in skipped):
            return left
        for back, clause in enumerate(self.passage.clauses_before(self.first, _CLAUSES_BACK), 1):
            named = [word for word in clause.words if not _is_link(word) and word.kind != "date"]
            words = [word.key for word in named]
            is_longer = any(word.kind in _GOES_ON for word in named[len(keys) : len(keys) + 1])
            in_case = clause.is_condition and len(words) > len(keys)
            if words[: len(keys)] == keys and not clause.is_attribution and not is_longer and not in_case:
                self.places.add(self.first - back)
                return [word for word in left if word.kind == "date"]
            if words[:1] == keys[:1] or clause.is_condition:  # of another thing with such a name, or in another case
                break
            if clause.has_subject or not self._continues(self.first - back):
                break
        return left

    def _is_announced(self) -> bool:
        """Return whether a colon stands before the clause: 提出新理论：…, where the statement says 认为."""
        return self.first > 0 and ":" in self.passage.clauses[self.first - 1].end_mark

    def _continues(self, place: int) -> bool:
        """Return whether a clause may be about the subject of the clause before: in its part, or with a pronoun for it."""
        clause, before = self.passage.clauses[place], self.passage.clauses[place - 1]
        return clause.part == before.part or clause.has_pronoun

    def _is_alternative(self, skipped: Words) -> bool:
        """Return whether the passage names a further case of a condition: what holds for both holds for one."""
        is_condition = self.passage.clauses[self.place].is_condition
        return is_condition and bool(skipped) and skipped[0].key in {"或者", "modality:或"}

    def _is_told(self, skipped: Words) -> bool:
        """Return whether the statement has said these words, one after the other, before."""
        wanted = [word.key for word in skipped[skipped[0].key in _PREPOSITIONS :]]
        told = [word.key for word in self.earlier if not word.is_harmless]
        starts = range(len(told) - len(wanted) + 1) if len(wanted) >= _LEAST_TOLD else ()
        return any(told[start : start + len(wanted)] == wanted for start in starts)

    def _is_repeated(self, left: Words) -> bool:
        """Return whether the statement has these words twice, where the passage has them once: 减记希腊的债务."""
        if sum(word.end - word.start for word in left) <= 1 or any(word.kind for word in left):
            return False
        aligned = {word.key for word in self.stated if word not in left} & {word.key for word in self.found}
        return all(word.key in aligned for word in left)

    def _is_dated(self, date: Word) -> bool:
        """Return whether this is the date of the clause: its only one, or the one that opens the nearest clause before."""
        if own := [word for word in self.passage.clauses[self.place].words if word.kind == "date"]:
            return len(own) == 1 and _is_same_date(date, own[0])
        for clause in self.passage.clauses_before(self.place, 2 * _CLAUSES_BACK, sentences=2):
            opening = next((word for word in clause.words if not _is_link(word)), None)
            if opening and opening.kind == "date":
                return _is_same_date(date, opening)
        return False


def _without_corresponding(words: Sequence[Word], others: Words) -> list[Word]:
    """Leave out the words for which the other side has another word that says the same here."""
    there = {word.key for word in others}
    return [word for word in words if there.isdisjoint(CORRESPONDING.get(word.key, ()))]


def _changes_head(skipped: Words) -> bool:
    """Return whether something of the aligned words acts, and not they: 的妻子 between 张三 and 获奖. What begins with a
    preposition only says when, where or how."""
    places = [place for place, word in enumerate(skipped) if word.key in {"的", "之"}]
    behind = skipped[places[0] + 1 :] if places else ()
    return skipped[0].key not in _PREPOSITIONS and any(not word.is_harmless for word in behind)


def _is_attribute(opening: Words) -> bool:
    """Return whether an opening tells which of several is meant: 未经消毒的, 62% 的, 已婚. A longer one without 的 is a title."""
    own = [word for word in opening if not (word.is_harmless or word.is_aside or word.key in PRONOUNS)]
    is_short = sum(word.end - word.start for word in own) <= _SHORT_ATTRIBUTE
    if len(own) == 1 and own[0].is_single:
        is_short = own[0].key in _PREFIXES
    has_value = any(word.kind in VALUES - {"date", "latin"} for word in own)
    has_of = any(word.key in {"的", "之"} for word in opening)
    return bool(own) and opening[-1].kind != "pause" and (has_of or is_short or has_value)


def _is_phrase(one: Word, following: Word) -> bool:
    """Return whether two neighbours are Latin words, of which neither says the same without the other."""
    return one.kind == following.kind == "latin"


def _is_same_date(stated: Word, found: Word) -> bool:
    """Return whether two dates are the same: 去年 and the year before the source's day."""
    one, other = stated.value, found.value
    if stated.key == found.key or not (isinstance(one, WrittenDate) and isinstance(other, WrittenDate)):
        return stated.key == found.key
    return one.year is not None and is_same_date(one, other) and one.side == other.side


def _is_same_quantity(stated: Word, found: Word) -> bool:
    """Return whether the statement rounds the number: 约 3000 人 for 2987 人. 约 2987 人 is a doubt that the source has not."""
    one, other = stated.value, found.value
    if not (isinstance(one, Quantity) and isinstance(other, Quantity)) or one.exact == other.exact:
        return False
    return one.sign == "≈" and match_quantity(one, other) is QuantityMatch.SAME


def _gaps(stated: Words, found: Words, runs: Sequence[EqualRun]) -> Iterator[Gap]:
    edges = [EqualRun(0, 0, 0), *runs, EqualRun(len(stated), len(found), 0)]
    for number, (left, right) in enumerate(pairwise(edges)):
        extra = [word for word in stated[left.stated_end : right.stated] if not word.is_harmless]
        skipped = [word for word in found[left.found_end : right.found] if not word.is_harmless and not word.is_aside]
        if extra or skipped:
            yield Gap(extra, skipped, 0 < number < len(runs))


def _is_rank(word: Word) -> bool:
    """Return whether the word holds only for exactly the things that are named: the largest, the third, 5 % of them."""
    return word.kind == "ordinal" or word.unit in {"%", "倍"} or word.key in RANKS


def _is_link(word: Word) -> bool:
    return word.is_harmless or word.is_aside or word.key in LINKS or word.key in PRONOUNS


def _kind_of(extra: Words, skipped: Words) -> str:
    """Return the kind of difference between words in the same place."""
    for one in extra:
        for other in skipped:
            if one.kind == other.kind and (
                one.kind in {"date", "score"} or (one.kind == "number" and one.unit == other.unit)
            ):
                return one.kind
    return next((word.kind for word in extra if word.is_turning), "left over")
