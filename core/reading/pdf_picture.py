"""Pages of a PDF as pictures. This runs only in a worker: the library is C++ and the file is untrusted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import pypdfium2
from PIL import Image, ImageChops, ImageStat
from pypdfium2 import raw

from core.reading.extraction_types import NotReadable
from core.reading.passage_marks import find_marks
from core.reading.pictures import MAX_SIDE, Picture

MAX_SCALE = 150 / 72
"""Pixels for each point of a page: 150 for each inch, less where the page is larger than MAX_SIDE."""
MAX_MARKED_CHARS = 20_000
"""Characters of a page in which passages are looked for."""
_ON_LIGHT, _ON_DARK = (255, 232, 140), (110, 85, 0)
"""Colours of a mark on light and on dark paper."""
_MIDDLE = 128
_MARK_MARGIN = 2
_LOCKED = 4  # FPDF_ERR_PASSWORD

Box = tuple[int, int, int, int]
PageBox = tuple[float, float, float, float]
"""Left, bottom, right and top on the page."""


def draw_page(body: bytes, number: int, passages: Sequence[str]) -> Picture:
    """Return the picture of a page, numbered from 1, with the parts of the passages that stand on it marked.

    Raise NotReadable: "missing" if the file has no such page."""
    page = open_page(body, number)
    bitmap = render_page(page, MAX_SIDE, MAX_SCALE)
    picture = bitmap_image(bitmap)
    with suppress(pypdfium2.PdfiumError):  # a page without usable text is shown without marks
        _mark_boxes(picture, _passage_boxes(page, bitmap, passages))
    return Picture(picture.width, picture.height, picture.tobytes())


def open_page(body: bytes, number: int) -> pypdfium2.PdfPage:
    """Return a page, numbered from 1, of a PDF. Raise NotReadable."""
    try:
        document = pypdfium2.PdfDocument(body)
        if not 1 <= number <= len(document):
            raise NotReadable("missing")
        with suppress(pypdfium2.PdfiumError):  # the page is shown without what was filled in
            document.init_forms()
        return document[number - 1]
    except pypdfium2.PdfiumError as error:
        raise NotReadable("locked" if getattr(error, "err_code", 0) == _LOCKED else "broken") from None


def render_page(page: pypdfium2.PdfPage, max_side: int, max_scale: float) -> pypdfium2.PdfBitmap:
    """Return the page as it is seen, rotated, in three bytes for each pixel. Raise NotReadable."""
    longer = max(page.get_size())
    if not (math.isfinite(longer) and longer > 0):
        raise NotReadable("broken")
    try:
        return page.render(scale=min(max_side / longer * (1 - 1e-9), max_scale), rev_byteorder=True)
    except (pypdfium2.PdfiumError, ValueError):  # a page without width
        raise NotReadable("broken") from None


def bitmap_image(bitmap: pypdfium2.PdfBitmap) -> Image.Image:
    """Return a picture of pdfium as one of Pillow."""
    size = (bitmap.width, bitmap.height)
    return Image.frombytes("RGB", size, bytes(bitmap.buffer), "raw", bitmap.mode.rstrip("Xx"), bitmap.stride, 1)


def _passage_boxes(page: pypdfium2.PdfPage, bitmap: pypdfium2.PdfBitmap, passages: Sequence[str]) -> Iterator[Box]:
    """Yield a box in the picture for each line, or piece of a line, of a passage."""
    if not passages:
        return
    text = page.get_textpage()
    count = min(text.count_chars(), MAX_MARKED_CHARS)
    chars = [chr(raw.FPDFText_GetUnicode(text, index)) for index in range(count)]
    to_bitmap = bitmap.get_posconv(page).to_bitmap
    for start, end in find_marks(chars, passages):
        pieces = (text.get_rect(index) for index in range(text.count_rects(start, end - start)))
        for left, bottom, right, top in _join_pieces(pieces):
            (x0, y0), (x1, y1) = to_bitmap(left, top), to_bitmap(right, bottom)
            yield min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _join_pieces(pieces: Iterable[PageBox]) -> Iterator[PageBox]:
    """Join the pieces of a line between which there is no more than a blank."""
    joined: PageBox | None = None
    for left, bottom, right, top in pieces:
        if joined and _is_same_line(joined, (left, bottom, right, top)):
            joined = (joined[0], min(joined[1], bottom), max(joined[2], right), max(joined[3], top))
            continue
        if joined:
            yield joined
        joined = left, bottom, right, top
    if joined:
        yield joined


def _is_same_line(one: PageBox, other: PageBox) -> bool:
    heights = one[3] - one[1], other[3] - other[1]
    shared = min(one[3], other[3]) - max(one[1], other[1])
    return shared >= min(heights) / 2 and -1 <= other[0] - one[2] <= max(heights)


def _mark_boxes(picture: Image.Image, boxes: Iterable[Box]) -> None:
    """Colour the paper in the boxes and leave the letters as they are; where boxes overlap, they are not darker."""
    for x0, y0, x1, y1 in boxes:
        box = (
            max(x0 - _MARK_MARGIN, 0),
            max(y0 - _MARK_MARGIN, 0),
            min(x1 + _MARK_MARGIN, picture.width),
            min(y1 + _MARK_MARGIN, picture.height),
        )
        if box[0] >= box[2] or box[1] >= box[3]:  # outside of what is shown
            continue
        piece = picture.crop(box)
        is_light = ImageStat.Stat(piece.convert("L")).mean[0] >= _MIDDLE
        mark, choose = (_ON_LIGHT, ImageChops.darker) if is_light else (_ON_DARK, ImageChops.lighter)
        picture.paste(choose(piece, Image.new("RGB", piece.size, mark)), box)
