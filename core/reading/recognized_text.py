"""The text of a recognized page, and where it belongs in the text of its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from core.reading.file_parts import BETWEEN_PARTS, FilePart
from core.reading.reading_order import Row, reading_rows
from core.reading.recognition_types import RecognizedLine, RecognizedPage, Spans
from core.reading.sections import TextSection

CERTAIN = 0.95
"""Least confidence of each character of a value that may support a statement."""
_NUMERAL = r"\d零〇一二三四五六七八九十百千万亿兆两半"
_TURNING = "不未无非没勿免禁"
_VALUE = re.compile(
    rf"[A-Za-z{_NUMERAL}]+(?:(?:[.,:/·．：－–-]|，(?=\d{{3}}))[A-Za-z{_NUMERAL}]+)*[%％‰°]?"
    rf"|[{_TURNING}]"
)
"""Words of letters and digits, with what holds them together, and the words that turn a statement round."""
_COUNTS = re.compile(rf"[{_NUMERAL}{_TURNING}]")
"""What makes a value of them."""


def recognized_page(number: int, lines: Sequence[RecognizedLine]) -> RecognizedPage:
    """Return the page with these lines, which may come in any order."""
    rows = [_join_pieces(row) for row in reading_rows(lines)]
    text, confidences = "\n".join(text for text, _ in rows), [0.0]
    for _, row in rows:
        confidences += [*row, 1.0]
    confidences = confidences[1:-1]
    known = [confidence for char, confidence in zip(text, confidences, strict=True) if not char.isspace()]
    mean = sum(known) / len(known) if known else 0.0
    return RecognizedPage(number, text, tuple(_uncertain_values(text, confidences)), mean)


def _join_pieces(row: Row) -> tuple[str, list[float]]:
    text, confidences = row[0].text, list(row[0].confidences)
    for piece in row[1:]:
        text += " " + piece.text
        confidences += [1.0, *piece.confidences]
    return text, confidences


def _uncertain_values(text: str, confidences: Sequence[float]) -> Iterator[tuple[int, int]]:
    for value in _VALUE.finditer(text):
        if _COUNTS.search(value[0]) and min(confidences[value.start() : value.end()]) < CERTAIN:
            yield value.span()


def with_recognized(part: FilePart, pages: Iterable[RecognizedPage]) -> FilePart:
    """Return the part of a file with the text of recognized pages in its place, and their sections marked."""
    recognized = {page.number: page for page in pages if not page.problem}
    text, sections, uncertain = "", list[TextSection](), list[tuple[int, int]]()
    for holder, headings, words in _pieces(part):
        page = recognized.get(holder.number)
        shown = page.text if page else words.strip()
        text += BETWEEN_PARTS if text and shown else ""
        start = len(text)
        sections.append(replace(holder, start=start, is_recognized=page is not None or holder.is_recognized))
        sections += [replace(one, start=start + min(one.start - holder.start, len(shown))) for one in headings]
        known: Spans = page.uncertain if page else _moved(part.uncertain, holder.start, holder.start + len(words))
        uncertain += [(start + first, start + last) for first, last in known]
        text += shown
    unread = tuple(number for number in part.unread_pages if number not in recognized)
    return replace(part, text=text, sections=tuple(sections), uncertain=tuple(uncertain), unread_pages=unread)


def _pieces(part: FilePart) -> Iterator[tuple[TextSection, list[TextSection], str]]:
    """Yield each page with the headings on it and its text."""
    places = [index for index, section in enumerate(part.sections) if section.kind != "heading"]
    for index, following in pairwise([*places, None]):
        assert index is not None
        holder, end = part.sections[index], part.sections[following].start if following else len(part.text)
        yield holder, list(part.sections[index + 1 : following]), part.text[holder.start : end]


def _moved(spans: Spans, start: int, end: int) -> Spans:
    """Return the spans between these positions, counted from the first one."""
    return tuple((first - start, last - start) for first, last in spans if start <= first and last <= end)
