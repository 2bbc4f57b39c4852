"""The list of conversations and the search in it, for a reader with many in a database of many."""

from __future__ import annotations

import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import insert, text

from bench.rows import Row
from core.answer.message import Message
from core.answer.stored_message import encode_message
from core.store import ConversationStore, Database
from core.store.backends import PostgresServer, SqliteFile
from core.store.conversations import pack
from core.store.ids import digest
from core.store.tables import conversations, messages, visits
from core.store.text_pairs import pairs_of

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.postgres import running_postgres  # noqa: E402

ALL, OWN = 20_000, 5_000
SHOWN = 16
"""What a page asks for: those that it shows, and one more to know whether there are others."""
LIST_MS, SEARCH_MS, SAVE_MS = 1.0, 100.0, 5.0
READERS = {"a browser": "browser", "an account": "account"}
WORDS = (
    "搜",
    "髓",
    "引擎",
    "量子",
    "髓鞘",
    "搜索引擎",
    "联网搜索 超时",
    "固态电池",
    "SearXNG",
    "quantum",
    "离婚冷静期",
    "引 擎 量",
)
"""Frequent ones and ones that nobody has said; single characters, because the list is searched at every key."""
NOTE = f"""{OWN:,} of {ALL:,} conversations belong to a browser and as many to an account; each has a question and an answer of about 1,200
characters, put together from sentences of the manual. Of the rest, four belong to each of other browsers. p95 of the calls of the store, connection and
rows included; searched are {len(WORDS)} inputs, from one character that every conversation has to words that none has. Save: the whole answer,
with what the search needs."""


def sentences() -> list[str]:
    articles = (path.read_text("utf-8") for path in sorted((ROOT / "docs" / "manual").glob("*.md")))
    return [found for article in articles for found in re.findall(r"[^\n。|]{12,}。", article)]


def fill(database: Database) -> None:
    chance, said = random.Random(29), sentences()
    blank = pack(encode_message(Message("user", "")))
    for start in range(0, ALL, 1_000):
        rows: dict[Any, list[dict[str, Any]]] = {conversations: [], visits: [], messages: []}
        for number in range(start, start + 1_000):
            id, who = f"{number:024}", _reader_of(number)
            times = {"created": float(number), "updated": float(number)}
            owner = digest(who) if who == "account" else None
            question = chance.choice(said)[:40]
            rows[conversations].append({"id": id, "owner": owner, "title": question, "mode": "chat", **times})
            if owner is None:
                rows[visits].append({"visitor": digest(who), "conversation_id": id})
            answer = "".join(chance.choices(said, k=25))
            payload = pack(encode_message(Message("assistant", answer)))
            for position, role, words, document in ((1, "user", question, blank), (2, "assistant", answer, payload)):
                one = {"conversation_id": id, "position": position, "id": role, "role": role, "text": words}
                rows[messages].append(
                    {**one, "payload": document, "finished": True, "created": 0.0, "pairs": pairs_of(words)}
                )
        with database.write() as connection:
            for table, batch in rows.items():
                connection.execute(insert(table), batch)
    with database.write() as connection:
        connection.execute(text("ANALYZE"))


def _reader_of(number: int) -> str:
    """Whose conversation this is: those of one reader lie between those of others."""
    return ("browser", "account", f"browser {number // 16}", f"browser {number // 16 + 1}")[number % 4]


def p95(act: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.quantiles(taken, n=20)[18]


def rows_of(database: Database, name: str) -> Iterator[Row]:
    store = ConversationStore(database)
    fill(database)
    for reader, who in READERS.items():
        listing = partial(store.list_conversations, who, limit=SHOWN)
        assert len(listing()) == SHOWN
        yield Row(f"list of conversations of {reader}, {name}, p95", p95(listing, 200), "ms", LIST_MS)
        searches = [partial(store.list_conversations, who, words=words, limit=SHOWN) for words in WORDS]
        worst = max(p95(search, 20) for search in searches)
        yield Row(f"search in conversations of {reader}, {name}, p95 of the slowest words", worst, "ms", SEARCH_MS)
    id = store.create(visitor_id="writer")
    answers = iter([Message("assistant", "".join(random.Random(n).choices(sentences(), k=25))) for n in range(100)])
    saving = p95(lambda: store.save(id, next(answers), visitor_id="writer"), 100)
    yield Row(f"save of an answer, {name}, p95", saving, "ms", SAVE_MS)


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="wenyuan-conversations-") as folder:
        database = Database(SqliteFile(Path(folder) / "wenyuan.sqlite3"))
        yield from rows_of(database, "SQLite")
        database.close()
    with running_postgres() as postgres:
        database = Database(PostgresServer(postgres.new_database()))
        yield from rows_of(database, "PostgreSQL")
        database.close()
