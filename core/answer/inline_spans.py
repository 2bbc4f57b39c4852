"""The parts of a line that stay whole: nothing may be written into inline code, a formula, a link or an escape."""

from __future__ import annotations

import re

# As in Pandoc: `$5 and $6` and `$5–$6` are prices, not a formula.
FORMULA = r"\$\$[^$]{1,1000}\$\$|\$(?=[^\s$])[^$\n]{0,300}(?<=\S)\$(?!\d)|\\\((?:(?!\\[()])[^\n]){1,300}\\\)"
_CODE = r"(?<!`)(?P<ticks>`+)(?!`)(?:[^\n]|\n(?![ \t]*\n)){1,1000}?(?<!`)(?P=ticks)(?!`)"
_LINK = r"!?\[(?:[^\[\]\n]|\[[^\[\]\n]{0,80}\]){1,300}\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,2000}\)"
_ADDRESS, _ENTITY, _ESCAPE = (
    r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]{1,2000}>",
    r"&#?[A-Za-z0-9]{1,31};",
    r"\\[!-/:-@\[-`{-~]",
)
_WHOLE = re.compile(f"{FORMULA}|{_ESCAPE}|{_CODE}|{_LINK}|{_ADDRESS}|{_ENTITY}")


def places_outside(text: str, places: list[int]) -> list[int]:
    """Return the ascending places, each of those within a part that stays whole as the end of that part."""
    found, moved = list(places), 0
    for part in _WHOLE.finditer(text):
        while moved < len(found) and found[moved] < part.end():
            if found[moved] > part.start():
                found[moved] = part.end()
            moved += 1
    return found
