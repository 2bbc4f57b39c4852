"""Word documents of our own, good ones and bad ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence

import docx
from docx.document import Document

MAIN = "word/document.xml"


def word_file(
    *paragraphs: str, rows: Iterable[Sequence[str]] = (), change: Callable[[Document], None] = lambda _: None
) -> bytes:
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    lines = list(rows)
    if lines:
        table = document.add_table(len(lines), len(lines[0]))
        for row, texts in zip(table.rows, lines, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
    change(document)
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()


def archive(parts: Mapping[str, bytes | str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return packed.getvalue()


def with_part(body: bytes, name: str, content: bytes | str) -> bytes:
    """The same document with another part, or with this one in place of its own."""
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        parts: dict[str, bytes | str] = {one: file.read(one) for one in file.namelist()}
    return archive(parts | {name: content})


def part(body: bytes, name: str = MAIN) -> str:
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        return file.read(name).decode()


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def with_footnote(body: bytes, at: str, words: str) -> bytes:
    """The footnote stands behind the words `at`, which end a run."""
    reference = f'{at}</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t>'
    notes = (
        f'<w:footnotes {_W}><w:footnote w:id="2"><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    return with_part(with_part(body, MAIN, part(body).replace(at, reference, 1)), "word/footnotes.xml", notes)
