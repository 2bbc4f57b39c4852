"""An index that is lost, damaged or of an older program is made again from the stored texts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from core.documents import Access, DocumentError, DocumentLibrary
from core.documents.folder_index import FolderIndex
from core.documents.storage import IndexedPassage
from support.waiting import until

OWNER = Access("owner")


def lose(folder: Path) -> None:
    shutil.rmtree(folder)


def lose_a_shard(folder: Path) -> None:
    shutil.rmtree(next(path for path in folder.iterdir() if path.is_dir()))


def make_older(folder: Path) -> None:
    manifest = folder / "index.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 1}))


def damage(folder: Path) -> None:
    for file in folder.rglob("*.term"):
        file.write_bytes(b"")


def is_found(library: DocumentLibrary, words: str, id: str) -> bool:
    with suppress(DocumentError):
        return bool(library.search(words, OWNER, collections=[id]))
    return False


@pytest.mark.parametrize("values", ["folder"], indirect=True)
@pytest.mark.parametrize("harm", [lose, lose_a_shard, make_older, damage])
def test_a_lost_index_is_made_from_the_texts(
    open_library: Callable[[], DocumentLibrary], tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    library = open_library()
    id = library.create_collection("灯塔", OWNER).id
    library.add_document(id, "灯塔.txt", "灯塔每年十月检修一次。".encode(), OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=60)
    library.close()
    harm(tmp_path / "data" / "documents" / "index" / id)
    after = open_library()
    with pytest.raises(DocumentError, match="正在重新建立"):
        after.search("灯塔检修", OWNER, collections=[id])
    until(lambda: is_found(after, "灯塔检修", id), seconds=60)
    after.add_document(id, "食堂.txt", "食堂每周一更换菜单。".encode(), OWNER)
    assert after.wait_until_indexed(id, OWNER, seconds=60)
    assert is_found(after, "食堂菜单", id)
    assert is_found(after, "灯塔检修", id)


def test_an_index_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    index = FolderIndex(tmp_path)
    assert index.lacks("c")
    index.add("c", "d", [IndexedPassage(0, 1, "灯塔")])
    assert not index.lacks("c")
    index.rebuild("c", [("other", [IndexedPassage(0, 1, "食堂")])])
    assert [found.document_id for found in index.search("灯塔 食堂", ["c"], 9)] == ["d"]
