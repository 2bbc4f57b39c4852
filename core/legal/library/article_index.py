"""The articles of the imported laws: by number, and by words or meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.base.fusion import fuse_scores
from core.legal.article_numbers import ArticleNumber
from core.legal.library import ranking
from core.legal.library.index_files import ARTICLE_FIELDS, TEXT, TextIndex, placeholders
from core.legal.library.law_index import LawIndex, LawVersion
from core.legal.text.lay_words import search_terms
from core.legal.text.statute_citations import find_citations

_MARGIN = 140
"""Number of extra hits to examine. Hits in old versions are dropped, and the weights of laws change the order."""
_FILTERED_MARGIN = 900
_REFERRING = 10
"""Number of best hits whose references are followed: the general rules that a special one names often belong to the answer."""
_EMBEDDED_LENGTH = 512
"""Characters of an article for the embedding model, which reads no more."""

SemanticScores = Callable[[str, int], Mapping[int, float]]
"""Function from a question and a limit to the ids of the articles closest in meaning, each with a score up to 1."""
VersionFilter = Callable[[LawVersion], bool]


@dataclass(frozen=True, slots=True)
class StoredArticle:
    id: int
    law_id: int
    number: ArticleNumber
    path: tuple[str, ...]
    text: str


class ArticleIndex(LawIndex):
    """The articles of one index."""

    def __init__(self, folder: Path, today: Callable[[], date] = date.today) -> None:
        super().__init__(folder, today)
        self._text = TextIndex(folder / TEXT, ARTICLE_FIELDS)
        self._cached_weight = lru_cache(maxsize=65_536)(self._weight_on)

    def _articles(self, condition: str, *values: Any) -> list[StoredArticle]:
        rows = self._rows(f"SELECT id, law_id, number, suffix, path, text FROM article WHERE {condition}", *values)  # noqa: S608 (the conditions stand in this file)
        return [
            StoredArticle(id, law_id, ArticleNumber(number, suffix), tuple(path.split("\n")) if path else (), text)
            for id, law_id, number, suffix, path, text in rows
        ]

    def article(self, law_id: int, number: ArticleNumber) -> StoredArticle | None:
        named = "law_id = ? AND number = ? AND suffix = ? ORDER BY id LIMIT 1"
        return next(iter(self._articles(named, law_id, *number)), None)

    def preceding_article(self, law_id: int, number: ArticleNumber, steps: int) -> StoredArticle | None:
        """Return the article that many steps before: 前条 of 第一百二十一条 may be 第一百二十条之六."""
        earlier = "law_id = ? AND number > 0 AND (number, suffix) < (?, ?) ORDER BY number DESC, suffix DESC"
        return next(iter(self._articles(f"{earlier} LIMIT 1 OFFSET ?", law_id, *number, steps - 1)), None)

    def articles(self, law_id: int) -> list[StoredArticle]:
        """Return all articles of a law, in its own order."""
        return self._articles("law_id = ? ORDER BY id", law_id)

    def meanings(self) -> Iterator[tuple[int, str]]:
        """Yield the id of each article of a current version, with its text for the embedding model."""
        for law in self.laws():
            for article in self.articles(law.id):
                words = " ".join((law.name, *article.path, str(article.number), article.text))
                yield article.id, words[:_EMBEDDED_LENGTH]

    def highest(self, law_id: int) -> int:
        return int(self._rows("SELECT max(number) FROM article WHERE law_id = ?", law_id)[0][0] or 0)

    def search(
        self,
        text: str,
        limit: int,
        semantic_scores: SemanticScores = lambda _text, _limit: {},
        other_wordings: Sequence[str] = (),
        version_filter: VersionFilter | None = None,
        named: Sequence[int] = (),
    ) -> list[StoredArticle]:
        """Return the articles that fit the words, best first; of two that fit alike, the statute. `semantic_scores`
        adds articles with the same meaning; `other_wordings` are the same question in other words, `named` the ids of
        articles that a model takes for the answer. `version_filter` accepts the versions to search; without it, the
        current ones are searched."""
        pool = limit + (_MARGIN if version_filter is None else _FILTERED_MARGIN)
        wordings = (text, *other_wordings)
        rankings = [self._rank(wording, pool, semantic_scores, version_filter) for wording in wordings]
        best = ranking.fuse_rankings([*rankings, named], limit)
        by_id = {article.id: article for article in self._articles(f"id IN ({placeholders(best)})", *best)}
        return [by_id[identity] for identity in best]

    def _rank(self, text: str, limit: int, semantic: SemanticScores, version_filter: VersionFilter | None) -> list[int]:
        """Return the ids of the articles that fit one wording, best first."""
        weighted, today = search_terms(text), self._today().isoformat()
        scores = fuse_scores(self._text.scores(weighted, limit), semantic(text, limit))
        asked = [term for term, weight in weighted.items() if weight == 1.0]
        texts, weights = {}, {}
        query = f"SELECT id, law_id, path, text FROM article WHERE id IN ({placeholders(scores)})"  # noqa: S608 (question marks)
        for identity, law_id, path, words in self._rows(query, *scores):
            is_current, weight = self._cached_weight(law_id, today)
            if version_filter(self.version(law_id)) if version_filter else is_current:
                texts[identity], weights[identity] = words, weight * ranking.kind_weight(text, f"{path}{words}")
        fitting = {
            identity: weights[identity] * ranking.article_fit(covered, len(texts[identity])) * scores[identity]
            for identity, covered in ranking.coverages(texts, asked).items()
        }
        best = ranking.best_first(fitting)[:_REFERRING]
        named = {identity: self._referred(identity, version_filter) for identity in best}
        return ranking.best_first(ranking.add_referred(fitting, named))

    def _referred(self, identity: int, version_filter: VersionFilter | None) -> set[int]:
        """Return the ids of the articles that an article names, in versions that are searched."""
        article = self._articles("id = ?", identity)[0]
        found = set()
        for citation in find_citations(article.text, self.is_known, in_statute=True) if "条" in article.text else ():
            law = self.version(article.law_id) if citation.is_own_law else self.resolve(citation.law or "")
            if law is None or not (version_filter is None or version_filter(law)):
                continue
            if citation.steps_back:
                named = [self.preceding_article(law.id, article.number, citation.steps_back)]
            else:
                named = [self.article(law.id, number) for number in (citation.article, citation.last) if number]
            found |= {one.id for one in named if one and one.id != identity}
        return found

    def _weight_on(self, law_id: int, today: str) -> tuple[bool, float]:
        """Return whether this is the current version, and its weight. `today` is only the key of the cache."""
        law = self.version(law_id)
        return self.current(law.key) == law, ranking.law_weight(law.kind, law.key, self.status(law))

    def frequency(self, word: str) -> int:
        """Return the number of articles that have a pair of letters."""
        return self._text.frequency(word, "body")

    def closeness(self, question: str) -> tuple[float, float]:
        """Return the fit of the best article, and the frequency of the question's words in laws, both independent of
        the library's size."""
        weighted = search_terms(question)
        asked = [term for term, weight in weighted.items() if weight == 1.0]
        best = max(self._text.scores(weighted, 1).values(), default=0.0)
        common = sum(math.log1p(self._text.frequency(term, "body", "title")) for term in asked) / max(len(asked), 1)
        size = math.log1p(max(len(self._text), 1))
        return best / size, common / size
