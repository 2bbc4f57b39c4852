"""Comparison of a restatement with an article. An unclear case is neither agreement nor contradiction.

The restatement may cover only a part of the article. Everything it says must stand there. The words it leaves out must
not change the rule: no number, modal, negation or condition.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum, auto
from functools import cached_property
from itertools import pairwise

from core.legal.text.paragraphs import excerpt, paragraphs
from core.legal.text.rule_words import Nature, Word, rule_words

_COMPARABLE = 0.6
"""Smallest share of a sentence that must stand in a rule before a different number in it counts."""
_NEGATION_COMPARABLE = 0.75
_SMALL_CHANGE = 3
"""Largest change, in words, in which a negation counts. In a longer one it belongs to what was left out."""
_SENTENCE = re.compile(r"[。；;！？!?\n]+")
_CLAUSE = re.compile(r"[，,：:。；;\n]+")
_LEAST_WORDS = 8
"""Fewest words that can agree: 人民法院应予支持 stands in a thousand articles."""
_LONGEST_OMISSION = 6
_LONGEST = 400
"""Longest sentence to align, in words. A longer one is no restatement and would take too long."""
_MOST_RULES = 80
_EMPTY = frozenset((*"的了之其该则也就即还而所者时等这那此在于自从起为是中都均各予您你并和", "前提"))
"""Words that may be added or dropped without a change of meaning."""
_TURNING = frozenset("或但被仅只前后外")
_CONDITION = re.compile(r"^(?:经|未经|除|因|在|自|对|当|有)|(?:的|时|后|前)$")
_LIST = re.compile(r"有?下列[^，,：:。；]{0,14}?(?:之一|者)?(?=的?[，,：:])")
_ITEM_MARK = re.compile(r"^\s*[（(][^）)]{1,4}[）)]\s*")
_LETTER = re.compile(r"\w+")
_LIKELY = 4
_OPPOSITE_BOUNDS = {("≥", "≤"), ("≥", "<"), (">", "≤"), (">", "<")}


_Change = tuple[str, int, int, int, int]
"""One step of a difflib opcode: its kind, the stretch of the sentence, the stretch of the rule."""


class Agreement(Enum):
    AGREES = auto()
    UNSURE = auto()
    CONTRADICTS = auto()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Outcome of a comparison, with the words that contradict each other."""

    agreement: Agreement
    said: str = ""
    """The words that contradict the article; `actual` has the words of the article."""
    stands: str = ""


UNSURE = Comparison(Agreement.UNSURE)


def compare(claim: str, article: str, paragraph: int | None = None, item: int | None = None) -> Comparison:
    """Compare each sentence of the claim with the rule of the article that is most like it."""
    stated = [_Said(sentence) for sentence in _SENTENCE.split(claim)]
    stated = [sentence for sentence in stated if sentence.words]
    if not stated or any(len(sentence.words) > _LONGEST for sentence in stated):
        return UNSURE
    rules = [rule for text in rules_of(article, paragraph, item)[:_MOST_RULES] if (rule := _Said(text)).words]
    found = [_best(sentence, rules) for sentence in stated]
    contradiction = next((one for one in found if one.agreement is Agreement.CONTRADICTS), None)
    if contradiction:
        return contradiction
    long_enough = sum(len(sentence.words) for sentence in stated) >= _LEAST_WORDS
    agrees = long_enough and all(one.agreement is Agreement.AGREES for one in found)
    return Comparison(Agreement.AGREES) if agrees else UNSURE


def rules_of(article: str, paragraph: int | None = None, item: int | None = None) -> list[str]:
    """Return the sentences of an article. Each item of a list becomes a rule of its own."""
    found: list[str] = []
    for number, lines in enumerate(paragraphs(article), 1):
        if paragraph and number != paragraph:
            continue
        opening, *items = lines
        if item:
            wanted = excerpt("\n".join(lines), None, item)
            items = [wanted] if wanted else []
        else:
            found += _SENTENCE.split(opening)
        found += [rule for line in items for rule in _for_item(opening, line)]
    return found


def _for_item(opening: str, line: str) -> Iterator[str]:
    words = _ITEM_MARK.sub("", line).rstrip("；;。 ")
    yield words
    if _LIST.search(opening):
        yield _LIST.sub(lambda _: words.removesuffix("的"), opening, count=1).rstrip("：:")


class _Said:
    """A sentence as comparable words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = rule_words(text)
        self.keys = [word.key for word in self.words]

    @cached_property
    def pairs(self) -> Counter[tuple[str, str]]:
        return Counter(pairwise(self.keys))

    @cached_property
    def clauses(self) -> list[range]:
        """Ranges of words between two punctuation marks."""
        ends = [match.end() for match in _CLAUSE.finditer(self.text)]
        found, begin, at = [], 0, 0
        for place, word in enumerate(self.words):
            while at < len(ends) and ends[at] <= word.start:
                if place > begin:
                    found.append(range(begin, place))
                    begin = place
                at += 1
        return [*found, range(begin, len(self.words))]

    def span(self, words: Sequence[Word]) -> str:
        return self.text[words[0].start : words[-1].end].strip() if words else ""


def _best(said: _Said, rules: Sequence[_Said]) -> Comparison:
    """Compare a sentence with the rules that hold most of it. It agrees if one of them agrees."""
    scored = sorted(((_held(said, rule), -place, rule) for place, rule in enumerate(rules)), reverse=True)[:3]
    if not scored:
        return UNSURE
    best = scored[0][0]
    found = [_Alignment(said, rule).comparison() for score, _, rule in scored if score >= best - 0.02 or score > 0.9]
    if any(one.agreement is Agreement.AGREES for one in found):
        return Comparison(Agreement.AGREES)
    return found[0]


def _held(said: _Said, rule: _Said) -> float:
    total = sum(said.pairs.values())
    return sum((said.pairs & rule.pairs).values()) / total if total else 0.0


class _Alignment:
    """Alignment of one sentence with one rule, clause by clause, because clauses may change their order."""

    def __init__(self, said: _Said, rule: _Said) -> None:
        self._said, self._rule = said, rule
        self._matched: set[int] = set()
        self._equal = 0
        self._foreign: list[Word] = []
        self._dropped: list[Word] = []
        self._changes: list[tuple[Sequence[Word], Sequence[Word]]] = []
        self._leaps = False
        for clause in said.clauses:
            self._align(clause)

    def _align(self, clause: range) -> None:
        changes = self._closest(self._said.keys[clause.start : clause.stop])
        equal = [(c, d) for change, _, _, c, d in changes if change == "equal"]
        if not equal:
            self._foreign += self._said.words[clause.start : clause.stop]
            return
        first, last = self._around(equal[0][0], equal[-1][1])
        for change, a, b, c, d in changes:
            words = self._said.words[clause.start + a : clause.start + b]
            rule = self._rule.words[max(c, first) : min(d, last)]
            if change == "equal":
                self._equal += b - a
                self._matched.update(range(c, d))
            else:
                self._leaps |= equal[0][0] < c and d < equal[-1][1] and self._tears(c, d)
                self._foreign += words
                self._dropped += rule
                self._changes.append((words, rule))

    def _closest(self, said: Sequence[str]) -> list[_Change]:
        """Align a clause with one clause of the rule, if that covers as many words as the whole rule does."""
        best = _changes(said, self._rule.keys)
        most, present = _equal(best), set(said)
        for clause in self._rule.clauses if most else ():
            keys = self._rule.keys[clause.start : clause.stop]
            if sum(key in present for key in keys) < most:
                continue
            found = _changes(said, keys)
            if _equal(found) >= most:
                return [(change, a, b, c + clause.start, d + clause.start) for change, a, b, c, d in found]
        return best

    def _around(self, first: int, last: int) -> tuple[int, int]:
        """Widen a stretch of the rule to whole clauses."""
        begin = max(clause.start for clause in self._rule.clauses if clause.start <= first)
        return begin, min(clause.stop for clause in self._rule.clauses if clause.stop >= last)

    def _tears(self, begin: int, end: int) -> bool:
        """Return whether the words left out in the middle may have held the rule together. Words of two clauses run
        together may give one clause's subject the other's verb. A condition with a word less is another condition."""
        clause = next(clause for clause in self._rule.clauses if begin < clause.stop)
        if end >= clause.stop or end - begin > _LONGEST_OMISSION:
            return begin < end
        left_out = any(word.key not in _EMPTY for word in self._rule.words[begin:end])
        return left_out and self._is_condition(clause)

    def _is_condition(self, clause: range) -> bool:
        words = self._rule.words[clause.start : clause.stop]
        return bool(words) and _CONDITION.search(self._rule.text[words[0].start : words[-1].end]) is not None

    def comparison(self) -> Comparison:
        share = self._equal / len(self._said.words)
        for said, rule in self._changes:
            found = share >= _COMPARABLE and self._contradiction(said, rule, share)
            if found:
                return found
        return Comparison(Agreement.AGREES) if self._agrees() else UNSURE

    def _contradiction(self, said: Sequence[Word], rule: Sequence[Word], share: float) -> Comparison | None:
        for mine in said:
            for real in rule:
                if _excludes(mine, real):
                    return self._against(mine, real)
        small = len(said) + len(rule) <= _SMALL_CHANGE and share >= _NEGATION_COMPARABLE
        if small and _negations(said) != _negations(rule):
            return Comparison(Agreement.CONTRADICTS, self._said.span(said), self._rule.span(rule))
        return None

    def _against(self, mine: Word, real: Word) -> Comparison:
        return Comparison(Agreement.CONTRADICTS, self._said.span([mine]), self._rule.span([real]))

    def _agrees(self) -> bool:
        if self._leaps:
            return False
        if any(word.key not in _EMPTY for word in self._foreign):
            return False
        if any(word.nature is not Nature.PLAIN or word.key in _TURNING for word in self._dropped):
            return False
        return not self._leaves_out_condition()

    def _leaves_out_condition(self) -> bool:
        for clause in self._rule.clauses:
            if clause.start >= max(self._matched, default=0):
                return False
            matched = sum(place in self._matched for place in clause)
            if matched < 0.3 * len(clause) and self._is_condition(clause):
                return True
        return False


def _changes(said: Sequence[str], rule: Sequence[str]) -> list[_Change]:
    """Return the opcodes between two word lists, anchored at their longest common stretch."""
    anchor = SequenceMatcher(None, said, rule, autojunk=False).find_longest_match()
    if not anchor.size:
        return [("replace", 0, len(said), 0, len(rule))]
    a, b, size = anchor
    before = SequenceMatcher(None, said[:a][::-1], rule[:b][::-1], autojunk=False).get_opcodes()
    after = SequenceMatcher(None, said[a + size :], rule[b + size :], autojunk=False).get_opcodes()
    return [
        *((change, a - j, a - i, b - n, b - m) for change, i, j, m, n in reversed(before)),
        ("equal", a, a + size, b, b + size),
        *((change, a + size + i, a + size + j, b + size + m, b + size + n) for change, i, j, m, n in after),
    ]


def _equal(changes: Iterable[_Change]) -> int:
    return sum(b - a for change, a, b, _, _ in changes if change == "equal")


def _excludes(mine: Word, real: Word) -> bool:
    if mine.key == real.key or mine.nature is not real.nature:
        return False
    if mine.nature is Nature.QUANTITY:
        return mine.unit == real.unit and not _within(mine, real)
    if mine.nature is Nature.BOUND:
        return (mine.key, real.key) in _OPPOSITE_BOUNDS or (real.key, mine.key) in _OPPOSITE_BOUNDS
    return mine.nature is Nature.MODAL


def _within(mine: Word, real: Word) -> bool:
    """Return whether a number falls under the bound of the rule: two years are a case of 一年以上."""
    if mine.bound or mine.value is None or real.value is None:
        return False
    match real.bound:
        case "≥":
            return mine.value >= real.value
        case ">":
            return mine.value > real.value
        case "≤":
            return mine.value <= real.value
        case "<":
            return mine.value < real.value
    return False


def _negations(words: Iterable[Word]) -> int:
    return sum(word.nature is Nature.NEGATION or word.key in ("不得", "无需") for word in words) % 2


class LawWords:
    """Index of all articles of a law, to find the one that holds most of a claim."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._holders: dict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            for pair in _letter_pairs(text):
                self._holders[pair].append(place)

    def best(self, claim: str, *, but: Collection[int]) -> tuple[int, float]:
        """Return the position of the article that holds most of the claim, and its share; -1 if none holds any."""
        found = Counter(place for pair in _letter_pairs(claim) for place in self._holders.get(pair, ()))
        likely = [place for place, _ in found.most_common(len(but) + _LIKELY) if place not in but]
        shares = [(contained(claim, self._texts[place]), -place) for place in likely]
        share, place = max(shares, default=(0.0, 1))
        return -place, share


def _letter_pairs(text: str) -> set[str]:
    letters = "".join(_LETTER.findall(text))
    return {letters[place : place + 2] for place in range(len(letters) - 1)}


def contained(claim: str, text: str) -> float:
    """Return the share of the claim's word pairs that stand in the text."""
    wanted = pairs(claim)
    present = set(pairs(text))
    return sum(pair in present for pair in wanted) / len(wanted) if wanted else 0.0


def pairs(text: str) -> list[str]:
    keys = [word.key for word in rule_words(text) if word.key not in _EMPTY]
    return [one + other for one, other in pairwise(keys)]
