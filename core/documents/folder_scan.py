"""Files of a folder on this machine, for an import: found without following links, and read only if they are plain files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from core.base.text import one_line
from core.documents.errors import DocumentError
from core.reading import FILE_KINDS

MAX_DEPTH = 40
"""Number of folders inside each other. Deeper ones are named and left out."""
_LOCK_FILES = ("~$", ".~lock")
_SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini"})
IS_LINK, OTHER_KIND, NO_FILE, TOO_DEEP = (
    "是链接，没有跟随。",
    "不是能读的格式。",
    "不是普通的文件。",
    "文件夹嵌套太深。",
)
NOT_ALLOWED = "没有权限打开。"


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file that can be imported."""

    folder: Path
    """The folder that is imported."""
    path: Path
    name: str
    """Its name in a collection, with its folders."""
    size: int
    modified_ns: int

    @property
    def day(self) -> str:
        """The ISO day on which it was changed."""
        return date.fromtimestamp(self.modified_ns / 1e9).isoformat()


@dataclass(frozen=True, slots=True)
class SkippedFile:
    name: str
    reason: str
    """Sentence that says why it is not imported."""


def scan_folder(folder: Path, prefix: str = "") -> Iterator[FolderFile | SkippedFile]:
    """Yield what is in a folder and those in it, by name. Hidden files and those of the system or of an open Office program
    are left out. Raise OSError if the folder itself cannot be listed."""
    yield from _scan(folder, folder, prefix, 0)


def _scan(root: Path, folder: Path, prefix: str, depth: int) -> Iterator[FolderFile | SkippedFile]:
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        if _is_left_out(entry.name):
            continue
        name = f"{prefix}/{one_line(entry.name)}".lstrip("/")
        if entry.is_symlink():
            yield SkippedFile(name, IS_LINK)
        elif not entry.is_dir(follow_symlinks=False):
            yield from find_file(root, Path(entry.path), name)
        elif depth >= MAX_DEPTH:
            yield SkippedFile(name, TOO_DEEP)
        else:
            try:
                yield from _scan(root, Path(entry.path), name, depth + 1)
            except OSError:
                yield SkippedFile(name, NOT_ALLOWED)


def _is_left_out(name: str) -> bool:
    return name.startswith((".", *_LOCK_FILES)) or name.lower() in _SYSTEM_FILES


def find_file(folder: Path, path: Path, name: str) -> Iterator[FolderFile | SkippedFile]:
    """Yield one file of a folder; nothing if it is not there."""
    try:
        found = path.lstat()
    except OSError:  # removed since the folder was listed
        return
    if not stat.S_ISREG(found.st_mode):
        yield SkippedFile(name, NO_FILE)
    elif path.suffix.lower().lstrip(".") not in FILE_KINDS:
        yield SkippedFile(name, OTHER_KIND)
    else:
        yield FolderFile(folder, path, name, found.st_size, found.st_mtime_ns)


def read_folder_file(file: FolderFile, *, max_bytes: int) -> bytes:
    """Return the bytes of a file that was found; never those behind a link, and never of what would block. Raise
    DocumentError."""
    try:
        with open(_open_below(file.folder, file.path.relative_to(file.folder).parts), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise DocumentError(NO_FILE)
            body = opened.read(max_bytes + 1)
    except OSError as error:
        raise DocumentError(NOT_ALLOWED if isinstance(error, PermissionError) else "打不开这个文件。") from None
    if len(body) > max_bytes:
        raise DocumentError(f"超过了 {max_bytes // 2**20} MB 的上限。", cure="请拆成几个文件。")
    return body


def _open_below(folder: Path, parts: Sequence[str]) -> int:
    """Open a file below a folder, and no folder on the way to it that has become a link since it was listed."""
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)
