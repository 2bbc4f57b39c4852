"""Scans: pictures of pages with known lines, as a scanner or a telephone makes them, and files of such pictures."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from core.reading import reader
from core.reading.recognizer import is_recognition_installed

A4 = (1_654, 2_339)
"""At 200 pixels for each inch, like the size of the letters."""
_FONTS = Path("/usr/share/fonts")
_ONE_AT_A_TIME = Path(tempfile.gettempdir()) / f"wenyuan-recognition-{os.getuid()}.lock"


@contextmanager
def one_recognizer() -> Iterator[None]:
    """Wait until no other process of the tests recognizes text: it takes 600 MB. Skip where it is not installed."""
    if not is_recognition_installed():
        pytest.skip("the extra ocr is not installed")
    with FileLock(_ONE_AT_A_TIME, is_singleton=True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "is_recognition_installed", is_recognition_installed)
        yield


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    found = next(_FONTS.rglob("NotoSerifCJK-Regular.ttc"), None) or next(_FONTS.rglob("Noto*CJK*.tt?"), None)
    if found is None:
        pytest.skip("this machine has no Chinese font")
    return ImageFont.truetype(str(found), size, index=2 if found.suffix == ".ttc" else 0)


def blank(size: tuple[int, int] = A4) -> Image.Image:
    return Image.new("RGB", size, "white")


def write(paper: Image.Image, lines: Sequence[str], *, left: int = 160, top: int = 160, size: int = 34) -> Image.Image:
    """Write lines on the paper, one below the other."""
    draw = ImageDraw.Draw(paper)
    for number, line in enumerate(lines):
        draw.text((left, top + number * size * 1.6), line, font=font(size), fill=(30, 30, 30))
    return paper


def scan(*lines: str, turn: float = 0.6, blur: float = 0.6) -> Image.Image:
    """A page with these lines that lay a little askew."""
    turned = write(blank(), lines).rotate(turn, Image.Resampling.BICUBIC, fillcolor="white")
    return turned.filter(ImageFilter.GaussianBlur(blur))


def smear(paper: Image.Image, text: str, *, left: int, top: int, size: int = 34) -> Image.Image:
    """Write a text that is hard to read: it was once a seventh of its size."""
    piece = write(blank((900, 90)), [text], left=5, top=5, size=size)
    small = piece.resize((piece.width // 7, piece.height // 7), Image.Resampling.BILINEAR)
    paper.paste(small.resize(piece.size, Image.Resampling.BILINEAR), (left, top))
    return paper


def file_of(format: str, *pictures: Image.Image, **options: object) -> bytes:
    """A file in this format, with all pictures where it can have several."""
    file = io.BytesIO()
    more = {"save_all": True, "append_images": pictures[1:]} if format in ("PDF", "TIFF") else {}
    pictures[0].save(file, format, **more, **({"resolution": 200} if format == "PDF" else {}), **options)
    return file.getvalue()
