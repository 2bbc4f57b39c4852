"""Text of others as Markdown for other programs: nothing in it becomes a link, an image, a tag or a definition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.base.text import clean, one_line

_SPECIAL = re.compile(r"[\\`*_\[\]<>&!|~$#^=]")


# What makes an address of the words around it. Between invisible characters it no longer does, in no program: some look
# for addresses before they resolve escapes and entities, some afterwards.
_ADDRESS = r"(?<=/)\\?/|(?<=www)\\?\.|\\?@|&#?\w+;"
_BROKEN = "\u2060\\g<0>\u2060"


def plain_line(text: str) -> str:
    """Text of others on one line, with every character that Markdown would take for something else made harmless."""
    return _SPECIAL.sub(r"\\\g<0>", re.sub(_ADDRESS, _BROKEN, one_line(text), flags=re.IGNORECASE))


def link_address(url: str) -> str:
    """What may stand between the parentheses of a link; empty for what is not a web address."""
    url = clean(url)
    if not re.fullmatch(r"https?://[^\s/?#\\]\S*", url, re.IGNORECASE):
        return ""
    # The last one: `&copy;` would be read as an entity, `&copy=1` is not.
    return re.sub(r"[<>()\\\"`]|&(?=#?\w+;)", lambda found: f"%{ord(found[0]):02X}", url)


# As the others read it: with headings underlined by `===`, without our formulas and citations. Tags and definitions
# are not among its rules because none is left in what `disarm` writes.
_OTHERS = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["reference", "inline"])
_OTHERS.parse("compile")  # rules are compiled on first use, and two threads that do it at once may see half of them

_CODE_SPAN = r"(?P<ticks>`+)(?!`)[\s\S]*?(?<!`)(?P=ticks)(?!`)"
# What makes a link, an image, a definition, a footnote, or a tag of HTML out of the characters around it.
_LIVE = r"(?<=\])[(:]|<(?=[A-Za-z/!?])"
_ESCAPED = r"\\[^\n]"
_OUTSIDE_CODE = re.compile(f"(?P<address>{_ADDRESS})|{_ESCAPED}|(?P<live>{_LIVE})", re.IGNORECASE)
_OUTSIDE_SPANS = re.compile(f"(?P<address>{_ADDRESS})|{_ESCAPED}|{_CODE_SPAN}|`+|(?P<live>{_LIVE})", re.IGNORECASE)


def disarm(markdown: str) -> str:
    r"""An answer as Markdown for other programs, in which no link works and nothing is loaded.

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
    """The lines from start to end, region by region, and what to look for in each: in code nothing.

    A pair of backticks is code only inside one paragraph: in two cells of a table, or in two list items, it is not.
    """
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
    """An answer that was cut inside a code block would swallow the references below it."""
    last = _OTHERS.parse(f"{text}\n\nx")[-1]
    return f"\n{last.markup}" if last.type == "fence" else ""
