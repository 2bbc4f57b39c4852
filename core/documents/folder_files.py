"""The bytes of the files in a folder that only this user can read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.documents.errors import DocumentError


class FolderFiles:
    """A FileStore in a folder: a file for each document, in folders by the first letters of its id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, document_id: str, body: bytes) -> None:
        path = self._path(document_id)
        with _disk_errors("文件没有保存"):
            make_private_folder(path.parent)
            write_private_file(path, body)

    def read(self, document_id: str) -> bytes:
        with _disk_errors("文件打不开"):
            return self._path(document_id).read_bytes()

    def delete(self, document_ids: Collection[str]) -> None:
        with _disk_errors("文件没有删除"):
            for id in document_ids:
                path = self._path(id)
                path.unlink(missing_ok=True)
                path.with_name(f"{path.name}.part").unlink(missing_ok=True)
                with suppress(OSError):  # other files are there
                    path.parent.rmdir()

    def _path(self, document_id: str) -> Path:
        return self._folder / document_id[:2] / document_id


def make_private_folder(folder: Path) -> None:
    """Make a folder that only this user can read, and those above it up to the first that exists."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private_file(path: Path, body: bytes) -> None:
    """Write a file that only this user can read: all of it or nothing, whatever happens."""
    part = path.with_name(f"{path.name}.part")
    with os.fdopen(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(body)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(path)


@contextmanager
def _disk_errors(what: str) -> Iterator[None]:
    """Turn an error of the disk into a DocumentError."""
    try:
        yield
    except FileNotFoundError:
        raise DocumentError(f"{what}：它的内容不在数据文件夹里。", cure="请重新上传。") from None
    except OSError as error:
        reason = error.strerror or error
        raise DocumentError(f"{what}（{reason}）。", cure="请管理员检查数据目录的空间和权限。") from None
