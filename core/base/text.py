"""Cleaning of untrusted text, once, before it reaches a page, a prompt, a cache or a log."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from textwrap import indent

from core.base.chinese.script import to_simplified

# Characters that are invisible, or that make text read differently from how it is stored: controls, bidirectional
# overrides, zero-width and filler characters, interlinear annotation marks, "tag" characters (used to hide
# instructions from people but not from models), and lone surrogates, which crash JSON encoders, SQLite and Redis.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
# A zero-width joiner is kept where it builds one emoji out of several, and dropped everywhere else.
_STRAY_JOINER = re.compile(
    "(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
)
_BLANKS = re.compile("[\u2800\ufe00-\ufe0f]")
_LINE_ENDS = re.compile("\r\n?|\x85|\u2028|\u2029")

ELLIPSIS = "…"
PASTE = "    "
"""The beginning of a line that is to be pasted into a file."""


def clean(text: str) -> str:
    """Return the text without characters that a reader cannot see. Line breaks and tabs stay."""
    text = _LINE_ENDS.sub("\n", text)
    text = _INVISIBLE.sub("", text)
    return _STRAY_JOINER.sub("", text) if "\u200d" in text else text


def clean_piece(text: str) -> str:
    """Return a piece of a growing text without invisible characters. Line ends and joiners are left for `clean`."""
    return _INVISIBLE.sub("", text)


def is_blank(text: str) -> bool:
    """Return whether a reader would see nothing. U+2800 and U+3164 are drawn as blanks, and variation selectors are not
    drawn."""
    return not _BLANKS.sub("", clean(text)).strip()


def one_line(text: str) -> str:
    """Return the cleaned text with every run of blanks replaced by one space."""
    return " ".join(clean(text).split())


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` characters. A cut is marked with an ellipsis, which counts."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + ELLIPSIS


def normalize(text: str) -> str:
    """Return the form in which two spellings of the same words are equal: NFKC, lower case, single blanks."""
    return one_line(unicodedata.normalize("NFKC", text)).lower()


_WORD = re.compile(r"[a-z0-9]+(?:[._+#-][a-z0-9+#]+)*")
HAN = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, for a character class of a regular expression."""
_HAN_RUN = re.compile(f"[{HAN}]+")


def terms(text: str) -> list[str]:
    """Return index terms: ASCII words as they are, Chinese as overlapping pairs of simplified characters."""
    return terms_of_clean(clean(text))


def terms_of_clean(text: str) -> list[str]:
    """Return the index terms of a text that `clean` has seen before."""
    folded = to_simplified(unicodedata.normalize("NFKC", text).lower())
    found = _WORD.findall(folded)
    for run in _HAN_RUN.findall(folded):
        found.extend([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
    return found


def is_chinese(text: str) -> bool:
    """Return whether a reader would call the text Chinese. One Han character counts as much as one word of letters."""
    han = sum(map(len, _HAN_RUN.findall(text)))
    return han > 0 and han >= len(re.findall(r"[A-Za-z]+", text))


def split_paste_lines(text: str) -> list[tuple[str, bool]]:
    """Return the parts of a text in order: sentences, and blocks of lines to paste, which have four spaces before them in
    the text and none here. The second value is true for a block."""
    lines = [(line[len(PASTE) :], True) if line.startswith(PASTE) else (line, False) for line in text.split("\n")]
    groups = [(is_block, [line for line, _ in group]) for is_block, group in groupby(lines, key=lambda line: line[1])]
    parts = (("\n".join(group), is_block) for is_block, group in groups)
    return [(part, is_block) for part, is_block in parts if part.strip()]


def quote_paste_lines(text: str) -> str:
    """Return the text on one line, with its blocks to paste in quotation marks."""
    return "".join(
        f"「{one_line(part)}」" if is_block else one_line(part) for part, is_block in split_paste_lines(text)
    )


def paste_lines(lines: str) -> str:
    """Return lines as a block to paste, between two sentences of one text."""
    return f"\n{indent(lines, PASTE)}\n"


def time_ago(seconds: float) -> str:
    """Return a duration in Chinese: 12 分钟前."""
    for size, unit in ((86400, "天"), (3600, "小时"), (60, "分钟")):
        if seconds >= size:
            return f" {seconds / size:.0f} {unit}前"
    return "刚才"
