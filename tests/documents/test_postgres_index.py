"""The index of passages in PostgreSQL."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import text

from core.documents import postgres_index
from core.documents.folder_index import FolderIndex
from core.documents.postgres_index import PostgresIndex
from core.documents.storage import IndexedPassage
from core.store import Database
from support.base import loaded
from support.postgres import Postgres

pytestmark = pytest.mark.xdist_group("postgres")

PLACES = ["灯塔", "码头", "仓库", "盐田", "渔港", "船坞", "堤坝", "浮桥", "钟楼", "缆车"]
DUTIES = ["检修", "值班", "登记", "清扫", "巡查", "记账", "维护", "交接", "验收", "封存"]


@pytest.fixture
def database(postgres: Postgres) -> Iterator[Database]:
    made = Database.from_settings(loaded(DATABASE_URL=postgres.new_database()).values)
    yield made
    made.close()


@pytest.fixture
def index(database: Database) -> PostgresIndex:
    return PostgresIndex(database)


def passages(*texts: str) -> list[IndexedPassage]:
    return [IndexedPassage(100 * number, 100 * number + len(one), one) for number, one in enumerate(texts)]


def found(index: PostgresIndex | FolderIndex, query: str, *collections: str, limit: int = 5) -> list[tuple[str, int]]:
    return [(hit.document_id, hit.start) for hit in index.search(query, collections or ("c",), limit)]


def handbook() -> Iterator[tuple[str, list[IndexedPassage]]]:
    """A hundred files of ten passages, which have the same words in other combinations."""
    chance = random.Random(4)
    for number in range(100):
        texts = (
            f"{PLACES[number % 10]}的{duty}由第 {number} 组负责，"
            + "".join(chance.choices("的一是了我不人在他有这个上们来到时大地为子中", k=80))
            for duty in DUTIES
        )
        yield f"d{number}", passages(*texts)


def test_rare_words_count_more_than_common_ones(index: PostgresIndex) -> None:
    index.add("c", "a", passages(*(f"公司的制度第 {number} 条：公司的公司制度" for number in range(40))))
    index.add("c", "b", passages("年假由主管批准"))
    assert found(index, "公司的年假制度")[0] == ("b", 0)


def test_a_word_said_often_counts_more_than_once(index: PostgresIndex) -> None:
    index.add("c", "a", passages("押金退租时退还，见附件一", "押金、押金、还是那押金，见附件一、二"))
    assert found(index, "押金") == [("a", 100), ("a", 0)]


def test_words_are_found_in_any_script_and_width(index: PostgresIndex) -> None:
    index.add("c", "a", passages("房屋租賃合同，ＡＢＣ 公司"))
    assert found(index, "租赁合同") == found(index, "abc") == [("a", 0)]
    assert found(index, "？！") == found(index, "灯塔") == []


def test_only_the_collections_that_are_named_are_searched(index: PostgresIndex) -> None:
    for collection in ("mine", "yours"):
        index.add(collection, f"in-{collection}", passages("押金相当于两个月的租金"))
    assert found(index, "押金", "mine") == [("in-mine", 0)]
    assert sorted(found(index, "押金", "mine", "yours")) == [("in-mine", 0), ("in-yours", 0)]
    assert found(index, "押金", "another") == []


def test_parts_of_a_file_are_added_one_by_one_and_one_that_comes_twice_counts_once(index: PostgresIndex) -> None:
    first, second = passages("第一部分说押金", "第二部分说租金")
    index.add("c", "a", [first])
    index.add("c", "a", [first, second])
    assert found(index, "押金") == [("a", 0)]
    assert found(index, "租金") == [("a", 100)]


def test_what_is_removed_is_gone_and_the_rest_stays(
    index: PostgresIndex, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_index, "_DELETED_AT_ONCE", 3)
    for collection in ("c", "other"):
        for document in ("a", "b"):
            index.add(collection, f"{collection}-{document}", passages(*["押金两个月"] * 7))
    index.remove("c", ["c-a", "other-a"])
    assert {document for document, _ in found(index, "押金", "c", "other", limit=99)} == {"c-b", "other-a", "other-b"}
    index.remove_collection("other")
    assert {document for document, _ in found(index, "押金", "c", "other", limit=99)} == {"c-b"}
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM indexed_passages")).scalar() == 7
        assert connection.execute(text("SELECT count(*) FROM indexed_documents")).scalar() == 1


def test_passages_with_all_common_words_are_found_where_no_word_is_rare(
    index: PostgresIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that half of the passages have are not counted one by one."""
    monkeypatch.setattr(postgres_index, "_COMMON", 20)
    index.add("c", "money", passages(*["押金不退"] * 30))
    index.add("c", "term", passages(*["租期一年"] * 30))
    index.add("c", "both", passages("租期一年，押金不退"))
    assert found(index, "押金 租期") == [("both", 0)]


def test_the_order_is_that_of_the_index_in_a_folder(index: PostgresIndex, tmp_path: Path) -> None:
    in_folder = FolderIndex(tmp_path / "index")
    for document, texts in handbook():
        index.add("c", document, texts)
        in_folder.add("c", document, texts)
    queries = [f"{place}的{duty}由哪一组负责" for place in PLACES for duty in DUTIES]
    shared = [len(set(found(index, query, limit=10)) & set(found(in_folder, query, limit=10))) for query in queries]
    wanted = [
        all(int(document[1:]) % 10 == PLACES.index(query[:2]) for document, _ in found(index, query))
        for query in queries
    ]
    assert all(wanted)
    assert sum(shared) >= 9 * len(queries), "ten passages say it, and they come first in both"


def test_a_search_reads_the_index_of_keys_and_no_table_from_end_to_end(
    index: PostgresIndex, database: Database
) -> None:
    for document, texts in handbook():
        index.add("c", document, texts)
    parameters = postgres_index._search_parameters(list(postgres_index._wanted_keys("灯塔的检修", ["c"])), 5)
    with database.read() as connection:
        connection.execute(postgres_index._PREPARE)
        plan = "\n".join(connection.execute(text(f"EXPLAIN {postgres_index._SEARCH.text}"), parameters).scalars())
    assert "Bitmap Index Scan on indexed_passages_keys" in plan
    assert "Seq Scan on indexed_passages" not in plan


def test_a_search_reads_small_rows_without_their_keys(index: PostgresIndex, database: Database) -> None:
    chance = random.Random(9)
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + 3_000)]
    index.add("c", "a", passages(*("".join(chance.choices(letters, k=100)) for _ in range(500))))
    with database.read() as connection:
        size = connection.execute(text("SELECT pg_relation_size('indexed_passages')")).scalar_one()
    assert size / 500 < 150


def test_several_servers_add_at_once(database: Database) -> None:
    def add(name: str) -> None:
        own = PostgresIndex(database)
        for number in range(10):
            own.add("c", f"{name}{number}", passages(*[f"{name} 写下的押金 {each}" for each in range(20)]))

    threads = [Thread(target=add, args=(name,)) for name in "甲乙丙丁"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found(PostgresIndex(database), "押金", limit=999)) == 800
