"""Pictures as workers send them: nothing but pixels, so that no decoder outside the worker meets a stranger's bytes."""

from __future__ import annotations

import io
from typing import NamedTuple

from PIL import Image

MAX_SIDE = 1_600
"""Limit of the longer side of a picture in pixels."""
MAX_RECOGNIZED_SIDE = 2_400
"""The same for pictures in which text is recognized: A4 with 200 pixels for each inch."""
PIXEL_BYTES = 3
_FAST = 3
"""Compression: 6 takes three times as long and saves a twentieth."""


class Picture(NamedTuple):
    """A picture of three bytes for each pixel."""

    width: int
    height: int
    pixels: bytes

    def frame(self) -> tuple[dict[str, object], bytes]:
        """Return the picture as head and body of an answer."""
        return {"width": self.width, "height": self.height}, self.pixels

    def png(self) -> bytes:
        """Return the picture as a PNG file."""
        file = io.BytesIO()
        image = Image.frombytes("RGB", (self.width, self.height), self.pixels)
        image.save(file, "PNG", compress_level=_FAST)
        return file.getvalue()
