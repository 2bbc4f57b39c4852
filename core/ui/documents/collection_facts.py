"""Facts about collections and files, in a few words each."""

from __future__ import annotations

from datetime import datetime

from markupsafe import Markup

from core.documents import Collection, Document, DocumentState
from core.ui import clock

_COLOURS = {DocumentState.UNREADABLE: "red"}
OUTDATED = "旧版"
_BEGUN = frozenset({DocumentState.READING, DocumentState.RECOGNIZING})
UNFINISHED = _BEGUN | {DocumentState.WAITING}


def facts_of(collection: Collection) -> list[str]:
    if not collection.documents:
        return ["还没有文件"]
    facts = [f"{collection.documents:,} 个文件"]
    facts += [f"{collection.pages:,} 页"] if collection.pages else []
    facts.append(size_words(collection.size))
    facts += [f"{collection.unfinished:,} 个还没有读完"] if collection.unfinished else []
    facts += [f"{collection.unreadable:,} 个无法读取"] if collection.unreadable else []
    return facts


def facts_of_document(document: Document) -> list[str]:
    facts = [f"{document.pages:,} 页"] if document.pages else []
    facts += [f"{document.characters:,} 字"] if document.characters else []
    return [*facts, size_words(document.size), day_of(document)]


def day_of(document: Document) -> str:
    """Return the day of a file: its own, else that of the upload."""
    if document.modified:
        return f"文件日期 {document.modified}"
    return f"{datetime.fromtimestamp(document.created, clock.reader_zone()):%Y-%m-%d} 放入"


def size_words(size: int) -> str:
    if size < 1_000:
        return f"{size} 字节"
    if size < 1_000_000:
        return f"{size / 1_000:,.1f} KB"
    return f"{size / 1_000_000:,.1f} MB"


def state_words(document: Document) -> str:
    """Return the state of a file, with the pages that were read so far."""
    if document.state in _BEGUN and document.pages and document.pages_done:
        return f"{document.state.label} {document.pages_done:,}/{document.pages:,} 页"
    return document.state.label


def marks_html(document: Document) -> Markup:
    """Return the state of a file that is not as it should be, and whether there is a newer version of it."""
    marks = [(_COLOURS.get(document.state, "gray"), state_words(document))] * (
        document.state is not DocumentState.INDEXED
    )
    marks += [("orange", OUTDATED)] * document.is_outdated
    return Markup().join(Markup(' <span class="wy-tag %s">%s</span>') % mark for mark in marks)


def facts_html(document: Document) -> Markup:
    state = [document.state.label] * (document.state is DocumentState.INDEXED)
    return Markup('<span class="wy-dim">%s</span>') % " · ".join([*state, *facts_of_document(document)])
