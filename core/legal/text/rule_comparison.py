"""Comparison of a restatement with an article. An unclear case is neither agreement nor contradiction.

The restatement may cover only a part of the article. Everything it says must stand there. The words it leaves out must
not change the rule: no number, modal, negation or condition.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from enum import Enum, auto
from functools import cached_property
from itertools import pairwise, product
from operator import ge, gt, le, lt

from core.legal.text.paragraphs import excerpt, split_paragraphs
from core.legal.text.rule_wording import names_parties_of, plain_wording, split_rules_of_claim
from core.legal.text.rule_words import RuleWord, WordKind, rule_words

_COMPARABLE = 0.6
"""Smallest share of a sentence that must stand in a rule before a different number in it counts."""
_NEGATION_COMPARABLE = 0.75
_SMALL_CHANGE = 3
"""Largest change, in words, in which a negation counts. In a longer one it belongs to what was left out."""
_SENTENCE = re.compile(r"[。；;！？!?\n]+")
_FULL_STOP = re.compile(r"[。\n]+")
_CLAUSE = re.compile(r"[，,：:。；;\n]+")
_CLEARLY_MORE = 0.05
_LEAST_WORDS = 8
"""Fewest words that can agree: 人民法院应予支持 stands in a thousand articles."""
_LONGEST_OMISSION = 6
_LONGEST = 400
"""Longest sentence to align, in words. A longer one is no restatement and would take too long."""
_MOST_RULES = 80
_MOST_REPEATED = 4
"""Largest number of times that a claim may say each pair of words, on an average."""
_FILLER_WORDS = frozenset((*"的了之其该则也就即还而所者时等这那此在于自从起为是中都均各予您你并和", "前提"))
"""Words that may be added or dropped without a change of meaning."""
_MEANING_CHANGERS = frozenset("或但被仅只前后外")
_CONDITION = re.compile(r"^(?:经|未经|除|因|在|自|对|当|有)|(?:的|(?<!小)时|后|前)$")
_LIST = re.compile(r"有?下列[^，,：:。；]{0,14}?(?:之一|者)?(?=的?[，,：:])")
_DUTY_OF_LIST = re.compile(
    r"(?:^|[。，；])(?P<subject>[^，,：:。；]{0,20}?)(?P<duty>应当|不得|必须|可以|禁止)[^，,：:。；]{0,14}下列[^，,：:。；]{0,14}[：:]"
)
_EXCEPTED_LIST = re.compile("除[^，。；：]{0,6}下列[^。；：]*外")
_FORBIDS = ("不得", "禁止")
_EXCEEDS = re.compile("(?<!不)超过(?=[一二三四五六七八九十百千万0-9])")
_LIMITS = (
    "私自",
    "擅自",
    "非法",
    "违反",
    "正当理由",
    "恶意",
    "故意",
    "明知",
    "重大",
    "严重",
    "拒不",
    "不合理",
    "虚假",
    "连续",
)
"""Words by which a rule holds for some cases only."""
_NEXT_ITEM = re.compile("[、或和]")
_ITEM_MARK = re.compile(r"^\s*[（(][^）)]{1,4}[）)]\s*")
_LIKELY = 4
_OPPOSITE_BOUNDS = {("≥", "≤"), ("≥", "<"), (">", "≤"), (">", "<")}
_FULFILS = {"≥": ge, ">": gt, "≤": le, "<": lt}

_Words = Sequence[RuleWord]
_Change = tuple[str, int, int, int, int]
"""One step of a difflib opcode: its kind, the stretch of the sentence, the stretch of the rule."""


class RuleMatch(Enum):
    AGREES = auto()
    UNSURE = auto()
    CONTRADICTS = auto()
    EXCHANGES = auto()
    DROPS_CONDITION = auto()
    ADDS_CONDITION = auto()
    REPLACES = auto()
    """Other words in one place, which may mean the same."""


@dataclass(frozen=True, slots=True)
class RuleComparison:
    """Outcome of a comparison, with the words that contradict each other."""

    match: RuleMatch
    claimed: str = ""
    """The words that contradict the article; `actual` has the words of the article."""
    actual: str = ""


UNSURE = RuleComparison(RuleMatch.UNSURE)


class ArticleRules:
    """The rules of an article, or of one 款 or 项 of it."""

    def __init__(self, article: str, paragraph: int | None = None, item: int | None = None) -> None:
        texts = split_rules(article, paragraph, item)[:_MOST_RULES]
        self._rules = [rule for text in texts if (rule := _Sentence(text)).words]
        self._article = article

    def compare(self, claim: str) -> RuleComparison:
        """Compare each sentence of the claim with the rule that is most like it."""
        stated = [_Sentence(text) for text in split_sentences(claim)]
        if not stated or any(len(sentence.words) > _LONGEST for sentence in stated):
            return UNSURE
        found = [self._compare(sentence) for sentence in stated]
        if contradiction := next((one for one in found if one.match is RuleMatch.CONTRADICTS), None):
            return contradiction
        long_enough = sum(len(sentence.words) for sentence in stated) >= _LEAST_WORDS
        agrees = long_enough and all(one.match is RuleMatch.AGREES for one in found)
        return RuleComparison(RuleMatch.AGREES) if agrees else UNSURE

    def compare_sentence(self, text: str) -> RuleComparison:
        sentence = _Sentence(text)
        return self._compare(sentence) if len(sentence.words) <= _LONGEST else UNSURE

    def find_replacement(self, text: str) -> RuleComparison:
        """Return the words of a sentence that stand in the place of others, if all around them stands in a rule."""
        sentence = _Sentence(text)
        closest = max(self._rules, key=lambda rule: _overlap(sentence, rule), default=None)
        if closest is None or len(sentence.words) > _LONGEST:
            return UNSURE
        return _Alignment(sentence, closest).replacement()

    def _compare(self, sentence: _Sentence) -> RuleComparison:
        found = _compare_with_closest(sentence, self._rules)
        is_unsure = found.match is RuleMatch.CONTRADICTS and (
            self._joins_rules(sentence) or self._are_rules_apart(sentence)
        )
        return UNSURE if is_unsure else found

    def _are_rules_apart(self, sentence: _Sentence) -> bool:
        """Return whether a sentence tells several rules one after the other, and none of them alone contradicts."""
        text = plain_wording(sentence.text)
        told, clauses = split_rules_of_claim(text), _CLAUSE.split(text)
        if len(told) < 2 and all(_has_value(one) and not is_condition(one) for one in clauses):
            told = clauses
        found = [_compare_with_closest(_Sentence(one), self._rules).match for one in told if rule_words(one)]
        return len(found) > 1 and RuleMatch.CONTRADICTS not in found

    def _joins_rules(self, sentence: _Sentence) -> bool:
        """Return whether a sentence is more like two rules together, the case of one and the duty of the next."""
        single = max((_overlap(sentence, rule) for rule in self._rules), default=0.0)
        joined = map(_Sentence, _joined_rules(self._article))
        return any(_overlap(sentence, one) > single + _CLEARLY_MORE for one in joined)


def _has_value(clause: str) -> bool:
    return any(word.kind is WordKind.QUANTITY for word in rule_words(clause))


def _joined_rules(article: str) -> Iterator[str]:
    """Yield two rules between semicolons as one, where the second begins with a duty and so has the case of the first."""
    for sentence in _FULL_STOP.split(article)[:_MOST_RULES]:
        for one, other in pairwise(sentence.split("；")):
            first = _CLAUSE.split(other)[0]
            if not is_condition(first) and any(word.kind is WordKind.MODAL for word in rule_words(first)):
                yield f"{one}，{other}"


def split_sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.split(text) if rule_words(sentence)]


def is_long_enough(claim: str) -> bool:
    """Return whether a claim says enough to be a rule."""
    return len(rule_words(claim)) >= _LEAST_WORDS and bool(word_pairs(claim))


def can_be_aligned(claim: str) -> bool:
    """Return whether each sentence of a claim may be a rule: it is not too long, and does not say one thing many times."""
    pairs = word_pairs(claim)
    is_varied = len(pairs) <= _MOST_REPEATED * len(set(pairs))
    return is_varied and all(len(rule_words(sentence)) <= _LONGEST for sentence in split_sentences(claim))


def split_rules(article: str, paragraph: int | None = None, item: int | None = None) -> list[str]:
    """Return the sentences of an article. Each item of a list becomes a rule of its own."""
    found: list[str] = []
    for number, lines in enumerate(split_paragraphs(article), 1):
        if paragraph and number != paragraph:
            continue
        opening, *items = lines
        if item:
            wanted = excerpt("\n".join(lines), None, item)
            items = [wanted] if wanted else []
        else:
            found += _SENTENCE.split(opening)
        found += [rule for line in items for rule in rules_for_item(opening, line)]
    return found


def item_words(line: str) -> str:
    """Return an item of a list without its number."""
    return _ITEM_MARK.sub("", line).rstrip("；;。 ")


def rules_for_item(opening: str, line: str) -> Iterator[str]:
    """Yield an item of a list by itself, behind the duty that holds for all items, and in the place of the list in the
    opening sentence. An item that is forbidden or excepted is no rule by itself."""
    words = item_words(line)
    duty = _DUTY_OF_LIST.search(opening)
    if _EXCEPTED_LIST.search(opening):
        return
    if not duty or duty["duty"] not in _FORBIDS:
        yield from _SENTENCE.split(words)
    elif _EXCEEDS.search(words):
        yield _EXCEEDS.sub("不得超过", words)
    if duty:
        yield f"{duty['subject']}{duty['duty']}{words.removesuffix('的')}"
    if _LIST.search(opening):
        yield _LIST.sub(lambda _: words.removesuffix("的"), opening, count=1).rstrip("：:")


class _Sentence:
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

    def text_of(self, words: _Words) -> str:
        return self.text[words[0].start : words[-1].end].strip() if words else ""


def _compare_with_closest(sentence: _Sentence, rules: Sequence[_Sentence]) -> RuleComparison:
    """Compare a sentence with the rules that hold most of it. It agrees if one of them agrees."""
    scored = sorted(((_overlap(sentence, rule), -place, rule) for place, rule in enumerate(rules)), reverse=True)[:3]
    if not scored:
        return UNSURE
    closest = [rule for score, _, rule in scored if score >= scored[0][0] - 0.02 or score > 0.9]
    found = [_Alignment(sentence, rule).comparison() for rule in closest]
    return next((one for one in found if one.match is RuleMatch.AGREES), found[0])


def _overlap(sentence: _Sentence, rule: _Sentence) -> float:
    total = sum(sentence.pairs.values())
    return sum((sentence.pairs & rule.pairs).values()) / total if total else 0.0


class _Alignment:
    """Alignment of one sentence with one rule, clause by clause, because clauses may change their order."""

    def __init__(self, sentence: _Sentence, rule: _Sentence) -> None:
        self._sentence, self._rule = sentence, rule
        self._matched: set[int] = set()
        self._equal = 0
        self._added: list[RuleWord] = []
        self._dropped: list[RuleWord] = []
        self._changes: list[tuple[_Words, _Words]] = []
        self._has_gap = False
        for clause in sentence.clauses:
            self._align(clause)

    def _align(self, clause: range) -> None:
        changes = self._align_clause(self._sentence.keys[clause.start : clause.stop])
        equal = [(c, d) for change, _, _, c, d in changes if change == "equal"]
        if not equal:
            self._added += self._sentence.words[clause.start : clause.stop]
            return
        first, last = self._whole_clauses(equal[0][0], equal[-1][1])
        self._has_gap |= equal[0][0] > first and self._rule.keys[equal[0][0] - 1] == "并"
        for change, a, b, c, d in changes:
            words = self._sentence.words[clause.start + a : clause.start + b]
            rule = self._rule.words[max(c, first) : min(d, last)]
            if change == "equal":
                self._equal += b - a
                self._matched.update(range(c, d))
            else:
                is_replaced = bool(words) and any(word.key not in _FILLER_WORDS for word in rule)
                self._has_gap |= equal[0][0] < c and d < equal[-1][1] and (is_replaced or self._breaks_rule(c, d))
                self._added += words
                self._dropped += rule
                self._changes.append((words, rule))

    def _align_clause(self, clause_keys: Sequence[str]) -> list[_Change]:
        """Align a clause with one clause of the rule, if that covers as many words as the whole rule does."""
        best = _changes(clause_keys, self._rule.keys)
        most, present = _equal_count(best), set(clause_keys)
        for clause in self._rule.clauses if most else ():
            keys = self._rule.keys[clause.start : clause.stop]
            if sum(key in present for key in keys) < most:
                continue
            found = _changes(clause_keys, keys)
            if _equal_count(found) >= most:
                return [(change, a, b, c + clause.start, d + clause.start) for change, a, b, c, d in found]
        return best

    def _whole_clauses(self, first: int, last: int) -> tuple[int, int]:
        """Widen a stretch of the rule to whole clauses."""
        begin = max(clause.start for clause in self._rule.clauses if clause.start <= first)
        return begin, min(clause.stop for clause in self._rule.clauses if clause.stop >= last)

    def _breaks_rule(self, begin: int, end: int) -> bool:
        """Return whether the words left out in the middle may have held the rule together. Words of two clauses run
        together may give one clause's subject the other's verb. A condition with a word less is another condition."""
        clause = next(clause for clause in self._rule.clauses if begin < clause.stop)
        if end >= clause.stop or end - begin > _LONGEST_OMISSION:
            return begin < end
        left_out = any(word.key not in _FILLER_WORDS for word in self._rule.words[begin:end])
        return left_out and self._is_condition(clause)

    def _is_condition(self, clause: range) -> bool:
        return is_condition(self._rule.text_of(self._rule.words[clause.start : clause.stop]))

    def comparison(self) -> RuleComparison:
        share = self._equal / len(self._sentence.words)
        for claimed, actual in self._changes if share >= _COMPARABLE else ():
            if found := self._contradiction(claimed, actual, share):
                return found
        if not self._says_the_same():
            return UNSURE
        if condition := self._dropped_condition():
            return RuleComparison(RuleMatch.DROPS_CONDITION, actual=condition)
        return RuleComparison(RuleMatch.AGREES)

    def replacement(self) -> RuleComparison:
        """Return the one change of the sentence, if both sides have words there and they are short."""
        real = [
            (own, rule) for own, rule in self._changes if _plain_keys(own) or len(_plain_keys(rule)) > _LONGEST_OMISSION
        ]
        if len(real) != 1 or self._equal < _NEGATION_COMPARABLE * len(self._sentence.words):
            return UNSURE
        own, rule = (side.text_of(words) for side, words in zip((self._sentence, self._rule), real[0], strict=True))
        is_short = all(2 <= len(words) <= _LONGEST_OMISSION for words in (own, rule))
        return RuleComparison(RuleMatch.REPLACES, own, rule) if is_short else UNSURE

    def _contradiction(self, claimed: _Words, actual: _Words, share: float) -> RuleComparison | None:
        for mine, real in product(claimed, actual):
            if _contradict(mine, real):
                return RuleComparison(RuleMatch.CONTRADICTS, self._sentence.text_of([mine]), self._rule.text_of([real]))
        small = len(claimed) + len(actual) <= _SMALL_CHANGE and share >= _NEGATION_COMPARABLE
        if "否则" in self._sentence.text:  # 应当在一年内行使，否则消灭 for 一年内没有行使的，消灭
            return None
        if small and not self._is_moved(claimed, actual) and _negation_parity(claimed) != _negation_parity(actual):
            return RuleComparison(RuleMatch.CONTRADICTS, self._sentence.text_of(claimed), self._rule.text_of(actual))
        return None

    def _is_moved(self, claimed: _Words, actual: _Words) -> bool:
        """Return whether the words of a change stand elsewhere on the other side: 不能实现目的, 目的不能实现."""
        sides = ((claimed, self._dropped), (actual, self._added))
        return any(
            0 < len(_plain_keys(words) & _plain_keys(others)) == len(_plain_keys(words)) for words, others in sides
        )

    def _says_the_same(self) -> bool:
        if not names_parties_of(self._sentence.text, self._rule.text):
            return False
        if self._has_gap or any(word.key not in _FILLER_WORDS for word in self._added):
            return False
        if any(self._widens(rule) for _, rule in self._changes if rule):
            return False
        return all(word.kind is WordKind.PLAIN and word.key not in _MEANING_CHANGERS for word in self._dropped)

    def _widens(self, dropped: _Words) -> bool:
        """Return whether words left out say what is forbidden, or which case is meant: 不得私自收费 is not 不得收费."""
        text = self._rule.text_of(dropped)
        is_forbidden = self._rule.text[: dropped[0].start].endswith(_FORBIDS)
        return (is_forbidden and not _NEXT_ITEM.search(text + self._rule.text[dropped[-1].end :][:1])) or any(
            word in text for word in _LIMITS
        )

    def _dropped_condition(self) -> str:
        for clause in self._rule.clauses:
            if clause.start >= max(self._matched, default=0):
                return ""
            matched = sum(place in self._matched for place in clause)
            if matched < 0.3 * len(clause) and self._is_condition(clause):
                return self._rule.text_of(self._rule.words[clause.start : clause.stop])
        return ""


def _plain_keys(words: Iterable[RuleWord]) -> set[str]:
    return {word.key for word in words if word.kind is WordKind.PLAIN and word.key not in _FILLER_WORDS}


def is_condition(clause: str) -> bool:
    """Return whether a clause says under which condition the rest of its sentence holds."""
    return _CONDITION.search(clause) is not None


def _changes(claim: Sequence[str], rule: Sequence[str]) -> list[_Change]:
    """Return the opcodes between two word lists, anchored at their longest common stretch."""
    anchor = SequenceMatcher(None, claim, rule, autojunk=False).find_longest_match()
    if not anchor.size:
        return [("replace", 0, len(claim), 0, len(rule))]
    a, b, size = anchor
    before = SequenceMatcher(None, claim[:a][::-1], rule[:b][::-1], autojunk=False).get_opcodes()
    after = SequenceMatcher(None, claim[a + size :], rule[b + size :], autojunk=False).get_opcodes()
    return [
        *((change, a - j, a - i, b - n, b - m) for change, i, j, m, n in reversed(before)),
        ("equal", a, a + size, b, b + size),
        *((change, a + size + i, a + size + j, b + size + m, b + size + n) for change, i, j, m, n in after),
    ]


def _equal_count(changes: Iterable[_Change]) -> int:
    return sum(b - a for change, a, b, _, _ in changes if change == "equal")


def _contradict(claimed: RuleWord, actual: RuleWord) -> bool:
    if claimed.key == actual.key or claimed.kind is not actual.kind:
        return False
    if claimed.kind is WordKind.QUANTITY:
        return claimed.unit == actual.unit and not _is_within_bound(claimed, actual)
    if claimed.kind is WordKind.BOUND:
        return (claimed.key, actual.key) in _OPPOSITE_BOUNDS or (actual.key, claimed.key) in _OPPOSITE_BOUNDS
    return claimed.kind is WordKind.MODAL


def _is_within_bound(claimed: RuleWord, actual: RuleWord) -> bool:
    """Return whether a number falls under the bound of the rule: two years are a case of 一年以上."""
    if claimed.bound or claimed.value is None or actual.value is None:
        return False
    is_above = _fulfils(claimed.value, actual.bound[:1], actual.value)
    return is_above and (actual.upper is None or _fulfils(claimed.value, actual.bound[1:], actual.upper))


def _fulfils(value: Decimal, bound: str, limit: Decimal | None) -> bool:
    return limit is not None and bound in _FULFILS and bool(_FULFILS[bound](value, limit))


def _negation_parity(words: Iterable[RuleWord]) -> int:
    return sum(word.kind is WordKind.NEGATION or word.key in ("不得", "无需") for word in words) % 2


class ArticleWords:
    """Index of all articles of a law, to find the one that holds most of a claim."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._places_by_pair: dict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            for pair in _letter_pairs(text):
                self._places_by_pair[pair].append(place)

    def best_article(self, claim: str, *, excluded: Collection[int]) -> tuple[int, float]:
        """Return the position of the article that holds most of the claim, and its share; -1 if none holds any."""
        found = Counter(place for pair in _letter_pairs(claim) for place in self._places_by_pair.get(pair, ()))
        likely = [place for place, _ in found.most_common(len(excluded) + _LIKELY) if place not in excluded]
        shares = [(contained_share(claim, self._texts[place]), -place) for place in likely]
        share, place = max(shares, default=(0.0, 1))
        return -place, share


def _letter_pairs(text: str) -> set[str]:
    return {one + other for one, other in pairwise(re.sub(r"\W", "", text))}


def contained_share(claim: str, text: str) -> float:
    """Return the share of the claim's word pairs that stand in the text."""
    wanted, present = word_pairs(claim), set(word_pairs(text))
    return sum(pair in present for pair in wanted) / len(wanted) if wanted else 0.0


def has_same_details(clause: str, rule: str) -> bool:
    """Return whether two clauses have the same values, with their bounds, and the same modals and negations."""
    return _details(clause) == _details(rule)


def _details(clause: str) -> set[str]:
    return {f"{word.key}{word.bound}" for word in rule_words(clause) if word.kind is not WordKind.PLAIN}


def word_pairs(text: str) -> list[str]:
    keys = [word.key for word in rule_words(text) if word.key not in _FILLER_WORDS]
    return [one + other for one, other in pairwise(keys)]
