"""Comparison of single words: words that reverse a sentence, and quotations.

Texts are compared in the form of `compact`: one spelling, no punctuation, no blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from core.base.chinese.script import comparison_form

_MARKS = re.compile(r"[\W_]+")

OPPOSITE_WORDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "情态": (
        ("不得", "禁止", "严禁", "不准", "不许", "不可以", "不能", "不允许", "无权"),
        ("可以", "有权", "允许", "准许", "可"),
        ("应当", "必须", "应", "须", "务必"),
        ("无需", "无须", "不必", "不需要", "毋须", "不用", "不须"),
    ),
    "增减": (
        ("增长", "上升", "增加", "上涨", "提高", "升高", "扩大", "增至", "升至", "加快", "增多", "上调", "回升"),
        ("下降", "减少", "下跌", "降低", "缩小", "回落", "下滑", "减至", "降至", "放缓", "下调", "萎缩"),
    ),
    "高低": (
        ("高于", "超过", "大于", "多于", "优于", "强于", "快于"),
        ("低于", "不到", "小于", "少于", "不及", "劣于", "弱于", "慢于"),
    ),
    "同比环比": (("同比",), ("环比",)),
    "最": (("最高", "最大", "最多", "最长", "最好", "最强", "最快"), ("最低", "最小", "最少", "最短", "最差", "最弱", "最慢")),
    "先后": (("之前", "以前", "早于", "此前"), ("之后", "以后", "晚于", "此后")),
    "盈亏": (("盈利", "盈余", "净利润"), ("亏损", "净亏损")),
    "效力": (("有效", "合法", "生效"), ("无效", "违法", "失效")),
    "态度": (("支持", "赞成", "同意", "批准"), ("反对", "拒绝", "否决", "驳回")),
    "进出": (("进口", "流入", "买入", "增持", "顺差"), ("出口", "流出", "卖出", "减持", "逆差")),
    "以上以下": (("以上",), ("以下",)),
    "或且": (("或者", "或"), ("并且", "且", "以及")),
}  # fmt: skip
"""Groups of words by axis. Words in different groups of one axis exclude one another."""
_DEGREES = ("情态", {1, 2})

_NEGATION = re.compile(
    "(?!不仅|不但|不过|不管|不论|不断|不同|不少|不久|不如|不妨|不得不|非常|无论|未来|无数|不一|不可避免|不等|不止|不只|非洲|不锈|不得|不良|未必|没想)"
    "(?<![是差要除莫更无])(?:并不|并非|没有|不|没|未|无|非)"
)
_QUOTES = re.compile(r"「([^「」\n]{2,400})」|『([^『』\n]{2,400})』|“([^“”\n]{2,400})”|\"([^\"\n]{2,400})\"")
_TITLES = re.compile("《([^《》\n]{1,100})》")
_ELLIPSIS = re.compile(r"…+|\.{3,}|。{3,}|\[…\]")
_REFUTED = re.compile(
    "网传|谣言|辟谣|造谣|传言|传闻|不实|虚假(?:信息|消息|宣传)|误传|并非事实|不属实|捏造|骗局|假消息|假新闻|误区|伪科学|以讹传讹|系误读"
)
_TAKEN_BACK = re.compile(
    "(?:这|该|此|上述|以上|前述)(?:种|个|一|些)?(?:说法|观点|传言|消息|言论|论断|结论|主张|指控|数据|报道|看法|理解|认识)?[^。，,]{0,10}"
    "(?:错误|不准确|不正确|不成立|不可信|不科学|没有(?:科学)?(?:依据|根据)|[毫并]?无(?:依据|根据)|误解|误导|不符合事实|与事实不符|站不住脚|子虚乌有|不予采信|是假的|纯属)"
)
_ASKED = re.compile(
    r"[?？]|[（(]\s*[)）]|\[\s*\]|(?:单|多)选题|(?<![A-Za-z])A[.、．]?[^A-Za-z\n]{1,20}B[.、．]?[^A-Za-z\n]{1,20}C"
)
_GLOSS = re.compile(r"(?<=[\u3400-\u9fff])[（(]([A-Za-z][A-Za-z .,·'’&-]{1,60})[）)]")
MIN_QUOTE_LENGTH = 6
"""Characters. Shorter words in quotation marks are terms, not a quotation."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two wordings that exclude each other, each with the words around it."""

    axis: str
    stated: str
    found: str
    is_opposite: bool = True
    """False for 可以 beside 应当: another rule in a law, often the same advice elsewhere."""


def compact(text: str) -> str:
    return _MARKS.sub("", comparison_form(text))


def find_conflicts(statement: str, passage: str) -> list[Conflict]:
    """Return the places where the passage has the same words around another modal, direction or negation. Both texts
    are compact."""
    found = list(_opposite_word_conflicts(statement, passage))
    return found or list(_negation_conflicts(statement, passage))


@cache
def _word_pattern() -> tuple[re.Pattern[str], dict[str, tuple[str, int]]]:
    classes: dict[str, tuple[str, int]] = {}
    for axis, groups in OPPOSITE_WORDS.items():
        for number, words in enumerate(groups):
            classes |= dict.fromkeys(words, (axis, number))
    longest_first = sorted(classes, key=len, reverse=True)
    return re.compile("|".join(longest_first)), classes


def _opposite_word_conflicts(statement: str, passage: str) -> Iterator[Conflict]:
    pattern, classes = _word_pattern()
    for match in pattern.finditer(statement):
        axis, own = classes[match[0]]
        before, after = statement[max(0, match.start() - 3) : match.start()], statement[match.end() : match.end() + 3]
        if any(_has_in_context(word, before, after, passage, 2) for word in OPPOSITE_WORDS[axis][own]):
            continue
        for number, words in enumerate(OPPOSITE_WORDS[axis]):
            other = next(
                (word for word in words if number != own and _has_in_context(word, before, after, passage, 3)), None
            )
            if other and other not in statement:
                real = _text_around(other, before, after, passage)
                yield Conflict(axis, f"{before}{match[0]}{after}", real, (axis, {own, number}) != _DEGREES)
                break


def _has_in_context(word: str, before: str, after: str, passage: str, context_length: int) -> bool:
    """Return whether the passage has the word with its neighbours on one side, or with fewer of them on both."""
    left, right = before[-context_length:], after[:context_length]
    return bool(
        (len(left) == context_length and left + word in passage)
        or (len(right) == context_length and word + right in passage)
        or (context_length > 2 and len(before) >= 2 and len(after) >= 2 and before[-2:] + word + after[:2] in passage)
    )


def _text_around(word: str, before: str, after: str, passage: str) -> str:
    for size in (3, 2):
        for wanted, offset in ((before[-size:] + word, len(before[-size:])), (word + after[:size], 0)):
            if (place := passage.find(wanted)) >= 0 and wanted != word:
                start = place + offset
                return passage[max(0, start - 3) : start + len(word) + 3]
    return word


def _negation_conflicts(statement: str, passage: str) -> Iterator[Conflict]:
    """Yield conflicts where one text has 不 and the other has the same five characters without it."""
    for negative, positive, is_stated in ((statement, passage, True), (passage, statement, False)):
        for match in _NEGATION.finditer(negative):
            before, after = negative[max(0, match.start() - 2) : match.start()], negative[match.end() : match.end() + 3]
            if len(before) < 2 or len(after) < 3 or before + after not in positive or match[0] + after in positive:
                continue
            if not is_stated and before + after in negative:
                continue
            pair = (f"{before}{match[0]}{after}", f"{before}{after}")
            yield Conflict("否定", *(pair if is_stated else pair[::-1]))


def find_quotations(text: str) -> list[str]:
    """Return the words that the text quotes. An ellipsis splits a quotation."""
    pieces: list[str] = []
    for groups in _QUOTES.findall(text):
        pieces += (piece for piece in _ELLIPSIS.split("".join(groups)) if len(compact(piece)) >= MIN_QUOTE_LENGTH)
    return pieces


def find_titles(text: str) -> list[str]:
    return _TITLES.findall(text)


def find_glosses(text: str) -> list[str]:
    """Return names in letters behind a Chinese one: Donald Trump of 特朗普（Donald Trump）."""
    return _GLOSS.findall(text)


def remove_glosses(text: str) -> str:
    return _GLOSS.sub("", text)


def nearest_wording(quote: str, passage: str) -> str | None:
    """Return the passage's words if they differ from the quotation in only a character or two. Both texts are compact."""
    allowed = max(1, len(quote) // 12)
    for head in (quote[: len(quote) // 2], quote[len(quote) // 2 :]):
        place = passage.find(head)
        if len(head) < 3 or place < 0:
            continue
        start = place if quote.startswith(head) else place - (len(quote) - len(head))
        candidate = passage[max(0, start) : start + len(quote)]
        if start >= 0 and len(candidate) == len(quote) and 0 < _count_differing(quote, candidate) <= allowed:
            return candidate
    return None


def _count_differing(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(left != right for left, right in zip(one, other, strict=True))


def is_refutation(text: str) -> bool:
    """Return whether the text says that something is not true: 网传…不实."""
    return _REFUTED.search(text) is not None


def is_taken_back(text: str) -> bool:
    """Return whether the text says of what stands before that it is wrong: 这种说法没有依据."""
    return _TAKEN_BACK.search(text) is not None


def is_question(text: str) -> bool:
    """Return whether the text asks, or offers answers to choose from."""
    return _ASKED.search(text) is not None
