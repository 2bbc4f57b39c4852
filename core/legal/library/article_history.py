"""History of one article through the versions of its law, also where its number changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from core.legal.library.article_index import StoredArticle
from core.legal.library.index import LegalIndex
from core.legal.library.law_index import LawVersion
from core.legal.library.version_on_day import missing_amendments

_ALIKE = 0.5
"""Smallest share of common letter pairs for two articles to count as one that was reworded."""

_ITEM = re.compile(r"\n(?=[一二三四五六七八九十]+、)")


class ArticleVersion(NamedTuple):
    """The article in one version of its law, or an amendment whose text the library does not have."""

    day: str
    law: LawVersion | None = None
    article: StoredArticle | None = None
    """None if that version has nothing like the article."""


def article_history(index: LegalIndex, shown_article: StoredArticle) -> list[ArticleVersion]:
    """Return the versions of an article, newest first, matched by number if the words are similar, else by words."""
    versions = sorted(index.versions(index.version(shown_article.law_id).key), key=lambda law: law.begins, reverse=True)
    at = next(place for place, law in enumerate(versions) if law.id == shown_article.law_id)
    newer = list(_follow(index, shown_article, versions[:at][::-1]))[::-1]
    shown = ArticleVersion(versions[at].begins, versions[at], shown_article)
    older = _follow(index, shown_article, versions[at + 1 :])
    stages = [*newer, shown, *older, *map(ArticleVersion, missing_amendments(versions))]
    return sorted(stages, key=lambda stage: stage.day, reverse=True)


def _follow(index: LegalIndex, article: StoredArticle, versions: Sequence[LawVersion]) -> Iterator[ArticleVersion]:
    for law in versions:
        counterpart = _counterpart(index, law, article)
        yield ArticleVersion(law.begins, law, counterpart)
        article = counterpart or article


def _counterpart(index: LegalIndex, law: LawVersion, article: StoredArticle) -> StoredArticle | None:
    same = index.article(law.id, article.number)
    if same and are_alike(same.text, article.text):
        return same
    best = max(index.articles(law.id), key=lambda one: similarity(one.text, article.text), default=None)
    return best if best and similarity(best.text, article.text) >= _ALIKE else None


def are_alike(one: str, other: str) -> bool:
    """Return whether two texts of the same number may be one article before and after an amendment."""
    return containment(one, other) >= _ALIKE


def similarity(one: str, other: str) -> float:
    """Return the similarity of two texts: 1 for the same words, whatever the punctuation."""
    mine, others = _pairs(one), _pairs(other)
    return 2 * len(mine & others) / (len(mine) + len(others)) if mine and others else float(one == other)


def containment(one: str, other: str) -> float:
    """Return the share of the shorter text that the longer one contains. Amendments make articles longer."""
    mine, others = _pairs(one), _pairs(other)
    return len(mine & others) / min(len(mine), len(others)) if mine and others else float(one == other)


@lru_cache(maxsize=8192)
def _pairs(text: str) -> frozenset[str]:
    letters = re.sub(r"\W", "", text)
    return frozenset(letters[at : at + 2] for at in range(len(letters) - 1))


def has_same_words(one: str, other: str) -> bool:
    return re.sub(r"\W", "", one) == re.sub(r"\W", "", other)


class AmendingItem(NamedTuple):
    """Item of an amendment (刑法修正案) that names an article."""

    law: LawVersion
    text: str


def amending_items(index: LegalIndex, shown_article: StoredArticle) -> list[AmendingItem]:
    """Return the items of amendments that name this article, newest first."""
    law = index.version(shown_article.law_id)
    mention = re.compile(rf"{re.escape(law.key)}{shown_article.number}(?![之后])|作为{shown_article.number}(?!之)")
    items = [
        AmendingItem(document, item.strip())
        for document in index.laws()
        if document.key.startswith(f"{law.key}修正案")
        for article in index.articles(document.id)
        for item in _ITEM.split(article.text)
        if mention.search(item)
    ]
    return sorted(items, key=lambda one: one.law.published or "", reverse=True)
