"""Quotations beside a citation, and their comparison with the article."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.base.chinese.numerals import NUMERAL, to_int
from core.legal.text.restatement import CitationGroup

_SHORTEST = 8
"""Fewest letters of a quotation. Shorter words in quotation marks are a term."""
_REACH = 1_600
_PAIRS = {"“": "”", "「": "」", "『": "』", '"': '"'}
_OPENING = re.compile(r"(?P<link>[^。；;！？!?\n“”「」『』\"《》]{0,24}?)[:：,，(（]?\s{0,8}(?P<open>[“「『\"])")
_LINK = re.compile(
    r"(?:的)?(?:.{0,6}(?:规定|载明|指出|明确|写明|要求|原文|内容|条文|表述|全文|称|即|为|是|如下)[了是为]?.{0,4})?\**\s*"
)
_BLOCK = re.compile(r"[^\n。“「]{0,24}\n+(?P<quote>(?:[ \t]*>[^\n]*(?:\n|$))+)")
_BEFORE = re.compile(
    r"[“「『\"](?P<quote>[^“”「」『』\"]{2,1500})[”」』\"][。，,]?\s{0,8}[（(【\[—-]{1,4}\s{0,8}(?:见|参见|引自|依据|载于|出自)?\s{0,8}$"
)
_ELLIPSIS = re.compile(r"…+|\.{3,}|。{3,}|·{3,}|•{3,}|\*{3,}|［略］|\[略\]|（略）|\(略\)")
_ITEM_MARK = re.compile(r"[（(][一二三四五六七八九十]{1,3}[)）]")
_OWN_NUMBER = re.compile(r"^\s*第[^条\s]{1,12}条(?:之[一二三四五六七八九十]+)?(?:第[^款]{1,3}款)?[\s:：]*")
_NUMERAL = re.compile(NUMERAL)


class Quotation(NamedTuple):
    text: str
    following_words: str = ""
    """Words of the sentence after the quotation."""
    is_term: bool = False
    """True if the words are only spoken of, as in 第三条规定的“…”的情形, and not claimed to be the article's own."""


def find_quotations(text: str, groups: Sequence[CitationGroup]) -> Iterator[Quotation | None]:
    """Yield the quotation after 第…条规定：, in a block below or right before each citation group, or None."""
    for position, group in enumerate(groups):
        until = groups[position + 1].start if position + 1 < len(groups) else len(text)
        begin = groups[position - 1].end if position else 0
        after = text[group.end : group.end + _REACH]
        found = _quotation_after(after, until - group.end) or quotation_before(text[begin : group.start])
        yield found if found and len(_letters(found.text)) >= _SHORTEST else None


def _quotation_after(after: str, until: int) -> Quotation | None:
    opening = _OPENING.match(after)
    if opening and opening.start("open") <= until and _LINK.fullmatch(opening["link"]):
        return _read_quotation(after, opening)
    block = _BLOCK.match(after)
    if block and block.start("quote") <= until:
        return Quotation(re.sub(r"(?m)^[ \t]*>[ \t]?", "", block["quote"]))
    return None


def _read_quotation(after: str, opening: re.Match[str]) -> Quotation | None:
    begin = opening.end()
    end = closing_mark(after, opening["open"], begin)
    if end < 0:
        return None
    rest = re.split(r"[。！？!?\n]", after[end + 1 :], maxsplit=1)[0]
    return Quotation(after[begin:end], rest, is_term=opening["link"].endswith("的") or rest.startswith("的"))


def closing_mark(text: str, opened: str, begin: int) -> int:
    """Return the position of the closing mark of nested quotations; of the first one if an inner one stays open."""
    closed, depth = _PAIRS[opened], 1
    for place in range(begin, len(text)):
        depth += (text[place] == opened != closed) - (text[place] == closed)
        if not depth:
            return place
    return text.find(closed, begin)


def quotation_before(before: str) -> Quotation | None:
    found = _BEFORE.search(before[-_REACH:])
    return Quotation(found["quote"]) if found else None


def is_quoted_from(quote: str, text: str) -> bool:
    """Return whether the quoted words stand in the text, in order. Punctuation, spaces, item marks and ellipses do not
    matter, nor 六 for 6, nor items that were left out."""
    quote = _OWN_NUMBER.sub("", quote)
    pieces = _ELLIPSIS.split(quote)
    without_marks = [_ITEM_MARK.sub("", piece) for piece in pieces]
    bare = _ITEM_MARK.sub("", text)
    if _stand_in_order(pieces, text) or _stand_in_order(without_marks, bare):
        return True
    items = [item for piece in pieces for item in _ITEM_MARK.split(piece)]
    return len(items) > len(pieces) and _stand_in_order(items, bare)


def _stand_in_order(pieces: Sequence[str], text: str) -> bool:
    letters, at = _letters(text), 0
    for piece in pieces:
        wanted = _letters(piece)
        at = letters.find(wanted, at)
        if at < 0:
            return False
        at += len(wanted)
    return True


def _letters(text: str) -> str:
    letters = re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).lower()
    return _NUMERAL.sub(_figure, letters)


def _figure(numeral: re.Match[str]) -> str:
    try:
        return str(to_int(numeral[0]))
    except ValueError:
        return numeral[0]
