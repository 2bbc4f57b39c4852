"""Fifteen invented files with known pages, and questions about them in other words than theirs (`library_questions.txt`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from support.pdf_files import pdf_file

_FILE = Path(__file__).with_suffix(".txt")
LINE = 36


@dataclass(frozen=True)
class PageQuestion:
    text: str
    name: str
    page: int
    """The page of the file that has the answer."""


@dataclass(frozen=True)
class InventedFile:
    name: str
    pages: tuple[str, ...]

    @property
    def body(self) -> bytes:
        return pdf_file(*([line for part in page.splitlines() for line in wrap(part, LINE)] for page in self.pages))


def invented_files() -> tuple[list[InventedFile], list[PageQuestion]]:
    """Return the files and the questions. A file begins with @, a page ends with ---, a question begins with ?."""
    files, questions = [], []
    for block in _FILE.read_text("utf-8").split("@ ")[1:]:
        name, _, rest = block.partition("\n")
        pages = []
        for number, page in enumerate(rest.split("---\n"), 1):
            lines = page.strip().splitlines()
            pages.append("\n".join(line for line in lines if not line.startswith("? ")))
            questions += [PageQuestion(line[2:], name, number) for line in lines if line.startswith("? ")]
        files.append(InventedFile(name, tuple(pages)))
    return files, questions
