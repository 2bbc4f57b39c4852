"""The texts of documents that are kept with the answers that cite them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, Select, delete, literal_column, text

from core.store.tables import read_pages

_IS_DOCUMENT = text("substr(address, 1, 9) = 'document:'")
_DOCUMENT_ID: ColumnElement[str] = literal_column("substr(address, 10, 24)")
"""Parts of `document_address`; the database has an index of those that are documents."""


def delete_kept_texts(connection: Connection, ids: Sequence[str] | Select[tuple[str]]) -> None:
    """Delete the texts of these documents from all conversations. Their answers keep what they quote."""
    connection.execute(delete(read_pages).where(_IS_DOCUMENT, _DOCUMENT_ID.in_(ids)))
