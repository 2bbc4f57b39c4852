"""The index of passages in PostgreSQL, where every app server finds it.

A passage is one row with the keys of its words: terms as `core.base.text.terms` cuts them, pairs of characters in Chinese. A key is a
number made of the collection, the term, and whether the passage has it often; single Chinese characters have keys of their own. A GIN index finds the passages with a key, and their
scores are sums over the keys that they have, close to BM25: no row is read for its rank, as the rank of a `tsvector` would need.

Each collection has keys of its own, so that a search costs what the collection's passages cost, whoever else has some; and the index,
from which PostgreSQL never deletes a key, holds no word that could be read.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import text

from core.base.chinese.sentences import key_phrases, key_terms
from core.base.text import HAN, terms
from core.documents.storage import FoundPassage, IndexedPassage
from core.store import Database

_LEVELS = ((1, 1.0), (3, 0.6))
"""How often a passage has a term, and what that adds to its score. BM25 with k1 = 1.2 gives 1 for once and 1.6 for three times."""
_CHARACTER = (0, 0.5)
"""The same for a single Chinese character, however often it is there: 退租 and 不租 have one in common."""
_MOST_TERMS, _MOST_CHARACTERS = 40, 12
"""Terms of a query that are looked for: of a long question, its beginning. With more characters than these, its words say enough, and
single ones, which most passages have, are only slow to look for."""
_COMMON, _MOST_HITS = 8_000, 30_000
"""Passages with a key from which on it is a common one, and passages of all other keys together that are counted, the rarest keys first.
Common keys count where a passage has all of them."""
_COMMON_CHARACTER, _MOST_PASSAGES = 3_000, 0.3
"""Passages, and share of the passages, from which on a character says so little that it does not count."""
_CHARACTERS_COUNT_BELOW = 30_000
"""Passages of the collections from which on no character is looked for: nearly all of them are common ones there."""
_SMALL_ROW, _LARGE_ROW = 64, 256
"""Keys that may stand in the row, and keys with which PostgreSQL stores them outside: from 2 kB on. What lies between is filled up with
a key that is there already, which the index does not notice: a search reads the rows of thousands of passages, and never their keys."""
_ROWS_AT_ONCE = 500
_DELETED_AT_ONCE = 10_000

_HAN = re.compile(f"[{HAN}]")


class PostgresIndex:
    """A PassageIndex in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, collection_id: str, document_id: str, passages: Sequence[IndexedPassage]) -> None:
        rows = [_row(collection_id, passage) for passage in passages]
        document = {"collection": collection_id, "document": document_id, "passages": len(rows)}
        with self._database.write() as connection:
            number = connection.execute(_ADD_DOCUMENT, document).scalar_one()
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                batch = rows[start : start + _ROWS_AT_ONCE]
                connection.execute(_ADD_PASSAGES, [{**row, "number": number} for row in batch])

    def remove(self, collection_id: str, document_ids: Collection[str]) -> None:
        self._remove(_OF_DOCUMENTS, {"collection": collection_id, "documents": list(document_ids)})

    def remove_collection(self, collection_id: str) -> None:
        self._remove(_OF_COLLECTION, {"collection": collection_id})

    def search(self, query: str, collection_ids: Collection[str], limit: int) -> list[FoundPassage]:
        if not (wanted := list(_wanted_keys(query, collection_ids))):
            return []
        with self._database.read() as connection:
            connection.execute(_PREPARE)
            rows = connection.execute(_SEARCH, _search_parameters(wanted, limit))
            return [FoundPassage(row.document_id, row.first, row.last, row.score) for row in rows]

    def lacks(self, collection_id: str) -> bool:
        """Return False: the index is lost with the database only."""
        return False

    def rebuild(self, collection_id: str, documents: Iterable[tuple[str, Sequence[IndexedPassage]]]) -> None:
        """Do nothing: no collection lacks an index."""

    def close_idle(self) -> None:
        """Do nothing: idle collections hold no memory here."""

    def close(self) -> None:
        """Do nothing: the database belongs to the App."""

    def _remove(self, documents: str, parameters: Mapping[str, Any]) -> None:
        """Remove in steps that each are done long before the longest time of a statement."""
        deleted = _DELETED_AT_ONCE
        while deleted == _DELETED_AT_ONCE:
            with self._database.write() as connection:
                some = {**parameters, "limit": _DELETED_AT_ONCE}
                deleted = connection.execute(text(_REMOVE_PASSAGES.format(documents)), some).rowcount
        with self._database.write() as connection:
            connection.execute(text(_REMOVE_DOCUMENTS.format(documents)), parameters)


def _row(collection_id: str, passage: IndexedPassage) -> dict[str, Any]:
    counts = Counter(terms(passage.text))
    keys = [
        _key(collection_id, term, level) for term, count in counts.items() for level, _ in _LEVELS if count >= level
    ]
    keys += [_key(collection_id, character, _CHARACTER[0]) for character in _characters(passage.text)]
    if len(keys) > _SMALL_ROW:
        keys += keys[:1] * (_LARGE_ROW - len(keys))
    return {"first": passage.start, "last": passage.end, "length": counts.total(), "keys": keys}


def _characters(text: str) -> list[str]:
    """Return the Chinese characters, each once."""
    return list(dict.fromkeys(_HAN.findall("".join(terms(text)))))


def _wanted_keys(query: str, collection_ids: Collection[str]) -> Iterator[tuple[str, int, int, float, bool]]:
    """Yield collection, number of the term or character, key, gain, and whether it is a character."""
    found = list(islice(dict.fromkeys(key_terms(query) or terms(query)), _MOST_TERMS))
    characters = _characters("".join(key_phrases(query)))
    levels = [(term, *level, False) for term in found for level in _LEVELS]
    if len(characters) <= _MOST_CHARACTERS:
        levels += [(character, *_CHARACTER, True) for character in characters]
    numbers = {word: number for number, word in enumerate(dict.fromkeys((one[0], one[3]) for one in levels))}
    for term, level, gain, is_character in levels:
        for id in collection_ids:
            yield id, numbers[term, is_character], _key(id, term, level), gain, is_character


def _search_parameters(wanted: Sequence[tuple[str, int, int, float, bool]], limit: int) -> dict[str, Any]:
    names = ("collections", "terms", "keys", "gains", "are_characters")
    arrays = dict(zip(names, map(list, zip(*wanted, strict=True)), strict=True))
    limits = {"common": _COMMON, "most": _MOST_HITS, "common_character": _COMMON_CHARACTER, "share": _MOST_PASSAGES}
    return {**arrays, **limits, "characters_below": _CHARACTERS_COUNT_BELOW, "limit": limit}


def _key(collection_id: str, term: str, level: int) -> int:
    digest = hashlib.blake2b(f"{collection_id}\0{term}\0{level}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


_ADD_DOCUMENT = text(
    "INSERT INTO indexed_documents (collection_id, document_id, passages) VALUES (:collection, :document, :passages)"
    " ON CONFLICT (collection_id, document_id) DO UPDATE SET passages = indexed_documents.passages + :passages RETURNING number"
)
_ADD_PASSAGES = text(
    "INSERT INTO indexed_passages (document, first, last, length, keys) VALUES (:number, :first, :last, :length, :keys)"
    " ON CONFLICT (document, first) DO NOTHING"
)
_OF_COLLECTION = "collection_id = :collection"
_OF_DOCUMENTS = f"{_OF_COLLECTION} AND document_id = ANY(:documents)"
_REMOVE_PASSAGES = """DELETE FROM indexed_passages WHERE id IN (
    SELECT id FROM indexed_passages JOIN indexed_documents ON document = number WHERE {} LIMIT :limit)"""
_REMOVE_DOCUMENTS = "DELETE FROM indexed_documents WHERE {}"
_PREPARE = text("SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)")
"""For this transaction: PostgreSQL would compile a long question, which takes longer than the search, and read a small table from end to
end, as it does not count the keys outside of the rows."""
_SEARCH = text("""
WITH wanted AS (
    SELECT * FROM unnest(CAST(:collections AS text[]), CAST(:terms AS int[]), CAST(:keys AS bigint[]), CAST(:gains AS float8[]),
        CAST(:are_characters AS bool[])) AS w (collection_id, term, key, gain, is_character)
), everything AS MATERIALIZED (
    SELECT sum(passages) AS passages FROM indexed_documents WHERE collection_id IN (SELECT collection_id FROM wanted)
), found AS MATERIALIZED (
    SELECT w.*, f.ids, cardinality(f.ids) AS hits FROM wanted w CROSS JOIN LATERAL (
        SELECT array_agg(p.id) AS ids FROM (SELECT id FROM indexed_passages WHERE keys @> ARRAY[w.key]
            LIMIT CASE WHEN w.is_character THEN :common_character ELSE :common END) p) f
    WHERE f.ids IS NOT NULL AND (NOT w.is_character OR (SELECT passages FROM everything) < :characters_below)
), counted AS (
    SELECT *, sum(hits) FILTER (WHERE gain = 1 OR is_character) OVER (PARTITION BY term) AS frequency,
        sum(hits) OVER (ORDER BY is_character, hits, key) AS hits_so_far
    FROM found
), weighed AS MATERIALIZED (
    SELECT *, gain * ln(1 + (SELECT passages FROM everything) / frequency) AS weight FROM counted
), common AS MATERIALIZED (
    SELECT array_agg(key) AS keys, sum(weight) AS weight FROM weighed WHERE gain = 1 AND hits = :common GROUP BY collection_id
), hits AS (
    SELECT unnest(ids) AS id, weight FROM weighed WHERE hits_so_far <= :most AND CASE WHEN is_character
        THEN hits < :common_character AND frequency <= :share * (SELECT passages FROM everything) ELSE hits < :common END
    UNION ALL
    SELECT p.id, c.weight FROM common c CROSS JOIN LATERAL (SELECT id FROM indexed_passages WHERE keys @> c.keys LIMIT :common) p
), best AS (
    SELECT id, sum(weight) AS weight FROM hits GROUP BY id ORDER BY 2 DESC LIMIT 20 * :limit
)
SELECT d.document_id, p.first, p.last,
    CAST(b.weight * 2.2 / (1.3 + 0.9 * p.length / nullif(avg(p.length) OVER (), 0)) AS float8) AS score
FROM best b JOIN indexed_passages p ON p.id = b.id JOIN indexed_documents d ON d.number = p.document
WHERE d.collection_id IN (SELECT collection_id FROM wanted)
ORDER BY score DESC, p.id LIMIT :limit
""")
