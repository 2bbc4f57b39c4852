"""Layout of github.com/lttxzmj/chinese-law-corpus: laws/*.json, guiding-cases/*.json and gazette-cases/*.json.

The dates of a law are those of its latest amendment. A text whose status is not "effective" is an older one (the
Criminal Law of 2009), and some documents were cut at the articles of their annexes: both are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from core.base.chinese.calendar import iso_day
from core.base.text import clean, one_line
from core.legal.article_numbers import ArticleNumber, parse_article_number
from core.legal.entities import Article, CaseType, CourtCase, Law, LawKind
from core.legal.layouts.case_records import web_address
from core.legal.layouts.corpus_markdown import tidy_heading, without_edition
from core.legal.layouts.items import Item, Skipped, decode_file
from core.legal.layouts.lawrefbook_cases import deciding_court_and_day
from core.legal.layouts.source_files import SourceFile
from core.legal.text.case_numbers import find_case_numbers

NAME = "chinese-law-corpus"
GUIDING_CASE = "指导性案例"

_KINDS = {"法律": LawKind.STATUTE, "司法解释": LawKind.INTERPRETATION, "宪法": LawKind.CONSTITUTION}
_FEWEST_ARTICLES = 0.9
"""Smallest share of the articles 1 to n that a whole law has."""
_UNFINISHED_LINE = 15
"""Fewest characters of a line that goes on in the next one. Shorter ones are items and cells of tables."""
_LINE_ENDS = "。；：！？…，、）)”》"
_ITEM = re.compile(r"\s*(?:[（(]?[一二三四五六七八九十\d]+[）)、.．]|第\S+条)")
_FACTS_BEGIN = re.compile(r"审理查明|查明[：:，]|审理认定")
_ORDER = re.compile(r"(?:判决|裁定|决定)如下[：:]?\s*$")
_SIGNATURE = re.compile(r"(?:代理)?审判[长员]|书记员")
_JUDGES = re.compile(r"[\[［【（(]?审判[长员]简介")
_LONGEST_SUMMARY = 1_000
_LONGEST_LINE = 500
_SIGNATURE_LINES = 10
"""Number of lines at the end of a judgment in which its day is looked for."""


def is_ours(path: PurePosixPath) -> bool:
    return path.suffix == ".json" and path.name != "index.json" and path.parent.name in _READERS


def is_metadata(path: PurePosixPath) -> bool:
    return False


def read(files: Iterable[SourceFile], metadata: Iterable[SourceFile]) -> Iterator[Item]:
    for entry in files:
        text = decode_file(entry)
        yield text if isinstance(text, Skipped) else _read_record(text, entry.path)


def _read_record(text: str, path: PurePosixPath) -> Item:
    try:
        return _READERS[path.parent.name](json.loads(text), path)
    except json.JSONDecodeError:
        reason = "不是 JSON"
    except RecursionError:
        reason = "嵌套过深"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"缺少或写错的字段：{one_line(str(error))[:60]}"
    return Skipped(str(path), reason)


# ── Laws ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _law(record: dict[str, Any], path: PurePosixPath) -> Item:
    name, status = without_edition(_line(record, "title")), record["status"]
    if status != "effective":
        return Skipped(str(path), f"《{name}》在源中标为不是现行文本（status：{one_line(str(status))[:20]}）")
    articles = list(map(_article, record["articles"]))
    if not _is_whole([article.number for article in articles]):
        return Skipped(str(path), f"《{name}》的条号不连续，源文件切分有误，条文不可靠")
    kind = _KINDS[record["category"]]
    published = iso_day(record["promulgationDate"])
    return Law(
        name=name,
        kind=LawKind.CONSTITUTION if name == "中华人民共和国宪法" else kind,
        articles=(*(_with_joined_lines(article) for article in articles[:-1]), articles[-1]),
        source=f"{NAME}：{path.name}",
        issuer=one_line(record.get("issuingAuthority") or "") or None,
        published=published,
        effective=iso_day(record.get("effectiveDate")),
    )


def _article(record: dict[str, Any]) -> Article:
    number = parse_article_number(_line(record, "displayNumber"))
    return Article(number, _text(record, "text"), tuple(map(tidy_heading, _lines(record, "path"))))


def _is_whole(numbers: Sequence[ArticleNumber]) -> bool:
    if not numbers or numbers[0].number != 1:
        return False
    rising = all(one < other for one, other in pairwise(numbers))
    return rising and len({number.number for number in numbers}) >= _FEWEST_ARTICLES * numbers[-1].number


def _with_joined_lines(article: Article) -> Article:
    """Join lines that break off inside a sentence. Not for the last article, which has the tables of the annexes."""
    lines: list[str] = []
    for line in article.text.splitlines():
        above = lines[-1] if lines else ""
        if len(above) >= _UNFINISHED_LINE and not above.endswith(tuple(_LINE_ENDS)) and not _ITEM.match(line):
            lines[-1] += line
        else:
            lines.append(line)
    return Article(article.number, "\n".join(lines), article.path)


# ── Cases ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _guiding_case(record: dict[str, Any], path: PurePosixPath) -> CourtCase:
    number = _integer(record, "number")
    parts = {title: _lines(record, key) for key, title in _GUIDING_PARTS.items()}
    keywords, gist, result = parts["关键词"], "\n".join(parts["裁判要点"]), "\n".join(parts["裁判结果"])
    court, day = deciding_court_and_day(result)
    issued = one_line(_string(record.get("issuedLine") or "")).strip("（）")
    text = "\n".join(line for title, lines in parts.items() if lines for line in (title, *lines))
    return CourtCase(
        name=_line(record, "title"),
        number=f"{GUIDING_CASE}{number}号",
        court=court,
        date=day,
        type=_type_of_keyword(keywords[0]) if keywords else None,
        gist=gist or None,
        summary="\n".join(parts["基本案情"]) or None,
        verdict=result or None,
        url=web_address(_string(record.get("sourceUrl") or "")),
        source=GUIDING_CASE,
        text="\n".join(filter(None, (issued, text))),
    )


_GUIDING_PARTS = {
    "keywords": "关键词",
    "gist": "裁判要点",
    "relatedLaws": "相关法条",
    "facts": "基本案情",
    "result": "裁判结果",
    "reasoning": "裁判理由",
}
"""Heading of each part, in the order in which the Supreme Court prints them."""


def _type_of_keyword(keyword: str) -> CaseType | None:
    if keyword in ("执行", "国家赔偿"):
        return CaseType.OTHER
    return next((kind for kind in CaseType if keyword.startswith(kind.value)), None)


def _gazette_case(record: dict[str, Any], path: PurePosixPath) -> CourtCase:
    lines = _without_judges(_lines(record, "body"))
    if not lines:
        raise ValueError("body")
    number = one_line(_string(record.get("caseNumber") or ""))
    return CourtCase(
        name=_line(record, "title"),
        number=number or None,
        court=one_line(_string(record.get("court") or "")) or None,
        date=_signing_day(lines),
        type=_type_of_judgment(number, lines[0]),
        summary=_facts(lines),
        verdict="\n".join(_order(lines)) or None,
        url=web_address(_string(record.get("sourceUrl") or "")),
        source=f"最高人民法院公报{_integer(record, 'issueYear')}年第{_integer(record, 'issueNo')}期",
        text="\n".join(lines),
    )


def _without_judges(lines: list[str]) -> list[str]:
    """Cut off the biographies of the judges, which the Gazette prints below a judgment."""
    end = next((place for place, line in enumerate(lines) if _JUDGES.match(line)), len(lines))
    return lines[:end]


def _signing_day(lines: Sequence[str]) -> str | None:
    """Return the day below the judgment: the last line that is nothing but a date."""
    days = (iso_day(line) for line in reversed(lines[-_SIGNATURE_LINES:]) if len(line) <= 15)
    return next(filter(None, days), None)


def _type_of_judgment(number: str, heading: str) -> CaseType | None:
    numbers = find_case_numbers(number)
    named = re.search(r"(民事|刑事|行政)(?:附带民事)?(?:判决书|裁定书|决定书|调解书)", heading)
    return numbers[0].type if numbers else CaseType(named[1]) if named else None


def _facts(lines: Sequence[str]) -> str | None:
    """Return the paragraph with the facts that the court found. The parties, with their birth dates and addresses, stand
    above it."""
    found = next((line for line in lines if _FACTS_BEGIN.search(line[:60])), None)
    return found[:_LONGEST_SUMMARY] if found else None


def _order(lines: Sequence[str]) -> list[str]:
    """Return the lines between 判决如下 and the names of the judges."""
    begin = next((place for place in reversed(range(len(lines))) if _ORDER.search(lines[place])), len(lines))
    order = list(lines[begin + 1 :])
    end = next((place for place, line in enumerate(order) if _SIGNATURE.match(line.replace(" ", ""))), len(order))
    return order[:end]


# ── Fields ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return clean(value)


def _text(record: dict[str, Any], key: str) -> str:
    text = _string(record[key]).strip()
    if not text:
        raise ValueError(key)
    return text


def _line(record: dict[str, Any], key: str) -> str:
    line = one_line(_text(record, key))
    if len(line) > _LONGEST_LINE:
        raise ValueError(key)
    return line


def _lines(record: dict[str, Any], key: str) -> list[str]:
    values = record.get(key) or []
    if not isinstance(values, list):
        raise TypeError(key)
    return [line for value in values if (line := _string(value).strip())]


def _integer(record: dict[str, Any], key: str) -> int:
    value = record[key]
    if type(value) is not int or not 0 < value < 10_000:
        raise ValueError(key)
    return value


_READERS: dict[str, Callable[[dict[str, Any], PurePosixPath], Item]] = {
    "laws": _law,
    "guiding-cases": _guiding_case,
    "gazette-cases": _gazette_case,
}
"""Reader of each folder."""
