"""Untrusted text as Markdown for other programs, without working links, images, tags or definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.base.text import clean, one_line

_SPECIAL = re.compile(r"[\\`*_\[\]<>&!|~$#^=]")


# The characters that make words a URL. Invisible characters around them prevent that in every program: some look
# for addresses before they resolve escapes and entities, some afterwards.
_ADDRESS = r"(?<=/)\\?/|(?<=www)\\?\.|\\?@|&#?\w+;"
_BROKEN = "\u2060\\g<0>\u2060"


def escape_line(text: str) -> str:
    """Return untrusted text on one line, with every character escaped that Markdown would interpret."""
    return _SPECIAL.sub(r"\\\g<0>", re.sub(_ADDRESS, _BROKEN, one_line(text), flags=re.IGNORECASE))


def link_target(url: str) -> str:
    """Return the URL as it may stand between the parentheses of a link; empty if it is not a web address."""
    url = clean(url)
    if not re.fullmatch(r"https?://[^\s/?#\\]\S*", url, re.IGNORECASE):
        return ""
    # The `&` is escaped only before an entity: `&copy;` would be read as one, `&copy=1` would not.
    return re.sub(r"[<>()\\\"`]|&(?=#?\w+;)", lambda found: f"%{ord(found[0]):02X}", url)


# Parse as other programs do: with headings underlined by `===`, without our formulas and citations. Tags and definitions
# need no rule, because `make_inert` leaves none of them.
_OTHERS = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["reference", "inline"])
_OTHERS.parse("compile")  # rules are compiled on first use, and two threads that do it at once may see half of them

_CODE_SPAN = r"(?P<ticks>`+)(?!`)[\s\S]*?(?<!`)(?P=ticks)(?!`)"
# What makes a link, an image, a definition, a footnote, or a tag of HTML out of the characters around it.
_LIVE = r"(?<=\])[(:]|<(?=[A-Za-z/!?])"
_ESCAPED = r"\\[^\n]"
_OUTSIDE_CODE = re.compile(f"(?P<address>{_ADDRESS})|{_ESCAPED}|(?P<live>{_LIVE})", re.IGNORECASE)
_OUTSIDE_SPANS = re.compile(f"(?P<address>{_ADDRESS})|{_ESCAPED}|{_CODE_SPAN}|`+|(?P<live>{_LIVE})", re.IGNORECASE)


def make_inert(markdown: str) -> str:
    r"""Return an answer as Markdown for other programs, in which no link works and nothing is loaded.

    The text stays as it was written, except for a backslash in `[text]\(target)`, `[1]\: target` and `\<tag>`, and an
    invisible character in addresses, outside of code.
    """
    text = clean(markdown)
    lines = text.split("\n")
    out: list[str] = []
    for start, end, pattern in _regions(_OTHERS.parse(text), len(lines)):
        region = "\n".join(lines[start:end])
        out.append(pattern.sub(_escape_live, region) if pattern else region)
    return "\n".join(out).rstrip("\n") + _missing_end(text)


def _escape_live(found: re.Match[str]) -> str:
    if found["address"]:
        return found.expand(_BROKEN)
    return f"\\{found[0]}" if found["live"] else found[0]


def _regions(tokens: Iterable[Token], length: int) -> Iterator[tuple[int, int, re.Pattern[str] | None]]:
    """Yield the first line, the last line and the pattern to escape for each region of the text; None for code. A pair
    of backticks is code only inside one paragraph, not across two cells of a table or two list items."""
    done = 0
    in_table = False
    for token in tokens:
        in_table = token.type != "table_close" and (in_table or token.type == "table_open")
        if in_table or token.map is None or token.type not in {"fence", "code_block", "inline"}:
            continue
        start, end = token.map
        if done < start:
            yield done, start, _OUTSIDE_CODE
        yield start, end, _OUTSIDE_SPANS if token.type == "inline" else None
        done = end
    if done < length:
        yield done, length, _OUTSIDE_CODE


def _missing_end(text: str) -> str:
    """Return the closing fence of an answer that was cut inside a code block, which would swallow the references below
    it."""
    last = _OTHERS.parse(f"{text}\n\nx")[-1]
    return f"\n{last.markup}" if last.type == "fence" else ""
