"""The part of a source's text that is shown at once, with the pages it is on and the passages that were compared."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

from core.answer.html.source_marks import TextSpan
from core.reading import TextSection, section_label

WHOLE_TEXT = 20_000
"""Characters of a text that is shown whole."""
WINDOW = 12_000
"""Characters of a longer one that are shown at once."""
_BEFORE = WINDOW // 4
"""Characters shown before a passage."""
_LONGEST_LINE = 1_000
"""Characters in which a line may end before the window does."""


@dataclass(frozen=True, slots=True)
class TextWindow:
    """Start and end of what is shown of a text."""

    start: int
    end: int

    @classmethod
    def from_position(cls, text: str, position: int) -> TextWindow:
        """Return the window in which a position stands, with some text before it."""
        if len(text) <= WHOLE_TEXT:
            return cls(0, len(text))
        return cls.from_start(text, _line_start(text, position - _BEFORE))

    @classmethod
    def from_start(cls, text: str, start: int) -> TextWindow:
        """Return the window that begins at a position."""
        return cls(start, _line_start(text, start + WINDOW))

    @classmethod
    def from_end(cls, text: str, end: int) -> TextWindow:
        """Return the window that ends at a position."""
        return cls(_line_start(text, end - WINDOW), end)


def _line_start(text: str, position: int) -> int:
    """Return where a line begins, not far before the position; the position itself if none does."""
    if position <= 0 or position >= len(text):
        return min(max(position, 0), len(text))
    return text.rfind("\n", max(position - _LONGEST_LINE, 0), position) + 1 or position


def window_html(
    text: str,
    window: TextWindow,
    spans: Iterable[TextSpan],
    sections: Iterable[TextSection] = (),
    *,
    wanted: TextSpan | None = None,
) -> Markup:
    """Return the text in the window with the spans marked, which are in order and apart, and the names of pages, slides and sheets where they begin.
    The wanted span is the one that a script scrolls to (core/ui/scripts/passages.js)."""
    inside = [span for span in spans if span.start < window.end and window.start < span.end]
    named = sections_in(sections, window)
    ends = (place for span in inside for place in (span.start, span.end))
    cuts = sorted({window.start, window.end, *named, *(place for place in ends if window.start < place < window.end)})
    starts, pieces = [span.start for span in inside], list[Markup]()
    for start, end in pairwise(cuts):
        words, span = text[start:end], _span_at(inside, starts, start)
        is_wanted, is_end = span is not None and span is wanted, span is not None and span.end == end
        pieces.append(_label_html(named.get(start)))
        pieces.append(_mark_html(words, span, is_wanted=is_wanted, is_end=is_end) if span else escape(words))
    return Markup().join(pieces)


def _span_at(spans: Sequence[TextSpan], starts: Sequence[int], position: int) -> TextSpan | None:
    place = bisect_right(starts, position) - 1
    return spans[place] if place >= 0 and position < spans[place].end else None


def sections_in(sections: Iterable[TextSection], window: TextWindow) -> dict[int, TextSection]:
    """Return each page, slide, sheet or the like that begins in the window, and the one that it begins in, by position. Of
    sections without text between them the last one counts."""
    named = [section for section in sections if section.kind != "heading" and section.start < window.end]
    before = [section for section in named if section.start <= window.start]
    begun = {section.start: section for section in named if section.start > window.start}
    return {window.start: before[-1], **begun} if before else begun


def _label_html(section: TextSection | None) -> Markup:
    words = section_label(section) if section else ""
    return Markup('<span class="place">%s</span>') % words if words else Markup()


def _mark_html(words: str, span: TextSpan, *, is_wanted: bool, is_end: bool) -> Markup:
    verdict = span.citation_verdict
    kind = f"{verdict.css_class} wanted" if is_wanted else verdict.css_class
    sign = Markup('<i aria-hidden="true">%s</i>') % verdict.mark if is_end else Markup()
    title = f"{verdict.label}：{verdict.statement}"
    return Markup('<mark class="%s" title="%s">%s%s</mark>') % (kind, title, words, sign)


def nearest_span(spans: Sequence[TextSpan], position: int) -> int:
    """Return the index of the span that a position is in, or that is nearest to it."""
    return min(range(len(spans)), key=lambda index: _distance(spans[index], position))


def _distance(span: TextSpan, position: int) -> int:
    return 0 if span.start <= position < span.end else min(abs(span.start - position), abs(span.end - position))
