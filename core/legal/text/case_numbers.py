"""Case numbers (案号) in all their forms with the type of case that they state, and numbers of guiding cases.

Since 2016: （2023）京01民终1234号, that is （year）court, type, serial. Before: （2014）沂南刑初字第348号. Documents of
authorities (法释〔2020〕17号) have their words before the year and only the serial after it. Guiding cases are numbered
by the Supreme People's Court (指导性案例24号) and, in a series of its own, by the procuratorate (检例第24号).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.base.chinese.numerals import NUMERAL, to_int
from core.base.chinese.script import plain
from core.base.text import HAN
from core.legal.entities import CaseType

_FORM = re.compile(
    r"[(\[〔【]\s*(?:19|20)\d{2}\s*年?\s*[)\]〕】]\s*"
    rf"(?P<body>[{HAN}][{HAN}\d() ]{{0,24}}?)\s*"
    r"(?P<old>字\s*第?\s*)?\d{1,8}\s*号(?:\s*之\s*[一二三四五六七八九十\d]{1,3})?"
)
COURT = re.compile(r"最高法|[京津冀晋内蒙辽吉黑沪苏浙皖闽赣鲁豫鄂湘粤桂琼渝川黔贵云藏陕甘青宁新兵军]\d*")
# The name of a court may hold 民 or 行 (（2014）民刑初字第1号 is a criminal case of 民权县), so 刑 is looked for first.
_TYPES = (
    ("刑", CaseType.CRIMINAL),
    ("行", CaseType.ADMINISTRATIVE),
    ("民", CaseType.CIVIL),
    *((mark, CaseType.CIVIL) for mark in "商经知海"),
    *((mark, CaseType.OTHER) for mark in "执破赔财认仲督催强清司请特委他"),
)


def _serial(group: str) -> str:
    return rf"第?\s*(?P<{group}>{NUMERAL})\s*号"


_PROCURATORATE = r"最高(?:人民)?检(?:察院)?\s*(?:发布的?)?\s*"
_GUIDING = re.compile(
    rf"检例\s*{_serial('procuratorate')}"
    rf"|(?P<by>{_PROCURATORATE})?(?:"
    rf"指导性?案例[\s:(《]{{0,3}}(?:{_serial('after')}|第?\s*(?P<bare>\d{{1,4}})(?![\d.%]|\s*[批个件起条年月日例篇宗]))"
    rf"|{_serial('before')}\s*(?P<by_after>{_PROCURATORATE})?指导性?案例)"
)
_NEXT = re.compile(rf"\s*[、,和及与]\s*{_serial('serial')}(?!\s*(?:指导|[民刑行]))")
_MAY_NAME = re.compile(r"[)）\]］〕】]\s*[^\s\d][^\n]{0,80}?[号號]|指[导導]性?案例|[检檢]例")


@dataclass(frozen=True, slots=True)
class CaseNumber:
    start: int
    text: str
    """The number as written in the text."""
    type: CaseType

    def canonical(self) -> str:
        return canonical_number(self.text)


def canonical_number(written: str) -> str:
    """Return one spelling of a 案号 for all brackets, widths and spaces."""
    return re.sub(r"[(\[〔【](\d+)年?[)\]〕】]", r"（\1）", re.sub(r"\s+", "", plain(written)), count=1)


def find_case_numbers(text: str) -> list[CaseNumber]:
    return [number for found in _FORM.finditer(plain(text)) if (number := _read(found, text))]


def _read(found: re.Match[str], text: str) -> CaseNumber | None:
    body = re.sub(r"\s+", "", found["body"])
    court = "" if found["old"] else (COURT.match(body) or [""])[0]
    rest = body[len(court) :]
    kind = next((kind for mark, kind in _TYPES if mark in rest), None)
    if kind is None or "检" in rest or not (court or found["old"]):  # 检: the number of a prosecutor's document
        return None
    return CaseNumber(found.start(), text[found.start() : found.end()], kind)


@dataclass(frozen=True, slots=True)
class GuidingNumber:
    """Number of a guiding case: 指导性案例24号, 第二十四号指导案例, 检例第24号."""

    start: int
    text: str
    """The number as written in the text."""
    serial: int
    is_procuratorate: bool = False

    def canonical(self) -> str:
        return f"检例第{self.serial}号" if self.is_procuratorate else f"指导性案例{self.serial}号"


def find_guiding_numbers(text: str) -> list[GuidingNumber]:
    """Return the guiding cases that a text names. In 指导案例24号、25号 both are named."""
    return [number for found in _GUIDING.finditer(plain(text)) for number in _guiding_numbers(found, text)]


def _guiding_numbers(found: re.Match[str], text: str) -> Iterator[GuidingNumber]:
    procuratorate = bool(found["procuratorate"] or found["by"] or found["by_after"])
    numeral = next(filter(None, found.group("procuratorate", "after", "bare", "before")))
    piece: re.Match[str] | None = found
    while piece:
        try:
            serial = to_int(numeral)
        except ValueError:
            return
        start = piece.start() if piece is found else piece.start("serial")
        yield GuidingNumber(start, text[start : piece.end()], serial, procuratorate)
        piece = _NEXT.match(found.string, piece.end()) if not found["before"] else None
        numeral = piece["serial"] if piece else ""


def case_keys(text: str) -> list[str]:
    """Return the keys of the cases that a text names by 案号 or as guiding cases, each once."""
    numbers: list[CaseNumber | GuidingNumber] = [*find_case_numbers(text), *find_guiding_numbers(text)]
    return list(dict.fromkeys(number.canonical() for number in sorted(numbers, key=lambda one: one.start)))


def may_name_case(text: str) -> bool:
    """Return quickly whether a text may name a case. False is certain."""
    return _MAY_NAME.search(text) is not None
