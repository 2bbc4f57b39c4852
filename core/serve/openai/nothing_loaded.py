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
_LONGEST = 200_000
"""Characters up to which fenced code is looked for."""


class NothingLoaded:
    """A growing text of Markdown in which no image and no tag with attributes begins: their first character becomes
    full-width, so that the text keeps its length. Fenced code stays as it is."""

    def __init__(self) -> None:
        self._lines = ""
        """The lines before the last one."""
        self._line = ""
        self._undecided = ""

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
                self._lines, self._line = self._lines + self._line, ""
        return replaced

    def _full_width(self, found: re.Match[str]) -> str:
        if self._is_code(self._line + found.string[: found.end() + 1]):
            return found[0]
        return _FULL_WIDTH[found[0]]

    def _is_code(self, line: str) -> bool:
        if len(self._lines) > _LONGEST:
            return False
        text = (self._lines + line).replace("\r\n", "\n").replace("\r", "\n")
        last = next((token for token in reversed(_BLOCKS.parse(text)) if token.map), None)
        return bool(last and last.type == "fence" and last.map and last.map[0] < text.count("\n") < last.map[1])
