"""Order of search results: by words, by meaning, and by what BM25 does not see of a law, an article or a case.

docs/benchmarks.md has the data for the weights."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from core.legal.entities import LawKind, LawStatus
from core.legal.text.law_popularity import popularity

_PRIOR = 0.3
"""Added weight of a statute over a regulation that fits as well."""
_COVERAGE = 0.5
_NOT_IN_FORCE = 0.5
_FAMILIARITY = 0.15
_LENGTH = 0.05
"""BM25 prefers short articles a little more than people's questions do."""
_SPECIAL_CONTRACTS = (("租", "融资", "融资租赁"),)
"""Letters of a general contract, the word that tells the special one from it, and the special one."""
_OTHER_CONTRACT = 0.5
_REFERENCE = 0.4
"""Share of its score that an article gives to each article it names."""
_KEPT = 3
"""Number of best hits that no other wording of the question may displace."""
_RANKS_ALIKE = 60
"""Usual constant of reciprocal rank fusion: the first few ranks of one wording count about the same."""


def law_weight(kind: LawKind, key: str, status: LawStatus) -> float:
    """Return the weight of a law from its rank, its popularity and whether it is in force."""
    in_force = _NOT_IN_FORCE if status in {LawStatus.REPEALED, LawStatus.NOT_YET_IN_FORCE} else 1.0
    return (1 + _PRIOR * kind.weight) * (1 + _FAMILIARITY * popularity(key)) * in_force


def kind_weight(question: str, article: str) -> float:
    """Return less than 1 for an article about a special contract (融资租赁) if the question is about the general one (租赁)."""
    is_other = any(
        general in question and mark not in question and special in article
        for general, mark, special in _SPECIAL_CONTRACTS
    )
    return _OTHER_CONTRACT if is_other else 1.0


def article_fit(coverage: float, length: int) -> float:
    return (1 + coverage) * math.pow(length, _LENGTH)


def fit(coverage: float) -> float:
    return 1 + _COVERAGE * coverage


def coverages(texts: Mapping[int, str], terms: Sequence[str]) -> dict[int, float]:
    """Return, by text, the share of the terms' characters that occur in it; those of few texts weigh most. Statutes say 赠送 where
    people say 送: the pairs differ, a character is the same."""
    parts = {part for term in terms for part in ((term,) if term.isascii() else term)}
    having = {part: [identity for identity, text in texts.items() if part in text] for part in parts}
    weights = {part: math.log((len(texts) + 1) / (len(found) + 0.5)) for part, found in having.items()}
    covered = dict.fromkeys(texts, 0.0)
    for part, found in having.items():
        for identity in found:
            covered[identity] += weights[part]
    total = sum(weights.values()) or 1.0
    return {identity: weight / total for identity, weight in covered.items()}


def add_referred(scores: Mapping[int, float], referred: Mapping[int, Iterable[int]]) -> dict[int, float]:
    """Return the scores with a part of an article's score added to the articles that it names (`referred`). Of several that
    name the same one, the best counts."""
    added: dict[int, float] = {}
    for identity, names in referred.items():
        for name in names:
            added[name] = max(added.get(name, 0.0), _REFERENCE * scores[identity])
    return {one: scores.get(one, 0.0) + added.get(one, 0.0) for one in (*scores, *(added.keys() - scores.keys()))}


def best_first(scores: Mapping[int, float]) -> list[int]:
    return sorted(scores, key=lambda identity: -scores[identity])


def fuse_rankings(rankings: Sequence[Sequence[int]], limit: int) -> list[int]:
    """Return the best ids of several rankings (reciprocal rank fusion), the first few of the first ranking among them."""
    fused: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, identity in enumerate(ranking):
            fused[identity] += 1 / (_RANKS_ALIKE + rank)
    best = best_first(fused)[:limit]
    missing = [identity for identity in rankings[0][: min(_KEPT, limit // _KEPT)] if identity not in best]
    return best[: limit - len(missing)] + missing
