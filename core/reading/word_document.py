"""Word documents (.docx): read their text, and add comments. This runs only in a worker: the file is untrusted."""

from __future__ import annotations

import io
import re
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import accumulate
from typing import Any, NamedTuple

import docx
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.parts.comments import CommentsPart
from docx.text.run import Run
from lxml import etree
from lxml.etree import _Element as Element

from core.base.text import clean
from core.reading.extraction_types import DocumentComment, ExtractedText, NotReadable

MAX_PARTS = 3_000
MAX_UNPACKED = 100_000_000
"""Limit for the bytes of all parts together, most of them pictures."""
MAX_PART = 40_000_000
"""Limit for the bytes of one part that is read: a text of several books."""
_MAIN = re.compile(r"word/document\d*\.xml")
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NOT_TEXT = frozenset({"pPr", "rPr", "tblPr", "trPr", "tcPr", "sectPr", "instrText", "del", "moveFrom", "Fallback"})
_NOTES = {"footnoteReference": "word/footnotes.xml", "endnoteReference": "word/endnotes.xml"}
_EMPTY_COMMENTS = b'<w:comments xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>'


class _Piece(NamedTuple):
    """A piece of the document's text, with the elements that it comes from."""

    text: str
    element: Element | None = None
    """Element with these words, if they can be split."""
    run: Element | None = None
    """Run that a comment on these words is attached to."""


def is_docx(body: bytes) -> bool:
    try:
        return any(map(_MAIN.fullmatch, zipfile.ZipFile(io.BytesIO(body)).namelist()))
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def read_docx(body: bytes) -> ExtractedText:
    """Return paragraphs, table rows and, at the end, footnotes. Text deleted under tracked changes is left out."""
    archive = _open_archive(body)
    main = next(filter(_MAIN.fullmatch, archive.namelist()))
    return ExtractedText("docx", "".join(piece.text for piece in _all_pieces(_parse_part(archive, main), archive)))


def add_comments(body: bytes, comments: Iterable[DocumentComment], author: str) -> bytes:
    """Return the document with comments and unchanged formatting. Positions are those of the text that was read."""
    archive = _open_archive(body)
    document = docx.Document(io.BytesIO(body))
    pieces = list(_all_pieces(document.element, archive))
    text, places = "".join(piece.text for piece in pieces), _TextPositions(pieces)
    before = len(text) - len(text.lstrip())  # the text that was read starts at its first word
    _ensure_comments_part(document)
    for remark in sorted(comments, reverse=True):  # from the end, so that a split changes no earlier position
        if runs := places.runs(remark.start + before, remark.end + before):
            document.add_comment([Run(run, document._body) for run in runs], remark.text, author, author[:1])
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()


def _open_archive(body: bytes) -> zipfile.ZipFile:
    """Open the archive and check its declared sizes. They hold: zipfile reads no more of a part than is declared."""
    archive = zipfile.ZipFile(io.BytesIO(body))
    parts = archive.infolist()
    if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise NotReadable("large")
    if any(part.flag_bits & 1 for part in parts):
        raise NotReadable("locked")
    return archive


def _parse_part(archive: zipfile.ZipFile, name: str) -> Element:
    if archive.getinfo(name).file_size > MAX_PART:
        raise NotReadable("large")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    root = etree.fromstring(archive.read(name), parser)
    if root.getroottree().docinfo.doctype:  # no word processor writes a doctype; its purpose is to declare entities
        raise NotReadable("broken")
    return root


def _all_pieces(root: Element, archive: zipfile.ZipFile) -> Iterator[_Piece]:
    yield from _pieces(root)
    number = 0
    for kind, part in _NOTES.items():
        notes = _notes(archive, part)
        for reference in root.iter(f"{{*}}{kind}"):
            if note := notes.get(_id(reference)):
                number += 1
                yield _Piece(f"注 {number}：", run=_run(reference))
                yield from (piece._replace(element=None, run=_run(reference)) for piece in note)


def _notes(archive: zipfile.ZipFile, part: str) -> dict[str, list[_Piece]]:
    if part not in archive.namelist():
        return {}
    return {_id(note): list(_pieces(note)) for note in _parse_part(archive, part)}


def _id(element: Element) -> str:
    return str(element.get(qn("w:id"), ""))


def _pieces(element: Element) -> Iterator[_Piece]:
    for child in element.iterchildren("*"):
        name = etree.QName(child).localname
        if name == "t":
            yield _Piece(clean(child.text or ""), child, _run(child))
        elif name in _BREAKS:
            yield _Piece(_BREAKS[name])
        elif name == "tr":
            yield from _row(child)
        elif name not in _NOT_TEXT:
            yield from _pieces(child)
            if name == "p":
                yield _Piece("\n")


def _row(row: Element) -> Iterator[_Piece]:
    """Yield a table row as one line: tabs between cells, blanks between the paragraphs of a cell."""
    for number, cell in enumerate(row.iterchildren("{*}tc")):
        if number:
            yield _Piece("\t")
        inside = list(_pieces(cell))
        while inside and inside[-1].text == "\n":
            inside.pop()
        yield from (_Piece(" ") if piece.text == "\n" else piece for piece in inside)
    yield _Piece("\n")


def _run(element: Element) -> Element | None:
    parent = element.getparent()
    return parent if parent is not None and parent.tag == qn("w:r") else None


# ── Comments ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _ensure_comments_part(document: Any) -> None:
    """Add an empty comments part. python-docx would read it from a file, which a worker cannot open."""
    part = document.part
    try:
        part.part_related_by(RELATIONSHIP_TYPE.COMMENTS)
    except KeyError:
        empty: Any = parse_xml(_EMPTY_COMMENTS)
        comments = CommentsPart(PackURI("/word/comments.xml"), CONTENT_TYPE.WML_COMMENTS, empty, part.package)
        part.relate_to(comments, RELATIONSHIP_TYPE.COMMENTS)


class _TextPositions:
    """Positions of the pieces in the text, to find the runs between two characters."""

    def __init__(self, pieces: Iterable[_Piece]) -> None:
        self._pieces = [piece for piece in pieces if piece.text]
        self._starts = [0, *accumulate(len(piece.text) for piece in self._pieces)]

    def runs(self, start: int, end: int) -> list[Any]:
        """Return the first and the last run between two positions, split there; nothing if no run can have a comment."""
        touched = range(bisect_right(self._starts, start) - 1, bisect_left(self._starts, end))
        anchored = [index for index in touched if self._pieces[index].run is not None]
        if not anchored:
            return []
        first, last = self._pieces[anchored[0]], self._pieces[anchored[-1]]
        _split_run(last, end - self._starts[anchored[-1]])
        rest = _split_run(first, start - self._starts[anchored[0]])
        if rest is None:
            return [first.run, last.run]
        return [rest, rest if last is first else last.run]


def _split_run(piece: _Piece, offset: int) -> Element | None:
    """Split the run and return the part from `offset` on, formatted as before; None if there is nothing to split."""
    written, run = piece.element, piece.run
    if written is None or run is None or not 0 < offset < len(piece.text):
        return None
    words = written.text or ""
    is_clean = piece.text.startswith(words)
    here = offset if is_clean else next(n for n in range(len(words) + 1) if len(clean(words[:n])) >= offset)
    rest = etree.SubElement(run, run.tag, run.attrib)
    run.addnext(rest)
    if (properties := run.find(qn("w:rPr"))) is not None:
        rest.append(deepcopy(properties))
    following = list(written.itersiblings())
    tail = etree.SubElement(rest, written.tag)
    written.text, tail.text = words[:here], words[here:]
    for element in (written, tail):
        element.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    rest.extend(following)
    return rest
