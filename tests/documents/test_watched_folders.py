"""Watched folders: what an administrator puts there can be read by everybody, and follows the folder."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.base.settings import Settings
from core.documents import Access, CollectionNotFound, Document, DocumentError, DocumentLibrary, WatchedFolders
from core.documents.access import FOLDERS
from core.documents.watched_folders import TURN_SECONDS, name_folders
from core.store import Database
from support.waiting import Clock, until

VISITOR = Access("0123456789abcdefghijklmnopqrstuv")
Watch = Callable[..., WatchedFolders]


@pytest.fixture
def database(values: Settings) -> Iterator[Database]:
    """The database of the library, as another process opens it."""
    database = Database.from_settings(values)
    yield database
    database.close()


@pytest.fixture
def watch(library: DocumentLibrary, database: Database) -> Iterator[Watch]:
    watched: list[WatchedFolders] = []

    def begin(*folders: Path, library: DocumentLibrary = library, clock: Clock | None = None) -> WatchedFolders:
        clock = clock or Clock(1_000_000.0)
        watched.append(WatchedFolders(library, database, folders, max_bytes=2**20, clock=clock))
        return watched[-1]

    yield begin
    for one in watched:
        one.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "制度"
    (folder / "人事").mkdir(parents=True)
    (folder / "人事" / "年假.txt").write_text("入职满一年的员工每年有十天年假。")
    (folder / "报销.txt").write_text("差旅费凭票报销。")
    return folder


def files_of(library: DocumentLibrary, access: Access = VISITOR) -> dict[str, Document]:
    (collection,) = library.list_collections(access)
    assert library.wait_until_indexed(collection.id, access, seconds=60)
    return {one.name: one for one in library.list_documents(collection.id, access)}


def test_everybody_reads_the_collection_of_a_folder_and_nobody_changes_it(
    library: DocumentLibrary, watch: Watch, folder: Path
) -> None:
    watch(folder).import_all()
    assert sorted(files_of(library)) == ["人事/年假.txt", "报销.txt"]
    for access in (VISITOR, Access()):
        (collection,) = library.list_collections(access)
        assert (collection.name, collection.may_change, collection.is_public) == ("制度", False, True)
        (hit, *_) = library.search("年假有几天", access, collections=[collection.id])
        assert hit.document.name == "人事/年假.txt"
        with pytest.raises(CollectionNotFound):
            library.add_document(collection.id, "x.txt", b"x", access)
        with pytest.raises(CollectionNotFound):
            library.delete_collection(collection.id, access)
        with pytest.raises(CollectionNotFound):
            library.rename_collection(collection.id, "x", access)
        with pytest.raises(CollectionNotFound):
            library.share_collection(collection.id, access)
        with pytest.raises(DocumentError):
            library.delete_document(hit.document.id, access)


def test_it_is_not_what_a_share_of_another_collection_opens(
    library: DocumentLibrary, watch: Watch, folder: Path
) -> None:
    own = library.create_collection("自己的", VISITOR)
    key = library.share_collection(own.id, VISITOR)
    watch(folder).import_all()
    assert library.find_shared(key).id == own.id
    with pytest.raises(CollectionNotFound):
        library.find_shared("0" * 24)


def test_the_collection_follows_the_folder(library: DocumentLibrary, watch: Watch, folder: Path) -> None:
    watched = watch(folder)
    watched.import_all()
    before = files_of(library)
    (folder / "报销.txt").write_text("差旅费凭票报销，每天补贴一百元。")
    (folder / "人事" / "年假.txt").rename(folder / "年假.txt")
    os.utime(folder / "年假.txt", (1_700_000_000, 1_700_000_000))
    watched.import_all()
    after = files_of(library)
    assert sorted(after) == ["年假.txt", "报销.txt"]
    assert after["报销.txt"].id != before["报销.txt"].id
    assert after["年假.txt"].modified == "2023-11-14"
    watched.import_all()
    assert files_of(library) == after


def test_what_has_not_changed_is_not_opened_again(library: DocumentLibrary, watch: Watch, folder: Path) -> None:
    watched = watch(folder)
    watched.import_all()
    before = files_of(library)
    stat = (folder / "报销.txt").stat()
    (folder / "报销.txt").write_bytes(b"x" * stat.st_size)
    os.utime(folder / "报销.txt", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    watched.import_all()
    assert files_of(library) == before
    watch(folder).import_all()
    assert files_of(library)["报销.txt"].id != before["报销.txt"].id, "a new process looks at the bytes"


def test_a_folder_that_is_away_loses_nothing(
    library: DocumentLibrary, watch: Watch, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watched = watch(folder)
    watched.import_all()
    before = files_of(library)
    folder.rename(tmp_path / "away")
    watched.import_all()
    assert files_of(library) == before
    assert "没有这个目录或文件" in caplog.text
    (tmp_path / "away").rename(folder)
    (folder / "人事").chmod(0)
    try:
        if not os.access(folder / "人事", os.R_OK):
            watched.import_all()
            assert files_of(library) == before
    finally:
        (folder / "人事").chmod(0o755)


def test_the_collection_of_a_folder_that_is_not_watched_any_more_is_deleted(
    library: DocumentLibrary, watch: Watch, folder: Path, tmp_path: Path
) -> None:
    (other := tmp_path / "合同").mkdir()
    own = library.create_collection("自己的", VISITOR)
    watch(folder, other).import_all()
    assert {one.name for one in library.list_collections(VISITOR)} == {"自己的", "制度", "合同"}
    watch(other).import_all()
    assert {one.name for one in library.list_collections(VISITOR)} == {"自己的", "合同"}
    watch().import_all()
    assert [one.id for one in library.list_collections(VISITOR)] == [own.id]


def test_links_that_lead_out_and_hidden_files_are_left_out(
    library: DocumentLibrary, watch: Watch, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (secret := tmp_path / "secret").mkdir()
    (secret / "key.txt").write_text("密码是海鸥。")
    (folder / "out").symlink_to(secret)
    (folder / "key.txt").symlink_to(secret / "key.txt")
    (folder / ".git").mkdir()
    (folder / ".git" / "config.txt").write_text("x")
    (folder / "~$报销.docx").write_text("x")
    (folder / ".~lock.报销.docx#").write_text("x")
    (folder / "坏.pdf").write_bytes(b"%PDF-1.4 nothing")
    watched = watch(folder)
    watched.import_all()
    assert sorted(files_of(library)) == ["人事/年假.txt", "坏.pdf", "报销.txt"]
    watched.import_all()
    watched.import_all()
    for problem in ("key.txt：是链接，没有跟随。", "out：是链接，没有跟随。", "无法读取　坏.pdf："):
        assert caplog.text.count(problem) >= 1
        assert sum(problem in record.getMessage() for record in caplog.records) == 1, "each is named once"
    assert files_of(library)["坏.pdf"].reason.endswith("。")


def test_a_folder_that_becomes_a_link_before_it_is_read_is_not_followed(
    library: DocumentLibrary, watch: Watch, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (secret := tmp_path / "secret").mkdir()
    (secret / "年假.txt").write_text("密码是海鸥。")
    watched = watch(folder)

    def swap() -> None:
        if not (folder / "人事").is_symlink():
            (folder / "人事").rename(tmp_path / "人事")
            (folder / "人事").symlink_to(secret)

    monkeypatch.setattr(watched, "_check_turn", swap)
    watched.import_all()
    assert sorted(files_of(library)) == ["报销.txt"]


def test_two_servers_do_not_both_import(
    open_library: Callable[[], DocumentLibrary], watch: Watch, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(1_000_000.0)
    first_library, second_library = open_library(), open_library()
    first, second = (watch(folder, library=one, clock=clock) for one in (first_library, second_library))
    is_importing, may_go_on = threading.Event(), threading.Event()
    add_document = first_library.add_document

    def add_slowly(*arguments: Any, **named: Any) -> Document:
        is_importing.set()
        assert may_go_on.wait(30)
        return add_document(*arguments, **named)

    monkeypatch.setattr(first_library, "add_document", add_slowly)
    thread = threading.Thread(target=first.import_all)
    thread.start()
    assert is_importing.wait(30)
    assert not second.import_all()
    assert not files_of(second_library)
    clock.now += TURN_SECONDS + 1
    assert second.import_all(), "a server that has died does not keep the turn"
    imported = files_of(second_library)
    may_go_on.set()
    thread.join(30)
    assert len(imported) == 2
    assert files_of(second_library) == imported, "what was imported meanwhile is not imported again"


def test_the_thread_imports_at_once_and_ends_when_it_is_closed(
    library: DocumentLibrary, watch: Watch, folder: Path
) -> None:
    watched = watch(folder)
    watched.start()
    until(lambda: bool(library.list_collections(VISITOR)) and len(files_of(library)) == 2)
    watched.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "wenyuan-folders"]


def test_folders_with_the_same_name_are_told_apart() -> None:
    folders = [Path("/srv/a/合同"), Path("/srv/b/合同"), Path("/srv/制度"), Path("/srv/制度")]
    assert list(name_folders(folders)) == ["a/合同", "b/合同", "制度"]


def test_the_owner_of_folders_is_nobody_who_visits() -> None:
    assert FOLDERS.visitor_id == "folders"


@pytest.fixture(autouse=True)
def _log_everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
