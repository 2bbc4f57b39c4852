"""Records of commands. A command ends too soon to open a database for them: they wait in a file until a server takes them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from core import __version__
from core.store.errors import StoreError

if TYPE_CHECKING:
    from core.store.counts import TokenUse
    from core.store.metrics_store import MetricsStore

log = logging.getLogger(__name__)

MAX_BYTES = 2**20
"""Size at which the file begins anew. Where no server takes it, it holds the last thousands of searches."""
LOCK_SECONDS, POLL_SECONDS = 5.0, 0.005

Rows = Sequence[Mapping[str, Any]]


class RecordFile:
    """A file that takes records as MetricsStore does."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, searches: Rows, attempts: Rows, answers: Rows, uses: Sequence[TokenUse] = ()) -> None:
        """Append the records, without `uses`: nobody calls a command with a token. Raise StoreError if that cannot be done."""
        line = json.dumps([__version__, searches, attempts, answers], ensure_ascii=False)
        with self._locked():
            is_full = self._path.exists() and self._path.stat().st_size > MAX_BYTES
            with self._path.open("w" if is_full else "a", encoding="utf-8") as file:
                self._path.chmod(0o600)
                file.write(f"{line}\n")

    def delete_old(self, before: float) -> bool:
        """Return whether there is more to delete: never, because the file is not kept for long."""
        return False

    def move_to(self, store: MetricsStore) -> None:
        """Move all records to the database. Raise StoreError, and keep them, if that cannot be done."""
        if not self._path.exists():
            return
        with self._locked():
            if not self._path.exists():  # another server has just taken it
                return
            if rows := list(_readable(self._path.read_text("utf-8", "replace").splitlines())):
                searches, attempts, answers = (list(chain(*parts)) for parts in zip(*rows, strict=True))
                store.add(searches, attempts, answers)
            self._path.unlink()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self._path.with_suffix(".lock"), timeout=LOCK_SECONDS, poll_interval=POLL_SECONDS):
                yield
        except (OSError, Timeout) as error:
            raise StoreError("记录运行数据的文件无法读写。") from error


def _readable(lines: Iterable[str]) -> Iterator[list[list[Any]]]:
    """Yield the records of each line. Those of another version may have other columns."""
    for line in lines:
        try:
            version, searches, attempts, answers = json.loads(line)
            if version == __version__:
                yield [searches, attempts, answers]
        except (ValueError, TypeError):
            log.warning("a line of the records of commands cannot be read")
