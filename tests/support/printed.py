"""What README and manual print for readers to run or to paste: commands and blocks, in the order of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.base import ROOT

PAGES = (ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs" / "manual").glob("*.md")))
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_FIRST_WORD = re.compile(r"[\w./~-]+")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    language: str
    text: str

    @property
    def lines(self) -> list[str]:
        """Its lines without comments; those that end with a backslash are joined with the next one."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        return [line for line in map(str.strip, joined.splitlines()) if line and not line.startswith("#")]

    @property
    def is_shell(self) -> bool:
        return self.language in {"", "sh", "bash", "shell"} and not self.text.lstrip().startswith(("{", "["))


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text("utf-8")
    return [
        Block(page, found["language"], re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE))
        for found in _FENCE.finditer(text)
    ]


def commands(page: Path) -> list[str]:
    """Return the lines of all shell blocks of a page, and the commands that stand in its text, each once."""
    inline = _INLINE.findall(_FENCE.sub("", page.read_text("utf-8")))
    printed = [line for block in blocks(page) if block.is_shell for line in block.lines]
    return list(dict.fromkeys([*printed, *(words for words in inline if " " in words and program(words) in PROGRAMS)]))


PROGRAMS = frozenset({"wenyuan", "./wenyuan", "make", "pip", "pipx", "uv", "uvx", "curl", "docker", "python", "claude"})
"""Programs whose commands are looked for in the text, too."""


def program(command: str) -> str:
    """Return the program of a command: the one behind `cat … |`, and the name that `export` sets."""
    last = command.split("|")[-1].strip()
    found = _FIRST_WORD.match(last)
    return found[0] if found else ""


def all_commands() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for command in commands(page):
            yield page, command
