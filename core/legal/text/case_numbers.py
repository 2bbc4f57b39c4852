"""Case numbers (案号) in all their forms, and the type of case that they state.

Since 2016: （2023）京01民终1234号, that is （year）court, type, serial. Before: （2014）沂南刑初字第348号. Documents of
authorities (法释〔2020〕17号) have their words before the year and only the serial after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.base.chinese.script import plain
from core.base.text import HAN
from core.legal.entities import CaseType

_FORM = re.compile(
    r"[(\[〔【]\s*(?:19|20)\d{2}\s*年?\s*[)\]〕】]\s*"
    rf"(?P<body>[{HAN}][{HAN}\d() ]{{0,24}}?)\s*"
    r"(?P<old>字\s*第?\s*)?\d{1,8}\s*号(?:\s*之\s*[一二三四五六七八九十\d]{1,3})?"
)
_COURT = re.compile(r"最高法|[京津冀晋内蒙辽吉黑沪苏浙皖闽赣鲁豫鄂湘粤桂琼渝川贵云藏陕甘青宁新兵军]\d*")
# The name of a court may hold 民 or 行 (（2014）民刑初字第1号 is a criminal case of 民权县), so 刑 is looked for first.
_TYPES = (
    ("刑", CaseType.CRIMINAL),
    ("行", CaseType.ADMINISTRATIVE),
    ("民", CaseType.CIVIL),
    *((mark, CaseType.CIVIL) for mark in "商经知海"),
    *((mark, CaseType.OTHER) for mark in "执破赔财认仲督催强清司请特委他"),
)


@dataclass(frozen=True, slots=True)
class CaseNumber:
    start: int
    text: str
    """The number as written in the text."""
    type: CaseType

    def canonical(self) -> str:
        """Return one spelling for all brackets, widths and spaces."""
        return re.sub(r"[(\[〔【](\d+)年?[)\]〕】]", r"（\1）", re.sub(r"\s+", "", plain(self.text)), count=1)


def find_case_numbers(text: str) -> list[CaseNumber]:
    return [number for found in _FORM.finditer(plain(text)) if (number := _read(found, text))]


def _read(found: re.Match[str], text: str) -> CaseNumber | None:
    body = re.sub(r"\s+", "", found["body"])
    court = "" if found["old"] else (_COURT.match(body) or [""])[0]
    rest = body[len(court) :]
    kind = next((kind for mark, kind in _TYPES if mark in rest), None)
    if kind is None or "检" in rest or not (court or found["old"]):  # 检: the number of a prosecutor's document
        return None
    return CaseNumber(found.start(), text[found.start() : found.end()], kind)
