"""Wordings of a whole text: quotations, titles, questions, and words that take something back.

Texts are compared in the form of `compact`: one spelling, no punctuation, no blanks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.base.chinese.script import comparison_form

_MARKS = re.compile(r"[\W_]+")

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


def compact(text: str) -> str:
    return _MARKS.sub("", comparison_form(text))


def find_quotations(text: str) -> list[str]:
    """Return the words that the text quotes. An ellipsis splits a quotation."""
    pieces: list[str] = []
    for groups in _QUOTES.findall(text):
        pieces += (piece for piece in _ELLIPSIS.split("".join(groups)) if len(compact(piece)) >= MIN_QUOTE_LENGTH)
    return pieces


def find_titles(text: str) -> list[str]:
    return _TITLES.findall(text)


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
