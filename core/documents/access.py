"""The one condition by which readers reach collections and their files."""

from __future__ import annotations

import re

from sqlalchemy import ColumnElement, or_

from core.documents.types import Access
from core.store.tables import collections

FOLDERS = Access("folders")
"""The owner of the collections of watched folders. No visitor has this name: accounts and browsers have longer ones."""
_ID = re.compile(r"[A-Za-z0-9_-]{24}", re.ASCII)


def is_id(id: str) -> bool:
    """Return whether this can be an id or the key of a share. A typed address may have characters that the database rejects."""
    return _ID.fullmatch(id) is not None


def is_owned_by(access: Access) -> ColumnElement[bool]:
    """Return the condition that a collection is the reader's own: they may change it."""
    return collections.c.owner == access.owner  # no collection has an empty owner


def is_open_to(access: Access) -> ColumnElement[bool]:
    """Return the condition that a collection may be read: it is the reader's own, that of a watched folder, or one of the
    shares opens it."""
    shares = [share for share in access.shares if is_id(share)]
    readable = or_(is_owned_by(access), is_public())
    return or_(readable, collections.c.share.in_(shares)) if shares else readable


def is_public() -> ColumnElement[bool]:
    """Return the condition that everybody may read a collection."""
    return is_owned_by(FOLDERS)
