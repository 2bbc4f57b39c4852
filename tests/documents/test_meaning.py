"""Passages are found by their meaning, with a real model that is small enough to be written by the test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from core.base.embedding import MODEL, Embedder
from core.base.settings import Settings
from core.documents import Access, DocumentLibrary
from core.documents.meaning import PassageMeanings
from core.documents.text_rows import TextRows
from core.documents.vector_rows import VectorRows
from core.reading import Reader, ReadingSettings
from core.store import Database
from core.store.tables import document_texts, document_vectors
from support.base import ROOT
from support.waiting import until

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from support.tiny_embedder import write_model

OWNER, STRANGER = Access("owner"), Access("stranger")
GROUPS = ("笛雾响吼", "登记册写")
FOG, BOOK = "大雾期间，守塔人应当鸣笛。".encode(), "每日在登记册里记下来船。".encode()
QUESTION = "谁吼"
"""Not a letter of it stands in the file that it asks for."""

Open = Callable[..., DocumentLibrary]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model", GROUPS)


@pytest.fixture
def database(values: Settings) -> Iterator[Database]:
    database = Database.from_settings(values)
    yield database
    database.close()


@pytest.fixture
def open_with(values: Settings, database: Database) -> Iterator[Open]:
    """Open libraries with a model, or without one."""
    opened: list[DocumentLibrary] = []
    reader = Reader(ReadingSettings())

    def open(model: Path | None) -> DocumentLibrary:
        embedder = Embedder(str(model)) if model else None
        opened.append(DocumentLibrary.from_settings(values, database, reader, embedder))
        return opened[-1]

    yield open
    for library in opened:
        library.close()


def filled(library: DocumentLibrary, **files: bytes) -> str:
    id = library.create_collection("灯塔", OWNER).id
    for name, body in files.items():
        library.add_document(id, f"{name}.txt", body, OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=60)
    return id


def found(library: DocumentLibrary, id: str, question: str = QUESTION) -> list[str]:
    return [hit.document.name for hit in library.search(question, OWNER, collections=[id])]


def count(database: Database, table: object = document_vectors) -> int:
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()  # type: ignore[arg-type]


def until_embedded(database: Database) -> None:
    until(lambda: count(database) == count(database, document_texts), seconds=60)


def test_what_means_the_same_in_other_words_is_found(open_with: Open, model: Path, database: Database) -> None:
    library = open_with(model)
    id = filled(library, fog=FOG, book=BOOK)
    until_embedded(database)
    best, _ = library.search(QUESTION, OWNER, collections=[id])
    assert (best.document.name, best.text) == ("fog.txt", FOG.decode())
    assert found(library, id, "谁在册上写")[0] == "book.txt"


def test_words_count_beside_the_meaning(open_with: Open, model: Path, database: Database) -> None:
    library = open_with(model)
    id = filled(library, fog=FOG, other="雾响笛。".encode(), book=BOOK)
    until_embedded(database)
    assert found(library, id, "大雾期间守塔人")[0] == "fog.txt"


def test_without_a_model_words_decide_and_nothing_is_stored(open_with: Open, database: Database) -> None:
    library = open_with(None)
    id = filled(library, fog=FOG, book=BOOK)
    assert found(library, id) == []
    assert found(library, id, "守塔人") == ["fog.txt"]
    library.tidy()
    assert count(database) == 0


def test_without_a_model_nothing_of_it_is_imported() -> None:
    code = "import sys, core.documents.library; print({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_vectors_are_deleted_with_the_file_and_with_the_collection(
    open_with: Open, model: Path, database: Database
) -> None:
    library = open_with(model)
    id = filled(library, fog=FOG, book=BOOK)
    until_embedded(database)
    assert found(library, id)[0] == "fog.txt"
    (fog,) = (one for one in library.list_documents(id, OWNER) if one.name == "fog.txt")
    library.delete_document(fog.id, OWNER)
    assert count(database) == 1
    assert found(library, id) == ["book.txt"]
    library.delete_collection(id, OWNER)
    assert count(database) == 0


def test_a_file_that_is_read_again_gets_vectors_again(open_with: Open, model: Path, database: Database) -> None:
    library = open_with(model)
    id = filled(library, fog=FOG)
    until_embedded(database)
    assert found(library, id) == ["fog.txt"]
    (fog,) = library.list_documents(id, OWNER)
    library.reindex_document(fog.id, OWNER)
    assert library.wait_until_indexed(id, OWNER, seconds=60)
    until(lambda: count(database) == count(database, document_texts) == 1, seconds=60)
    assert found(library, id) == ["fog.txt"]


def test_files_that_were_there_before_the_model_get_vectors(open_with: Open, model: Path, database: Database) -> None:
    id = filled(open_with(None), fog=FOG, book=BOOK)
    library = open_with(model)
    library.start()
    until_embedded(database)
    assert found(library, id)[0] == "fog.txt"


def test_another_model_computes_its_own_vectors(
    open_with: Open, model: Path, database: Database, tmp_path: Path
) -> None:
    id = filled(open_with(model), fog=FOG)
    until_embedded(database)
    other = open_with(write_model(tmp_path / "other", ("雾响", "吼写")))
    other.start()
    until(lambda: found(other, id) == ["fog.txt"])
    assert count(database) == 1


def test_a_file_that_another_process_adds_is_found_by_its_meaning_too(
    open_with: Open, model: Path, database: Database
) -> None:
    first, second = open_with(model), open_with(model)
    id = filled(first, book=BOOK)
    until_embedded(database)
    assert found(second, id) == ["book.txt"]
    first.add_document(id, "fog.txt", FOG, OWNER)
    assert first.wait_until_indexed(id, OWNER, seconds=60)
    until_embedded(database)
    assert found(second, id)[0] == "fog.txt"


def test_idle_collections_hold_no_vectors_in_memory(open_with: Open, model: Path, database: Database) -> None:
    id = filled(open_with(model), fog=FOG)
    until_embedded(database)
    meanings = PassageMeanings(VectorRows(database), TextRows(database), Embedder(str(model)))
    assert len(meanings.nearest(QUESTION, [id], 5)) == 1
    meanings.close_idle(60)
    assert meanings._loaded.keys() == {id}
    meanings.close_idle(0)
    assert not meanings._loaded
    assert len(meanings.nearest(QUESTION, [id], 5)) == 1


def test_nobody_finds_by_meaning_what_is_not_his(open_with: Open, model: Path, database: Database) -> None:
    library = open_with(model)
    filled(library, fog=FOG)
    own = library.create_collection("别人的", STRANGER).id
    library.add_document(own, "book.txt", BOOK, STRANGER)
    assert library.wait_until_indexed(own, STRANGER, seconds=60)
    until_embedded(database)
    assert [hit.document.name for hit in library.search(QUESTION, STRANGER, collections=[own])] == ["book.txt"]


@pytest.mark.parametrize("state", ["gone", "garbage"])
def test_a_broken_model_costs_the_meaning_only(
    open_with: Open, model: Path, database: Database, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    if state == "gone":
        (model / MODEL).unlink()
    else:
        (model / MODEL).write_bytes(b"no model")
    library = open_with(model)
    id = filled(library, fog=FOG, book=BOOK)
    assert found(library, id, "守塔人") == ["fog.txt"]
    until(lambda: "by their words alone" in caplog.text)
    assert count(database) == 0
    assert [one.state for one in library.list_documents(id, OWNER)] == ["indexed", "indexed"]
    searched_first = open_with(model)
    assert found(searched_first, id, "守塔人") == ["fog.txt"]


_STOPS = """
import sys, threading
from core.base.embedding import Embedder
from core.documents import Access, DocumentLibrary
from core.documents.meaning import PassageMeanings
from core.documents.text_rows import TextRows
from core.documents.vector_rows import VectorRows
from core.reading import Reader, ReadingSettings
from core.store import Database
from support.base import loaded

class Stopping(Embedder):
    done = 0
    def embed(self, texts):
        self.done += 1
        if self.done > 2:
            threading.Event().wait()
        return super().embed(texts)

if __name__ == "__main__":
    values = loaded(DATA_DIR=sys.argv[1], DATABASE_URL=sys.argv[2]).values
    embedder = Stopping(sys.argv[3])
    library = DocumentLibrary.from_settings(values, Database.from_settings(values), Reader(ReadingSettings()), embedder)
    library.start()
    sys.stdin.read()
"""


def test_what_was_interrupted_goes_on_at_the_next_start(
    open_with: Open, values: Settings, model: Path, database: Database, tmp_path: Path
) -> None:
    id = filled(open_with(None), **{f"book{number}": BOOK + b"%d" % number for number in range(4)}, fog=FOG)
    script = tmp_path / "stops.py"
    script.write_text(_STOPS)
    url = values.database.url.get_secret_value() if values.database.url else ""
    command = [sys.executable, str(script), str(values.data_dir), url, str(model)]
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | paths)
    try:
        until(lambda: count(database) == 2, seconds=60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    library = open_with(model)
    assert found(library, id, "守塔人") == ["fog.txt"], "words decide alone until all have vectors"
    until_embedded(database)
    assert found(library, id)[0] == "fog.txt"
