"""Words of a rule in a comparable form: 不得超过六个月, 不能超过 6 个月 and 六个月以内 become equal.

Quantities, modals and common synonyms are one word each. Every other character is a word of its own, and punctuation is
dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import Enum, auto
from typing import NamedTuple

from core.base.chinese.numerals import to_int
from core.base.chinese.quantities import sign_of
from core.base.chinese.script import comparison_form

_SPOKEN = r"[〇零一二两三四五六七八九十百千][〇零一二两三四五六七八九十百千万亿]{0,11}"
_FIGURE = rf"(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]{{1,12}}(?:\.[0-9]{{1,4}})?|{_SPOKEN}|双(?=倍))"
_UNIT = "个?工作日|个?小时|分钟|个?星期|个?月|周岁|[年日天周岁元倍人名次户件吨株克亩]|平方米|立方米|千克|公斤|公里|海里|米|%"
_UNITS = {"天": "日", "岁": "周岁", "星期": "周", "名": "人", "公斤": "千克"}
_BEFORE = (
    r"不(?:得|能|可以|可|应)?(?:超过|多于|高于|大于|少于|低于|小于|短于)|最长(?:不[得能]?超过)?|最多|至多|最高|至少|最少|最低|最短"
    r"|超过|多于|高于|大于|不满|未满|不足|低于|少于|小于"
)
_QUANTITY = (
    rf"(?P<before>{_BEFORE})?"
    r"(?:[为是]|可达)? {0,2}"
    rf"(?:百分之 {{0,2}}(?P<percent>{_FIGURE})|(?P<whole>{_SPOKEN})分之(?P<part>{_SPOKEN})"
    rf"|(?P<figure>{_FIGURE}) {{0,2}}(?P<times>[万亿]{{0,2}}) {{0,2}}(?P<unit>{_UNIT})(?!度))"
    r"(?P<after> {0,2}(?:(?:及|或者?)?以[上下]|[以之]?内(?!部|地|容)))?"
)

SYNONYMS = {
    "应当": "应当|应该|必须|有义务|需要|(?<![相对供反适效响回呼])应(?![用急聘诉邀届力变])|(?<![必无])须(?!知)|(?<![无必急所])需(?!求)",
    "可以": "可以(?!不)|有权|能够|(?<![许认])可(?![能靠行见再])",
    "不得": "不得|不能(?!够)|不能够|不可以|不可(?!抗)|严禁|禁止|不允许|无权|不应当?|不准(?!予)",
    "无需": "无需|无须|不必|不需要?|不须|可以不|可不(?=予|再|经)",
    "或": "或者|或",
    "和": "以及|及其|[和与及]",
    "并": "并且|同时|[并且]",
    "但": "但是|[但]",
    "依": "依照|按照|依据|根据|遵照|依",
    "法院": "人民法院|法院",
    "检察院": "人民检察院|检察院",
    "政府": "人民政府|政府",
    "予": "予以|给予|予",
    "情形": "情形|情况",
    "劳动者": "劳动者|员工|雇员",
    "造成": "造成|导致|致使",
    "其他": "其他|其它|别的",
    "之日": "之日|当日|当天",
    "未经": "未经过?|没有经过|未获",
    "未": "没有|没(?!收)|未",
    "及时": "及时|尽快",
    "对": "[向对]",
    "支付": "支付|给付|发放",
    "签订": "签订|订立|签署",
    "解除": "解除|终止履行",
    "主管部门": "主管部门|主管机关",
    "前提": "前提是|前提为|条件是|如果|假如|倘若|(?<!例)若(?!干)",
}
"""Patterns of words with one meaning in a rule. Longer spellings come first."""
_FIRST_CHARACTERS = "双0-9〇零一二两三四五六七八九十百千不未最至超多高大低少小为是可应该必有需须能无严禁或以及其和与并且同但依按根遵人法检政给予情况劳员雇造导致他它别之当没尽向对支发签订解终主前条如假倘若"
"""Characters that begin a quantity or a synonym. Words that begin otherwise are not tried."""
_WORD = re.compile(
    rf"(?P<other>[^\W_{_FIRST_CHARACTERS}])|(?P<quantity>{_QUANTITY})|"
    + "|".join(f"(?P<w{number}>{spellings})" for number, spellings in enumerate(SYNONYMS.values()))
    + r"|(?P<letter>\w)"
)
_NAMES = {f"w{number}": word for number, word in enumerate(SYNONYMS)}


class WordKind(Enum):
    QUANTITY = auto()
    BOUND = auto()
    MODAL = auto()
    NEGATION = auto()
    PLAIN = auto()


_WORD_KINDS = (
    dict.fromkeys(("应当", "可以", "不得", "无需"), WordKind.MODAL)
    | dict.fromkeys(("不", "未", "未经", "无", "非"), WordKind.NEGATION)
    | dict.fromkeys(("≥", ">", "≤", "<"), WordKind.BOUND)
)


class RuleWord(NamedTuple):
    key: str
    """Form that is equal for all spellings."""
    start: int
    end: int
    kind: WordKind = WordKind.PLAIN
    unit: str = ""
    value: Decimal | None = None
    """Value of a quantity whose numeral can be read; of an interval the lower one."""
    bound: str = ""
    upper: Decimal | None = None
    """Upper value of an interval: 十日以上十五日以下."""


def rule_words(text: str) -> list[RuleWord]:
    """Return the words of a text with their places. A bound follows its quantity: 不得超过六个月 is 6月, ≤."""
    found: list[RuleWord] = []
    for match in _WORD.finditer(comparison_form(text)):
        kind = match.lastgroup or ""
        if kind == "other":
            key = match[0].lower()
            found.append(RuleWord(key, match.start(), match.end(), _WORD_KINDS.get(key, WordKind.PLAIN)))
        elif match["quantity"]:
            found += _quantity(match)
        else:
            key = _NAMES.get(kind) or match[0].lower()
            if key != "_":
                found.append(RuleWord(key, match.start(), match.end(), _WORD_KINDS.get(key, WordKind.PLAIN)))
    return list(_with_intervals(found))


def _with_intervals(words: Sequence[RuleWord]) -> Iterator[RuleWord]:
    """Yield the words with 十日以上十五日以下 as one: it is not 十日以下, nor 十五日以下."""
    at = 0
    while at < len(words):
        pair = words[at : at + 4]
        if len(pair) == 4 and _is_interval(pair[0], pair[2]) and pair[2].start == pair[0].end:
            low, _, high, _ = pair
            key = f"{low.key}{low.bound}{high.key}{high.bound}"
            yield low._replace(key=key, end=high.end, bound=low.bound + high.bound, upper=high.value)
            at += 4
        else:
            yield words[at]
            at += 1


def _is_interval(low: RuleWord, high: RuleWord) -> bool:
    is_bounded = low.bound in ("≥", ">") and high.bound in ("≤", "<")
    return is_bounded and low.unit == high.unit and None not in (low.value, high.value)


def _quantity(match: re.Match[str]) -> list[RuleWord]:
    start, end = match.span()
    bound = sign_of((match["after"] or "").strip()) or sign_of(match["before"] or "")
    value, unit, written = _read_quantity(match)
    key = f"{value.normalize():f}{unit}" if value is not None else written
    quantity = RuleWord(key, start, end, WordKind.QUANTITY, unit, value, bound)
    return [quantity, RuleWord(bound, start, end, WordKind.BOUND)] if bound else [quantity]


def _read_quantity(match: re.Match[str]) -> tuple[Decimal | None, str, str]:
    """Return the value, the unit and the figures as written, for a numeral that cannot be read (一百二)."""
    if match["percent"]:
        return _value(match["percent"], ""), "%", match["percent"]
    if match["whole"]:
        return None, "", f"{match['part']}/{match['whole']}"
    unit = match["unit"].removeprefix("个")
    return _value(match["figure"], match["times"]), _UNITS.get(unit, unit), match["figure"] + match["times"] + unit


def _value(figure: str, times: str) -> Decimal | None:
    try:
        value = Decimal(figure.replace(",", "")) if figure[0].isascii() else Decimal(to_int(figure.replace("双", "二")))
    except ValueError:
        return None
    for word in times:
        value *= 10_000 if word == "万" else 100_000_000
    return value
