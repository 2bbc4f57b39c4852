"""The articles of the imported laws: by number, and by words or meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.legal.article_numbers import ArticleNumber
from core.legal.library import ranking
from core.legal.library.index_files import ARTICLE_FIELDS, TEXT, TextIndex, placeholders
from core.legal.library.law_index import LawIndex, LawVersion
from core.legal.text.lay_words import search_terms

_MARGIN = 140
"""More are asked for than are wanted: hits in old versions are dropped, and the prior moves others up."""
_FILTERED_MARGIN = 900
_WEIGHED = 65_536
_MEANT = 512
"""Characters: the model reads no more."""

SemanticScores = Callable[[str, int], Mapping[int, float]]
"""The articles that mean most nearly what a question means: their ids, and how nearly, at most 1."""
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
        self._weighed = lru_cache(maxsize=_WEIGHED)(self._weigh)

    def _articles(self, condition: str, *values: Any) -> list[StoredArticle]:
        rows = self._rows(f"SELECT id, law_id, number, suffix, path, text FROM article WHERE {condition}", *values)  # noqa: S608 (the conditions stand in this file)
        return [StoredArticle(row[0], row[1], ArticleNumber(row[2], row[3]), _path(row[4]), row[5]) for row in rows]

    def article(self, law_id: int, number: ArticleNumber) -> StoredArticle | None:
        found = self._articles("law_id = ? AND number = ? AND suffix = ? ORDER BY id LIMIT 1", law_id, *number)
        return found[0] if found else None

    def before(self, law_id: int, number: ArticleNumber, back: int) -> StoredArticle | None:
        """The article `back` places before: 前条 of 第一百二十一条 may be 第一百二十条之六."""
        found = self._articles(
            "law_id = ? AND number > 0 AND (number, suffix) < (?, ?) ORDER BY number DESC, suffix DESC LIMIT 1 OFFSET ?",
            law_id,
            *number,
            back - 1,
        )
        return found[0] if found else None

    def articles(self, law_id: int) -> list[StoredArticle]:
        """The whole law, in its own order."""
        return self._articles("law_id = ? ORDER BY id", law_id)

    def meanings(self) -> Iterator[tuple[int, str]]:
        """Each article of a current version, with the words that an embedding model is shown of it."""
        for law in self.laws():
            for article in self.articles(law.id):
                yield article.id, " ".join((law.name, *article.path, str(article.number), article.text))[:_MEANT]

    def highest(self, law_id: int) -> int:
        return int(self._rows("SELECT max(number) FROM article WHERE law_id = ?", law_id)[0][0] or 0)

    def search(
        self,
        text: str,
        limit: int,
        semantic_scores: SemanticScores = lambda _text, _limit: {},
        other_wordings: Sequence[str] = (),
        version_filter: VersionFilter | None = None,
    ) -> list[StoredArticle]:
        """Return the articles that fit the words, best first; of two that fit alike, the statute. `semantic_scores`
        adds those that mean the same in other words; `other_wordings` are the same question in other words.
        `version_filter` says which versions are searched; without it, the current ones."""
        pool = limit + (_MARGIN if version_filter is None else _FILTERED_MARGIN)
        wordings = (text, *other_wordings)
        best = ranking.fuse_rankings(
            (self._ranked(one, pool, semantic_scores, version_filter) for one in wordings), limit
        )
        found = {article.id: article for article in self._articles(f"id IN ({placeholders(best)})", *best)}
        return [found[identity] for identity in best]

    def _ranked(
        self, text: str, limit: int, semantic_scores: SemanticScores, version_filter: VersionFilter | None
    ) -> list[int]:
        """Return the ids of the articles that fit one wording, best first."""
        weighted, today = search_terms(text), self._today().isoformat()
        scores = ranking.fuse_scores(self._text.scores(weighted, limit), semantic_scores(text, limit))
        asked = [term for term, weight in weighted.items() if weight == 1.0]
        fitting: dict[int, float] = {}
        for identity, law_id, path, words in self._rows(
            f"SELECT id, law_id, path, text FROM article WHERE id IN ({placeholders(scores)})",  # noqa: S608 (question marks)
            *scores,
        ):
            law, (is_current, weight) = self.version(law_id), self._weighed(law_id, today)
            if version_filter(law) if version_filter else is_current:
                covered = ranking.coverage(f"{words}\n{law.name}\n{path}", asked)
                fitting[identity] = weight * ranking.article_fit(covered, len(words)) * scores[identity]
        return sorted(fitting, key=lambda identity: -fitting[identity])

    def _weigh(self, law_id: int, today: str) -> tuple[bool, float]:
        """Return whether it is the current version, and its weight. `today` says only how long this may be remembered."""
        law = self.version(law_id)
        return self.current(law.key) == law, ranking.law_weight(law.kind, law.key, self.status(law))

    def closeness(self, question: str) -> tuple[float, float]:
        """Return how well the best article fits a question, and how common its words are in laws; neither grows with the library."""
        weighted = search_terms(question)
        asked = [term for term, weight in weighted.items() if weight == 1.0]
        best = max(self._text.scores(weighted, 1).values(), default=0.0)
        common = sum(math.log1p(self._text.frequency(term, "body", "title")) for term in asked) / max(len(asked), 1)
        size = math.log1p(max(len(self._text), 1))
        return best / size, common / size


def _path(stored: str) -> tuple[str, ...]:
    return tuple(stored.split("\n")) if stored else ()
