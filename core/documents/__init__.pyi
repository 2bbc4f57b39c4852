from .errors import CollectionNotFound, DocumentError, DocumentNotFound
from .library import DocumentLibrary
from .types import Access, Collection, Document, DocumentState, PassageHit, document_address, document_id_of

__all__ = [
    "Access",
    "Collection",
    "CollectionNotFound",
    "Document",
    "DocumentError",
    "DocumentLibrary",
    "DocumentNotFound",
    "DocumentState",
    "PassageHit",
    "document_address",
    "document_id_of",
]
