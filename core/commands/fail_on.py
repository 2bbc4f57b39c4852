"""The option --fail-on: results of a check for which it ends with status 3."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable, Mapping

from core.commands.output import FOUND_WRONGS, OK


def parse_marks(text: str, words_by_mark: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return the marks that are named in the value of --fail-on: one after the other, or in words with commas between."""
    found = set[str]()
    for part in re.split(r"[,，、\s]+", text):
        named = {mark for mark, words in words_by_mark.items() if part in words}
        if not named and words_by_mark.keys() >= set(part):
            named = set(part)
        if not named:
            known = "、".join(" ".join((mark, *words)) for mark, words in words_by_mark.items())
            raise argparse.ArgumentTypeError(f"没有「{part}」这个结论，可以写：{known}")
        found |= named
    return frozenset(found)


def status_of(marks: Iterable[str], fail_on: Collection[str]) -> int:
    """Return the status for what was found: one of the marks for which the caller wants to fail, or none."""
    return FOUND_WRONGS if any(mark in fail_on for mark in marks) else OK
