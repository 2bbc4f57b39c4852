"""The tables as the newest migration leaves them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)

from core.base.compression import plain_text, shortest_form

metadata = MetaData()


class CompressedText(TypeDecorator[Any]):
    """Text that SQLite stores as compressed bytes where they are shorter. PostgreSQL compresses long text by itself."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return shortest_form(value) if dialect.name == "sqlite" and isinstance(value, str) else value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return plain_text(value)


def _columns(kind: Any, names: str, *, primary_key: bool = False) -> list[Column[Any]]:
    return [Column(name, kind, primary_key=primary_key) for name in names.split()]


conversations = Table(
    "conversations",
    metadata,
    Column("id", Text, primary_key=True),
    *_columns(Text, "owner title mode share collections"),
    *_columns(Double, "created updated deleted"),
)
messages = Table(
    "messages",
    metadata,
    Column("conversation_id", Text, primary_key=True),
    Column("position", Integer, primary_key=True),
    *_columns(Text, "id role payload"),
    Column("text", CompressedText),
    Column("finished", Boolean),
    Column("created", Double),
    Column("pairs", LargeBinary),
)
visits = Table(
    "visits", metadata, *_columns(Text, "visitor conversation_id", primary_key=True), Column("updated", Double)
)
read_pages = Table(
    "read_pages",
    metadata,
    *_columns(Text, "conversation_id message_id", primary_key=True),
    Column("number", Integer, primary_key=True),
    *_columns(Text, "address title hash text sections"),
    Column("fetched", Double),
    Column("cut", Boolean),
)
attached_files = Table(
    "attached_files",
    metadata,
    *_columns(Text, "conversation_id message_id", primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("body", Text),
)
collections = Table(
    "collections",
    metadata,
    Column("id", Text, primary_key=True),
    *_columns(Text, "owner name share"),
    *_columns(Double, "created updated"),
)
documents = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    *_columns(Text, "collection_id name hash state kind title reason modified claim traits"),
    *_columns(BigInteger, "size characters"),
    *_columns(Integer, "pages pages_done attempts"),
    *_columns(Double, "created claimed_until"),
    Column("is_outdated", Boolean),
)
document_texts = Table(
    "document_texts",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("start", Integer, primary_key=True),
    Column("text", CompressedText),
    *_columns(Text, "sections opening"),
)
document_vectors = Table(
    "document_vectors",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("start", Integer, primary_key=True),
    Column("model", Text),
    Column("mark", Integer),
    *_columns(LargeBinary, "spans vectors"),
)
document_removals = Table("document_removals", metadata, *_columns(Text, "collection_id document_id", primary_key=True))
preferences = Table(
    "preferences", metadata, Column("visitor", Text, primary_key=True), Column("document", Text), Column("used", Double)
)
search_records = Table(
    "search_records",
    metadata,
    *_columns(Double, "at cache_age seconds"),
    *_columns(Text, "type engine outcome kind cache query"),
)
attempt_records = Table(
    "attempt_records",
    metadata,
    *_columns(Double, "at seconds"),
    *_columns(Text, "engine outcome kind"),
    Column("place", Integer),
)
answer_records = Table(
    "answer_records",
    metadata,
    *_columns(Double, "at seconds"),
    *_columns(Text, "mode model ending kind token_id"),
    *_columns(BigInteger, "input output"),
    Column("estimated", Boolean),
    *_columns(Integer, "iterations tool_calls"),
)
tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    *_columns(Text, "owner name hash scopes"),
    *_columns(Double, "created expires last_used"),
    Column("per_minute", Integer),
)
token_uses = Table(
    "token_uses",
    metadata,
    Column("token_id", Text, primary_key=True),
    Column("at", Double, primary_key=True),
    Column("outcome", Text, primary_key=True),
    Column("times", BigInteger),
)
page_settings = Table(
    "page_settings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version", BigInteger),
    Column("document", Text),
)
upkeep = Table(
    "upkeep",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Double),
    Column("folders_by", Text),
    Column("folders_until", Double),
)
