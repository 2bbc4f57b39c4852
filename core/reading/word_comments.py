"""Comments in Word documents (.docx). This runs only in a worker: the file is untrusted."""

from __future__ import annotations

import io
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from copy import deepcopy
from itertools import accumulate
from typing import Any

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
from core.reading.extraction_types import DocumentComment
from core.reading.packed_files import PackedFile
from core.reading.word_document import Piece, all_pieces

_EMPTY_COMMENTS = b'<w:comments xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>'


def add_comments(body: bytes, comments: Iterable[DocumentComment], author: str) -> bytes:
    """Return the document with comments and unchanged formatting. Positions are those of the text that was read."""
    packed = PackedFile(body)
    document = docx.Document(io.BytesIO(body))
    pieces = list(all_pieces(document.element, packed))
    text, places = "".join(piece.text for piece in pieces), _TextPositions(pieces)
    before = len(text) - len(text.lstrip())  # the text that was read starts at its first word
    _ensure_comments_part(document)
    for remark in sorted(comments, reverse=True):  # from the end, so that a split changes no earlier position
        if runs := places.runs(remark.start + before, remark.end + before):
            document.add_comment([Run(run, document._body) for run in runs], remark.text, author, author[:1])
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()


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

    def __init__(self, pieces: Iterable[Piece]) -> None:
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


def _split_run(piece: Piece, offset: int) -> Element | None:
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
