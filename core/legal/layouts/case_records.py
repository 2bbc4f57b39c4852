"""Court case from a record with named fields, as JSON or as a row of a table. Field names are English, or the words of
the courts.

| field      | also                                  | what it is                                             |
|---|---|---|
| caseName   | 案件名称 案名 标题 名称               | required                                               |
| text       | 全文 正文 判决书 文书内容             | required, unless there is a summary                    |
| caseNumber | 案号                                  | （2023）京01民终1234号 or 指导性案例24号, any notation  |
| court      | 法院 审理法院 法院名称                |                                                        |
| date       | 裁判日期 判决日期 日期                | 2023-05-06, 2023年5月6日, 2023/5/6                     |
| caseType   | 案件类型 类型                         | 民事 刑事 行政 其他; default: read from the number     |
| cause      | 案由                                  | 民间借贷纠纷                                           |
| gist       | 裁判要旨 要旨 裁判要点                | shown first                                            |
| summary    | 案情 基本案情 摘要                    |                                                        |
| verdict    | 裁判结果 判决结果                     |                                                        |
| url        | 网址 链接 原始链接                    | http or https                                          |
| source     | 来源                                  | default: the name of the file                          |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.base.chinese.calendar import iso_day
from core.base.text import clean, one_line
from core.base.web_addresses import host_of
from core.legal.entities import CaseType, CourtCase
from core.legal.text.case_numbers import find_case_numbers

FIELDS: dict[str, tuple[str, ...]] = {
    "caseName": ("案件名称", "案名", "标题", "名称"),
    "text": ("全文", "正文", "判决书", "文书内容"),
    "caseNumber": ("案号",),
    "court": ("法院", "审理法院", "法院名称"),
    "date": ("裁判日期", "判决日期", "日期"),
    "caseType": ("案件类型", "类型"),
    "cause": ("案由",),
    "gist": ("裁判要旨", "要旨", "裁判要点"),
    "summary": ("案情", "基本案情", "摘要"),
    "verdict": ("裁判结果", "判决结果"),
    "url": ("网址", "链接", "原始链接"),
    "source": ("来源",),
}


def parse_case_record(record: Mapping[str, Any], file: str) -> CourtCase:
    """Return the case of a record. Raises ValueError with the name of a missing or wrong field."""
    given = {name: _text(record, name) for name in FIELDS}
    number = one_line(given["caseNumber"])
    numbers = find_case_numbers(number)
    text, summary = clean(given["text"]), clean(given["summary"])
    name = one_line(given["caseName"])
    if not name:
        raise ValueError("caseName")
    if not text and not summary:
        raise ValueError("text")
    return CourtCase(
        name=name,
        number=number or None,
        court=one_line(given["court"]) or None,
        date=iso_day(given["date"]),
        type=_type(one_line(given["caseType"])) or (numbers[0].type if numbers else None),
        cause=one_line(given["cause"]) or None,
        gist=clean(given["gist"]) or None,
        summary=summary or None,
        verdict=clean(given["verdict"]) or None,
        url=web_address(given["url"]),
        source=one_line(given["source"]) or file,
        text=text or summary,
    )


def web_address(text: str) -> str | None:
    """Return an address that a reader may follow, or None for anything else."""
    url = one_line(text)
    return url if host_of(url) and url.startswith(("http://", "https://")) else None


def _text(record: Mapping[str, Any], name: str) -> str:
    value = next((record[key] for key in (name, *FIELDS[name]) if record.get(key)), "")
    if not isinstance(value, str | int):
        raise ValueError(name)
    return str(value).strip()


def _type(written: str) -> CaseType | None:
    """Return the case type that a text begins with: 民事案件 and 民事一审 are 民事."""
    found = next((kind for kind in CaseType if written.startswith(kind.value)), None)
    if written and found is None:
        raise ValueError("caseType")
    return found
