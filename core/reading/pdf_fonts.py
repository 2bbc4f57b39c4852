"""The Chinese font for PDF files that bring none: opened before the confinement, because no file can be opened after it."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from PIL import ImageFont
from pypdfium2 import PdfSysfontBase

_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts", "/System/Library/Fonts")
_FILES = (
    "NotoSerifCJK-Regular.*",
    "NotoSansCJK-Regular.*",
    "SourceHan*-Regular.*",
    "simsun.tt?",
    "wqy-*.ttc",
    "uming.ttc",
    "Songti.ttc",
)
"""From the best to the least."""
_EAST_ASIAN = {128, 129, 130, 134, 136}
"""Character sets of Windows: Japanese, Korean (two), simplified and traditional Chinese."""
_COLLECTION = int.from_bytes(b"ttcf", "big")
_WHOLE_FONT = 0
_HANDLE = 1
_NONE = 0


class _FontFile(NamedTuple):
    data: mmap.mmap
    offset: int
    """Where the simplified Chinese font begins in a collection."""


class ChineseFont(PdfSysfontBase):  # type: ignore[misc]  # pypdfium2 has no types
    """Gives pdfium one font for all East Asian text whose own is not in the file."""

    def __init__(self, font: _FontFile) -> None:
        self._font = font
        super().__init__()

    def EnumFonts(self, *_: object) -> None:
        """No list of the machine's fonts: they could not be opened."""

    def MapFont(self, _this: object, _weight: int, _italic: int, charset: int, *_: object) -> int:
        return _HANDLE if charset in _EAST_ASIAN else _NONE

    def GetFont(self, *_: object) -> int:
        return _NONE

    def GetFontData(self, _this: object, _font: object, table: int, buffer: Any, size: int) -> int:
        """Copy the collection, or its part from the font on, if it fits; return its size."""
        data, offset = self._font
        if table not in (_COLLECTION, _WHOLE_FONT) or (table == _COLLECTION and not offset):
            return 0
        start = offset if table == _WHOLE_FONT else 0
        if buffer and size:
            ctypes.memmove(buffer, data[start : start + size], min(size, len(data) - start))
        return len(data) - start

    def GetFaceName(self, *_: object) -> int:
        return 0

    def GetFontCharset(self, *_: object) -> int:
        return 0

    def DeleteFont(self, *_: object) -> None:
        """Keep the font: it is needed again."""


def load_chinese_font() -> bool:
    """Open the machine's best Chinese font for pdfium. Return False where there is none: its characters stay blank."""
    font = next(_font_files(), None)
    if font:
        ChineseFont(font).setup()
    return font is not None


def _font_files() -> Iterator[_FontFile]:
    for pattern in _FILES:
        for folder in _FOLDERS:
            for path in sorted(Path(folder).rglob(pattern)):
                with suppress(OSError, ValueError):  # not readable, empty or broken
                    yield _font_file(path)


def _font_file(path: Path) -> _FontFile:
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return _FontFile(data, _simplified_offset(path, data))


def _simplified_offset(path: Path, data: mmap.mmap) -> int:
    if data[:4] != b"ttcf":
        return 0
    offsets = [int.from_bytes(data[at : at + 4], "big") for at in range(12, 12 + 4 * data[11], 4)]
    names = [str(ImageFont.truetype(str(path), 10, index=index).getname()[0]) for index in range(len(offsets))]
    return next((offset for offset, name in zip(offsets, names, strict=True) if " SC" in name), offsets[0])
