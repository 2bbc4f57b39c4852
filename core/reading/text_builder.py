"""A text that grows line by line, with its sections."""

from __future__ import annotations

from collections.abc import Iterable

from core.base.text import is_blank, one_line, shorten
from core.reading.page import MAX_TITLE
from core.reading.sections import MAX_SECTIONS, SectionKind, TextSection, shift_sections


class TextBuilder:
    """Collects lines and sections."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._sections: list[TextSection] = []
        self.length = 0

    def add_line(self, line: str = "") -> None:
        self._lines.append(line)
        self.length += len(line) + 1

    def begin(
        self, kind: SectionKind, *, number: int = 0, title: str = "", level: int = 0, first_line: int = 1
    ) -> None:
        """Begin a section with the next line."""
        name = shorten(one_line(title), MAX_TITLE)
        self._sections.append(TextSection(self.length, kind, number, name, level, first_line))

    def add_heading(self, words: str, level: int) -> None:
        """Add a line that is the heading of those after it."""
        if not is_blank(words):
            self.begin("heading", title=words, level=level, first_line=0)
            self.add_line(one_line(words))

    def add_text(self, text: str, sections: Iterable[TextSection] = ()) -> None:
        """Add the lines of another text with its sections."""
        self._sections += shift_sections(sections, self.length)
        self.add_line(text)

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    @property
    def sections(self) -> tuple[TextSection, ...]:
        return tuple(self._sections[:MAX_SECTIONS])
