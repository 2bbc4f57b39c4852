from .errors import CollectionNotFound, DocumentError, DocumentNotFound
from .folder_import import FolderImport, ImportedFile, ImportOutcome
from .library import DocumentLibrary
from .transfer import DocumentTransfer
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
    "DocumentTransfer",
    "FolderImport",
    "ImportOutcome",
    "ImportedFile",
    "PassageHit",
    "document_address",
    "document_id_of",
]
