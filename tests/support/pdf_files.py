"""PDF files with Chinese text, whose font is not embedded, as many offices write them."""

from __future__ import annotations

from collections.abc import Sequence

A4 = (595, 842)
_FONT = (
    "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts ["
    "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000"
    " /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >>"
    " /FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880]"
    " /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >> >>] >>"
)


PlacedLine = tuple[float, float, str]
"""A line of text and where it begins: points from the left and from the bottom of the page."""


def pdf_file(*pages: Sequence[str], size: tuple[float, float] = A4, more: str = "") -> bytes:
    """A file with these lines on its pages; `more` is written into the dictionary of each page."""
    return _written([_lines_content(lines, size[1] - 80) for lines in pages], size, more)


def placed_pdf(*pages: Sequence[PlacedLine], size: tuple[float, float] = A4, letters: float = 9) -> bytes:
    """A file whose pages have these lines at their places, written in this order with letters of this size."""
    contents = (
        "BT " + " ".join(f"/F1 {letters:g} Tf 1 0 0 1 {x:g} {y:g} Tm {_shown(text)}" for x, y, text in lines) + " ET"
        for lines in pages
    )
    return _written(list(contents), size)


def _lines_content(lines: Sequence[str], top: float) -> str:
    shown = " ".join(f"{_shown(line)} 0 -24 Td" for line in lines)
    return f"BT /F1 14 Tf 60 {top:g} Td {shown} ET"


def _shown(text: str) -> str:
    return f"<{text.encode('utf-16-be').hex()}> Tj"


def _written(contents: Sequence[str], size: tuple[float, float], more: str = "") -> bytes:
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", _FONT]
    kids = []
    for content in contents:
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
        kids.append(len(objects) + 1)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size[0]:g} {size[1]:g}] /Contents {len(objects)} 0 R"
            f" /Resources << /Font << /F1 3 0 R >> >> {more} >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] /Count {len(kids)} >>"
    body, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()
