"""The text layer of a PDF. This runs only in a worker: the library is C++ and the file is untrusted."""

from __future__ import annotations

import pypdfium2

from core.base.text import clean, is_blank, one_line
from core.reading.extraction_types import ExtractedText, NotReadable

MAX_PAGES = 300
_LOCKED = 4  # FPDF_ERR_PASSWORD


def read_pdf(body: bytes, *, max_text: int) -> ExtractedText:
    """Return the text of the first pages. Raise NotReadable for a locked, scanned or broken file."""
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        raise NotReadable("locked" if getattr(error, "err_code", 0) == _LOCKED else "broken") from None
    pages: list[str] = []
    length = 0
    for index in range(min(len(document), MAX_PAGES)):
        pages.append(_page_text(document, index))
        length += len(pages[-1])
        if length > max_text:
            break
    text = "\n\n".join(page for page in pages if not is_blank(page))
    if not text:
        raise NotReadable("scanned" if pages else "broken")
    title = one_line(document.get_metadata_value("Title"))  # its CreationDate is the file's, no publication
    return ExtractedText("pdf", text, title=title, is_cut=len(pages) < len(document))


def _page_text(document: pypdfium2.PdfDocument, index: int) -> str:
    try:
        return clean(document[index].get_textpage().get_text_bounded()).strip()
    except pypdfium2.PdfiumError:  # one broken page among good ones
        return ""
