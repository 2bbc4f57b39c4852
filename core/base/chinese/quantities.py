"""Quantities in a text: 一亿两千万, 约 3-5 万元, 两成, 不少于三年.

A quantity is an interval, because 约, 近, 超过 and 以上 make one of a number. Ordinals, article numbers and the digits in a
product's name are names: `find_numbered_names` finds them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from core.base.chinese.numerals import DIGITS, LARGE_UNITS, UNITS, to_float
from core.base.chinese.script import comparison_form

_MONEY = {
    "人民币": "元", "rmb": "元", "cny": "元", "¥": "元", "￥": "元", "元": "元", "块钱": "元", "块": "元",
    "美元": "美元", "美金": "美元", "usd": "美元", "us$": "美元", "$": "美元",
    "港元": "港元", "港币": "港元", "hk$": "港元", "欧元": "欧元", "€": "欧元", "英镑": "英镑", "£": "英镑",
    "日元": "日元", "日圆": "日元", "韩元": "韩元", "韩币": "韩元", "卢布": "卢布", "新台币": "新台币",
}  # fmt: skip
CURRENCIES = frozenset(_MONEY.values())
_UNITS: dict[str, tuple[str, float]] = {
    **{name: (currency, 1.0) for name, currency in _MONEY.items() if name not in "¥￥$€£us$hk$"},
    "角": ("元", 0.1), "美分": ("美元", 0.01),
    "%": ("%", 1), "‰": ("%", 0.1), "成": ("%", 10), "个百分点": ("百分点", 1), "百分点": ("百分点", 1), "个基点": ("百分点", 0.01),
    "倍": ("倍", 1),
    "平方公里": ("米²", 1e6), "平方千米": ("米²", 1e6), "平方米": ("米²", 1), "平米": ("米²", 1), "公顷": ("米²", 1e4), "km²": ("米²", 1e6),
    "m²": ("米²", 1), "㎡": ("米²", 1), "亩": ("亩", 1), "立方米": ("米³", 1), "m³": ("米³", 1),
    "公里": ("米", 1e3), "千米": ("米", 1e3), "英里": ("英里", 1), "英尺": ("英尺", 1), "英寸": ("英寸", 1), "寸": ("英寸", 1), "厘米": ("米", 1e-2),
    "毫米": ("米", 1e-3), "微米": ("米", 1e-6), "纳米": ("米", 1e-9), "米": ("米", 1), "km": ("米", 1e3), "cm": ("米", 1e-2), "mm": ("米", 1e-3),
    "nm": ("米", 1e-9), "m": ("米", 1), "光年": ("光年", 1), "里": ("里", 1),
    "公斤": ("克", 1e3), "千克": ("克", 1e3), "毫克": ("克", 1e-3), "微克": ("克", 1e-6), "吨": ("克", 1e6), "克": ("克", 1), "斤": ("克", 500),
    "两": ("克", 50), "kg": ("克", 1e3), "mg": ("克", 1e-3), "g": ("克", 1),
    "毫升": ("升", 1e-3), "升": ("升", 1), "ml": ("升", 1e-3), "l": ("升", 1),
    "千瓦时": ("度电", 1), "千瓦": ("瓦", 1e3), "瓦": ("瓦", 1), "kw": ("瓦", 1e3), "w": ("瓦", 1), "mah": ("毫安时", 1), "毫安时": ("毫安时", 1),
    "ghz": ("赫兹", 1e9), "mhz": ("赫兹", 1e6), "khz": ("赫兹", 1e3), "hz": ("赫兹", 1), "tb": ("字节", 1e12), "gb": ("字节", 1e9), "mb": ("字节", 1e6),
    "kb": ("字节", 1e3), "g内存": ("字节", 1e9), "℃": ("℃", 1), "°c": ("℃", 1), "摄氏度": ("℃", 1), "度": ("度", 1), "°": ("度", 1),
    "世纪": ("世纪", 1), "年代": ("年代", 1), "周年": ("年", 1), "年": ("年", 1), "载": ("年", 1), "个季度": ("月", 3), "个月": ("月", 1),
    "个星期": ("日", 7), "星期": ("日", 7), "周": ("日", 7), "个工作日": ("工作日", 1), "工作日": ("工作日", 1), "天": ("日", 1), "日": ("日", 1),
    "个小时": ("秒", 3600), "小时": ("秒", 3600), "钟头": ("秒", 3600), "分钟": ("秒", 60), "秒钟": ("秒", 1), "毫秒": ("秒", 1e-3), "秒": ("秒", 1), "ms": ("秒", 1e-3),
    "周岁": ("岁", 1), "岁": ("岁", 1), "人次": ("人次", 1),
    **dict.fromkeys(("个人", "人", "名", "位", "个", "家", "次", "台", "辆", "件", "种", "项", "类", "套", "部", "架", "艘", "座", "所", "只", "头", "条", "张", "本", "篇", "幅", "枚", "颗", "棵", "株", "间", "户", "口", "支", "队", "场", "届", "期", "集", "章", "款", "级", "层", "楼", "步", "点", "分", "票", "股", "页", "字", "句", "声", "号", "路", "门", "轮", "局", "圈", "例", "处", "组", "代", "核", "强", "阶段"), ("", 1.0)),
}  # fmt: skip
_WEAK_AFTER_ONE = frozenset("个种项类条张本点次位名件些样般定直起切旦致共同步")
"""Measure words after 一 that make it an article rather than a number: 一个, 一种."""

_ARABIC = r"\d{1,3}(?:,\d{3})+(?:\.\d{1,9})?|\d{1,18}(?:\.\d{1,9})?"
_CHINESE = r"[〇零一二两三四五六七八九十百千万亿]{1,24}(?:点[〇零一二三四五六七八九]{1,9})?"
_NUMBER = rf"(?:{_ARABIC})\s?(?:[十百千]?[万亿]{{1,2}}|千|thousand|million|billion|trillion)?|{_CHINESE}|半"
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_UNIT = _UNIT.replace("|升|", "|升(?![至到])|")  # 由 7.1 升至 7.3
_SIGN = "|".join(re.escape(sign) for sign in ("us$", "hk$", "人民币", "$", "¥", "￥", "€", "£"))
_AT_A_BORDER = "超过|高于|多于|大于|少于|低于|小于"
_BEFORE = (
    f"(?:不[得能可应会许宜]?|未|没有?)(?:{_AT_A_BORDER})|不足|不到|未满|不满|未达|将近|接近|大约|约为|约|近|超过|超出|超|逾|高于|多于|大于|突破"
    "|低于|少于|小于|至少|最少|至多|最多|最高|大概|差不多|平均"
)
_AFTER = "以上|以下|以内|之内|左右|上下|及以上|及以下|内|之久"
BOUND_WORDS = re.compile(f"{_BEFORE}|{_AFTER}")
"""The words that make an interval of a number."""
_RANGE = r"\s?[-–—~～至到]\s?"
_FIRST = "".join({word[0] for word in re.findall(r"[^|()?:\[\]]+", _BEFORE)}) + "uh人$¥￥€£翻半"
_FIRST += "".join((*DIGITS, *UNITS, *LARGE_UNITS))
_QUANTITY = re.compile(
    rf"(?=[\d{_FIRST}])(?P<before>{_BEFORE})?\s?(?P<sign>{_SIGN})?\s?"
    rf"(?:(?P<hundredths>[百千万])分之(?P<share>{_ARABIC}|{_CHINESE})"
    rf"|(?P<whole>{_CHINESE}|\d{{1,4}})分之(?P<part>{_CHINESE}|\d{{1,4}})"
    rf"|翻(?:了)?(?P<doubled>[一两二三四五])番|(?P<half>一半)"
    rf"|(?P<low>{_NUMBER})(?P<lowmore>[多余来几])?(?P<magnitude>(?<=[多余来几])[百千]?[万亿])?\s?(?P<lowunit>{_UNIT})?(?:{_RANGE}(?:{_SIGN})?(?P<high>{_NUMBER}))?"
    rf"(?P<more>[多余来几])?\s?(?P<unit>{_UNIT})?(?P<odd>半)?)"
    rf"(?P<after>{_AFTER})?"
)
# What stands before a digit and makes it part of a name: GPT-4, H6, iOS 17, 第10次, 3.1.2, 19:55.
_NAME_BEFORE = re.compile(r"(?:第|[a-z][a-z0-9]*[-_. ]?|\d[.:/-]|[:#№])$")
_LABEL = re.compile(
    r"第\s?(?P<ordinal>\d{1,9}|[〇零一二两三四五六七八九十百千]{1,12})\s?(?P<of>条)?(?P<suffix>(?<=条)之[一二三四五六七八九十])?|[a-z][a-z0-9]{0,15}[-_ ]?\d[a-z0-9.]{0,15}"
    r"|\d{1,9}(?:\.\d{1,4})?[a-z][a-z0-9]{0,15}|\d{1,4}(?:[.:]\d{1,6}){2,5}|\d{1,4}:\d{1,4}"
)
_WORD_GOES_ON = re.compile("[a-z0-9]")
_LARGE = re.compile("[一二两三四五六七八九]{1,3}[十百千]?[万亿]{1,2}")
_ITEM = re.compile(r"[).、]\D")
_LINE_START = re.compile(r"(?:^|[\n:;。])[\s(]*$")
_ROUGH = 0.1
"""The relative error that 约 allows."""


@dataclass(frozen=True, slots=True)
class Quantity:
    start: int
    end: int
    """`start` and `end` in the given text."""
    text: str
    low: float
    high: float
    unit: str
    """The unit. Empty for things that are counted: 5 家, 5 个, 5."""
    bound: str = ""
    """The word that made the interval: 约, 超过, 以上 …; empty for a plain number or a range."""
    exact: float = math.nan
    """The number itself, where there is one: 100 of 超过 100."""
    step: float = 0.0
    """The size of the last digit that is written: 1.2 亿 has 0.1 亿."""

    @property
    def sign(self) -> str:
        return sign_of(self.bound)


def find_quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text in their order. Dates, ordinals and the numbers in names are none."""
    plain = comparison_form(text)
    return [found for match in _QUANTITY.finditer(plain) if (found := _quantity(match, text))]


def find_numbered_names(text: str) -> list[str]:
    """Return the numbers that are names (第三十八条, GPT-4, 19:55), in one spelling: 第38条, gpt4."""
    found = _LABEL.finditer(comparison_form(text))
    return [_normalize_name(match) for match in found if match["ordinal"] not in {"一", "1"} or match["of"]]


def _normalize_name(match: re.Match[str]) -> str:
    if not match["ordinal"]:
        return re.sub(r"[\s_-]", "", match[0])
    return f"第{to_float(match['ordinal']):.0f}{'条' if match['of'] == '条' else ''}{match['suffix'] or ''}"


def _quantity(match: re.Match[str], text: str) -> Quantity | None:
    start, end = match.end() - len(match[0].lstrip()), match.end()
    if match["low"] and _is_name(match, match.string):
        return None
    try:
        low, high, unit, step = _value(match)
    except (ValueError, KeyError, OverflowError):
        return None
    bound = _NOT.sub("不", match["before"] or "") or match["after"] or (match["more"] or match["lowmore"]) or ""
    exact = low if low == high else math.nan
    if bound and low == high:
        low, high = _interval(bound, low)
    return Quantity(start, end, text[start:end].strip(), low, high, unit, bound, exact, step)


def _is_name(match: re.Match[str], plain: str) -> bool:
    place = match.start("low")
    if _NAME_BEFORE.search(plain[max(0, place - 20) : place]) and not match["before"]:
        return True
    written, unit = match["low"], match["lowunit"] or match["unit"] or ""
    if _ITEM.match(plain, match.end("low")) and _LINE_START.search(plain[max(0, place - 4) : place]):
        return True
    if written[0].isdigit():
        return plain[match.end() - 1].isascii() and bool(_WORD_GOES_ON.match(plain, match.end()))
    if (written, unit) == ("十", "分"):
        return True
    if not written.strip("万亿") and not (match["before"] or match["more"] or match["lowmore"]):  # 莱万场均
        return True
    if written in {"一", "半"} and not match["high"]:
        return not unit or unit in _WEAK_AFTER_ONE or _UNITS[unit][0] == ""
    # Numerals inside ordinary words (万一, 十分, 千万不要, 四川) have no unit; those with one are meant.
    if unit or match["more"] or _LARGE.fullmatch(written):
        return False
    return not (len(written) > 2 and set(written) & set("十百千万亿"))


def _value(match: re.Match[str]) -> tuple[float, float, str, float]:
    """Return low, high, the unit, and the size of the last written digit."""
    if match["share"]:
        value = to_float(match["share"]) * {"百": 1, "千": 0.1, "万": 0.01}[match["hundredths"]]
        return value, value, "%", 0.0
    if match["whole"]:
        value = 100 * to_float(match["part"]) / to_float(match["whole"]) if to_float(match["whole"]) else math.inf
        return value, value, "%", 0.0
    if match["doubled"]:
        value = 2.0 ** to_float(match["doubled"])
        return value, value, "倍", 0.0
    if match["half"]:
        return 50.0, 50.0, "%", 0.0
    sign = _MONEY.get(match["sign"] or "", "")
    unit, factor = _UNITS.get(match["unit"] or match["lowunit"] or "", ("", 1.0))
    first = to_float(match["low"]) * (to_float(f"1{match['magnitude']}") if match["magnitude"] else 1.0)
    last = to_float(match["high"]) if match["high"] else first
    if match["high"] and (not match["lowunit"] or match["lowunit"] == match["unit"]):
        first *= _shared_magnitude(match["low"], match["high"], first)
    low_factor = _UNITS[match["lowunit"]][1] if match["lowunit"] and match["unit"] else factor
    low, high = first * low_factor, last * factor
    if match["odd"] and not match["high"]:  # 一年半, 两个半月
        low = high = low + factor / 2
    if not math.isfinite(low) or not math.isfinite(high) or low > high:  # 由 80 到 60 is no interval
        raise ValueError(match[0])
    return low, high, sign or unit, _last_digit_size(match["low"], first) * factor


def _shared_magnitude(low: str, high: str, first: float) -> float:
    """Return the factor that the lower number shares with the upper: in 3-5 万 the 万 belongs to both."""
    if re.search("[万亿]|illion", low) or not (found := re.search(r"[十百千]?[万亿]{1,2}$|[a-z]+$", high)):
        return 1.0
    shared = to_float(f"1{found[0]}")
    return shared if high[0].isdigit() and first < shared else 1.0


def _last_digit_size(written: str, value: float) -> float:
    """Return the size of the last written digit: 0.1 of 1.2, 100 of 300 and of 三百, 10,000,000 of 1.2 亿."""
    decimals = re.match(r"[\d,]+\.(\d+)", written)
    if decimals:
        return value / float(decimals[0].replace(",", "")) * 10.0 ** -len(decimals[1]) if value else 0.0
    if not value or value != int(value):
        return 0.0
    digits = str(int(value))
    return 10.0 ** (len(digits) - len(digits.rstrip("0")))


_NOT = re.compile(f"(?:不[得能可应会许宜]|未|没有?)(?={_AT_A_BORDER}|短于)")
_JUST_BELOW = "近 将近 接近"
_SIGNS = {
    "≥": "以上 至少 最少 最低 最短 不少于 不低于 不小于 不短于",
    "≤": "以下 以内 之内 内 至多 最多 最高 最长 不超过 不高于 不多于 不大于",
    ">": "超过 超出 超 逾 高于 多于 大于 突破 多 余",
    "<": f"不足 不到 未满 不满 未达 低于 少于 小于 {_JUST_BELOW}",
    "": "平均 之久",
}
_SIGN_OF = {"": ""} | {word: sign for sign, words in _SIGNS.items() for word in words.split()}


def sign_of(bound: str) -> str:
    """Return ≥, ≤, > or < for 以上, 不得超过 and the like, ≈ for 约, and nothing for a plain number."""
    return _SIGN_OF.get(re.sub("^(?:及|或者?)|^最长(?=不)", "", _NOT.sub("不", bound)), "≈")


def is_just_below(bound: str) -> bool:
    return bound in _JUST_BELOW.split()


def _interval(bound: str, value: float) -> tuple[float, float]:
    tiny = abs(value) * 1e-9
    if is_just_below(bound):
        return value * (1 - _ROUGH), value
    match sign_of(bound):
        case "≥":
            return value, math.inf
        case "≤":
            return -math.inf, value
        case ">":
            return value + tiny, math.inf
        case "<":
            return -math.inf, value - tiny
        case "":
            return value, value
    return value * (1 - _ROUGH), value * (1 + _ROUGH)
