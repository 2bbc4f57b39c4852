"""This server's copy of the library that all app servers share: imported by one of them, fetched by the others.

data/legal/shared.json   hashes of the published files that this copy has; without it, all of them are fetched again
"""

from __future__ import annotations

import hashlib
import json
import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from core.base.errors import AppError
from core.legal.errors import ImportBusy
from core.legal.library.index_files import MANIFEST, current_folder, delete_indexes, import_lock

log = logging.getLogger(__name__)

STAMP = "shared.json"
LOOK_SECONDS = 10.0
"""Longest time in which a library in use does not notice a newer one."""
MISSING_SECONDS = 1.0
_VECTORS = ("*vectors-*.bin", "*vectors-*.for")


class SharedFolder(Protocol):
    """Files that all app servers share, by their names. Errors are AppError."""

    def hashes(self) -> dict[str, str]:
        """Return the hash of each published file. Empty before the first publication."""

    def lock(self) -> AbstractContextManager[bool]:
        """Hold the right to publish: yield whether no other app server has it."""

    def publish(self, files: Mapping[str, Path]) -> dict[str, str]:
        """Replace what is published by these files, all at once. Return their hashes."""

    def fetch(self, folder: Path, known: Mapping[str, str]) -> dict[str, str]:
        """Write the published files into a folder, except those whose hashes are known. Return the hashes of all."""


class LibraryCopy:
    """The copy in a folder. Thread-safe; several processes of one machine may share the folder."""

    def __init__(self, folder: Path, shared: SharedFolder, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._shared = shared
        self._clock = clock
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._looked = float("-inf")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let this process alone, of those of all app servers, change the library, beginning with the newest one. Raise
        ImportBusy."""
        with self._shared.lock() as is_mine:
            if not is_mine:
                raise ImportBusy
            self._refresh(is_mine=True)
            yield

    def refresh(self) -> None:
        """Fetch the published library, unless this is it or another process of this machine is changing the copy. A library
        from before there was one to share is published. Raise AppError or OSError."""
        with suppress(ImportBusy):
            self._refresh(is_mine=False)

    def refresh_soon(self) -> None:
        """Refresh in a thread of its own, if the last time was a while ago. Whoever asks now gets what is here."""
        pause = LOOK_SECONDS if (self._folder / MANIFEST).exists() else MISSING_SECONDS
        if self._clock() - self._looked < pause or not self._looking.acquire(blocking=False):
            return
        self._looked = self._clock()
        threading.Thread(target=self._look, name="wenyuan-shared-laws", daemon=True).start()

    def _look(self) -> None:
        try:
            self.refresh()
        except (AppError, OSError) as error:
            log.warning("the shared library of laws could not be fetched: %s", error)
        finally:
            self._looking.release()

    def publish(self) -> None:
        """Publish this copy. Only the holder of the lock may. If that fails, the published library comes back."""
        name = current_folder(self._folder)
        if name is None:
            return
        used = (path for path in (self._folder / name).rglob("*") if path.is_file())
        vectors = (path for pattern in _VECTORS for path in self._folder.glob(pattern))
        files = {path.relative_to(self._folder).as_posix(): path for path in (*used, *vectors)}
        with self._lock:
            self._stamp.unlink(missing_ok=True)
            self._write_stamp(self._shared.publish({**files, MANIFEST: self._folder / MANIFEST}))

    def _refresh(self, *, is_mine: bool) -> None:
        with self._lock:
            published, known = self._shared.hashes(), self._known()
            is_here = current_folder(self._folder) is not None
            if published and (published != known or not is_here):
                self._folder.mkdir(parents=True, exist_ok=True)
                with import_lock(self._folder):
                    self._fetch(known if is_here else {})
                return
        if not published and is_here:
            self._publish_first(is_mine=is_mine)

    def _publish_first(self, *, is_mine: bool) -> None:
        if is_mine:
            return self.publish()
        with self._shared.lock() as is_free:
            if is_free and not self._shared.hashes():
                self.publish()
        return None

    def _fetch(self, known: Mapping[str, str]) -> None:
        with tempfile.TemporaryDirectory(prefix="fetched-", dir=self._folder) as temporary:
            fetched = Path(temporary)
            hashes = self._shared.fetch(fetched, known)
            self._stamp.unlink(missing_ok=True)
            for name in sorted(hashes, key=_names_the_index):
                if (fetched / name).is_file():
                    (self._folder / name).parent.mkdir(exist_ok=True, parents=True)
                    (fetched / name).replace(self._folder / name)
            self._write_stamp(hashes)
        delete_indexes(self._folder, kept_name=current_folder(self._folder))
        log.info("the library of laws was fetched from the database")

    @property
    def _stamp(self) -> Path:
        return self._folder / STAMP

    def _known(self) -> dict[str, str]:
        """Return the published files that are here."""
        try:
            stamp = json.loads(self._stamp.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return {name: hash for name, hash in stamp.items() if self._is_here(name, hash)}

    def _is_here(self, name: str, hash: str) -> bool:
        path = self._folder / name
        if name == MANIFEST:  # the only file that an import replaces
            return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == hash
        return path.is_file()

    def _write_stamp(self, hashes: Mapping[str, str]) -> None:
        draft = self._stamp.with_suffix(".new")
        draft.write_text(json.dumps(hashes), "utf-8")
        draft.replace(self._stamp)


def _names_the_index(name: str) -> int:
    """Order files so that what names others comes behind them."""
    return 2 if name == MANIFEST else name.endswith(".for")
