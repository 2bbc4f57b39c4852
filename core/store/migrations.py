"""The tables, as numbered steps from nothing to the newest form.

The SQL is what SQLite and PostgreSQL both understand. A step that has been published never changes; a new one is added
below it. Alembic would bring a second configuration, a folder of scripts and a command to run, for what the loop in
`Database` does; should a step ever need to differ between the two databases, it is time to think again.
"""

from __future__ import annotations

Migration = tuple[str, ...]

VERSION_TABLE = "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied DOUBLE PRECISION NOT NULL)"

MIGRATIONS: tuple[Migration, ...] = (
    # 1: conversations. Times are seconds since 1970; `owner` is a digest; `payload` is what core.archive writes.
    (
        """CREATE TABLE conversations (
            id TEXT PRIMARY KEY,
            owner TEXT,
            title TEXT NOT NULL,
            mode TEXT NOT NULL,
            created DOUBLE PRECISION NOT NULL,
            updated DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX conversations_recent ON conversations (owner, updated)",
        """CREATE TABLE messages (
            conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            id TEXT NOT NULL,
            role TEXT NOT NULL,
            text TEXT NOT NULL,
            payload TEXT NOT NULL,
            finished BOOLEAN NOT NULL,
            created DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (conversation_id, position),
            UNIQUE (conversation_id, id)
        )""",
    ),
    # 2: which browser has seen which conversation, so that it can list them without a login. `visitor` is a digest.
    (
        """CREATE TABLE visits (
            visitor TEXT NOT NULL,
            conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
            PRIMARY KEY (visitor, conversation_id)
        )""",
    ),
    # 3: deleting a conversation deletes its visits, and looks for them by the conversation.
    ("CREATE INDEX visits_conversation ON visits (conversation_id)",),
)
