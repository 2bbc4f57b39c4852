"""Addresses within the page 资料库: a collection, a file at a passage, and what a shared link opens."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from core.documents import PassageHit

COLLECTION, FILE, SHARE, WORDS = "collection", "file", "share", "q"
START, END = "from", "to"


def collection_query(id: str, *, words: str = "") -> dict[str, str]:
    return {COLLECTION: id} | ({WORDS: words} if words else {})


def file_query(id: str) -> dict[str, str]:
    return {FILE: id}


def hit_query(hit: PassageHit, words: str) -> dict[str, str]:
    """Return the address of a passage that was found for these words."""
    return {FILE: hit.document.id, START: str(hit.start), END: str(hit.end), WORDS: words}


def link(query: Mapping[str, str]) -> str:
    """Return a relative link from the page to another state of it."""
    return f"documents?{urlencode(query)}"


def number_in(asked: Mapping[str, str], name: str) -> int | None:
    """Return a number of the address; None if there is none, or something else stands there."""
    value = asked.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 10 else None
