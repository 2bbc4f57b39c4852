"""Ids of what visitors own, and the hashes under which visitors are stored."""

from __future__ import annotations

import hashlib
import re
import secrets
from functools import partial


def new_conversation_id() -> str:
    """Return a new id. It does not begin like an option of a command."""
    return next(id for id in iter(partial(secrets.token_urlsafe, 18), "") if not id.startswith("-"))


def is_id(id: str) -> bool:
    """Return whether this can be an id. A typed address may have characters that the database would reject."""
    return re.fullmatch(r"[A-Za-z0-9_-]{24}", id, re.ASCII) is not None


def digest(owner: str | None) -> str | None:
    """Return a hash of the name, or None. The database need not know who people are, and any characters are allowed."""
    return hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest() if owner else None
