"""The pairs of characters that rule out texts: right for every text and word, and in step with the texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, text, update

from core.answer.message import Message
from core.base.chinese.script import equivalent_characters
from core.base.settings import RetentionSettings
from core.store import ConversationStore, Database, Upkeep, open_snapshot
from core.store.backends import SqliteFile
from core.store.dump import replace_rows
from core.store.ids import digest
from core.store.migrations import MIGRATIONS
from core.store.tables import messages
from core.store.text_pairs import MOST_BYTES, may_contain, pairs_of
from support.base import loaded

pytestmark = pytest.mark.xdist_group("postgres")

ME, ANSWER = "me", "劳动者可以解除劳动合同，用人单位应当支付经济补偿。"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    database = Database.from_settings(loaded(DATABASE_URL=url).values)
    yield database
    database.close()


def talk(database: Database) -> tuple[ConversationStore, str]:
    store = ConversationStore(database)
    id = store.create(visitor_id=ME)
    store.save(id, Message("user", "问", id="q"), visitor_id=ME)
    store.save(id, Message("assistant", ANSWER, id="a"), visitor_id=ME)
    return store, id


def found(store: ConversationStore, words: str) -> int:
    return len(store.list_conversations(ME, words=words))


def stored(database: Database, id: str = "a") -> Any:
    with database.read() as connection:
        return connection.execute(select(messages.c.pairs).where(messages.c.id == id)).scalar_one()


@given(st.text(), st.text(min_size=1, max_size=9), st.text(), st.randoms())
def test_what_contains_a_word_in_any_spelling_is_never_ruled_out(
    before: str, word: str, after: str, chance: Any
) -> None:
    spelled = "".join(chance.choice(equivalent_characters(character)) for character in word)
    assert may_contain(pairs_of(before + spelled + after), word)


def test_most_others_are_ruled_out_and_without_pairs_nothing_is() -> None:
    manual = Path(__file__).parents[2] / "docs" / "manual"
    filled = [pairs_of(path.read_text("utf-8")[:1500]) for path in manual.glob("*.md")]
    for word in ("量子", "髓", "quantum", "固态电池"):
        assert sum(may_contain(pairs, word) for pairs in filled) < len(filled) / 6, word
    assert may_contain(None, "量子")
    assert may_contain(b"", "量子")
    assert not may_contain(pairs_of(""), "量子")
    assert len(pairs_of("".join(map(chr, range(0x4E00, 0x9FFF))) * 3)) <= MOST_BYTES


def test_pairs_follow_the_text_whoever_changes_it(database: Database) -> None:
    store, id = talk(database)
    assert stored(database) == pairs_of(ANSWER)
    store.save(id, Message("assistant", "改写之后", id="a"), visitor_id=ME)
    assert (found(store, "解除"), found(store, "改写")) == (0, 1)
    with database.write() as connection:  # as an older program does
        connection.execute(update(messages).where(messages.c.id == "a").values(text="早先写下"))
    assert stored(database) is None
    assert (found(store, "改写"), found(store, "写下")) == (0, 1)
    store.save(id, Message("assistant", "写到一半", id="b"), visitor_id=ME, finished=False)
    assert stored(database, "b") is None
    assert found(store, "一半") == 1
    store.save(id, Message("assistant", "写到最后", id="b"), visitor_id=ME)
    assert stored(database, "b") == pairs_of("写到最后")
    assert (found(store, "一半"), found(store, "最后")) == (0, 1)


def test_the_upkeep_adds_what_is_missing(database: Database) -> None:
    store, id = talk(database)
    store.save(id, Message("assistant", "写到一半", id="b"), visitor_id=ME, finished=False)
    with database.write() as connection:
        connection.execute(update(messages).values(pairs=None))
    Upkeep(database, RetentionSettings()).run_if_due()
    assert stored(database) == pairs_of(ANSWER)
    assert stored(database, "b") is None, "it goes on growing"
    assert found(store, "经济补偿") == 1


def test_nothing_of_what_was_removed_stays_and_a_copy_has_its_own(database: Database) -> None:
    store, id = talk(database)
    copy = store.copy(id, visitor_id=ME)
    assert found(store, "经济补偿") == 2
    store.truncate_from(id, "a", visitor_id=ME)
    assert found(store, "经济补偿") == 1
    store.delete(copy, visitor_id=ME)
    assert found(store, "经济补偿") == 0
    store.restore(copy, visitor_id=ME)
    assert found(store, "经济补偿") == 1
    with database.write() as connection:
        connection.execute(text("DELETE FROM conversations"))
        assert connection.execute(text("SELECT count(*) FROM messages")).scalar_one() == 0
        assert connection.execute(text("SELECT count(*) FROM visits")).scalar_one() == 0


def test_a_backup_has_no_pairs_and_what_is_restored_has(database: Database, tmp_path: Path) -> None:
    talk(database)
    with open_snapshot(database) as rows:
        assert all("pairs" not in row for row in rows["messages"])
    target = Database(SqliteFile(tmp_path / "restored.sqlite3"))
    replace_rows(target, database)
    assert stored(target) == pairs_of(ANSWER)
    assert found(ConversationStore(target), "经济补偿") == 1
    target.close()


def test_a_database_of_version_13_is_listed_and_searched_as_before(database: Database) -> None:
    backend = database._backend
    old = Database(backend, migrations=MIGRATIONS[:13])
    owner = "https://id.example li"
    with old.write() as connection:
        for number, of_account in enumerate((False, True, False, False)):
            row = {"id": f"{number:024}", "owner": digest(owner) if of_account else None, "at": float(number)}
            connection.execute(
                text("INSERT INTO conversations VALUES (:id, :owner, 'title', 'chat', 0, :at, NULL, NULL)"), row
            )
            seen = {"visitor": digest(owner if of_account else ME), "id": row["id"]}
            connection.execute(text("INSERT INTO visits VALUES (:visitor, :id)"), seen)
            said = {"id": row["id"], "text": f"{ANSWER}{number}"}
            connection.execute(text("INSERT INTO messages VALUES (:id, 1, 'q', 'user', :text, '{}', TRUE, 0)"), said)
    old.close()
    store = ConversationStore(database)
    mine = [f"{number:024}" for number in (3, 2, 0)]
    assert [entry.id for entry in store.list_conversations(ME)] == mine
    assert [entry.id for entry in store.list_conversations(ME, words="经济补偿")] == mine
    assert [entry.id for entry in store.list_conversations(owner, words="补偿")] == [f"{1:024}"]
    assert [message.text for message in store.load(mine[0], visitor_id=ME).messages] == [f"{ANSWER}3"]
    Upkeep(database, RetentionSettings()).run_if_due()
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM messages WHERE pairs IS NULL")).scalar_one() == 0
        assert connection.execute(text("SELECT count(*) FROM visits")).scalar_one() == 3, "an account's never counted"
    store.save(mine[2], Message("user", "又问"), visitor_id=ME)
    assert [entry.id for entry in store.list_conversations(ME, limit=1)] == [mine[2]]
