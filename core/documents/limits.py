"""How much the document library takes in: of each file, each reader and all together. Also its switch."""

from __future__ import annotations

from math import ceil
from typing import NoReturn

from sqlalchemy import Connection, func, select

from core.base.settings import DocumentSettings
from core.documents.access import FOLDERS, is_owned_by
from core.documents.errors import DocumentError
from core.documents.types import Access, Document
from core.store import Database
from core.store.tables import collections, documents

MEGABYTE, GIGABYTE = 2**20, 2**30


class ClosedDatabase(Database):
    """The database of a document library that is switched off: nothing is read or changed."""

    def __init__(self) -> None:
        """Open nothing."""

    def read(self) -> NoReturn:
        raise DocumentError("管理员关闭了资料库。", cure="已有的资料没有删除，打开之后仍在。")

    write = snapshot = erase = read


def require_size(name: str, size: int, limits: DocumentSettings) -> None:
    """Raise DocumentError for a file that is too large, or empty."""
    if not size:
        raise DocumentError(f"「{name}」是空的，没有收下。", cure="请检查这个文件。")
    if size > limits.file_megabytes * MEGABYTE:
        shown = f"{ceil(size / MEGABYTE * 10) / 10} MB"  # never rounded down to the limit
        raise DocumentError(
            f"「{name}」有 {shown}，每个文件最多 {limits.file_megabytes} MB，没有收下。", cure="请把它拆成几个文件。"
        )


def require_room(connection: Connection, new: Document, access: Access, limits: DocumentSettings) -> None:
    """Raise DocumentError if a file does not fit beside those that are stored. Watched folders may fill all the room."""
    if access == FOLDERS:
        limits = limits.model_copy(update={"visitor_files": 0, "visitor_megabytes": 0})
    counted = select(func.count(documents.c.id), func.coalesce(func.sum(documents.c.size), 0))
    theirs = counted.select_from(documents.join(collections, documents.c.collection_id == collections.c.id)).where(
        is_owned_by(access)
    )
    count, size = connection.execute(theirs).one()
    if limits.visitor_files and count >= limits.visitor_files:
        raise DocumentError(
            f"你已有 {count} 个文件，每人最多 {limits.visitor_files} 个，「{new.name}」没有收下。",
            cure="请先删除不再需要的文件。",
        )
    if limits.visitor_megabytes and size + new.size > limits.visitor_megabytes * MEGABYTE:
        raise DocumentError(
            f"你的文件一共有 {size / MEGABYTE:.0f} MB，每人最多 {limits.visitor_megabytes} MB，「{new.name}」没有收下。",
            cure="请先删除不再需要的文件。",
        )
    total = connection.execute(select(func.coalesce(func.sum(documents.c.size), 0))).scalar_one()
    if limits.total_gigabytes and total + new.size > limits.total_gigabytes * GIGABYTE:
        raise DocumentError(f"这里的资料库满了，「{new.name}」没有收下。", cure="请联系管理员。")
