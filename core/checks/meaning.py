"""Comparison in meaning, with the optional embedding model, of what would be 未见: it may be a free paraphrase.

Nothing else is compared so, and it ends as 未核 at most: never ✓, never 不符. Each text is embedded alone. Small models take no
longer so, and a verdict depends on nothing but the statement and its source.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from heapq import nlargest
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from core.answer.check_results import QuotedPassage, SourceCheck, Verdict
from core.base.embedding import Embedder, EmbeddingError
from core.checks.features import ParsedStatement
from core.checks.source_index import IndexedSource

if TYPE_CHECKING:
    import numpy

    Vector = numpy.ndarray[Any, numpy.dtype[numpy.float32]]

log = logging.getLogger(__name__)

NEAR_MEANING = 0.70
"""The cosine from which a sentence may say the same. Of the faithful statements far from the words of their source nine in
ten have such a sentence, of the unfounded ones one in five (docs/benchmarks.md, bge-small-zh-v1.5)."""
MAX_SENTENCES = 32
"""The number of sentences of a source that are compared with one statement: those that share its rarest characters. On pages of
250 sentences the paraphrased one was among the first 8."""
MAX_ASKED = 16
"""The number of comparisons in one answer. What is left over is 未核."""
MAX_KEPT_VECTORS = 2_048
_NEAR = "来源有意思相近的说法，措辞不同，程序不能断定。"
_NOT_COMPARED = "来源里没有相近的字句；意思没有比较，程序不能断定。"


class NearestSentence(NamedTuple):
    likeness: float
    """The cosine of the angle between two vectors."""
    passage: QuotedPassage


class MeaningComparison:
    """The comparison of a process. A model that fails is said once, and is not asked again."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._has_failed = False
        self._vector = lru_cache(MAX_KEPT_VECTORS)(self._embed)

    def warm_up(self) -> None:
        """Load the model, so that no answer waits for it."""
        self._try_to_embed(["问"])

    def review_absent(self, check: SourceCheck, statement: ParsedStatement, source: IndexedSource) -> SourceCheck:
        """Return a check that is 未见 as 未核 if a sentence of the source is near in meaning. Others remain as they are."""
        if check.verdict is not Verdict.ABSENT:
            return check
        found = self.nearest(statement, source)
        if found is None:
            return leave_open(check)
        if found.likeness < NEAR_MEANING:
            return check
        return replace(check, verdict=Verdict.UNCHECKED, reason=_NEAR, evidence=(found.passage,))

    def nearest(self, statement: ParsedStatement, source: IndexedSource) -> NearestSentence | None:
        """Return the sentence of a source that is nearest in meaning. None if the model fails."""
        passages = [source.quoted_passage(place, place) for place in _likeliest_sentences(statement, source)]
        vectors = self._try_to_embed([statement.text, *(passage.text for passage in passages)])
        if not vectors or not passages:
            return None
        asked, *others = vectors
        found = (NearestSentence(float(one @ asked), passage) for one, passage in zip(others, passages, strict=True))
        return max(found, key=attrgetter("likeness"))

    def _try_to_embed(self, texts: Iterable[str]) -> list[Vector] | None:
        if self._has_failed:
            return None
        try:
            return [self._vector(text) for text in texts]
        except EmbeddingError as error:
            self._has_failed = True
            log.warning("statements are compared by their words alone, and none is called 未见: %s", error)
            return None

    def _embed(self, text: str) -> Vector:
        vector: Vector = self._embedder.embed([text])[0]
        return vector


def leave_open(check: SourceCheck) -> SourceCheck:
    """Return a check that is 未见 as 未核: nobody is accused of what was not compared. Others remain as they are."""
    return replace(check, verdict=Verdict.UNCHECKED, reason=_NOT_COMPARED) if check.verdict is Verdict.ABSENT else check


def _likeliest_sentences(statement: ParsedStatement, source: IndexedSource) -> list[int]:
    """Return the sentences that share most with the statement, by its characters and how rare each is in the source."""
    wanted = set(statement.compact_text)
    shared = [wanted.intersection(source.folded[start:end]) for start, end in source.spans]
    counts = Counter(chain.from_iterable(shared))
    weights = {character: math.log(1 + len(shared) / count) for character, count in counts.items()}
    scores = [sum(map(weights.__getitem__, characters)) for characters in shared]
    return nlargest(MAX_SENTENCES, range(len(scores)), key=scores.__getitem__)
