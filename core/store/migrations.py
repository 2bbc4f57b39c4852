"""The tables, as numbered steps from nothing to the newest form.

The SQL is what SQLite and PostgreSQL both understand, or one statement for each of them. A step that has been published
never changes; a new one is added below it. Alembic would bring a second configuration, a folder of scripts and a command to
run, for what the loop in `Database` does.
"""

from __future__ import annotations

from collections.abc import Mapping

Migration = tuple[str | Mapping[str, str], ...]
"""Statements; those that differ, by the name of SQLAlchemy's dialect. What is not named needs none."""

VERSION_TABLE = "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied DOUBLE PRECISION NOT NULL)"

_KEEP_VISITS_IN_STEP: Migration = (
    {
        "sqlite": """CREATE TRIGGER visits_begin AFTER INSERT ON visits BEGIN
            UPDATE visits SET updated = (SELECT updated FROM conversations WHERE id = new.conversation_id)
            WHERE visitor = new.visitor AND conversation_id = new.conversation_id;
        END""",
        "postgresql": """CREATE FUNCTION begin_visit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            SELECT updated INTO NEW.updated FROM conversations WHERE id = NEW.conversation_id;
            RETURN NEW;
        END $$""",
    },
    {
        "sqlite": """CREATE TRIGGER visits_go_on AFTER UPDATE OF updated ON conversations BEGIN
            UPDATE visits SET updated = new.updated WHERE conversation_id = new.id;
        END""",
        "postgresql": """CREATE FUNCTION go_on_with_visits() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            UPDATE visits SET updated = NEW.updated WHERE conversation_id = NEW.id;
            RETURN NULL;
        END $$""",
    },
    {
        "postgresql": """CREATE TRIGGER visits_begin BEFORE INSERT ON visits
            FOR EACH ROW EXECUTE FUNCTION begin_visit()""",
    },
    {
        "postgresql": """CREATE TRIGGER visits_go_on AFTER UPDATE OF updated ON conversations
            FOR EACH ROW EXECUTE FUNCTION go_on_with_visits()""",
    },
)
_FORGET_PAIRS_OF_OTHER_TEXTS: Migration = (
    {
        "sqlite": """CREATE TRIGGER messages_forget_pairs AFTER UPDATE OF text ON messages
            WHEN new.text IS NOT old.text AND new.pairs = old.pairs BEGIN
            UPDATE messages SET pairs = NULL WHERE conversation_id = new.conversation_id AND position = new.position;
        END""",
        "postgresql": """CREATE FUNCTION forget_pairs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            NEW.pairs = NULL;
            RETURN NEW;
        END $$""",
    },
    {
        "postgresql": """CREATE TRIGGER messages_forget_pairs BEFORE UPDATE OF text ON messages FOR EACH ROW
            WHEN (NEW.text IS DISTINCT FROM OLD.text AND NEW.pairs = OLD.pairs) EXECUTE FUNCTION forget_pairs()"""
    },
)

MIGRATIONS: tuple[Migration, ...] = (
    # 1: conversations. Times are seconds since 1970; `owner` is a digest; `payload` is what core.answer.stored_message writes.
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
    # 4: figures about the running installation. One row per search and per answer, and sums of them per minute, hour
    # and day, which the dashboard reads: `labels` and `attempts` are JSON, `bucket` is a step of a histogram.
    (
        """CREATE TABLE search_records (
            at DOUBLE PRECISION NOT NULL,
            type TEXT NOT NULL,
            engine TEXT NOT NULL,
            outcome TEXT NOT NULL,
            kind TEXT NOT NULL,
            cache TEXT NOT NULL,
            cache_age DOUBLE PRECISION,
            seconds DOUBLE PRECISION NOT NULL,
            attempts TEXT NOT NULL,
            query TEXT
        )""",
        "CREATE INDEX search_records_at ON search_records (at)",
        """CREATE TABLE answer_records (
            at DOUBLE PRECISION NOT NULL,
            mode TEXT NOT NULL,
            model TEXT NOT NULL,
            ending TEXT NOT NULL,
            kind TEXT NOT NULL,
            seconds DOUBLE PRECISION NOT NULL,
            input BIGINT NOT NULL,
            output BIGINT NOT NULL,
            estimated BOOLEAN NOT NULL,
            iterations INTEGER NOT NULL,
            tool_calls INTEGER NOT NULL
        )""",
        "CREATE INDEX answer_records_at ON answer_records (at)",
        """CREATE TABLE metric_sums (
            grain TEXT NOT NULL,
            start BIGINT NOT NULL,
            series TEXT NOT NULL,
            labels TEXT NOT NULL,
            bucket INTEGER NOT NULL,
            count BIGINT NOT NULL,
            amount DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (grain, start, series, labels, bucket)
        )""",
    ),
    # 5: what a visitor has chosen in the sidebar. `visitor` is a digest; `document` is what core.store.preferences writes.
    ("CREATE TABLE preferences (visitor TEXT PRIMARY KEY, document TEXT NOT NULL)",),
    # 6: what was set from the page, where several app servers share this database. One row; `document` is encrypted.
    ("CREATE TABLE page_settings (id INTEGER PRIMARY KEY, version BIGINT NOT NULL, document TEXT NOT NULL)",),
    # 7: what pages said when they were read for an answer. `number` is that of the source; `text` is compressed, and in
    # base64, because the two databases have different names for bytes; `hash` is that of the text itself.
    (
        """CREATE TABLE read_pages (
            conversation_id TEXT NOT NULL,
            message_id TEXT NOT NULL,
            number INTEGER NOT NULL,
            address TEXT NOT NULL,
            title TEXT NOT NULL,
            fetched DOUBLE PRECISION NOT NULL,
            hash TEXT NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (conversation_id, message_id, number),
            FOREIGN KEY (conversation_id, message_id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
        )""",
    ),
    # 8: `deleted` is when, of what can still be brought back; `share` opens a conversation for reading. `visits` says from now
    # on in whose list a conversation is, and who may change it: who began or copied it, and until now who had opened it.
    (
        "ALTER TABLE conversations ADD COLUMN deleted DOUBLE PRECISION",
        "ALTER TABLE conversations ADD COLUMN share TEXT",
        "CREATE INDEX conversations_deleted ON conversations (deleted)",
        "CREATE UNIQUE INDEX conversations_share ON conversations (share)",
    ),
    # 9: the database groups the records itself, so the sums go, and what the engines did for a search has rows of its own.
    # `place` is how many engines were asked before.
    (
        """CREATE TABLE attempt_records (
            at DOUBLE PRECISION NOT NULL,
            engine TEXT NOT NULL,
            outcome TEXT NOT NULL,
            kind TEXT NOT NULL,
            place INTEGER NOT NULL,
            seconds DOUBLE PRECISION NOT NULL
        )""",
        {
            "sqlite": """INSERT INTO attempt_records
                SELECT at, json_extract(value, '$.engine'), json_extract(value, '$.outcome'), json_extract(value, '$.kind'),
                    key, json_extract(value, '$.seconds')
                FROM search_records, json_each(attempts)""",
            "postgresql": """INSERT INTO attempt_records
                SELECT at, value->>'engine', value->>'outcome', value->>'kind', number - 1,
                    CAST(value->>'seconds' AS DOUBLE PRECISION)
                FROM search_records, json_array_elements(CAST(attempts AS JSON)) WITH ORDINALITY AS each (value, number)""",
        },
        "CREATE INDEX attempt_records_at ON attempt_records (at)",
        "ALTER TABLE search_records DROP COLUMN attempts",
        "DROP TABLE metric_sums",
    ),
    # 10: few conversations are deleted. An index of all of them was taken for that of a reader's own.
    (
        "DROP INDEX conversations_deleted",
        "CREATE INDEX conversations_deleted ON conversations (deleted) WHERE deleted IS NOT NULL",
    ),
    # 11: `payload` may be compressed, as `text` of read_pages is; the index has those that are not yet. `used` is when choices
    # were last looked at, and `upkeep` when a process last deleted what has had its time.
    (
        "CREATE INDEX messages_uncompressed ON messages (conversation_id, position) WHERE substr(payload, 1, 1) = '{'",
        "ALTER TABLE preferences ADD COLUMN used DOUBLE PRECISION NOT NULL DEFAULT 0",
        {
            "sqlite": "UPDATE preferences SET used = unixepoch()",
            "postgresql": "UPDATE preferences SET used = EXTRACT(EPOCH FROM now())",
        },
        "CREATE TABLE upkeep (id INTEGER PRIMARY KEY, at DOUBLE PRECISION NOT NULL)",
        "INSERT INTO upkeep (id, at) VALUES (1, 0)",
    ),
    # 12: `text` of a message may be compressed bytes in SQLite. Nothing is rewritten; older programs must not read it.
    (),
    # 13: `cut` says that a page was longer than its text. In `payload`, checks keep places in the texts of `read_pages` instead
    # of words; older programs must not read them.
    ("ALTER TABLE read_pages ADD COLUMN cut BOOLEAN NOT NULL DEFAULT FALSE",),
    # 14: a browser's list has an index in its order: `updated` is that of the conversation, kept in step by the database itself,
    # also while an older program writes. Visits of an account's conversations never counted. `pairs` of a message is what
    # core.store.text_pairs makes of its text. Whoever changes the text without it removes it, and the upkeep adds it again. SQLite
    # reads it in the index alone.
    (
        "DELETE FROM visits WHERE conversation_id IN (SELECT id FROM conversations WHERE owner IS NOT NULL)",
        "ALTER TABLE visits ADD COLUMN updated DOUBLE PRECISION NOT NULL DEFAULT 0",
        "UPDATE visits SET updated = (SELECT updated FROM conversations WHERE id = conversation_id)",
        "CREATE INDEX visits_recent ON visits (visitor, updated DESC, conversation_id)",
        *_KEEP_VISITS_IN_STEP,
        {
            "sqlite": "ALTER TABLE messages ADD COLUMN pairs BLOB",
            "postgresql": "ALTER TABLE messages ADD COLUMN pairs BYTEA",
        },
        {
            "sqlite": "CREATE INDEX messages_pairs ON messages (conversation_id, pairs)",
            "postgresql": "ALTER TABLE messages ALTER COLUMN pairs SET STORAGE MAIN",  # beside the id, the text may go elsewhere
        },
        *_FORGET_PAIRS_OF_OTHER_TEXTS,
        "CREATE INDEX messages_without_pairs ON messages (conversation_id, position) WHERE pairs IS NULL AND finished",
    ),
    # 15: `sections` of a text are its pages, sheets and headings, as core.reading.section_codec writes them. The bytes of an
    # attached file are kept where its pages can be shown as pictures; `body` is in base64, like `text`.
    (
        "ALTER TABLE read_pages ADD COLUMN sections TEXT NOT NULL DEFAULT ''",
        """CREATE TABLE attached_files (
            conversation_id TEXT NOT NULL,
            message_id TEXT NOT NULL,
            number INTEGER NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (conversation_id, message_id, number),
            FOREIGN KEY (conversation_id, message_id, number)
                REFERENCES read_pages (conversation_id, message_id, number) ON DELETE CASCADE
        )""",
    ),
    # 16: `collections` of a conversation are those of the document library that its reader has chosen: JSON, pairs of id and name.
    ("ALTER TABLE conversations ADD COLUMN collections TEXT NOT NULL DEFAULT ''",),
    # 17: the document library. `owner` is a digest. `modified` is an ISO day, `claim` names who reads a file and until when,
    # `traits` is what core.documents.versions writes. A text is stored in pieces: `start` is the position of a piece, `sections`
    # are its own, `opening` is the section that has begun before it. What is to be removed from the index and the files is noted
    # until that is done; without a document it is the whole collection.
    (
        """CREATE TABLE collections (
            id TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            name TEXT NOT NULL,
            share TEXT UNIQUE,
            created DOUBLE PRECISION NOT NULL,
            updated DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX collections_owner ON collections (owner)",
        """CREATE TABLE documents (
            id TEXT PRIMARY KEY,
            collection_id TEXT NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            hash TEXT NOT NULL,
            size BIGINT NOT NULL,
            state TEXT NOT NULL,
            created DOUBLE PRECISION NOT NULL,
            kind TEXT NOT NULL DEFAULT '',
            title TEXT NOT NULL DEFAULT '',
            pages INTEGER NOT NULL DEFAULT 0,
            pages_done INTEGER NOT NULL DEFAULT 0,
            characters BIGINT NOT NULL DEFAULT 0,
            reason TEXT NOT NULL DEFAULT '',
            modified TEXT,
            is_outdated BOOLEAN NOT NULL DEFAULT FALSE,
            traits TEXT NOT NULL DEFAULT '',
            claim TEXT NOT NULL DEFAULT '',
            claimed_until DOUBLE PRECISION NOT NULL DEFAULT 0,
            attempts INTEGER NOT NULL DEFAULT 0,
            UNIQUE (collection_id, name)
        )""",
        "CREATE INDEX documents_unfinished ON documents (created) WHERE state IN ('waiting', 'reading', 'recognizing')",
        """CREATE TABLE document_texts (
            document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
            start INTEGER NOT NULL,
            text TEXT NOT NULL,
            sections TEXT NOT NULL DEFAULT '',
            opening TEXT NOT NULL DEFAULT '',
            PRIMARY KEY (document_id, start)
        )""",
        """CREATE TABLE document_removals (
            collection_id TEXT NOT NULL,
            document_id TEXT NOT NULL,
            PRIMARY KEY (collection_id, document_id)
        )""",
    ),
    # 18: with PostgreSQL, what others keep in folders of one server. The keys of passages are what core.documents.postgres_index makes
    # of their words; they stand outside the row, so that a search reads few pages. Chunks are parts of files, by the hash of the file.
    (
        {
            "postgresql": """CREATE TABLE indexed_documents (
                number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                collection_id TEXT NOT NULL,
                document_id TEXT NOT NULL,
                passages INTEGER NOT NULL,
                UNIQUE (collection_id, document_id)
            )"""
        },
        {
            "postgresql": """CREATE TABLE indexed_passages (
                id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                document INTEGER NOT NULL,
                first INTEGER NOT NULL,
                last INTEGER NOT NULL,
                length INTEGER NOT NULL,
                keys BIGINT[] NOT NULL,
                UNIQUE (document, first)
            )"""
        },
        {"postgresql": "ALTER TABLE indexed_passages ALTER COLUMN keys SET STORAGE EXTERNAL"},
        {
            "postgresql": "CREATE INDEX indexed_passages_keys ON indexed_passages USING gin (keys) WITH (fastupdate = off)"
        },
        {
            "postgresql": """CREATE TABLE document_files (
                document_id TEXT NOT NULL,
                number INTEGER NOT NULL,
                body BYTEA NOT NULL,
                PRIMARY KEY (document_id, number)
            )"""
        },
        {"postgresql": "ALTER TABLE document_files ALTER COLUMN body SET STORAGE EXTERNAL"},
        {"postgresql": "CREATE TABLE shared_files (name TEXT PRIMARY KEY, hash TEXT NOT NULL)"},
        {
            "postgresql": """CREATE TABLE shared_chunks (
                hash TEXT NOT NULL,
                number INTEGER NOT NULL,
                body BYTEA NOT NULL,
                PRIMARY KEY (hash, number)
            )"""
        },
        {"postgresql": "ALTER TABLE shared_chunks ALTER COLUMN body SET STORAGE EXTERNAL"},
    ),
    # 19: `folders_by` is the process whose turn it is to import the watched folders, until `folders_until`.
    (
        "ALTER TABLE upkeep ADD COLUMN folders_by TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE upkeep ADD COLUMN folders_until DOUBLE PRECISION NOT NULL DEFAULT 0",
    ),
    # 20: the texts of documents that are kept with answers are found by the id of the document, to be deleted with it.
    ("CREATE INDEX read_pages_documents ON read_pages (address) WHERE substr(address, 1, 9) = 'document:'",),
    # 21: vectors of an embedding model (`model` is its fingerprint) for the passages of a piece of text: `spans` are the positions of
    # the passages, pairs of 32-bit numbers, and `vectors` their signed bytes. They go with the text. `mark` is a number by chance: by the
    # sum of these, others notice a change.
    (
        *(
            {
                name: f"""CREATE TABLE document_vectors (
                    document_id TEXT NOT NULL,
                    start INTEGER NOT NULL,
                    model TEXT NOT NULL,
                    mark INTEGER NOT NULL,
                    spans {bytes_type} NOT NULL,
                    vectors {bytes_type} NOT NULL,
                    PRIMARY KEY (document_id, start),
                    FOREIGN KEY (document_id, start) REFERENCES document_texts (document_id, start) ON DELETE CASCADE
                )"""
            }
            for name, bytes_type in (("sqlite", "BLOB"), ("postgresql", "BYTEA"))
        ),
        {"postgresql": "ALTER TABLE document_vectors ALTER COLUMN vectors SET STORAGE EXTERNAL"},
    ),
    # 22: what other programs call the services with. `hash` is that of the token itself, which nobody keeps; `owner` is a digest, as
    # of conversations; `scopes` are words with spaces between. `at` of a use is the start of its hour; an empty `token_id` is a program
    # on this machine. An answer belongs to the token that asked.
    (
        """CREATE TABLE tokens (
            id TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            name TEXT NOT NULL,
            hash TEXT NOT NULL UNIQUE,
            scopes TEXT NOT NULL,
            created DOUBLE PRECISION NOT NULL,
            expires DOUBLE PRECISION,
            per_minute INTEGER,
            last_used DOUBLE PRECISION
        )""",
        """CREATE TABLE token_uses (
            token_id TEXT NOT NULL,
            at DOUBLE PRECISION NOT NULL,
            outcome TEXT NOT NULL,
            times BIGINT NOT NULL,
            PRIMARY KEY (token_id, at, outcome)
        )""",
        "CREATE INDEX token_uses_at ON token_uses (at)",
        "ALTER TABLE answer_records ADD COLUMN token_id TEXT NOT NULL DEFAULT ''",
    ),
)
