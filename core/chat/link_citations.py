"""Turns links into citations: a model that searches by itself cites `([example.org](https://example.org/a))`; readers
get `[1]`.

Works on a growing text: released text never changes, and only a possible beginning of a link is held back.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from core.answer import INVENTED, cited_numbers
from core.base.web_addresses import host_of
from core.search.types import Source

MAX_HELD_LENGTH = 2_400
"""The length of the longest link. No more than this is held back for a link that has not ended."""
UNKNOWN_LINK_WAIT = 80
"""Characters that a link to an unknown page waits for: services report a citation some characters after its text."""

_LABEL = r"\[(?:[^\[\]\n]|\[[^\[\]\n]{0,40}\]){0,200}\]"
_TITLE = r'(?:[ \t]+"[^"\n]{0,200}")?'
_ADDRESS = r"(?:[^\s()<>]|\([^\s()<>]*\))"
_LINK = rf"{_LABEL}\(<?https?://{_ADDRESS}+>?{_TITLE}\)"
_BETWEEN = r"[,;，；、]? ?"
_BRACKET = r"[\[【［][^\[\]【】［］\n]{1,200}[\]】］]"

_TOKEN = re.compile(
    rf"(?P<ticks>`+)|(?P<blank>\n[ \t]*\n)|(?P<cite>\({_LINK}(?:{_BETWEEN}{_LINK})*\))|(?P<link>{_LINK})"
    rf"|(?P<bracket>{_BRACKET})|(?P<other>!{_LINK}|\\.|.)",
    re.DOTALL,
)
# Unfinished forms of the patterns above, up to their last character.
_LABEL_BEGUN = r"\[(?:[^\[\]\n]|\[[^\[\]\n]{0,40}\]){0,200}(?:\[[^\[\]\n]{0,40})?"
_LINK_BEGUN = rf'(?:{_LABEL_BEGUN}|{_LABEL}(?:\(<?{_ADDRESS}*(?:\([^\s()<>]*)?>?(?:[ \t]+(?:"[^"\n]{{0,200}}"?)?)?)?)'
_UNFINISHED = re.compile(
    rf"`+|\n[ \t]*|\\|!(?:{_LINK_BEGUN})?|{_LINK_BEGUN}|\((?:{_LINK}{_BETWEEN})*(?:{_LINK_BEGUN})?"
    r"|[【［][^\[\]【】［］\n]{0,200}"
)
_CODE_TOKEN = re.compile(r"(?P<ticks>`+)|(?P<blank>\n[ \t]*\n)|(?P<other>.)", re.DOTALL)
_PATTERNS = re.compile(r"[\\`\n!(\[【［]"), _UNFINISHED, _TOKEN
_CODE_PATTERNS = re.compile(r"[`\n]"), re.compile(r"`+|\n[ \t]*"), _CODE_TOKEN

_PARTS = re.compile(rf"\[((?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\(<?(https?://{_ADDRESS}+?)>?{_TITLE}\)")
_ANY_SOURCE = tuple(Source(number, "", "", "") for number in range(1, 1000))


class LinkCitations:
    """Rewrites links. `number_of` returns the number of a page's source, or None if the page is not known yet."""

    def __init__(self, number_of: Callable[[str], int | None]) -> None:
        self._number_of = number_of
        self._code = 0
        """The number of backticks that opened the code around the current position; 0 outside of code."""
        self.pending = ""

    def feed(self, text: str) -> str:
        """Take the next text and return the part that can be shown now. With an empty text, look again for new pages."""
        self.pending += text
        return self._release(ended=False)

    def end(self) -> str:
        return self._release(ended=True)

    def _release(self, *, ended: bool) -> str:
        shown: list[str] = []
        text, position = self.pending, 0
        while True:
            begin, unfinished, token = _CODE_PATTERNS if self._code else _PATTERNS
            start = begin.search(text, position)
            if start is None:
                shown.append(text[position:])
                position = len(text)
                break
            shown.append(text[position : start.start()])
            position = start.start()
            if not ended and len(text) - position < MAX_HELD_LENGTH and unfinished.fullmatch(text, position):
                break
            found = token.match(text, position)
            assert found is not None
            if not ended and len(text) - found.end() < UNKNOWN_LINK_WAIT and self._should_wait(found):
                break
            written = self._rewrite_token(found)
            shown.append(text[position] if written is None else written)
            position = position + 1 if written is None else found.end()
        self.pending = text[position:]
        return "".join(shown)

    def _should_wait(self, found: re.Match[str]) -> bool:
        return found.lastgroup in {"cite", "link"} and None in self._numbers(found[0])

    def _numbers(self, links: str) -> list[int | None]:
        return list(dict.fromkeys(self._number_of(url) for _, url in _PARTS.findall(links)))

    def _rewrite_token(self, found: re.Match[str]) -> str | None:
        """Return the text for a token. None: its first character is shown as it is, and reading goes on behind it."""
        token = found[0]
        match found.lastgroup:
            case "cite" | "link" if len(token) > MAX_HELD_LENGTH:
                return None
            case "cite":
                numbers = self._numbers(token)
                return None if None in numbers else "".join(f"[{number}]" for number in numbers)
            case "link":
                return self._rewrite_link(token)
            case "bracket":
                return _defuse_bracket(found)
            case "ticks":
                self._toggle_code(len(token))
            case "blank" if self._code < 3:  # code within a line ends with its paragraph at the latest
                self._code = 0
        return token

    def _rewrite_link(self, link: str) -> str:
        [(label, url)] = _PARTS.findall(link)
        number = self._number_of(url)
        if number is None:
            return link
        return f"[{number}]" if _is_bare_label(label, url) else f"{_BRACKETS.sub(_defuse_bracket, label)}[{number}]"

    def _toggle_code(self, count: int) -> None:
        if not self._code:
            self._code = count
        elif count == self._code or count > self._code >= 3:
            self._code = 0


_BRACKETS = re.compile(_BRACKET)


def _defuse_bracket(found: re.Match[str]) -> str:
    """Mark a bracketed number as invented: it must not cite a source that happens to have it."""
    bracket = found[0]
    is_citation = cited_numbers(f"。{bracket}", _ANY_SOURCE)  # alone it could be a list of numbers
    return f"{bracket[0]}{INVENTED}{bracket[1:]}" if is_citation else bracket


def _is_bare_label(label: str, url: str) -> bool:
    """Return whether the label says only where the link leads: a host, an address, a number."""
    label = label.strip(" []").lower().removeprefix("www.")
    return not label or label.isdecimal() or label.startswith(("http://", "https://", host_of(url)))
