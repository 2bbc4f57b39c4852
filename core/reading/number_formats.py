"""Numbers as a workbook shows them: days, times, percent, thousands, currencies and words around them."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import NamedTuple

GENERAL = "General"
_DAY, _MONTH, _SHORT_DAY = 'yyyy"年"m"月"d"日"', 'yyyy"年"m"月"', 'm"月"d"日"'
_HALF_DAY = '上午/下午h"时"mm"分"'
BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    14: "yyyy/m/d",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy/m/d h:mm",
    30: "m-d-yy",
    31: _DAY,
    32: 'h"时"mm"分"',
    33: 'h"时"mm"分"ss"秒"',
    42: "¥#,##0",
    44: "¥#,##0.00",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss",
    48: "##0.0E+0",
    **dict.fromkeys((37, 38, 41), "#,##0;-#,##0"),
    **dict.fromkeys((39, 40, 43), "#,##0.00;-#,##0.00"),
    **dict.fromkeys((27, 36, 50, 52, 57), _MONTH),
    **dict.fromkeys((28, 29, 51, 53, 54, 58), _SHORT_DAY),
    **dict.fromkeys((34, 55), _HALF_DAY),
    **dict.fromkeys((35, 56), _HALF_DAY + 'ss"秒"'),
}
"""Formats that a workbook names by a number alone, as a Chinese Excel shows them."""
MAX_CODE = 255
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|[\\!](?P<escaped>.)|_.|\*.|\[(?P<bracket>[^\]]*)\]|(?P<half>AM/PM|A/P|上午/下午)'
    r"|(?P<power>[eE][+-]0+)|(?P<day>[yYeEbB]+|[mM]+|[dD]+|[hH]+|[sS]+(?:\.0+)?|a{3,4})|(?P<digit>[0#?])|(?P<plain>.)",
    re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?\d{1,15}(?:\.\d{1,9})?)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEKDAYS = "一二三四五六日"
_LAST_DAY = 2_958_466
"""One more than the number of the last day of 9999."""


class _Token(NamedTuple):
    kind: str
    text: str


def format_number(value: str, code: str, *, from_1904: bool = False) -> str:
    """Return a stored number as its format shows it; as it is stored, where the format cannot be followed."""
    try:
        number = Decimal(value)
        if not number.is_finite() or abs(number.adjusted()) > 300:
            return value
    except InvalidOperation:
        return value
    if len(code) > MAX_CODE or code in {"", GENERAL, "@"}:
        return _general(number)
    tokens, has_own_sign = _section(code, number)
    kinds = {token.kind for token in tokens}
    if "day" in kinds:
        return _moment(float(number), tokens, from_1904=from_1904)
    if "digit" in kinds and ("plain", "/") in tokens:  # a fraction
        return _general(number)
    if "digit" not in kinds:
        words = "".join(token.text for token in tokens)
        return _general(number) if not words or GENERAL in code else words
    try:
        return _digits(abs(number) if has_own_sign else number, tokens)
    except InvalidOperation:  # more digits than anybody calculates with
        return _general(number)


def _general(number: Decimal) -> str:
    if number == number.to_integral_value() and abs(number) < Decimal(10) ** 15:
        return str(int(number))
    return f"{float(number):.11g}"


def _section(code: str, number: Decimal) -> tuple[list[_Token], bool]:
    """Return the part of the format for a number of this sign, and whether that part is for negative ones alone."""
    sections = _split(code)
    if any(token.kind == "condition" for section in sections for token in section):
        chosen = next((section for section in sections if _holds(section, number)), sections[-1])
        return [token for token in chosen if token.kind != "condition"], False
    if number < 0 and len(sections) > 1 and sections[1]:
        return sections[1], True
    if number == 0 and len(sections) > 2 and sections[2]:
        return sections[2], False
    return sections[0], False


def _holds(section: list[_Token], number: Decimal) -> bool:
    """Return whether the condition of a part, [>=100], holds for a number; it does where there is none."""
    for token in section:
        if token.kind == "condition" and (found := _CONDITION.fullmatch(token.text)):
            difference = number.compare(Decimal(found[2]))
            return {-1: "<", 0: "=", 1: ">"}[int(difference)] in found[1]
    return True


def _split(code: str) -> list[list[_Token]]:
    sections: list[list[_Token]] = [[]]
    for found in _TOKEN.finditer(code):
        kind, text = found.lastgroup or "", found[0]
        if kind == "plain" and text == ";":
            sections.append([])
        elif kind in {"quoted", "escaped"}:
            sections[-1].append(_Token("text", found[kind]))
        elif kind == "bracket":
            sections[-1] += _bracket(found[kind])
        elif kind:
            sections[-1].append(_Token(kind, text))
    return sections


def _bracket(inside: str) -> list[_Token]:
    """Return the currency of [$¥-804] or the unit of [h]. Colours and languages are not shown."""
    if inside.startswith("$"):
        return [_Token("text", inside[1:].partition("-")[0])]
    if inside[:1] in ("<", ">", "="):
        return [_Token("condition", inside)]
    return [_Token("day", f"[{inside.lower()}]")] if inside.lower() in {"h", "hh", "m", "mm", "s", "ss"} else []


# ── Digits ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _digits(number: Decimal, tokens: list[_Token]) -> str:
    number *= Decimal(100) ** sum(token == ("plain", "%") for token in tokens)
    last = max(index for index, token in enumerate(tokens) if token.kind == "digit")
    point = next((index for index, token in enumerate(tokens) if token == ("plain", ".")), last + 1)
    whole = tokens[:point]
    digits_of_whole = [index for index, token in enumerate(whole) if token.kind == "digit"]
    end = max(digits_of_whole, default=-1)
    number /= Decimal(1000) ** (_commas_after(tokens, last) + (_commas_after(tokens, end) if end < last else 0))
    has_thousands = any(token == ("plain", ",") for token in whole[: end + 1])
    places = sum(token.kind == "digit" for token in tokens[point:])
    if any(token.kind == "power" for token in tokens):
        return f"{float(number):.{places}E}"
    shown = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    before, _, after = f"{abs(shown):f}".partition(".")
    optional = len([token for token in tokens[point:] if token.text in "#?" and token.kind == "digit"])
    after = after[: places - optional] + after[places - optional :].rstrip("0")
    sign = "-" if shown < 0 else ""
    return sign + _fill_whole(whole, before, has_thousands=has_thousands) + _fill_rest(tokens[point:], after)


def _commas_after(tokens: list[_Token], index: int) -> int:
    """Return how many commas follow the last digit: each is for a thousand that is left out."""
    count = 0
    while index + 1 + count < len(tokens) and tokens[index + 1 + count] == ("plain", ","):
        count += 1
    return count


def _fill_whole(tokens: list[_Token], digits: str, *, has_thousands: bool) -> str:
    """Return the words and digits before the point, filled from the right; the first place takes all that is left."""
    places = [index for index, token in enumerate(tokens) if token.kind == "digit"]
    left = "" if digits == "0" and not any(tokens[index].text == "0" for index in places) else digits
    parts: list[str] = []
    for index in range(len(tokens) - 1, -1, -1):
        kind, text = tokens[index]
        if kind == "digit":
            count = len(left) if index == places[0] else 1
            taken, left = left[len(left) - count :] if count else "", left[: len(left) - count]
            parts.append(taken or ("0" if text == "0" else ""))
        elif (kind, text) != ("plain", ","):
            parts.append(text)
    joined = "".join(reversed(parts))
    return re.sub(r"\d{4,}", lambda run: f"{int(run[0]):,}", joined, count=1) if has_thousands else joined


def _fill_rest(tokens: list[_Token], digits: str) -> str:
    parts = []
    for kind, text in tokens:
        if kind == "digit":
            parts.append(digits[:1])
            digits = digits[1:]
        elif (kind, text) == ("plain", "."):
            parts.append("." if digits else "")
        elif (kind, text) != ("plain", ","):
            parts.append(text)
    return "".join(parts)


# ── Days and times ────────────────────────────────────────────────────────────────────────────────────────────────────


def _moment(number: float, tokens: list[_Token], *, from_1904: bool) -> str:
    if not 0 <= number < _LAST_DAY or not math.isfinite(number):
        return _general(Decimal(str(number)))
    start = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30 + (number < 60))  # 1900 had no 29 February
    moment = start + timedelta(seconds=round(number * 86_400))
    is_half = any(token.kind == "half" for token in tokens)
    parts = []
    for index, (kind, text) in enumerate(tokens):
        if kind == "half":
            before, _, after = text.partition("/")
            parts.append(before if moment.hour < 12 else after)
        elif kind == "day":
            parts.append(_part_of(moment, text, number, _is_minute(tokens, index), is_half=is_half))
        else:
            parts.append("" if kind == "digit" else text)
    return "".join(parts).strip()


def _is_minute(tokens: list[_Token], index: int) -> bool:
    """Return whether an m after hours or before seconds is a minute."""
    before = next((token.text for token in reversed(tokens[:index]) if token.kind == "day"), "")
    after = next((token.text for token in tokens[index + 1 :] if token.kind == "day"), "")
    return "h" in before.lower() or "s" in after.lower()


def _part_of(moment: datetime, code: str, number: float, is_minute: bool, *, is_half: bool) -> str:
    unit, width = code.lower(), len(code)
    if unit.startswith("["):
        seconds = round(number * 86_400)
        return str(seconds // {"h": 3_600, "m": 60, "s": 1}[unit[1]])
    match unit[0]:
        case "y" | "e" | "b":
            return f"{moment.year % 100:02}" if unit in {"yy", "y"} else str(moment.year)
        case "m" if is_minute:
            return f"{moment.minute:0{min(width, 2)}}"
        case "m":
            return _MONTHS[moment.month - 1] if width > 2 else f"{moment.month:0{width}}"
        case "d" | "a" if width > 2:
            return ("星期" if width == 4 else "周" if unit[0] == "d" else "") + _WEEKDAYS[moment.weekday()]
        case "d":
            return f"{moment.day:0{width}}"
        case "h":
            return f"{(moment.hour % 12 or 12) if is_half else moment.hour:0{min(width, 2)}}"
        case _:
            return f"{moment.second:0{min(len(unit.partition('.')[0]), 2)}}"
