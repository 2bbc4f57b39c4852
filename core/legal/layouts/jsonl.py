"""Laws and cases as JSON, one per line: the format for people with texts of their own.

A law (`name` and `articles` are required):
    {"type": "law", "name": "某某条例", "kind": "行政法规", "issuer": "国务院", "published": "2020-01-01",
     "effective": "2020-03-01", "status": "有效", "source": "某某网",
     "articles": [{"number": "第一条", "path": ["第一章 总则"], "text": "…"}]}
A case (`caseName`, and `text` or `summary`, are required; all names are in `core.legal.layouts.case_records`):
    {"type": "case", "caseNumber": "（2023）京01民终1234号", "caseName": "…", "court": "…", "date": "2023-05-06",
     "caseType": "民事", "cause": "民间借贷纠纷", "gist": "…", "summary": "…", "verdict": "…", "url": "https://…", "text": "…"}
`kind` is one of 宪法 法律 司法解释 行政法规 部门规章 地方性法规 其他; `caseType` one of 民事 刑事 行政 其他.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from core.base.chinese.calendar import iso_day
from core.base.text import clean, one_line
from core.legal.article_numbers import ArticleNumber, parse_article_number
from core.legal.entities import Article, Law, LawKind, LawStatus
from core.legal.layouts.case_records import parse_case_record
from core.legal.layouts.corpus_markdown import Undecodable, decode
from core.legal.layouts.items import Item, Skipped
from core.legal.layouts.source_files import SourceFile

NAME = "JSONL"


def is_ours(path: PurePosixPath) -> bool:
    return path.suffix == ".jsonl"


def is_metadata(path: PurePosixPath) -> bool:
    return False


def read(files: Iterable[SourceFile], metadata: Iterable[SourceFile]) -> Iterator[Item]:
    for entry in files:
        for number, line in enumerate(entry.lines(), start=1):
            if line.strip():
                yield _read_line(line, entry.path.name, number)


def _read_line(line: bytes, file: str, number: int) -> Item:
    try:
        record = json.loads(decode(line))
        return _law(record, file) if "articles" in record else parse_case_record(record, file)
    except Undecodable:
        reason = "编码无法识别"
    except json.JSONDecodeError:
        reason = "不是 JSON"
    except RecursionError:
        reason = "嵌套过深"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"缺少或写错的字段：{one_line(str(error))[:60]}"
    return Skipped(f"{file}:{number}", reason)


def _law(record: dict[str, Any], file: str) -> Law:
    articles = tuple(_article(article) for article in record["articles"])
    if not articles:
        raise ValueError("articles")
    return Law(
        name=_text(record, "name"),
        kind=LawKind(record.get("kind") or LawKind.OTHER),
        articles=articles,
        source=one_line(record.get("source") or file),
        issuer=one_line(record.get("issuer") or "") or None,
        published=iso_day(record.get("published")),
        effective=iso_day(record.get("effective")),
        repealed=record.get("status") == LawStatus.REPEALED.value,
    )


def _article(record: dict[str, Any]) -> Article:
    number = record.get("number")
    return Article(
        number=parse_article_number(str(number)) if number else ArticleNumber(0),
        text=clean(_text(record, "text")),
        path=tuple(one_line(str(title)) for title in record.get("path") or ()),
    )


def _text(record: dict[str, Any], key: str) -> str:
    value = record[key]
    if not isinstance(value, str) or not value.strip():
        raise ValueError(key)
    return one_line(value) if key != "text" else value.strip()
