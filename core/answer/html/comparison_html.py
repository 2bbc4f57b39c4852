"""A statement above the passage that it was compared with: words that agree are marked, words on one side only are grey."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from markupsafe import Markup, escape

from core.answer.check_results import AlignedWords, Difference, QuotedPassage, Verdict
from core.answer.citation_verdicts import COMPARED_VERDICTS, CitationVerdict
from core.answer.place_labels import join_places
from core.base.text import ELLIPSIS, clean, shorten

PLAIN_LENGTH = 220
"""Characters that are shown of a text in which nothing is marked."""
CONTEXT_LENGTH = 40
"""Characters that are shown before and after marked words."""


def comparison_html(verdict: CitationVerdict) -> Markup:
    """Return the statement above the passages. An open verdict has no marks: its passage is only the nearest one."""
    words = verdict.alignment if verdict.verdict in COMPARED_VERDICTS else ()
    statement = _MarkedText(verdict.statement, ((one.start, one.end) for one in words))
    passages = [_marked_passage(passage, words) for passage in verdict.evidence]
    differences = verdict.differences if verdict.verdict is Verdict.CONTRADICTED else ()
    unplaced = [one for one in differences if not _mark_difference(one, statement, passages)]
    sides = _side_html("回答", statement.html())
    if passages:
        head = "原文" if verdict.verdict in COMPARED_VERDICTS else "最接近的原文"
        quoted = Markup(" … ").join(passage.html() for passage in passages)
        sides += _side_html(head, quoted, join_places(verdict.places))
    compared = Markup('<span class="wy-compared%s">%s</span>') % (" aligned" if words else "", sides)
    return compared + Markup().join(_difference_html(one) for one in unplaced if one.stated not in verdict.reason)


def _marked_passage(passage: QuotedPassage, words: Iterable[AlignedWords]) -> _MarkedText:
    return _MarkedText(
        passage.text, ((one.found_start - passage.start, one.found_end - passage.start) for one in words)
    )


def _side_html(head: str, text: Markup, place: str = "") -> Markup:
    where = Markup("<small>%s</small>") % place if place else Markup()
    return Markup("<span><b>%s</b><q>%s</q>%s</span>") % (head, text, where)


def _difference_html(difference: Difference) -> Markup:
    found = difference.found or "没有相应的内容"
    return Markup("<span>回答：<del>%s</del>　来源：<ins>%s</ins></span>") % (difference.stated, found)


def _mark_difference(difference: Difference, statement: _MarkedText, passages: Sequence[_MarkedText]) -> bool:
    """Mark the words that differ on both sides. Return whether they stand there."""
    stated = statement.find(difference.stated)
    found = next(((passage, place) for passage in passages if (place := passage.find(difference.found))), None)
    if not stated or not found:
        return False
    statement.mark(*stated, "del")
    found[0].mark(*found[1], "ins")
    return True


class _MarkedText:
    def __init__(self, text: str, words: Iterable[tuple[int, int]]) -> None:
        self._text = text
        self._tags = [""] * len(text)
        for start, end in words:
            self.mark(start, end, "mark")

    def mark(self, start: int, end: int, tag: str) -> None:
        """Set the tag of a span. The part of it outside of the text is ignored."""
        for place in range(max(start, 0), min(end, len(self._tags))):
            self._tags[place] = tag

    def find(self, words: str) -> tuple[int, int] | None:
        """Return the place of the words that has the fewest marks. No part of a longer number or Latin word counts."""
        before, after = (_BEFORE if _is_latin(words[:1]) else ""), (_AFTER if _is_latin(words[-1:]) else "")
        whole = re.compile(f"{before}{re.escape(words)}{after}")
        places = [match.span() for match in whole.finditer(self._text)] if words else []
        return min(places, key=lambda place: sum(map(bool, self._tags[slice(*place)])), default=None)

    def html(self) -> Markup:
        """Return the text, shortened around the marks."""
        if not any(self._tags):
            return escape(shorten(_flow(self._text).strip(), PLAIN_LENGTH))
        return Markup().join(_TAGGED[tag] % words for words, tag in self._shown_runs())

    def _shown_runs(self) -> Iterator[tuple[str, str]]:
        start = 0
        for tag, run in groupby(self._tags):
            end = start + len(list(run))
            words = _flow(self._text[start:end])
            yield words if tag else _cut(words, start == 0, end == len(self._text)), tag
            start = end


_TAGGED = {tag: Markup("<%s>%%s</%s>") % (tag, tag) for tag in ("mark", "del", "ins")} | {"": Markup("%s")}
_BEFORE, _AFTER = r"(?<![A-Za-z0-9])(?<!\d[.,])", r"(?![A-Za-z0-9]|[.,]\d)"


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _flow(text: str) -> str:
    """Return the text with every run of blanks as one space. Blanks at the ends stay: words of a line may follow."""
    return re.sub(r"\s+", " ", clean(text))


def _cut(text: str, is_first: bool, is_last: bool) -> str:
    """Return what is shown of a text between marks."""
    before = "" if is_first else text[:CONTEXT_LENGTH]
    after = "" if is_last else text[-CONTEXT_LENGTH:]
    return text if len(text) <= len(before) + len(after) + 1 else f"{before}{ELLIPSIS}{after}"
