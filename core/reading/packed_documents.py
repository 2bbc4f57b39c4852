"""Documents, presentations, workbooks and books in packed files: what the archive holds decides the kind."""

from __future__ import annotations

import re

from core.reading import ebook, presentation, workbook
from core.reading.errors import Reason
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.packed_files import PackedFile
from core.reading.word_document import main_part, read_docx

_OTHERS: tuple[tuple[re.Pattern[str], Reason], ...] = (
    (re.compile(r"xl/workbook\.bin"), "xlsb"),
    (re.compile(r"OFD\.xml"), "ofd"),
    (re.compile(r"Index(?:/.+\.iwa|\.zip)|index\.(?:apxl|xml)(?:\.gz)?"), "iwork"),
    (re.compile(r"META-INF/manifest\.xml"), "opendocument"),
)


def read_packed(body: bytes, *, max_text: int) -> ExtractedText:
    """Return the text of an Office file or a book. Raise NotReadable, for every other archive too."""
    packed = PackedFile(body)
    if main_part(packed):
        return read_docx(packed)
    if presentation.MAIN in packed.names:
        return presentation.read_pptx(packed)
    if workbook.MAIN in packed.names:
        return workbook.read_xlsx(packed, max_text=max_text)
    if ebook.CONTAINER in packed.names:
        return ebook.read_epub(packed, max_text=max_text)
    raise NotReadable(next((reason for name, reason in _OTHERS if any(map(name.fullmatch, packed.names))), "archive"))
