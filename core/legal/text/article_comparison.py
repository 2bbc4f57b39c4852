"""Comparison of a restatement with an article: by its rules (`rule_comparison`) and word by word (`core.comparison`).

A sentence of the restatement agrees if one of the two finds it in the article. What differs is found by putting it right: if the
sentence then agrees, nothing else differs.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice, pairwise

from core.comparison import MAX_CLAUSES, ClauseSequence, Contradiction, ParsedClauses, StatementAlignment
from core.legal.text.article_clauses import article_clauses, is_whole_rule, used_clauses
from core.legal.text.paragraphs import excerpt
from core.legal.text.rule_comparison import (
    UNSURE,
    ArticleRules,
    RuleComparison,
    RuleMatch,
    can_be_aligned,
    contained_share,
    has_same_details,
    is_condition,
    is_long_enough,
    split_rules,
    split_sentences,
    word_pairs,
)
from core.legal.text.rule_fragments import is_fragment
from core.legal.text.rule_wording import (
    exchange_parties,
    has_parties_in_order,
    has_terms_of,
    names_parties_of,
    other_consequence,
    plain_wording,
    replace_terms,
    split_rules_of_claim,
    with_names_of,
    with_terms_of,
)

_MOST_TRIED = 12
"""Largest number of other terms that are tried in a sentence."""
_LIKE = 0.5
"""Smallest share of a sentence that its article holds, before another term is looked for in it."""
_FOREIGN = 0.2
"""Share of a claim below which it is of another article, or in words of its own."""
_STRANGE = 0.2
"""Largest share of a condition that an article holds without having it."""
_LONGEST_TERM = 8
"""Largest number of letters of a word that contradicts another. A longer stretch says more than one thing."""
_REFERS_BACK = re.compile("[这该此]|上述|前述|前款|实践中|[一通]般|通常")


def compare_with_article(
    claim: str, article: str, paragraph: int | None = None, item: int | None = None
) -> RuleComparison:
    """Compare each sentence of the claim with the article, or with one 款 or 项 of it."""
    found = _compare(claim, article, paragraph, item)
    return UNSURE if found.match is RuleMatch.AGREES and is_fragment(claim, article) else found


def _compare(claim: str, article: str, paragraph: int | None, item: int | None) -> RuleComparison:
    by_rules = ArticleRules(article, paragraph, item).compare(claim)
    if by_rules.match is RuleMatch.AGREES or not can_be_aligned(claim) or contained_share(claim, article) < _FOREIGN:
        return by_rules
    wording = with_names_of(article, plain_wording(claim))
    restated = _Restated(wording, _Article(with_terms_of(claim, plain_wording(article)), paragraph, item))
    if restated.agrees:
        return RuleComparison(RuleMatch.AGREES)
    return by_rules if by_rules.match is RuleMatch.CONTRADICTS else restated.difference()


_COMMA = re.compile("[，,：:]")
_CLAUSE_LIKE = 0.6
"""Smallest share of a clause that a clause of the rule holds, if that is to say the same."""
_ALIKE = 0.7
"""Smallest share of a claim that its article holds in similar words."""


def has_all_details(claim: str, article: str) -> bool:
    """Return whether an article has much of a claim and all that decides in it: each value with its bounds, each duty,
    negation and consequence, each party, and no term that excludes one of these."""
    article = plain_wording(article)
    claim = with_names_of(article, plain_wording(claim))
    if contained_share(claim, article) < _ALIKE or not has_terms_of(claim, article):
        return False
    rules = split_rules(article)
    return all(any(_has_clauses(sentence, rule) for rule in rules) for sentence in split_sentences(claim))


def _has_clauses(sentence: str, rule: str) -> bool:
    """Return whether each clause of a sentence has the values, modals and negations of the clauses of a rule that are most
    like it."""
    clauses = [one for one in _COMMA.split(rule) if one]
    joined = [*clauses, *(f"{one}，{other}" for one, other in pairwise(clauses))]
    for clause in filter(word_pairs, _COMMA.split(sentence)):
        shares = [contained_share(clause, one) for one in joined]
        best = [one for one, share in zip(joined, shares, strict=True) if share >= max(_CLAUSE_LIKE, max(shares) - 0.1)]
        if not any(has_same_details(clause, one) for one in best):
            return False
    return True


class _Article:
    """An article, or one 款 or 项 of it, in plain wording."""

    def __init__(self, text: str, paragraph: int | None, item: int | None) -> None:
        self.text = excerpt(text, paragraph, item) or text
        self.rules = ArticleRules(text, paragraph, item)
        self._part = text, paragraph, item

    @cached_property
    def passage(self) -> ClauseSequence:
        return article_clauses(*self._part)


class _Restated:
    """A restatement beside its article, sentence by sentence."""

    def __init__(self, claim: str, article: _Article) -> None:
        self._article = article
        self._sentences = split_sentences(claim)
        self._claim = "；".join(self._sentences)
        self._agreed: dict[int, bool] = {}

    @cached_property
    def _alignment(self) -> StatementAlignment | None:
        statement = ParsedClauses.from_text(self._claim)
        is_aligned = statement.count <= MAX_CLAUSES and len(statement.parts) == len(self._sentences)
        return StatementAlignment(statement, self._article.passage) if is_aligned else None

    @property
    def agrees(self) -> bool:
        return is_long_enough(self._claim) and all(map(self._agrees, range(len(self._sentences))))

    def _agrees(self, number: int) -> bool:
        if number not in self._agreed:
            self._agreed[number] = self._is_said(number) or self._are_rules_said(number)
        return self._agreed[number]

    def _is_said(self, number: int) -> bool:
        by_rules = self._article.rules.compare_sentence(self._sentences[number])
        return by_rules.match is RuleMatch.AGREES or self._is_aligned(number)

    def _is_aligned(self, number: int) -> bool:
        passage = self._article.passage
        found = self._alignment.find_part(number) if self._alignment else None
        if found is None or not found.is_same or not is_whole_rule(found.chain, passage):
            return False
        rule = "，".join(clause.text for clause in used_clauses(found.chain, passage))
        return has_parties_in_order(self._sentences[number], rule) and names_parties_of(self._sentences[number], rule)

    def _are_rules_said(self, number: int) -> bool:
        """Return whether a sentence has several rules, and the article says each."""
        rules = split_rules_of_claim(self._sentences[number])
        if len(rules) < 2:
            return False
        restated = _Restated("；".join([*self._sentences[:number], *rules]), self._article)
        return all(map(restated._is_said, range(number, number + len(rules))))

    # ── Differences ───────────────────────────────────────────────────────────────────────────────────────────────

    def difference(self) -> RuleComparison:
        """Return what differs, where that is sure."""
        for number, sentence in enumerate(self._sentences):
            if contained_share(sentence, self._article.text) >= _LIKE and not self._agrees(number):
                found = self._other_term(number) or self._other_condition(number) or self._other_consequence(number)
                if found:
                    return found
        contradiction = self._alignment.contradiction if self._alignment else None
        if contradiction and self._is_sure(contradiction):
            return _to_comparison(contradiction)
        strange = [one for number, one in enumerate(self._sentences) if not self._agrees(number)]
        return self._article.rules.find_replacement(strange[0]) if len(strange) == 1 else UNSURE

    def _agrees_with(self, number: int, sentence: str) -> bool:
        """Return whether the sentence of this number would agree if it were another one."""
        return _Restated("；".join([*self._sentences[:number], sentence]), self._article)._agrees(number)

    def _other_term(self, number: int) -> RuleComparison | None:
        sentence = self._sentences[number]
        for term, other, changed in islice(replace_terms(sentence, self._article.text), _MOST_TRIED):
            if self._agrees_with(number, changed):
                return RuleComparison(RuleMatch.CONTRADICTS, term, other)
        for one, other, changed in islice(exchange_parties(sentence), _MOST_TRIED):
            if self._agrees_with(number, changed):
                return RuleComparison(RuleMatch.EXCHANGES, one, other)
        return None

    def _other_condition(self, number: int) -> RuleComparison | None:
        by_rules = self._article.rules.compare_sentence(self._sentences[number])
        if by_rules.match is RuleMatch.DROPS_CONDITION and not self._has_condition(by_rules.actual):
            return by_rules
        condition, _, rest = self._sentences[number].partition("，")
        is_added = is_long_enough(rest) and is_condition(condition) and not _REFERS_BACK.search(condition)
        if is_added and contained_share(condition, self._article.text) <= _STRANGE and self._agrees_with(number, rest):
            return RuleComparison(RuleMatch.ADDS_CONDITION, condition)
        return None

    def _has_condition(self, condition: str) -> bool:
        """Return whether the claim may say the condition elsewhere, or has an item in the place of a list."""
        return "下列" in condition or contained_share(condition, self._claim) >= _LIKE

    def _other_consequence(self, number: int) -> RuleComparison | None:
        """Return what the claim says to follow from a condition of the article, if the article knows no such thing."""
        condition, comma, rest = self._sentences[number].partition("的，")
        word = other_consequence(rest, self._article.text) if comma else ""
        if word and is_long_enough(condition) and self._agrees_with(number, f"{condition}的"):
            return RuleComparison(RuleMatch.CONTRADICTS, word)
        return None

    def _is_sure(self, contradiction: Contradiction) -> bool:
        """Return False if the article has the stated value, too, so that another rule of it may be meant, and for the
        numbers of articles, because each text counts its own, and for what 否则 denies."""
        values = {word.key for word in contradiction.stated if word.value is not None}
        has_value = any(word.key in values for clause in self._article.passage.clauses for word in clause.words)
        is_denied = contradiction.kind == "wording" and ("否则" in self._claim or self._is_case(contradiction))
        return not has_value and not is_denied and contradiction.kind != "ordinal"

    def _is_case(self, contradiction: Contradiction) -> bool:
        """Return whether the article has the stated words, too, which name a case: 未如实告知的."""
        stated = "".join(word.text for word in contradiction.stated)
        cases = [clause for clause in _COMMA.split(self._claim) if is_condition(clause)]
        return len(stated) > 1 and stated[:-1] in self._article.text and any(stated in case for case in cases)


def _to_comparison(contradiction: Contradiction) -> RuleComparison:
    stated, found = ("".join(word.text for word in words) for words in (contradiction.stated, contradiction.found))
    if max(len(stated), len(found)) > _LONGEST_TERM:
        return UNSURE
    if contradiction.kind != "party":
        return RuleComparison(RuleMatch.CONTRADICTS, stated, found)
    return RuleComparison(RuleMatch.EXCHANGES, stated, found) if min(len(stated), len(found)) > 1 else UNSURE
