"""Relevance floor of case search: the share of a query that the best case must contain. Otherwise nothing is found.

Words count by their rarity among the cases: 数额 stands in cases of every kind, 盗窃 in few. The floors were
chosen with bench/case_queries.jsonl.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from core.base.chinese.script import to_simplified
from core.base.text import normalize
from core.legal.text.lay_words import search_terms

_LEAST_SHARE = 1 / 3
_LEAST_SHARE_OF_STORY = 1 / 5
_STORY_LENGTH = 20
"""Number of terms from which a query tells what happened. No case contains a third of somebody else's words."""
_REQUEST = re.compile("关于|有关|类似|相关|的?(?:案例|判例|类案|案件|案子)")
"""Words that ask for cases and say nothing about them."""


def case_terms(query: str) -> dict[str, float]:
    """Return the weighted search terms of a query, without the words that only ask for cases."""
    subject = _REQUEST.sub(" ", query)
    return search_terms(subject if subject.strip() else query)


class Relevance:
    """How much of one query a case contains."""

    def __init__(self, terms: Mapping[str, float], frequency: Callable[[str], int], case_count: int) -> None:
        counts = {term: frequency(term) for term in terms}
        joints = _joints([term for term, weight in terms.items() if weight == 1.0], counts)
        self._weights = {
            term: weight * math.log(1 + case_count / (counts[term] + 0.5))
            for term, weight in terms.items()
            if term not in joints
        }
        asked = [term for term in self._weights if terms[term] == 1.0]
        self._total = sum(self._weights[term] for term in asked)
        self.floor = _LEAST_SHARE if len(asked) < _STORY_LENGTH else _LEAST_SHARE_OF_STORY

    def share(self, text: str) -> float:
        """Return the share of the query that a text contains. Words of the law stand in for everyday words."""
        folded = to_simplified(normalize(text))
        found = sum(weight for term, weight in self._weights.items() if term in folded)
        return min(1.0, found / self._total) if self._total else 0.0


def _joints(terms: list[str], counts: Mapping[str, int]) -> set[str]:
    """Return pairs of letters that only join two words: no case has 司股, but cases have the 公司 and 股东 around it."""
    return {
        joint
        for before, joint, after in zip(terms, terms[1:], terms[2:], strict=False)
        if not counts[joint] and counts[before] and counts[after]
        if before[-1] == joint[0] and joint[-1] == after[0]
    }
