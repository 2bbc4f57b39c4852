"""Takes from an answer, while it streams, what would make a front end load something: pages that the model has read may have
made it write an image whose address carries the conversation away."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

_LINES = re.compile(r"[^\r\n]*[\r\n]|[^\r\n]+")
_NAME = r"/?[A-Za-z][^\s/>]"
"""The beginning of a tag, as browsers read it."""
_LOADING = re.compile(rf"!(?=\[)|<(?=[!?]|(?:script|style)\b|(?!br/>){_NAME}*[\s/]|{_NAME}{{39}})", re.IGNORECASE)
"""Where an image begins, or a tag that is more than its name."""
_UNDECIDED = re.compile(rf"(?:<?!|</?|<{_NAME}{{0,38}}/?)\Z", re.IGNORECASE)
"""An end of which only what follows says whether something begins there."""
_FULL_WIDTH = {"!": "！", "<": "＜"}

_BLOCKS = MarkdownIt("commonmark").enable("table").disable(["inline"])
_BLOCKS.parse("compile")  # rules are compiled on first use, and two threads that do it at once may see half of them
_MAY_BE_FENCE = re.compile(r"[\s>*+\d.)-]*(?:```|~~~)")
_MOST_LINES = 20_000
"""Lines of all that is parsed for one text, which may have been written to make that slow."""


class NothingLoaded:
    """A growing text of Markdown in which no image and no tag with attributes begins: their first character becomes
    full-width, so that the text keeps its length. Fenced code stays as it is."""

    def __init__(self) -> None:
        self._lines = ""
        """The lines before the last one."""
        self._line = ""
        self._undecided = ""
        self._fence = ""
        """The marks that begin the code in which the last line stands, if that is no part of a list or a quotation."""
        self._is_surely_text = True
        """False if a line may have begun code since the text was parsed."""
        self._lines_left = _MOST_LINES

    def add(self, text: str) -> str:
        """Return what the text adds. Its last characters may come later."""
        text = self._undecided + text
        found = _UNDECIDED.search(text)
        self._undecided = found[0] if found else ""
        return self._replaced(text, len(text) - len(self._undecided))

    def end(self) -> str:
        """Return what is missing of the text, with the end of code that would swallow what is written below."""
        rest = self._replaced(self._undecided, len(self._undecided))
        self._undecided = ""
        last = _BLOCKS.parse(f"{self._lines}{self._line}\n\nx")[-1]
        return f"{rest}\n{last.markup}" if last.type == "fence" else rest

    def _replaced(self, text: str, length: int) -> str:
        """Return so much of the text, with the first characters of images and tags replaced. The rest only helps to tell
        what they begin."""
        replaced = ""
        for piece in _LINES.findall(text):
            done = _LOADING.sub(self._full_width, piece)[: length - len(replaced)]
            replaced += done
            self._line += done
            if done.endswith(("\r", "\n")):
                self._end_line()
        return replaced

    def _end_line(self) -> None:
        if self._fence:
            end = rf" {{0,3}}{self._fence}{self._fence[0]}*[ \t]*[\r\n]"
            self._fence = "" if re.fullmatch(end, self._line) else self._fence
        elif _MAY_BE_FENCE.match(self._line):
            self._is_surely_text = False
        self._lines, self._line = self._lines + self._line, ""

    def _full_width(self, found: re.Match[str]) -> str:
        return found[0] if self._is_code(self._line + found.string[: found.end() + 1]) else _FULL_WIDTH[found[0]]

    def _is_code(self, line: str) -> bool:
        """Return whether the last line, which begins like this, is fenced code."""
        if self._fence or self._is_surely_text:
            return bool(self._fence)
        text = (self._lines + line).replace("\r\n", "\n").replace("\r", "\n")
        place = text.count("\n")
        self._lines_left -= place
        if self._lines_left < 0:
            return False
        last = next((token for token in reversed(_BLOCKS.parse(text)) if token.map), None)
        is_code = bool(last and last.type == "fence" and last.map and last.map[0] < place < last.map[1])
        if last and is_code and last.level == 0:
            self._fence = last.markup
        self._is_surely_text = bool(self._fence) or not is_code
        return is_code
