"""Pictures as they are sent to the recognition: as a reader sees them, and never more than the process can unpack."""

from __future__ import annotations

import struct
import zlib

import pytest
from PIL import Image

from core.base.http import Deadline
from core.reading import Reader
from core.reading.extraction_types import NotReadable
from core.reading.pictures import MAX_RECOGNIZED_SIDE, Picture
from support.pdf_files import pdf_file
from support.scans import blank, file_of


def opened(reader: Reader, body: bytes, number: int = 1) -> Picture:
    return reader._workers.open_picture(body, number, Deadline(60))


def colour(picture: Picture) -> tuple[int, ...]:
    return tuple(picture.pixels[:3])


def empty_png(width: int, height: int) -> bytes:
    """A black picture of one bit for each pixel, which packs a thousand to one."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer, row = zlib.compressobj(9), bytes(1 + (width + 7) // 8)
    rows = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("size", "expected"),
    [((1_654, 2_339), (1_654, 2_339)), ((4_800, 2_400), (2_400, 1_200)), ((30_000, 3), (2_400, 1)), ((1, 1), (1, 1))],
)
def test_a_picture_is_never_larger_than_what_is_sent(
    reader: Reader, size: tuple[int, int], expected: tuple[int, int]
) -> None:
    picture = opened(reader, file_of("PNG", blank(size)))
    assert (picture.width, picture.height) == expected


def test_a_page_of_a_pdf_has_two_hundred_pixels_for_each_inch(reader: Reader) -> None:
    picture = opened(reader, pdf_file(["一"]))
    assert (picture.width, picture.height) == (1_653, 2_339)
    assert max(picture[:2]) <= MAX_RECOGNIZED_SIDE


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF"])
def test_every_format_is_opened(reader: Reader, format: str) -> None:
    assert opened(reader, file_of(format, Image.new("RGB", (40, 30), "white")))[:2] == (40, 30)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "I;16", "F", "CMYK", "RGBA"])
def test_every_kind_of_pixels_is_white_paper(reader: Reader, mode: str) -> None:
    white: object = {"1": 1, "I;16": 65_535, "F": 255.0, "CMYK": (0, 0, 0, 0), "LA": (0, 0), "RGBA": (0, 0, 0, 0)}.get(
        mode, 255
    )
    image = Image.new(mode, (8, 8), white) if mode != "P" else Image.new("RGB", (8, 8), "white").convert("P")  # type: ignore[arg-type]
    assert min(colour(opened(reader, file_of("TIFF" if mode in ("F", "CMYK") else "PNG", image)))) >= 250


def test_a_picture_too_large_to_unpack_is_refused_and_the_next_one_is_opened(reader: Reader) -> None:
    for size in ((12_000, 10_000), (20_000, 20_000), (60_000, 60_000)):
        with pytest.raises(NotReadable, match="large"):
            opened(reader, empty_png(*size))
    assert opened(reader, empty_png(9_000, 6_000))[:2] == (2_400, 1_600)


@pytest.mark.parametrize("cut", [20, 60, 200])
def test_half_a_picture_is_broken(reader: Reader, cut: int) -> None:
    body = file_of("TIFF", blank((900, 900)), compression="tiff_lzw")
    with pytest.raises(NotReadable, match="broken"):
        opened(reader, body[:cut])


def test_only_pictures_that_are_there(reader: Reader) -> None:
    body = file_of("TIFF", blank((9, 9)), blank((19, 9)))
    assert opened(reader, body, 2).width == 19
    for number in (3, 300):
        with pytest.raises(NotReadable, match="missing"):
            opened(reader, body, number)
