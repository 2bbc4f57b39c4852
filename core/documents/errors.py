"""Errors of the document library."""

from __future__ import annotations

from core.base.errors import AppError


class DocumentError(AppError):
    """A collection or a file cannot be added, changed or searched."""

    kind = "document"


class CollectionNotFound(DocumentError):
    """No such collection, or not this reader's: the two are never told apart."""

    kind = "collection_not_found"
    default_message = "没有这个资料集，或者它不是你的。"


class DocumentNotFound(DocumentError):
    """No such file, or not this reader's: the two are never told apart."""

    kind = "document_not_found"
    default_message = "没有这个文件，或者它不是你的。"
