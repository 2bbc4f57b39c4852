"""Files of pictures, and pages of a PDF, as pictures in which text is recognized. This runs only in a worker."""

from __future__ import annotations

import io

from PIL import Image, ImageOps, ImageSequence

from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.file_kinds import is_picture
from core.reading.pdf_picture import bitmap_image, open_page, render_page
from core.reading.pictures import MAX_RECOGNIZED_SIDE, Picture
from core.reading.sections import TextSection

FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF")
MAX_PIXELS = 60_000_000
"""Limit of one picture when it is unpacked, in pixels."""
MAX_PICTURES = 300
"""Number of pictures of a file that are read."""
_SCALE = 200 / 72
"""Pixels for each point of a page: 200 for each inch, less where the page is larger than A4."""
_SIXTEEN_BITS = ("I;16", "I;16L", "I;16B", "I;16N", "I")


def describe_pictures(body: bytes) -> ExtractedText:
    """Return a text without words, with a page for each picture of the file. Raise NotReadable."""
    image = _open_image(body)
    count = min(getattr(image, "n_frames", 1), MAX_PICTURES) if image.format == "TIFF" else 1
    sections = [TextSection(0, "page", number) for number in range(1, count + 1)]
    if count == 1:
        sections = [TextSection(0, "part", 1, "图片")]
    is_cut = image.format == "TIFF" and getattr(image, "n_frames", 1) > count
    return ExtractedText(
        "image", "", is_cut=is_cut, sections=tuple(sections), pages=count, unread_pages=tuple(range(1, count + 1))
    )


def open_picture(body: bytes, number: int) -> Picture:
    """Return a page of a PDF or a picture of a file, numbered from 1. Raise NotReadable."""
    if is_picture(body):
        image = _upright(_open_image(body), number)
    else:
        image = bitmap_image(render_page(open_page(body, number), MAX_RECOGNIZED_SIDE, _SCALE))
    return Picture(image.width, image.height, image.tobytes())


def load_picture_formats() -> None:
    """Load now what is otherwise loaded with the first file of each format."""
    for name in FORMATS:
        file = io.BytesIO()
        Image.new("RGB", (1, 1)).save(file, name)
        open_picture(file.getvalue(), 1)


def _open_image(body: bytes) -> Image.Image:
    try:
        return Image.open(io.BytesIO(body), formats=FORMATS)
    except Image.DecompressionBombError:
        raise NotReadable("large") from None
    except OSError:
        raise NotReadable("broken") from None


def _upright(image: Image.Image, number: int) -> Image.Image:
    """Return one picture as it is seen, on white paper, and no larger than is needed."""
    if number > 1:
        image = _frame(image, number)
    image.draft("RGB", (MAX_RECOGNIZED_SIDE, MAX_RECOGNIZED_SIDE))  # a JPEG is unpacked smaller
    if image.width * image.height > MAX_PIXELS:
        raise NotReadable("large")
    colour = _in_colour(image)
    colour.thumbnail((MAX_RECOGNIZED_SIDE, MAX_RECOGNIZED_SIDE))
    ImageOps.exif_transpose(colour, in_place=True)
    return colour


def _frame(image: Image.Image, number: int) -> Image.Image:
    try:
        return ImageSequence.Iterator(image)[number - 1]
    except IndexError:
        raise NotReadable("missing") from None


def _in_colour(image: Image.Image) -> Image.Image:
    if image.mode in _SIXTEEN_BITS:
        return image.convert("I").point(lambda value: value / 256).convert("L").convert("RGB")
    if not image.has_transparency_data:
        return image.convert("RGB")
    paper = Image.new("RGBA", image.size, "white")
    paper.alpha_composite(image.convert("RGBA"))
    return paper.convert("RGB")
