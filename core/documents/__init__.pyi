from .errors import CollectionNotFound, DocumentError, DocumentNotFound
from .folder_import import FolderImport, ImportedFile, ImportOutcome
from .library import DocumentLibrary
from .transfer import DocumentTransfer
from .types import Access, Collection, Document, DocumentState, PassageHit, document_address, document_id_of
from .watched_folders import WatchedFolders

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
    "WatchedFolders",
    "document_address",
    "document_id_of",
]
