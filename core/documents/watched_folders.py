"""Watched folders (DOCUMENTS_FOLDERS): each is a collection that everybody may read, and that follows what is in the folder."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import or_, update

from core.base.errors import AppError
from core.base.paths import USER_DIR
from core.base.settings import Settings
from core.base.text import one_line, shorten
from core.documents.access import FOLDERS
from core.documents.collection_rows import NAME_LENGTH
from core.documents.folder_import import FolderImport, ImportedFile, ImportOutcome, Stamps
from core.documents.library import DocumentLibrary
from core.documents.types import Collection
from core.store import Database
from core.store.tables import upkeep

log = logging.getLogger(__name__)

EVERY_SECONDS = 60.0
MOST_OF_TIME = 20
"""The pause after a round is at least so many times as long as the round was."""
TURN_SECONDS = 120.0
"""Time after which another process may import, if the one whose turn it is says nothing more."""


class NotOurTurn(Exception):
    """Another process imports, or this one is ending."""


class WatchedFolders:
    """Imports what is new in the folders, and removes what has gone from them, in a thread of its own."""

    def __init__(
        self,
        library: DocumentLibrary,
        database: Database,
        folders: Sequence[Path],
        *,
        max_bytes: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._library = library
        self.folders = name_folders(folders)
        self._max_bytes = max_bytes
        self._turn = FolderTurn(database, clock)
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._stamps: dict[str, Stamps] = {}
        self._told: set[tuple[str, ImportedFile]] = set()

    @classmethod
    def from_settings(cls, settings: Settings, library: DocumentLibrary, database: Database) -> WatchedFolders:
        folders = [USER_DIR / Path(folder).expanduser() for folder in settings.documents.folders]
        return cls(library, database, folders, max_bytes=settings.documents.file_megabytes * 2**20)

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self._thread is None and not self._closing.is_set():
            self._thread = threading.Thread(target=self._work, name="wenyuan-folders", daemon=True)
            self._thread.start()

    def close(self, seconds: float = 3.0) -> None:
        self._closing.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self) -> None:
        pause, is_first = 0.0, True
        while not self._closing.wait(pause):
            started = time.monotonic()
            try:
                is_first = not self.import_all(forgets_others=is_first) and is_first
            except NotOurTurn:
                log.info("the watched folders are imported by another process, or this one is ending")
            except AppError as error:
                log.warning("the watched folders could not be imported: %s", error)
            except Exception:
                log.exception("the import of the watched folders met a bug and goes on")
            if not (self.folders or is_first):
                return
            pause = max(EVERY_SECONDS, MOST_OF_TIME * (time.monotonic() - started))

    def import_all(self, *, forgets_others: bool = True) -> bool:
        """Bring all collections up to date, if it is the turn of this process. `forgets_others`: also delete those of folders
        that are not watched any more. Return whether it was."""
        if not self._turn.take():
            return False
        try:
            known = {one.name: one for one in self._library.list_collections(FOLDERS) if one.may_change}
            for name in set(known) - set(self.folders) if forgets_others else ():
                log.warning("the folder of the collection %r is not watched any more: its copy is deleted", name)
                self._library.delete_collection(known[name].id, FOLDERS)
            for name, folder in self.folders.items():
                self._import(name, folder, known.get(name))
        finally:
            self._turn.give_back()
        return True

    def _import(self, name: str, folder: Path, collection: Collection | None) -> None:
        if collection is None and not folder.is_dir():
            log.warning("the watched folder %s is not there", folder)
            return
        collection = collection or self._library.create_collection(name, FOLDERS)
        work = FolderImport(
            self._library,
            collection.id,
            FOLDERS,
            max_bytes=self._max_bytes,
            stamps=self._stamps.setdefault(name, {}),
            on_file=self._check_turn,
        )
        work.add_path(folder, "")
        work.note_missing("", remove=True)
        self._tell(name, work.report())

    def _check_turn(self) -> None:
        if self._closing.is_set() or not self._turn.extend():
            raise NotOurTurn

    def _tell(self, name: str, files: Sequence[ImportedFile]) -> None:
        """Log what has changed, and each problem once."""
        counts = Counter(file.outcome for file in files)
        changed = [one for one in ImportOutcome if one not in _UNCHANGED and counts[one]]
        if changed:
            log.info("watched folder %r: %s", name, ", ".join(f"{counts[one]} {one.value}" for one in changed))
        for file in files:
            if file.outcome in _PROBLEMS and (name, file) not in self._told:
                self._told.add((name, file))
                log.warning("watched folder %r: %s", name, file)


_UNCHANGED = (ImportOutcome.UNCHANGED, ImportOutcome.SKIPPED, ImportOutcome.UNREADABLE, ImportOutcome.FAILED)
_PROBLEMS = (ImportOutcome.SKIPPED, ImportOutcome.UNREADABLE, ImportOutcome.FAILED)


def name_folders(folders: Sequence[Path]) -> dict[str, Path]:
    """Return the folders by the names of their collections: their own, with as many of those above as tell them apart."""
    known = list(dict.fromkeys(folders))
    named: dict[str, Path] = {}
    for folder in known:
        count = 1
        while count < len(folder.parts) and any(
            other != folder and other.parts[-count:] == folder.parts[-count:] for other in known
        ):
            count += 1
        named[shorten(one_line("/".join(folder.parts[-count:])), NAME_LENGTH)] = folder
    return named


class FolderTurn:
    """The turn to import, which one process at a time has. Those that share a database share it."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._me = secrets.token_hex(8)
        self._until = 0.0

    def take(self) -> bool:
        """Take the turn, or keep it. Return whether this process has it."""
        now, c = self._clock(), upkeep.c
        is_free = or_(c.folders_by == self._me, c.folders_until < now, c.folders_until > now + 2 * TURN_SECONDS)
        self._until = now + TURN_SECONDS
        mine = update(upkeep).where(is_free).values(folders_by=self._me, folders_until=self._until)
        with self._database.write() as connection:
            return bool(connection.execute(mine).rowcount)

    def extend(self) -> bool:
        """Keep the turn for longer, if a good part of it has passed. Return whether this process still has it."""
        return self._clock() < self._until - TURN_SECONDS / 2 or self.take()

    def give_back(self) -> None:
        with self._database.write() as connection:
            connection.execute(update(upkeep).where(upkeep.c.folders_by == self._me).values(folders_until=0.0))
