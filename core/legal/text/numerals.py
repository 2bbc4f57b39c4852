"""Numbers as statutes write them, and the numbers of articles: 第三十八条, 第38条, 第一百二十条之一."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from core.base.script import simplified

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_TEN_THOUSAND = 10_000
LARGEST = 99_999_999

NUMERAL = r"[〇○零一二两三四五六七八九十百千万\d]{1,15}"
"""Matches in text that `plain` has gone over."""

_PLAIN = (
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # ！…～, among them digits, letters and round brackets
    | dict.fromkeys(map(ord, "\u3000\xa0\t"), " ")
    | {ord("笫"): "第", ord("○"): "〇", ord("Ｏ"): "〇"}
    | dict.fromkeys(map(ord, "–—－−～〜"), "-")
)


def plain(text: str) -> str:
    """Full-width and traditional characters as their plain twins, one for one, so that a place in the result is a place in the
    text."""
    return simplified(text).translate(_PLAIN)


def to_int(text: str) -> int:
    """38, ３８, 三十八, 一百十五, 两百零五 or 一二〇. What is ambiguous (一百二) or no number at all is a ValueError."""
    numeral = unicodedata.normalize("NFKC", text).strip()
    if re.fullmatch(r"[0-9]{1,8}", numeral):
        return int(numeral)
    if not numeral or len(numeral) > 15:
        raise ValueError(text)
    if all(character in _DIGITS for character in numeral):
        if len(numeral) > 8:
            raise ValueError(text)
        return int("".join(str(_DIGITS[character]) for character in numeral))
    above, marker, below = numeral.partition("万")
    if not marker:
        return _below_ten_thousand(numeral)
    return _below_ten_thousand(above) * _TEN_THOUSAND + (_below_ten_thousand(below) if below else 0)


def _below_ten_thousand(numeral: str) -> int:
    if not numeral:
        raise ValueError(numeral)
    total, last_unit, after_zero = 0, _TEN_THOUSAND, False
    digit: int | None = None
    for character in numeral:
        if character in _UNITS:
            unit = _UNITS[character]
            if unit >= last_unit or (digit is None and unit != 10):  # 十五 and 一百十五 say no 一
                raise ValueError(numeral)
            total, digit, last_unit, after_zero = total + (1 if digit is None else digit) * unit, None, unit, False
        elif character in _DIGITS and digit is None:
            value = _DIGITS[character]
            if value:
                digit = value
            elif after_zero:
                raise ValueError(numeral)
            else:
                after_zero = True
        else:
            raise ValueError(numeral)
    if digit is not None and 10 < last_unit < _TEN_THOUSAND and not after_zero:
        raise ValueError(numeral)  # 一百二: 102 to some, 120 to others
    return total + (digit or 0)


def to_chinese(number: int) -> str:
    """As the statutes write it: 115 is 一百一十五, 1010 is 一千零一十, 10 is 十."""
    if not 0 <= number <= LARGEST:
        raise ValueError(number)
    above, below = divmod(number, _TEN_THOUSAND)
    if not above:
        return _written(below)
    gap = "零" if 0 < below < 1_000 else ""
    return _written(above) + "万" + gap + (_written(below, leading=False) if below else "")


def _written(number: int, *, leading: bool = True) -> str:
    if number == 0:
        return "零"
    text, gap = "", False
    for unit, name in ((1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, unit)
        if digit:
            text += ("零" if gap and text else "") + "零一二三四五六七八九"[digit] + name
        gap = not digit
    return text.removeprefix("一") if leading and text.startswith("一十") else text


class ArticleNumber(NamedTuple):
    """`ArticleNumber(120, 1)` is 第一百二十条之一. Zero stands for text that belongs to no article."""

    number: int
    suffix: int = 0

    def __str__(self) -> str:
        if not self.number:
            return ""
        return f"第{to_chinese(self.number)}条" + (f"之{to_chinese(self.suffix)}" if self.suffix else "")


_ARTICLE = re.compile(rf"[第笫]?\s*({NUMERAL})\s*条?(?:\s*之\s*({NUMERAL}))?")


def parse_article_number(text: str) -> ArticleNumber:
    """Any notation of one article: 第38条, 三十八, 第 120 条之一. A ValueError for everything else."""
    found = _ARTICLE.fullmatch(unicodedata.normalize("NFKC", text).strip())
    if not found:
        raise ValueError(text)
    return ArticleNumber(to_int(found[1]), to_int(found[2]) if found[2] else 0)
