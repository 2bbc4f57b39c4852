"""Compressed text that is itself text, for databases and caches."""

from __future__ import annotations

import base64
import zlib

MAX_BYTES = 8_000_000
"""Limit for one decompressed text. Whoever can write to the database could store a text that expands without end."""


def compress_text(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode("ascii")


def decompress_text(compressed: str) -> str:
    """Return the original text. Raise ValueError for anything that `compress_text` did not produce."""
    if len(compressed) > MAX_BYTES:
        raise ValueError("longer than any compressed text")
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(base64.b64decode(compressed, validate=True), MAX_BYTES)
    except zlib.error as error:
        raise ValueError("not compressed") from error
    if not stream.eof:
        raise ValueError("cut off, or expanding without end")
    return data.decode()
