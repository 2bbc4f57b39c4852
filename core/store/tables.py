"""The tables as the newest migration leaves them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, MetaData, Table, Text

metadata = MetaData()

conversations = Table(
    "conversations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text),
    Column("title", Text),
    Column("mode", Text),
    Column("created", Double),
    Column("updated", Double),
    Column("deleted", Double),
    Column("share", Text),
)
messages = Table(
    "messages",
    metadata,
    Column("conversation_id", Text, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("id", Text),
    Column("role", Text),
    Column("text", Text),
    Column("payload", Text),
    Column("finished", Boolean),
    Column("created", Double),
)
visits = Table(
    "visits", metadata, Column("visitor", Text, primary_key=True), Column("conversation_id", Text, primary_key=True)
)
read_pages = Table(
    "read_pages",
    metadata,
    Column("conversation_id", Text, primary_key=True),
    Column("message_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("address", Text),
    Column("title", Text),
    Column("fetched", Double),
    Column("hash", Text),
    Column("text", Text),
)
preferences = Table("preferences", metadata, Column("visitor", Text, primary_key=True), Column("document", Text))

search_records = Table(
    "search_records",
    metadata,
    Column("at", Double),
    Column("type", Text),
    Column("engine", Text),
    Column("outcome", Text),
    Column("kind", Text),
    Column("cache", Text),
    Column("cache_age", Double),
    Column("seconds", Double),
    Column("query", Text),
)
attempt_records = Table(
    "attempt_records",
    metadata,
    Column("at", Double),
    Column("engine", Text),
    Column("outcome", Text),
    Column("kind", Text),
    Column("place", Integer),
    Column("seconds", Double),
)
answer_records = Table(
    "answer_records",
    metadata,
    Column("at", Double),
    Column("mode", Text),
    Column("model", Text),
    Column("ending", Text),
    Column("kind", Text),
    Column("seconds", Double),
    Column("input", BigInteger),
    Column("output", BigInteger),
    Column("estimated", Boolean),
    Column("iterations", Integer),
    Column("tool_calls", Integer),
)
page_settings = Table(
    "page_settings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version", BigInteger),
    Column("document", Text),
)
