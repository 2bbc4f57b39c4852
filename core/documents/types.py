"""Value types of the document library."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.reading import Place
from core.store import digest

_SCHEME = "document:"


class DocumentState(StrEnum):
    """The state of a file. Its value is stored."""

    WAITING = "waiting"
    READING = "reading"
    RECOGNIZING = "recognizing"
    INDEXED = "indexed"
    UNREADABLE = "unreadable"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    DocumentState.WAITING: "等待读取",
    DocumentState.READING: "正在读取",
    DocumentState.RECOGNIZING: "正在识别",
    DocumentState.INDEXED: "已索引",
    DocumentState.UNREADABLE: "无法读取",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Who asks for collections: every method of the library takes it, and finds nothing else."""

    visitor_id: str | None = None
    """The account or browser that collections belong to, as `identity.reader()` names it."""
    shares: tuple[str, ...] = ()
    """Keys of shared collections that the reader was given: they open a collection for reading."""
    maker: str = ""
    """For a token, which has no visitor id: the owner of the collections of whoever made it. No reader names this."""

    @property
    def owner(self) -> str:
        """The owner of the reader's own collections, as it is stored; empty, as none is, for nobody."""
        return digest(self.visitor_id) or self.maker


@dataclass(frozen=True, slots=True)
class Collection:
    id: str
    name: str
    created: float
    """Seconds since 1970, like all times here."""
    updated: float
    share: str = ""
    """Key that opens the collection for reading; empty while it is not shared, and for those who may not change it."""
    may_change: bool = False
    """True if the reader who asked owns it."""
    is_public: bool = False
    """True if it is that of a watched folder, which everybody may read."""
    documents: int = 0
    pages: int = 0
    size: int = 0
    """Bytes of its files."""
    unfinished: int = 0
    """Number of files that are waiting or being read."""
    unreadable: int = 0

    @property
    def origin_label(self) -> str:
        """Words for a collection that is not the reader's own; empty for their own."""
        if self.may_change:
            return ""
        return "管理员提供" if self.is_public else "分享给你的"


@dataclass(frozen=True, slots=True)
class Document:
    """A file of a collection."""

    id: str
    collection_id: str
    name: str
    """Name with its folders, as it was uploaded or imported: 合同/2025/租赁.pdf"""
    size: int
    hash: str
    """SHA-256 of the bytes."""
    state: DocumentState
    created: float
    kind: str = ""
    """pdf, docx, xlsx …: what the bytes are, once they were read."""
    pages: int = 0
    pages_done: int = 0
    """Pages that were read or recognized so far: the first ones can be searched already."""
    characters: int = 0
    reason: str = ""
    """Sentence that says why the file cannot be read, or what is missing of it."""
    modified: str | None = None
    """ISO day of the file: what it says of itself, else the day of the file system; None if unknown."""
    is_outdated: bool = False
    """True if the collection has a newer version of the same file, or if the file says of itself that it is no longer valid."""

    @property
    def address(self) -> str:
        return document_address(self.id, self.name)


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that was found."""

    document: Document
    collection_name: str
    start: int
    end: int
    """Position in the text of the document, like `start`."""
    text: str
    score: float
    place: Place | None = None


def document_address(id: str, name: str) -> str:
    """Return the address of a document as a source. It is not one of the web."""
    return f"{_SCHEME}{id}/{name}"


def document_id_of(address: str) -> str:
    """Return the id of the document with this address; empty for any other address."""
    return address.removeprefix(_SCHEME).partition("/")[0] if address.startswith(_SCHEME) else ""
