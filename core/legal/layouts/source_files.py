"""Files of a folder, a zip or a tar, read one after the other without writing any to disk.

Nothing is extracted, so a name like `../../etc/passwd` is only a name. Size, number and ratio of the unpacked files are
limited: a decompression bomb ends the import, and the index in use stays.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from core.legal.errors import CorpusError

MAX_FILE = 32_000_000
MAX_LINE = 8_000_000
"""Limit for a line of a file of records. Such files are read line by line and never held in memory."""
MAX_TOTAL = 2_000_000_000
MAX_FILES = 200_000
MAX_RATIO = 400
"""Largest ratio of unpacked to packed size. Texts of laws pack to a tenth, with xz to a twentieth."""
_RATIO_COUNTS_FROM = 50_000_000
_RECORDS = (".jsonl", ".csv")
_READABLE = (".md", ".json", ".sqlite3", ".db", *_RECORDS)
_UNPACKERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
}
"""Function to open a packed file, by its first bytes."""
_UNREADABLE = (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, RuntimeError)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: its path inside the source, and its bytes or the reason why they were not read."""

    path: PurePosixPath
    data: bytes
    problem: str = ""
    stream: IO[bytes] | None = None
    """Open stream of a file of records, valid until the next file is read."""

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of a file of records. Raises CorpusError if it cannot be read to its end."""
        stream = self.stream or io.BytesIO(self.data)
        try:
            while line := stream.readline(MAX_LINE + 1):
                if len(line) > MAX_LINE:
                    raise _limit_error(f"{self.path.name} 有一行超过 {MAX_LINE // 1_000_000} MB")
                yield line
        except _UNREADABLE as error:
            raise _unreadable_error(self.path.name, error) from error


PathFilter = Callable[[PurePosixPath], bool]
Opener = Callable[[], IO[bytes] | None]


def read_source_files(source: Path, is_wanted: PathFilter) -> Iterator[SourceFile]:
    """Yield the readable files that `is_wanted` accepts. Raises CorpusError if the source cannot be opened."""
    if not source.exists():
        raise CorpusError(f"找不到 {source}。", cure="请检查路径。")
    if not (source.is_file() or source.is_dir()):
        raise CorpusError(f"{source} 不是文件也不是目录，没有导入。", cure="请给出目录、压缩包、JSONL 或网址。")
    try:
        yield from _read_any(source, lambda path: path.suffix in _READABLE and is_wanted(path))
    except _UNREADABLE as error:
        raise _unreadable_error(source.name, error) from error


def _unreadable_error(name: str, error: Exception) -> CorpusError:
    return CorpusError(f"{name} 读到一半就无法继续（{type(error).__name__}）。", cure="文件可能不完整，请重新下载。")


def _read_any(source: Path, is_wanted: PathFilter) -> Iterator[SourceFile]:
    if source.is_dir():
        return _read_folder(source, is_wanted)
    if zipfile.is_zipfile(source):
        return _read_zip(source, is_wanted)
    if source.suffix in _READABLE:
        return _read_file(source, is_wanted)
    if not tarfile.is_tarfile(source):
        raise CorpusError(f"{source.name} 这种文件不能导入。", cure="请给出目录、压缩包（zip、tar）、JSONL 或网址。")
    return _read_tar(source, is_wanted)


def _read_file(source: Path, is_wanted: PathFilter) -> Iterator[SourceFile]:
    path = PurePosixPath(source.name)
    if is_wanted(path):
        size = source.stat().st_size
        _Limits(packed=0).add(size)
        yield from _open_source_file(path, size, lambda: source.open("rb"))


def _read_folder(source: Path, is_wanted: PathFilter) -> Iterator[SourceFile]:
    limits = _Limits(packed=0)
    for folder, below, names in os.walk(source):  # does not follow links to folders
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            path = PurePosixPath(*file.relative_to(source).parts)
            if is_wanted(path) and file.is_file() and not file.is_symlink():
                size = file.stat().st_size
                limits.add(size)
                yield from _open_source_file(path, size, lambda file=file: file.open("rb"))  # type: ignore[misc]


def _read_zip(source: Path, is_wanted: PathFilter) -> Iterator[SourceFile]:
    limits = _Limits(packed=source.stat().st_size)
    with zipfile.ZipFile(source) as archive:
        if len(archive.infolist()) > MAX_FILES:
            raise _limit_error(f"其中的文件超过 {MAX_FILES} 个")
        for member in archive.infolist():
            path = PurePosixPath(_zip_name(member))
            if not member.is_dir() and is_wanted(path):
                limits.add(member.file_size)
                yield from _open_source_file(path, member.file_size, lambda member=member: archive.open(member))  # type: ignore[misc]


def _zip_name(member: zipfile.ZipInfo) -> str:
    """Return a member's name. Chinese Windows writes GBK without the flag for UTF-8: Python then reads cp437."""
    for encoding in () if member.flag_bits & 0x800 else ("utf-8", "gb18030"):
        with suppress(UnicodeError):
            return member.filename.encode("cp437").decode(encoding)
    return member.filename


def _read_tar(source: Path, is_wanted: PathFilter) -> Iterator[SourceFile]:
    limits = _Limits(packed=source.stat().st_size)
    with _open_unpacked(source, limits) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        while member := archive.next():
            archive.members = []  # type: ignore[attr-defined]  # a stream cannot go back: nothing need be remembered
            limits.add(0)
            path = PurePosixPath(member.name)
            if member.isreg() and is_wanted(path):
                yield from _open_source_file(path, member.size, lambda member=member: archive.extractfile(member))  # type: ignore[misc]


def _open_source_file(path: PurePosixPath, size: int, open_file: Opener) -> Iterator[SourceFile]:
    if path.suffix in _RECORDS:
        with open_file() or io.BytesIO() as stream:
            yield SourceFile(path, b"", stream=stream)
    else:
        yield _read_whole(path, size, open_file)


def _read_whole(path: PurePosixPath, size: int, open_file: Opener) -> SourceFile:
    too_large = SourceFile(path, b"", f"超过 {MAX_FILE // 1_000_000} MB")
    if size > MAX_FILE:
        return too_large
    try:
        with open_file() or io.BytesIO() as stream:
            data = stream.read(MAX_FILE + 1)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, NotImplementedError, OSError) as error:
        return SourceFile(path, b"", f"无法读出（{type(error).__name__}）")
    return SourceFile(path, data) if len(data) <= MAX_FILE else too_large


@dataclass(slots=True)
class _Limits:
    packed: int
    _files: int = 0
    _bytes: int = 0

    def add(self, size: int, *, files: int = 1) -> None:
        self._files += files
        self._bytes += size
        if self._files > MAX_FILES:
            raise _limit_error(f"其中的文件超过 {MAX_FILES} 个")
        if self._bytes > MAX_TOTAL:
            raise _limit_error(f"解开后超过 {MAX_TOTAL // 1_000_000} MB")
        if self.packed and self._bytes > max(_RATIO_COUNTS_FROM, MAX_RATIO * self.packed):
            raise _limit_error("压缩比异常")


def _limit_error(reason: str) -> CorpusError:
    return CorpusError(f"没有导入：{reason}。", cure="请确认文件来源可靠。")


class _CountingStream(io.RawIOBase):
    """Unpacked stream that counts all bytes it yields, including headers and skipped members."""

    def __init__(self, stream: IO[bytes], limits: _Limits) -> None:
        self._stream = stream
        self._limits = limits

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._limits.add(len(data), files=0)
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _open_unpacked(source: Path, limits: _Limits) -> IO[bytes]:
    with source.open("rb") as file:
        start = file.read(6)
    unpack = next((unpack for mark, unpack in _UNPACKERS.items() if start.startswith(mark)), open)
    counted: Any = _CountingStream(unpack(source, "rb"), limits)
    return io.BufferedReader(counted, 1 << 16)
