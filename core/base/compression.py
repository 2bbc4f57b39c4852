"""Compressed text for databases and caches: as bytes, or as bytes that are themselves written as text."""

from __future__ import annotations

import base64
import zlib
from contextlib import suppress
from typing import Any

MAX_BYTES = 8_000_000
"""Limit for one decompressed text. Whoever can write to the database could store a text that expands without end."""


def compress_text(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode("ascii")


def decompress_text(compressed: str) -> str:
    """Return the original text. Raise ValueError for anything that `compress_text` did not produce."""
    return decompress_bytes(base64.b64decode(compressed, validate=True))


def decompress_bytes(compressed: bytes) -> str:
    """Return the text of zlib's bytes. Raise ValueError if they are damaged, or if the text would be too long."""
    if len(compressed) > MAX_BYTES:
        raise ValueError("longer than any compressed text")
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(compressed, MAX_BYTES)
    except zlib.error as error:
        raise ValueError("not compressed") from error
    if not stream.eof:
        raise ValueError("cut off, or expanding without end")
    return data.decode()


def shortest_form(text: str) -> str | bytes:
    """Return the text as zlib's bytes if they are shorter and can be decompressed again, else as it is."""
    data = text.encode()
    compressed = zlib.compress(data) if len(data) <= MAX_BYTES else data
    return compressed if len(compressed) < len(data) else text


def plain_text(stored: Any) -> Any:
    """Return the text that `shortest_form` was given. What is damaged is returned as it is."""
    with suppress(ValueError):
        return decompress_bytes(stored) if isinstance(stored, bytes) else stored
    return stored
