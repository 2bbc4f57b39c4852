"""How much is taken in, the switch, and that what is deleted is gone."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tantivy

from core.base.settings import DocumentSettings
from core.documents import Access, CollectionNotFound, DocumentError, DocumentLibrary
from core.documents.folder_index import FolderIndex
from core.documents.storage import IndexedPassage
from core.reading import Reader, ReadingSettings
from core.store import Database
from support.base import loaded

OWNER = Access("owner")
SECRET = "quokkatarn"

Limited = Callable[..., DocumentLibrary]


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Limited]:
    """Open a library with these settings."""
    values = loaded(DATA_DIR=str(tmp_path / "data")).values
    database, reader, opened = Database.from_settings(values), Reader(ReadingSettings()), []

    def open(**settings: int) -> DocumentLibrary:
        changed = values.model_copy(update={"documents": DocumentSettings(**settings)})
        opened.append(DocumentLibrary.from_settings(changed, database, reader))
        return opened[-1]

    yield open
    for library in opened:
        library.close()
    database.close()


def test_files_beyond_a_limit_are_refused_with_a_sentence(limited: Limited) -> None:
    library = limited(file_megabytes=1, visitor_megabytes=2, visitor_files=3)
    id = library.create_collection("合同", OWNER).id
    with pytest.raises(DocumentError, match=r"「a.txt」有 1.1 MB，每个文件最多 1 MB"):
        library.add_document(id, "a.txt", b"a" * 1_100_000, OWNER)
    with pytest.raises(DocumentError, match="是空的"):
        library.add_document(id, "empty.txt", b"", OWNER)
    library.add_document(id, "a.txt", b"a" * 1_000_000, OWNER)
    library.add_document(id, "b.txt", b"b" * 1_000_000, OWNER)
    with pytest.raises(DocumentError, match="每人最多 2 MB"):
        library.add_document(id, "c.txt", b"c" * 200_000, OWNER)
    library.add_document(id, "d.txt", b"d" * 1_000, OWNER)
    with pytest.raises(DocumentError, match="每人最多 3 个"):
        library.add_document(id, "e.txt", b"e", OWNER)
    library.add_document(id, "d.txt", b"dd", OWNER)
    other = Access("other")
    library.add_document(library.create_collection("合同", other).id, "mine.txt", b"mine", other)
    assert len(library.list_documents(id, OWNER)) == 3


def test_a_refused_file_leaves_no_bytes(limited: Limited, tmp_path: Path) -> None:
    library = limited(visitor_files=1)
    id = library.create_collection("合同", OWNER).id
    library.add_document(id, "a.txt", b"a", OWNER)
    with pytest.raises(DocumentError):
        library.add_document(id, "b.txt", SECRET.encode(), OWNER)
    assert places_of(SECRET.encode(), tmp_path) == []


def test_one_switch_closes_the_library_and_keeps_what_is_there(limited: Limited) -> None:
    id = limited().create_collection("合同", OWNER).id
    closed = limited(enabled=False)
    for action in (
        lambda: closed.list_collections(OWNER),
        lambda: closed.search("合同", OWNER, collections=[id]),
        lambda: closed.create_collection("二", OWNER),
        lambda: closed.delete_collection(id, OWNER),
    ):
        with pytest.raises(DocumentError, match="管理员关闭了资料库"):
            action()
    assert limited().open_collection(id, OWNER).name == "合同"


def places_of(word: bytes, folder: Path) -> list[str]:
    """The files below a folder that have these bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if word in path.read_bytes()]


def words_of(folder: Path, word: str) -> int:
    """The number of shards whose dictionary knows the word: it is compressed, and no search of bytes finds it."""
    shards = [path.parent for path in folder.rglob("meta.json")]
    opened = [tantivy.Index.open(str(path)) for path in shards]
    return sum(bool(index.searcher().doc_freq("words", word)) for index in opened)


def stored_texts(folder: Path) -> list[bytes]:
    with sqlite3.connect(folder / "database" / "wenyuan.sqlite3") as database:
        rows = database.execute("SELECT text FROM document_texts").fetchall()
    return [text if isinstance(text, bytes) else text.encode() for (text,) in rows]


@pytest.mark.parametrize("how", ["document", "collection", "replaced", "retention"])
def test_what_is_deleted_is_gone_from_disk_index_and_database(limited: Limited, tmp_path: Path, how: str) -> None:
    library, folder = limited(days=1), tmp_path / "data"
    id = library.create_collection("合同", OWNER).id
    text = f"灯塔的暗号是 {SECRET}。" + "这里还有许多别的话，好让文字压缩起来存放。" * 30
    library.add_document(id, f"{SECRET}.txt", text.encode(), OWNER)
    if how in ("document", "replaced"):  # else the collection goes, with all that is in it
        library.add_document(id, "notes.txt", "灯塔每年检修一次。".encode(), OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=60)
    document = next(one for one in library.list_documents(id, OWNER) if SECRET in one.name)
    texts = [stored for stored in stored_texts(folder) if len(stored) > 60]
    assert texts
    assert places_of(SECRET.encode(), folder)
    assert words_of(folder, SECRET) == 1
    if how == "document":
        library.delete_document(document.id, OWNER)
    elif how == "collection":
        library.delete_collection(id, OWNER)
    elif how == "replaced":
        library.delete_document(library.add_document(id, document.name, b"other words", OWNER).id, OWNER)
        assert library.wait_until_indexed(id, OWNER, seconds=60)
    else:
        age(folder, days=2)
        library.tidy()
        with pytest.raises(CollectionNotFound):
            library.open_collection(id, OWNER)
    assert words_of(folder, SECRET) == 0
    for trace in (SECRET.encode(), document.id.encode(), *texts):
        assert places_of(trace, folder) == []


def age(folder: Path, *, days: int) -> None:
    with sqlite3.connect(folder / "database" / "wenyuan.sqlite3") as database:
        database.execute("UPDATE collections SET updated = ?", (time.time() - days * 86_400,))


def test_retention_spares_what_is_shared_or_was_changed(limited: Limited, tmp_path: Path) -> None:
    library = limited(days=3)
    shared, fresh = library.create_collection("分享", OWNER).id, library.create_collection("新的", OWNER).id
    library.share_collection(shared, OWNER)
    age(tmp_path / "data", days=4)
    library.add_document(fresh, "notes.txt", b"notes", OWNER)
    library.tidy()
    assert {one.id for one in library.list_collections(OWNER)} == {shared, fresh}


def test_removal_leaves_other_documents_in_the_same_shard(tmp_path: Path) -> None:
    index = FolderIndex(tmp_path, shard_passages=10)
    for number in range(12):
        passages = [IndexedPassage(start, start + 1, f"灯塔 word{number} 第 {start} 段") for start in range(4)]
        index.add("c", f"d{number}", passages)
    index.remove("c", ["d1", "d7"])
    found = index.search("灯塔", ["c"], 100)
    assert len(found) == 40
    assert {passage.document_id for passage in found} == {f"d{number}" for number in range(12)} - {"d1", "d7"}
    assert words_of(tmp_path, "word7") == 0
    assert len({path.parent for path in tmp_path.rglob("meta.json")}) >= 3


def test_a_collection_that_others_remove_at_the_same_time_is_removed(tmp_path: Path) -> None:
    def remove(index: FolderIndex) -> None:
        index.remove_collection("c" * 24)

    for round in range(10):
        index = FolderIndex(tmp_path / str(round))
        index.add("c" * 24, "d" * 24, [IndexedPassage(0, 4, "灯塔值班")])
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(remove, index) for _ in range(4)]:
                done.result()
        assert index.search("灯塔", ["c" * 24], 5) == []
