"""Form of case numbers (案号): whether a court, a type and a year can be as a text writes them.

The rules are those of 法〔2015〕137号, in force since 2016, and of 法〔2018〕335号. Only what these rules exclude is a
problem: a number of the right form may still belong to no case.
"""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from core.base.chinese.script import plain
from core.base.text import HAN
from core.legal.text.case_numbers import COURT, GuidingNumber, canonical_number, find_guiding_numbers

_FIRST_YEAR = 1985
_LAST_OLD_YEAR = 2015
"""Last year of the form 字第. Some courts wrote it in 2016, too."""

_FORM = re.compile(
    r"[(\[〔【]\s*(?P<year>\d{4})\s*年?\s*[)\]〕】]\s*"
    rf"(?P<body>[{HAN}][{HAN}\d() ]{{0,24}}?)\s*"
    r"(?P<old>字\s*第?\s*)?(?P<serial>\d{1,8}|[x×*_某]{1,8}|)\s*号(?:\s*之\s*[一二三四五六七八九十\d]{1,3})?",
    re.IGNORECASE,
)

# Type codes are a subject and the steps of a procedure (民辖终, 行赔申), or one of a few of their own.
_TYPE = re.compile(
    r"商[初终]|[知海]?(?:[刑民行]|行?赔)[初终监申抗再提撤特催督保令更他辖没医复解核备审止调教破算确]{1,3}"
    r"|[刑民行]?诉前?联?调[书确]?|[刑民行]?引调|执前?(?:[恢保异复监协他督和]|调)?"
    r"|[委法]赔[监提再他申]?|司救[刑民行赔执访他]|司惩复?|[财证]保|强?清[申终监他]?|破[申终监他初预]?"
    r"|[认请协助台港澳外移管赃送调引复他]{2,5}"
)
_SUBJECT = re.compile(r"[刑民行执破赔]|[初终申再]$")
_COURT_AND_TYPE = re.compile(
    rf"(?P<court>[{HAN}]{{0,4}}?\d{{0,6}})(?P<type>[知海]?[刑民行][初终监申抗再提撤特辖]{{1,2}})"
)
_OLD_TYPE = re.compile(r"[刑民行商经知海执破赔].*(?<=[初终申再监提抗撤特催督审赔辖核复异恢保清认商执破他])$|[执破]$")
_OTHER_BODIES = re.compile(r"检|仲|证(?!保)|裁|罚|复决")
"""Words in the numbers of prosecutors, arbitrators, notaries and authorities."""


def _codes(*ranges: int | tuple[int, int]) -> frozenset[int]:
    pairs = (one if isinstance(one, tuple) else (one, one) for one in ranges)
    return frozenset(code for first, last in pairs for code in range(first, last + 1))


_SPECIAL = _codes((71, 97))
"""Railway, maritime, forest and other special courts, and counties directly below a province."""
_PREFECTURES = {
    "京": _codes((1, 4)),
    "津": _codes((1, 3)),
    "冀": _codes((1, 11)),
    "晋": _codes((1, 11)),
    "内": _codes((1, 9), 22, 25, 29),
    "辽": _codes((1, 14)),
    "吉": _codes((1, 8), 24),
    "黑": _codes((1, 12), 27),
    "沪": _codes((1, 3)),
    "苏": _codes((1, 13)),
    "浙": _codes((1, 11)),
    "皖": _codes((1, 18)),
    "闽": _codes((1, 9)),
    "赣": _codes((1, 11)),
    "鲁": _codes((1, 17)),
    "豫": _codes((1, 17)),
    "鄂": _codes((1, 13), 28),
    "湘": _codes((1, 13), 31),
    "粤": _codes((1, 20), (51, 53)),
    "桂": _codes((1, 14)),
    "琼": _codes((1, 4)),
    "渝": _codes((1, 5)),
    "川": _codes((1, 20), (32, 34)),
    "黔": _codes((1, 6), (22, 27)),
    "贵": _codes((1, 6), (22, 27)),
    "云": _codes((1, 9), (23, 34)),
    "藏": _codes((1, 6), (21, 26)),
    "陕": _codes((1, 10)),
    "甘": _codes((1, 12), (21, 30)),
    "青": _codes((1, 2), (21, 28)),
    "宁": _codes((1, 5)),
    "新": _codes((1, 5), (21, 43)),
    "兵": _codes((1, 14)),
}
"""First two digits of the court codes of each province: those of its prefectures (GB/T 2260)."""


class CaseReference(NamedTuple):
    """A case that a text names, whether or not there can be such a number."""

    start: int
    end: int
    key: str
    """Number in one spelling."""
    problem: str = ""
    """Reason why no case can have this number, or empty."""


def find_case_references(text: str, today: date) -> list[CaseReference]:
    """Return all 案号 and numbers of guiding cases in a text, also the impossible ones."""
    found = [reference for match in _FORM.finditer(plain(text)) if (reference := _reference(match, today))]
    return sorted([*found, *map(_guiding_reference, find_guiding_numbers(text))])


def _guiding_reference(number: GuidingNumber) -> CaseReference:
    problem = "" if number.serial else "没有编号为 0 的指导性案例。"
    return CaseReference(number.start, number.start + len(number.text), number.canonical(), problem)


def _reference(found: re.Match[str], today: date) -> CaseReference | None:
    """Return the reference for what looks like a 案号, or None if it is the number of another document."""
    body = re.sub(r"\s+", "", found["body"])
    old = found["old"] is not None
    if _OTHER_BODIES.search(body) or not (_is_old_body(body) if old else _is_body(body)):
        return None
    problem = _year_problem(int(found["year"]), today.year, old=old) or ("" if old else _body_problem(body))
    if not found["serial"].isdigit():
        problem = problem or "缺少编号。"
    return CaseReference(found.start(), found.end(), canonical_number(found[0]), problem)


def _is_old_body(body: str) -> bool:
    return _OLD_TYPE.search(re.sub(r"\([^)]*\)", "", body)) is not None


def _is_body(body: str) -> bool:
    court = COURT.match(body)
    rest = body[court.end() :] if court else ""
    return _COURT_AND_TYPE.fullmatch(body) is not None or bool(
        court and (not rest or _TYPE.fullmatch(rest) or _SUBJECT.search(rest))
    )


def _year_problem(year: int, this_year: int, *, old: bool) -> str:
    if year > this_year:
        return f"{year} 年还没有到。"
    if year < _FIRST_YEAR:
        return f"{_FIRST_YEAR} 年以前没有这种案号。"
    if old and year > _LAST_OLD_YEAR + 1:
        return "2016 年起的案号不写「字第」。"
    if not old and year <= _LAST_OLD_YEAR:
        return "2015 年以前的案号写作「…字第…号」。"
    return ""


def _body_problem(body: str) -> str:
    """Return what is wrong with court and type of a number since 2016."""
    named = COURT.match(body)
    if named is None:
        parts = _COURT_AND_TYPE.fullmatch(body)
        court = parts["court"] if parts else ""
        return f"没有「{court}」这个法院代字。" if court else "缺少法院代字。"
    court, kind = named[0], body[named.end() :]
    if not kind:
        return "缺少类型代字，如「民终」「刑初」。"
    if not _is_court(court):
        return f"没有「{court}」这个法院代字。"
    if not _TYPE.fullmatch(kind):
        return f"没有「{kind}」这个类型代字。"
    if "终" in kind and len(court) == len("京0105"):
        return f"「{court}」是基层法院的代字，基层法院没有二审（终）案件。"
    return ""


def _is_court(code: str) -> bool:
    if code == "最高法" or code.startswith("军"):
        return True
    province, digits = code[0], code[1:]
    if province not in _PREFECTURES or len(digits) not in {0, 2, 4}:
        return False
    return not digits or int(digits[:2]) in _PREFECTURES[province] | _SPECIAL
