"""Import of folders into a collection: what has changed is read anew, and each file is reported."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.base.errors import AppError
from core.base.text import one_line
from core.documents.folder_scan import FolderFile, SkippedFile, find_file, read_folder_file, scan_folder
from core.documents.library import DocumentLibrary
from core.documents.types import Access, Document, DocumentState

Stamps = MutableMapping[str, tuple[int, int]]
"""Size and time of change of each file when it was last imported."""


class ImportOutcome(StrEnum):
    """What became of a file. Its value stands in the JSON of the command line."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    SKIPPED = "skipped"
    MISSING = "missing"
    REMOVED = "removed"

    @property
    def label(self) -> str:
        return _LABELS[self]

    @property
    def is_failure(self) -> bool:
        return self in (ImportOutcome.UNREADABLE, ImportOutcome.FAILED)


_LABELS = {
    ImportOutcome.ADDED: "新增",
    ImportOutcome.UPDATED: "更新",
    ImportOutcome.UNCHANGED: "未变",
    ImportOutcome.UNREADABLE: "无法读取",
    ImportOutcome.FAILED: "没有导入",
    ImportOutcome.SKIPPED: "跳过",
    ImportOutcome.MISSING: "已不在目录里",
    ImportOutcome.REMOVED: "已删除",
}


@dataclass(frozen=True, slots=True)
class ImportedFile:
    name: str
    outcome: ImportOutcome
    reason: str = ""
    pages: int = 0

    def __str__(self) -> str:
        return f"{self.outcome.label}　{self.name}{f'：{self.reason}' if self.reason else ''}"


class FolderImport:
    """One import into a collection that `access` may change."""

    def __init__(
        self,
        library: DocumentLibrary,
        collection_id: str,
        access: Access,
        *,
        max_bytes: int,
        stamps: Stamps | None = None,
        on_file: Callable[[], None] = lambda: None,
    ) -> None:
        """`stamps`: those of the import before, which are brought up to date. A file with the same ones is not opened.
        `on_file` is called before each file is looked at, and may end the import by an error."""
        self._library = library
        self._collection_id = collection_id
        self._access = access
        self._max_bytes = max_bytes
        self._on_file = on_file
        self._stamps = {} if stamps is None else stamps
        self._before = {one.name: one for one in library.list_documents(collection_id, access)}
        self._found: dict[str, ImportedFile] = {}
        self._unlisted: list[str] = []

    def add_path(self, path: Path, prefix: str) -> None:
        """Import a folder, or one file. `prefix` stands before the names of what is in the folder."""
        try:
            files = scan_folder(path, prefix) if path.is_dir() else find_file(path.parent, path, prefix)
            entries = list(files)
        except OSError as error:
            self._note(prefix or str(path), ImportOutcome.FAILED, f"打不开：{error.strerror or '读取失败'}。")
            self._unlisted.append(prefix)
            return
        if not entries and not path.exists():
            self._note(prefix or str(path), ImportOutcome.FAILED, "没有这个目录或文件。")
            self._unlisted.append(prefix)
        for entry in entries:
            if isinstance(entry, SkippedFile):
                self._note(entry.name, ImportOutcome.SKIPPED, entry.reason)
                self._unlisted.append(entry.name)
            elif entry.name in self._found:
                reason = "几个路径里有同名的文件，只导入了第一个。请分别导入不同的资料集。"
                self._note(entry.name, ImportOutcome.FAILED, reason)
            else:
                self._add(entry)

    def _add(self, file: FolderFile) -> None:
        self._on_file()
        old, stamp = self._before.get(file.name), (file.size, file.modified_ns)
        if old and self._stamps.get(file.name) == stamp:
            self._note(file.name, ImportOutcome.UNCHANGED)
            return
        try:
            body = read_folder_file(file, max_bytes=self._max_bytes)
            if old and old.hash == hashlib.sha256(body).hexdigest():
                self._note(file.name, ImportOutcome.UNCHANGED)
            else:
                self._library.add_document(self._collection_id, file.name, body, self._access, modified=file.day)
                self._note(file.name, ImportOutcome.UPDATED if old else ImportOutcome.ADDED)
            self._stamps[file.name] = stamp
        except AppError as error:
            self._note(file.name, ImportOutcome.FAILED, str(error))

    def _note(self, name: str, outcome: ImportOutcome, reason: str = "") -> None:
        self._found[name] = ImportedFile(one_line(name), outcome, reason)

    def note_missing(self, prefix: str, *, remove: bool) -> None:
        """Report the files of a folder that are no longer there, and remove them from the collection if that is wanted. What
        could not be listed has lost none."""
        below = f"{prefix}/" if prefix else ""
        kept = tuple(f"{name}/" if name else "" for name in self._unlisted)
        for name, document in self._before.items():
            if name in self._found or not name.startswith(below) or name.startswith(kept):
                continue
            if remove:
                self._library.delete_document(document.id, self._access)
                self._stamps.pop(name, None)
            self._note(name, ImportOutcome.REMOVED if remove else ImportOutcome.MISSING)

    def report(self) -> list[ImportedFile]:
        """Return what became of each file. Those that cannot be read are named as such as soon as that is known."""
        after = {one.name: one for one in self._library.list_documents(self._collection_id, self._access)}
        return [_with_reading(file, after.get(file.name)) for file in self._found.values()]


def _with_reading(file: ImportedFile, document: Document | None) -> ImportedFile:
    imported = file.outcome in (ImportOutcome.ADDED, ImportOutcome.UPDATED, ImportOutcome.UNCHANGED)
    if document is None or not imported:
        return file
    is_unreadable = document.state is DocumentState.UNREADABLE
    outcome = ImportOutcome.UNREADABLE if is_unreadable else file.outcome
    return ImportedFile(file.name, outcome, document.reason, document.pages)
