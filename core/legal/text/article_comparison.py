"""Comparison of a restatement with an article: by rules of the law (`rule_comparison`) and word by word (`core.comparison`).

Each sentence of the restatement agrees if one of the two finds it in the article. A term that excludes the article's is found
by putting that in its place: if the sentence then agrees, nothing else differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice

from core.comparison import (
    MAX_CLAUSES,
    Chain,
    ClauseMatch,
    Contradiction,
    ParsedClauses,
    Passage,
    PassageClause,
    StatementAlignment,
    Word,
    read_clauses,
)
from core.legal.text.paragraphs import excerpt, split_paragraphs
from core.legal.text.rule_comparison import (
    UNSURE,
    ArticleRules,
    RuleComparison,
    RuleMatch,
    contained_share,
    is_condition,
    is_long_enough,
    rules_for_item,
    split_sentences,
)
from core.legal.text.rule_wording import exchanged_parties, has_parties_in_order, other_consequence, other_terms, plain_wording, split_rules_of_claim, with_names_of

_AGREES = RuleComparison(RuleMatch.AGREES)
_MOST_TERMS = 12
"""Largest number of other terms that are tried in a sentence."""
_LIKE = 0.5
"""Smallest share of a sentence that its article holds, before another term is looked for in it."""
_STRANGE = 0.2
"""Largest share of a condition that an article may hold which does not have it."""
_LONGEST_OMISSION = 8
"""Largest number of letters that may be left out between two words."""
_SUBJECT_OF_LIST = re.compile(r"^[^，,：:。；]{1,30}?(?=有下列)")
_ALTERNATIVES = re.compile(r"([^，。；：]{2,60}的)，或者([^，。；]{2,60}的)，")
_EITHER = re.compile(r"^([^，。；：]{4,60})或者([^，。；：]{4,60}的)，")
_NEGATION = re.compile("[不未没无非]")
_LIGHT = frozenset(["已", "劳动者", "当事人", "本人", "履行", "义务", "有关", "相关", "依法"])
_ASIDE = "或与向对以在把为"
"""First letters of what a rule may be told without: a further case, or with whom, to whom and by what means."""
_OR = frozenset(["或", "或者"])
_AND = frozenset(["并", "且", "并且", "而且", "又", "同时"])
_REFERS_BACK = re.compile("[这该此]|上述|前述|前款|这里|实践中|[一通]般|通常")
_SENTENCE = re.compile(r"(?<=[。！？])")


def compare_with_article(
    claim: str, article: str, paragraph: int | None = None, item: int | None = None
) -> RuleComparison:
    """Compare each sentence of the claim with the article, or with one 款 or 项 of it."""
    by_rules = ArticleRules(article, paragraph, item).compare(claim)
    if by_rules.match is RuleMatch.AGREES:
        return by_rules
    wording = _Article(plain_wording(article), paragraph, item)
    restated = _Restated(with_names_of(article, plain_wording(claim)), wording)
    if restated.agrees:
        return _AGREES
    return by_rules if by_rules.match is RuleMatch.CONTRADICTS else restated.difference()


class _Article:
    """An article in plain wording, or one 款 or 项 of it, as rules and as clauses."""

    def __init__(self, text: str, paragraph: int | None, item: int | None) -> None:
        self.text = excerpt(text, paragraph, item) or text
        self.rules = ArticleRules(text, paragraph, item)
        self._paragraphs = [
            lines for number, lines in enumerate(split_paragraphs(text), 1) if paragraph in (None, number)
        ]
        self._item = item

    @cached_property
    def passage(self) -> Passage:
        """The clauses of the article, and behind them each item in the place of its list."""
        clauses: list[PassageClause] = []
        sentence = part = 0
        for text in self._texts():
            for one in filter(str.strip, _SENTENCE.split(text)):
                for rule in re.split("[；;]", one):
                    clauses += read_clauses(rule, sentence, part, 0)
                    part += 1
                sentence += 1
            part += 1  # What follows is no continuation.
        return Passage(clauses)

    def _texts(self) -> Iterator[str]:
        for opening, *items in self._paragraphs:
            wanted = [line for line in items if not self._item or line == excerpt(line, None, self._item)]
            if not self._item:
                yield opening
            for line in wanted:
                yield from (_expand_item(opening, line))
        for lines in self._paragraphs if not self._item else ():
            yield from (rule for line in lines for rule in _expand_alternatives(line))


def _expand_item(opening: str, line: str) -> Iterator[str]:
    yield from rules_for_item(opening, line)
    if _SUBJECT_OF_LIST.search(opening):
        *_, expanded = rules_for_item(_SUBJECT_OF_LIST.sub("", opening), line)
        yield expanded


def _expand_alternatives(line: str) -> Iterator[str]:
    """Yield a rule for each of two conditions: 殴打他人的，或者伤害他人的，处拘留."""
    for rule in re.split("[。；;]", line):
        if found := _ALTERNATIVES.search(rule):
            yield from (f"{rule[: found.start()]}{found[one]}，{rule[found.end() :]}" for one in (1, 2))
        # 未经批准或者备案的 is no rule about 备案的.
        if (found := _EITHER.search(rule)) and not (_NEGATION.search(found[1]) and not _NEGATION.search(found[2])):
            yield rule[found.start(2) :]


class _Restated:
    """A restatement in plain wording beside its article."""

    def __init__(self, claim: str, article: _Article) -> None:
        self._article = article
        self._sentences = split_sentences(claim)
        self._claim = "；".join(self._sentences)

    @cached_property
    def _alignment(self) -> StatementAlignment | None:
        statement = ParsedClauses.from_text(self._claim)
        is_comparable = statement.count <= MAX_CLAUSES and len(statement.parts) == len(self._sentences)
        return StatementAlignment(statement, self._article.passage) if is_comparable else None

    @property
    def agrees(self) -> bool:
        return is_long_enough(self._claim) and all(map(self._agrees, range(len(self._sentences))))

    def _agrees(self, number: int) -> bool:
        return self._is_said(number) or self._is_said_in_rules(number)

    def _is_said_in_rules(self, number: int) -> bool:
        """Return whether each rule of a sentence that has several is said."""
        rules = split_rules_of_claim(self._sentences[number])
        if len(rules) < 2:
            return False
        restated = _Restated("；".join([*self._sentences[:number], *rules]), self._article)
        return all(map(restated._is_said, range(number, number + len(rules))))

    def _is_said(self, number: int) -> bool:
        if self._article.rules.compare_sentence(self._sentences[number]).match is RuleMatch.AGREES:
            return True
        found = self._alignment.find_part(number) if self._alignment else None
        if found is None or not found.is_same or not _is_whole_rule(found.chain, self._article.passage):
            return False
        clauses = self._article.passage.clauses
        used = sorted({place for match in found.chain for place in match.places})
        return has_parties_in_order(self._sentences[number], "，".join(clauses[place].text for place in used))

    def difference(self) -> RuleComparison:
        """Return what differs, where that is sure."""
        for number in range(len(self._sentences)):
            if not self._agrees(number) and (found := self._difference_in(number)):
                return found
        contradiction = self._alignment.contradiction if self._alignment else None
        if contradiction is None or self._is_said_elsewhere(contradiction):
            return UNSURE
        found = _to_comparison(contradiction)
        is_name = min(len(found.claimed), len(found.actual)) > 1
        return found if is_name or found.match is RuleMatch.CONTRADICTS else UNSURE

    def _is_said_elsewhere(self, contradiction: Contradiction) -> bool:
        """Return whether the article has the stated value, too: another rule of it may be meant."""
        values = {word.key for word in contradiction.stated if word.value is not None}
        return any(word.key in values for clause in self._article.passage.clauses for word in clause.words)

    def _difference_in(self, number: int) -> RuleComparison | None:
        sentence = self._sentences[number]
        if contained_share(sentence, self._article.text) < _LIKE:
            return None
        for term, other, changed in islice(other_terms(sentence, self._article.text), _MOST_TERMS):
            if self._with(number, changed)._agrees(number):
                return RuleComparison(RuleMatch.CONTRADICTS, term, other)
        for one, other, changed in islice(exchanged_parties(sentence), _MOST_TERMS):
            if self._with(number, changed)._agrees(number):
                return RuleComparison(RuleMatch.EXCHANGES, one, other)
        by_rules = self._article.rules.compare_sentence(sentence)
        if by_rules.match is RuleMatch.DROPS_CONDITION and not self._has_condition(by_rules.actual):
            return by_rules
        return self._added_condition(number) or self._other_consequence(number)

    def _other_consequence(self, number: int) -> RuleComparison | None:
        """Return what the claim says to follow under a condition of the article, if the article knows no such thing."""
        condition, comma, rest = self._sentences[number].partition("的，")
        word = other_consequence(rest, self._article.text) if comma else ""
        if word and is_long_enough(condition) and self._with(number, condition + "的")._is_said(number):
            return RuleComparison(RuleMatch.CONTRADICTS, word)
        return None

    def _has_condition(self, condition: str) -> bool:
        """Return whether the claim may say the condition elsewhere, or in other words."""
        return "下列" in condition or contained_share(condition, self._claim) >= _LIKE

    def _added_condition(self, number: int) -> RuleComparison | None:
        condition, comma, rest = self._sentences[number].partition("，")
        if not comma or not is_condition(condition) or _REFERS_BACK.search(condition) or contained_share(condition, self._article.text) > _STRANGE:
            return None
        is_rest_said = is_long_enough(rest) and self._with(number, rest)._agrees(number)
        return RuleComparison(RuleMatch.ADDS_CONDITION, condition) if is_rest_said else None

    def _with(self, number: int, sentence: str) -> _Restated:
        return _Restated("；".join([*self._sentences[:number], sentence, *self._sentences[number + 1 :]]), self._article)


def _is_whole_rule(chain: Chain, passage: Passage) -> bool:
    """Return whether the aligned clauses are of one rule, none of its conditions left out or narrowed."""
    clauses = passage.clauses
    used = sorted({place for match in chain for place in match.places})
    if _joins_rules([clauses[place] for place in used]) or any(_narrows(match, clauses) for match in chain):
        return False
    conditions = [place for place in range(used[-1]) if is_condition(clauses[place].text)]
    first = clauses[used[0]]
    own = [place for place in conditions if clauses[place].part >= first.part]
    # Without a condition of its own, a rule has that of the one before it.
    inherited = [place for place in conditions if _continues(clauses[place], first)]
    return all(place in used for place in own or inherited)


def _continues(earlier: PassageClause, clause: PassageClause) -> bool:
    return earlier.sentence == clause.sentence and earlier.part + 1 == clause.part


def _joins_rules(clauses: Sequence[PassageClause]) -> bool:
    """Return whether the clauses are of two sentences, or of two rules of one sentence, each with a condition."""
    first = clauses[0]
    later = [clause for clause in clauses if clause.part != first.part]
    return clauses[-1].sentence != first.sentence or any(is_condition(clause.text) for clause in later)


def _narrows(match: ClauseMatch, clauses: Sequence[PassageClause]) -> bool:
    """Return whether words left out may be what the rule is about: 造成重大损失的, 造成损失的."""
    used = [clauses[place] for place in match.places]
    longest = 0 if any(is_condition(clause.text) for clause in used) else _LONGEST_OMISSION
    for gap in match.gaps:
        text = "".join(word.text for word in gap.skipped)
        is_repeated = any(clause.text.count(text) > 1 for clause in used)
        is_light = text in _LIGHT or text[:1] in _ASIDE or is_repeated
        if text in _OR or (gap.is_inside and len(text) > longest and not is_light):
            return True
    _, place, first = match.pairs[0]
    before = [word for word in clauses[place].words if word.end <= first.start]
    return bool(before) and before[-1].text in _AND


def _to_comparison(contradiction: Contradiction) -> RuleComparison:
    stated, found = ("".join(word.text for word in words) for words in contradiction[1:])
    match = RuleMatch.EXCHANGES if contradiction.kind == "party" else RuleMatch.CONTRADICTS
    return RuleComparison(match, stated, found)
