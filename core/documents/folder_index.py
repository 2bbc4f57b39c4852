"""The index of passages in a folder: full text by tantivy, for each collection on its own.

    <collection>/index.json   names the shards in use; replaced in one step after each change
    <collection>/<shard>/     a tantivy index of some thousand passages
    <collection>/lock         held by whoever writes

To remove a document, the shards that have it are written anew without it: tantivy would only mark it as deleted and leave
its words on the disk. Small shards keep that cheap. What index.json does not name is a remnant, and goes with the next change.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path

import tantivy
from filelock import FileLock, Timeout

from core.base.chinese.sentences import key_phrases, key_terms
from core.base.text import HAN, terms
from core.documents.errors import DocumentError
from core.documents.folder_files import make_private_folder, write_private_file
from core.documents.storage import FoundPassage, IndexedPassage

MANIFEST = "index.json"
FORMAT = 2
REBUILDING = "资料集的索引不完整，正在重新建立，请稍后再查。"
SHARD_PASSAGES = 8_000
"""Number of passages after which another shard is begun."""
LOCK_SECONDS = 60.0
IDLE_SECONDS = 120.0
MAX_QUERY_TERMS = 100
MOST_PASSAGES = 0.3
"""Share of the passages above which a single character is not looked for."""
FIELDS = {"words": 1.0, "characters": 0.5}
"""Weights of pairs of characters and words, and of single Chinese characters: 退租 and 不租 have one in common."""


_HAN = re.compile(f"[{HAN}]")


def _schema() -> tantivy.Schema:
    """Return the schema. `core.base.text.terms` cuts the terms, so tantivy only splits at blanks."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    for name in FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    builder.add_bytes_field("passage", stored=True, indexed=False)
    return builder.build()


_SCHEMA = _schema()


@dataclass(frozen=True, slots=True)
class _Shard:
    index: tantivy.Index
    searcher: tantivy.Searcher
    commits: int


@dataclass(slots=True)
class _OpenCollection:
    stamp: tuple[int, int]
    shards: dict[str, _Shard]
    used: float


class FolderIndex:
    """A PassageIndex in a folder of this server. Several processes may use it: one writes at a time, all see it at once."""

    def __init__(
        self, folder: Path, *, clock: Callable[[], float] = time.monotonic, shard_passages: int = SHARD_PASSAGES
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._shard_passages = shard_passages
        self._lock = threading.Lock()
        self._open: dict[str, _OpenCollection] = {}

    # ── Changes ───────────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, collection_id: str, document_id: str, passages: Sequence[IndexedPassage]) -> None:
        """Add passages to those of the document. When it returns, they are found."""
        if not passages:
            return
        rows = [_pack(document_id, passage) for passage in passages]
        with self._writing(collection_id) as shards:
            self._add(collection_id, shards, rows)

    def _add(self, collection_id: str, shards: dict[str, int], rows: Sequence[bytes]) -> None:
        last = next(reversed(shards), None)
        if last is None or _count(self._path(collection_id, last)) >= self._shard_passages:
            last = _new_name()
            shards[last] = 0
        _write(self._path(collection_id, last), rows)
        shards[last] += 1

    def remove(self, collection_id: str, document_ids: Collection[str]) -> None:
        """Remove documents for good: their words are gone from the disk."""
        if not self._path(collection_id, MANIFEST).exists():
            return
        gone = set(document_ids)
        with self._writing(collection_id) as shards:
            for name in [name for name in shards if _has_any(self._path(collection_id, name), gone)]:
                kept = [row for row in _rows(self._path(collection_id, name)) if _unpack(row).document_id not in gone]
                del shards[name]
                if kept:
                    new = _new_name()
                    _write(self._path(collection_id, new), kept)
                    shards[new] = 1

    def lacks(self, collection_id: str) -> bool:
        """Return whether there is no index of a collection, or none that this program reads."""
        shards = _read_manifest(self._path(collection_id, MANIFEST))
        return not shards or not all((self._path(collection_id, name) / "meta.json").is_file() for name in shards)

    def rebuild(self, collection_id: str, documents: Iterable[tuple[str, Sequence[IndexedPassage]]]) -> None:
        """Make the index of a collection that lacks one from all its documents: whole or not at all."""
        with self._writing(collection_id) as shards:
            if not self.lacks(collection_id):  # another process was quicker
                return
            shards.clear()
            for document_id, passages in documents:
                self._add(collection_id, shards, [_pack(document_id, passage) for passage in passages])

    def remove_collection(self, collection_id: str) -> None:
        folder = self._path(collection_id)
        try:
            if folder.exists():
                with self._locked(collection_id):
                    self._path(collection_id, MANIFEST).unlink(missing_ok=True)
                    shutil.rmtree(folder, ignore_errors=True)
        except DocumentError:
            if folder.exists():  # else another thread or process has removed it meanwhile
                raise
        with self._lock:
            self._open.pop(collection_id, None)

    @contextmanager
    def _writing(self, collection_id: str) -> Iterator[dict[str, int]]:
        """Hold the lock of a collection, and store which shards it has afterwards: names with the number of their commits."""
        make_private_folder(self._path(collection_id))
        with self._locked(collection_id):
            manifest = self._path(collection_id, MANIFEST)
            shards = _read_manifest(manifest)
            self._remove_remnants(collection_id, shards)
            yield shards
            write_private_file(manifest, json.dumps({"format": FORMAT, "shards": shards}).encode())
            self._remove_remnants(collection_id, shards)

    @contextmanager
    def _locked(self, collection_id: str) -> Iterator[None]:
        try:
            with FileLock(self._path(collection_id, "lock"), timeout=LOCK_SECONDS):
                yield
        except Timeout:
            raise DocumentError("资料集的索引正忙，这次没有改动。", cure="请稍后再试。") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DocumentError(
                f"资料集的索引写不进去（{reason}）。", cure="请管理员检查数据目录的空间和权限。"
            ) from None

    def _remove_remnants(self, collection_id: str, shards: Collection[str]) -> None:
        for path in self._path(collection_id).iterdir():
            if path.is_dir() and path.name not in shards:
                shutil.rmtree(path, ignore_errors=True)

    def _path(self, collection_id: str, name: str = "") -> Path:
        return self._folder / collection_id / name if name else self._folder / collection_id

    # ── Search ────────────────────────────────────────────────────────────────────────────────────────────────────

    def search(self, query: str, collection_ids: Collection[str], limit: int) -> list[FoundPassage]:
        """Return the best passages, the best first. A word counts by its rarity in all these collections together."""
        asked = [(name, term) for name, found in _query_terms(query).items() for term in found[:MAX_QUERY_TERMS]]
        words = Counter(asked)
        searchers = [shard.searcher for id in sorted(set(collection_ids)) for shard in self._shards(id)]
        having = {word: [searcher.doc_freq(*word) for searcher in searchers] for word in words}
        total = sum(searcher.num_docs for searcher in searchers)
        words = Counter(
            {word: count for word, count in words.items() if not _says_little(word, sum(having[word]), total)}
        )
        weights = {word: count * FIELDS[word[0]] * _rarity(sum(having[word]), total) for word, count in words.items()}
        found: list[tuple[float, tantivy.Searcher, tantivy.DocAddress]] = []
        for number, searcher in enumerate(searchers):
            boosts = {
                word: weight / _rarity(having[word][number], searcher.num_docs)
                for word, weight in weights.items()
                if having[word][number]
            }
            found += _search(searcher, boosts, limit)
        best = nlargest(limit, found, key=lambda hit: hit[0])
        return [_found_passage(score, searcher.doc(address)) for score, searcher, address in best]

    def _shards(self, collection_id: str) -> Iterable[_Shard]:
        """Return the shards as they are now on the disk."""
        path = self._path(collection_id, MANIFEST)
        for _ in range(3):  # a shard may be removed between reading its name and opening it
            try:
                stat = path.stat()
            except OSError:
                return ()
            stamp = stat.st_mtime_ns, stat.st_ino
            with self._lock:
                known = self._open.get(collection_id)
                if known and known.stamp == stamp:
                    known.used = self._clock()
                    return tuple(known.shards.values())
            before = known.shards if known else {}
            try:
                shards = {
                    name: _open_shard(self._path(collection_id, name), commits, before.get(name))
                    for name, commits in _read_manifest(path).items()
                }
            except (OSError, ValueError):
                continue
            with self._lock:
                self._open[collection_id] = _OpenCollection(stamp, shards, self._clock())
            return tuple(shards.values())
        with self._locked(collection_id):
            path.unlink(missing_ok=True)  # so that it is made anew from the texts
        raise DocumentError(REBUILDING)

    def close_idle(self) -> None:
        """Release what idle collections hold in memory."""
        before = self._clock() - IDLE_SECONDS
        with self._lock:
            self._open = {id: known for id, known in self._open.items() if known.used > before}

    def close(self) -> None:
        with self._lock:
            self._open.clear()


def _rarity(having: int, total: int) -> float:
    """Return the weight of a word as tantivy's BM25 has it."""
    return (
        math.log(1 + (total - having + 0.5) / (having + 0.5)) if having <= total else math.log(1 + 1 / (having + 0.5))
    )


def _query_terms(query: str) -> dict[str, list[str]]:
    """Return the terms to look for, by their field."""
    return {"words": key_terms(query) or terms(query), "characters": _han("".join(key_phrases(query)))}


def _says_little(word: tuple[str, str], having: int, total: int) -> bool:
    """Return whether a single character stands in so many passages that it is only slow to look for."""
    return word[0] == "characters" and having > total * MOST_PASSAGES


def _han(text: str) -> list[str]:
    """Return the Chinese characters, each once."""
    return list(dict.fromkeys(_HAN.findall(text)))


def _search(
    searcher: tantivy.Searcher, boosts: dict[tuple[str, str], float], limit: int
) -> list[tuple[float, tantivy.Searcher, tantivy.DocAddress]]:
    query = tantivy.Query
    clauses = [
        (tantivy.Occur.Should, query.boost_query(query.term_query(_SCHEMA, *word, "freq"), boost))
        for word, boost in boosts.items()
    ]
    if not clauses:
        return []
    hits = searcher.search(query.boolean_query(clauses), limit, count=False).hits
    return [(score, searcher, address) for score, address in hits]


def _found_passage(score: float, document: tantivy.Document) -> FoundPassage:
    row = _unpack(document["passage"][0])
    return FoundPassage(row.document_id, row.start, row.end, score)


# ── Files of a shard ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Row:
    document_id: str
    start: int
    end: int
    text: str


def _pack(document_id: str, passage: IndexedPassage) -> bytes:
    return f"{document_id}\n{passage.start}\n{passage.end}\n{passage.text}".encode("utf-8", "replace")


def _unpack(row: bytes) -> _Row:
    document_id, start, end, text = bytes(row).decode().split("\n", 3)
    return _Row(document_id, int(start), int(end), text)


def _read_manifest(path: Path) -> dict[str, int]:
    """Return the names of the shards with the number of their commits; none where there is no index of this form."""
    try:
        found = json.loads(path.read_text("utf-8"))
        return dict(found["shards"]) if found["format"] == FORMAT else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _new_name() -> str:
    return uuid.uuid4().hex[:12]


def _open_shard(path: Path, commits: int, known: _Shard | None = None) -> _Shard:
    if known and known.commits == commits:
        return known
    index = tantivy.Index.open(str(path))
    index.config_reader(num_warmers=0, reload_policy="manual")
    return _Shard(index, index.searcher(), commits)


def _count(path: Path) -> int:
    return int(_open_shard(path, 0).searcher.num_docs)


def _write(path: Path, rows: Iterable[bytes]) -> None:
    """Add passages to a shard, which is made if it does not exist."""
    make_private_folder(path)
    index = tantivy.Index(_SCHEMA, path=str(path))
    writer = index.writer(heap_size=15_000_000, num_threads=1)
    for row in rows:
        passage = _unpack(row)
        found = terms(passage.text)
        characters = (character for word in found for character in word if not character.isascii())
        document = tantivy.Document(
            document=passage.document_id, words=" ".join(found), characters=" ".join(dict.fromkeys(characters))
        )
        document.add_bytes("passage", row)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def _rows(path: Path) -> list[bytes]:
    """Return all passages of a shard."""
    searcher = _open_shard(path, 0).searcher
    everything = searcher.search(tantivy.Query.all_query(), max(searcher.num_docs, 1), count=False).hits
    return [bytes(searcher.doc(address)["passage"][0]) for _, address in everything]


def _has_any(path: Path, document_ids: Iterable[str]) -> bool:
    searcher = _open_shard(path, 0).searcher
    return any(searcher.doc_freq("document", id) for id in document_ids)
