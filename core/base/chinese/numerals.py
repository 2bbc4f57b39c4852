"""Numbers written with Chinese or Arabic figures, and both together: 三十八, ３８, 一亿两千万, 1.2亿."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
UNITS = {"十": 10, "百": 100, "千": 1_000}
LARGE_UNITS = {"万": 10_000, "亿": 100_000_000}
_ENGLISH = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_TEN_THOUSAND = 10_000
LARGEST = 99_999_999

NUMERAL = r"[〇○零一二两三四五六七八九十百千万\d]{1,15}"
"""Whole numbers, in half-width and simplified characters."""


def to_int(text: str) -> int:
    """Return the value of a whole number: 38, ３８, 三十八, 一百十五, 一二〇, or 12,000 for 一万二. Raise ValueError for
    anything else and for 一百二, which is 102 to some and 120 to others."""
    numeral = unicodedata.normalize("NFKC", text).strip()
    if re.fullmatch(r"[0-9]{1,8}", numeral):
        return int(numeral)
    if not numeral or len(numeral) > 15 or (len(numeral) > 8 and DIGITS.keys() >= set(numeral)):
        raise ValueError(text)
    return _whole(numeral, strict=True)


def to_float(text: str) -> float:
    """Return the value of a number as people write it: 1.2亿, 120,000,000, 1.5 million, 三点五, 半, 百, or 120 for 一百二.
    Raise ValueError for anything else."""
    written = text.replace(",", "").replace(" ", "")
    if written == "半":
        return 0.5
    found = re.match(r"\d+(?:\.\d+)?", written)
    if not found:
        whole, _, decimals = written.partition("点")
        return _whole(whole, strict=False) + (float(f"0.{_figures(decimals)}") if decimals else 0)
    value = float(found[0])
    for word in re.findall(r"[十百千万亿]|[a-z]+", written[found.end() :]):
        value *= (UNITS | LARGE_UNITS | _ENGLISH)[word]
    return value


def _figures(numeral: str) -> str:
    """Return the numeral in Arabic figures, one for one: 2019 for 二〇一九."""
    return "".join(str(DIGITS[character]) for character in numeral)


def _whole(numeral: str, *, strict: bool) -> int:
    if numeral and DIGITS.keys() >= set(numeral):
        return int(_figures(numeral))
    return _with_units(numeral, ("亿", "万"), strict=strict)


def _with_units(numeral: str, names: Sequence[str], *, strict: bool) -> int:
    """Return the value of a numeral. `names` are the large units that may occur, the largest first."""
    if not names:
        return _below_ten_thousand(numeral, strict=strict)
    above, found, below = numeral.rpartition(names[0])
    if not found:
        return _with_units(numeral, names[1:], strict=strict)
    unit = LARGE_UNITS[found]
    count = _with_units(above, names[1:], strict=strict) if above or strict else 1
    if below in DIGITS:  # 一万二 is 12,000
        return count * unit + DIGITS[below] * unit // 10
    return count * unit + (_with_units(below, names[1:], strict=strict) if below else 0)


def _below_ten_thousand(numeral: str, *, strict: bool) -> int:
    """Return the value of a numeral. Without `strict`, 百 is 100, 一百二 is 120, and 二三十 is 30."""
    total, last_unit, after_zero = 0, _TEN_THOUSAND, False
    digit: int | None = None
    for character in numeral:
        if character in UNITS:
            unit = UNITS[character]
            if strict and (unit >= last_unit or (digit is None and unit != 10)):  # 十五 and 一百十五 say no 一
                raise ValueError(numeral)
            total, digit, last_unit, after_zero = total + (digit or 1) * unit, None, unit, False
        elif character not in DIGITS or (strict and digit is not None):
            raise ValueError(numeral)
        elif DIGITS[character]:
            digit = DIGITS[character]
        elif strict and after_zero:
            raise ValueError(numeral)
        else:
            after_zero = True
    if not numeral:
        raise ValueError(numeral)
    if digit and 10 < last_unit < _TEN_THOUSAND and not after_zero:
        if strict:
            raise ValueError(numeral)
        digit *= last_unit // 10
    return total + (digit or 0)


def to_chinese(number: int) -> str:
    """Return a number as it is written in full: 115 is 一百一十五, 1010 is 一千零一十, 10 is 十."""
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
