"""The collections of documents that a question may use: opened under the reader's name, and nothing beside them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from core.answer.events import Notice
from core.base.errors import AppError
from core.base.text import one_line, shorten
from core.documents import Access, Collection, Document, DocumentError, DocumentLibrary, DocumentNotFound, PassageHit
from core.run.run_sources import FoundDocument

log = logging.getLogger(__name__)

FAILED_KIND = "documents_failed"
NAME_LENGTH = 40
INTERNAL_ERROR = "程序出错，细节已写入日志。"


@dataclass(frozen=True, slots=True)
class ChosenCollections:
    """The collections that the reader has chosen and may read. Its methods block, and raise an AppError."""

    library: DocumentLibrary
    access: Access
    collections: tuple[Collection, ...] = ()
    problems: tuple[str, ...] = ()
    """Sentences on chosen collections that cannot be opened."""

    @classmethod
    def open(cls, library: DocumentLibrary, access: Access, ids: Sequence[str]) -> ChosenCollections:
        """Open the collections. It does not raise: what cannot be opened is a problem in words."""
        opened, problems = [], []
        for id in dict.fromkeys(ids):
            try:
                opened.append(library.open_collection(id, access))
            except Exception as error:
                problems.append(f"有一个资料集打不开：{describe_failure(error)}")
        return cls(library, access, tuple(opened), tuple(problems))

    @property
    def problem_notices(self) -> tuple[Notice, ...]:
        return tuple(Notice(FAILED_KIND, f"{problem}这次没有查它。") for problem in self.problems)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(shorten(one_line(collection.name), NAME_LENGTH) for collection in self.collections)

    def named(self, name: str) -> ChosenCollections:
        """Return only the collections with this name; if there is none, those whose name has it in it."""
        wanted = one_line(name).strip("「」《》\"' ").casefold()
        same = [one for one in self.collections if one_line(one.name).casefold() == wanted]
        like = [one for one in self.collections if wanted and wanted in one_line(one.name).casefold()]
        return replace(self, collections=tuple(same or like))

    @property
    def label(self) -> str:
        """The names in words: 资料「合同」「制度」."""
        return f"资料{''.join(f'「{name}」' for name in self.names)}"

    @property
    def unfinished_note(self) -> str:
        """A sentence on files that are not read yet, and therefore not found; empty if there are none."""
        counted = [f"「{one.name}」有 {one.unfinished:,} 个文件" for one in self.collections if one.unfinished]
        return f"{'、'.join(counted)}还没有读完，没有读到的部分查不到。" if counted else ""

    def search(self, queries: Sequence[str], *, limit: int) -> tuple[PassageHit, ...]:
        """Return the best passages for these wordings of one question, newer versions of a file before older ones."""
        if not self.collections:
            return ()
        ids = [collection.id for collection in self.collections]
        wordings = dict.fromkeys(filter(None, queries))
        found = [self.library.search(words, self.access, collections=ids, limit=limit) for words in wordings]
        hits = {
            (hit.document.id, hit.start, hit.end): hit
            for rank in zip_longest(*found)
            for hit in rank
            if hit is not None and hit.document.collection_id in ids
        }
        best = list(hits.values())[:limit]
        if len(found) > 1:  # one search puts older versions behind newer ones, two searches together do not
            best.sort(key=lambda hit: hit.document.is_outdated)
        return tuple(best)

    def read(self, hits: Sequence[PassageHit]) -> Iterator[FoundDocument]:
        """Yield the whole files of these passages, in the order of their best ones. A file that has no text any more is
        left out."""
        by_id: dict[str, list[PassageHit]] = {}
        for hit in hits:
            by_id.setdefault(hit.document.id, []).append(hit)
        for found in by_id.values():
            spans = tuple((hit.start, hit.end) for hit in found)
            try:
                yield self.open_file(found[0].document, spans)
            except DocumentError:
                log.info("a document was deleted or is being read again while it was searched")

    def list_documents(self) -> tuple[Document, ...]:
        """Return all files of the collections."""
        return tuple(
            document
            for collection in self.collections
            for document in self.library.list_documents(collection.id, self.access)
        )

    def open_file(self, document: Document, spans: tuple[tuple[int, int], ...] = ()) -> FoundDocument:
        """Return a file of the collections with its whole text."""
        names = {collection.id: collection.name for collection in self.collections}
        if document.collection_id not in names:
            raise DocumentNotFound
        page = self.library.read_text(document.id, self.access)
        page = replace(page, title=document.name, published=document.modified or page.published)
        return FoundDocument(page, spans, names[document.collection_id], document.is_outdated)


def describe_failure(error: Exception) -> str:
    """Return what failed as a sentence, and log what only a developer understands."""
    if isinstance(error, AppError):
        log.warning("the document library: %s", error)
        return str(error)
    log.error("the document library failed with a bug", exc_info=error)
    return INTERNAL_ERROR
