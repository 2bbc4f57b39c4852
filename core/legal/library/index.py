"""The imported laws and cases, read-only: exact look-up in SQLite, full text in tantivy.

    data/legal/current.json     names the folder in use; replaced in one step when an import is complete
    data/legal/<folder>/        laws.sqlite3 and text/ (tantivy), never changed once they are named

`LegalLibrary.index()` looks at current.json each time, so that an import in another process is seen at once. An open
index keeps its files open: it goes on answering after its folder was removed.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tantivy

from core.legal.errors import EmbeddingError
from core.legal.text.amendments import amended_law
from core.legal.text.article_numbers import ArticleNumber
from core.legal.text.asked_laws import familiarity
from core.legal.text.lay_words import search_terms
from core.legal.text.names import best_match, law_key, likest_name, mended, spellings
from core.legal.text.which_law import is_abroad, is_local
from core.legal.types import CaseFilter, CaseType, CourtCase, Kind, Status

if TYPE_CHECKING:
    from core.legal.library.embedding import Embedder
    from core.legal.library.vectors import Neighbours, Vectors

log = logging.getLogger(__name__)

MANIFEST = "current.json"
DATABASE = "laws.sqlite3"
TEXT, CASE_TEXT = "text", "case_text"
"""Two indexes, because BM25 compares a text with the average of all: cases would change how articles are found."""
FORMAT = 1

ARTICLE_FIELDS = {"body": 1.0, "title": 0.2, "path": 0.4}
CASE_FIELDS = {"case_body": 1.0, "case_title": 1.0}
_PRIOR = 0.3
"""How much more a statute weighs than a regulation that fits as well."""
_COVERAGE = 0.5
_NOT_IN_FORCE = 0.5
_FAMILIARITY = 0.12
_LENGTH = 0.1
"""BM25 prefers short articles a little more than people's questions do."""
_MEANT = 512
"""Characters: the model reads no more."""
_MEANING = 1.25
"""What the greatest likeness weighs beside the best hit of the words; docs/benchmarks.md says how this, the length and the prior were
chosen."""
_RANKS_ALIKE = 60
"""Reciprocal ranks of several wordings are added: the usual constant, which makes the first few ranks of one worth about the same."""
_MARGIN = 140
"""More are asked for than are wanted: hits in old versions are dropped, and the prior moves others up."""
_NARROW_MARGIN = 900
_WEIGHED = 65_536
_CASE_MARGIN = 20
_CASE_MEANT = 160
"""Characters: its name, 案由, 裁判要旨 and the beginning of the facts say what a case is about, and a model takes its time for each."""
_FACTS_BEGIN = re.compile(r"审理查明|基本案情|诉称|指控|提出诉讼请求")
"""In a judgment, after the court, the number and who the parties are."""
_LOOKED_THROUGH = 2_000
_LEAST_COVERAGE = 1 / 3
"""Where no case has more of the words, all are about something else."""
_LEAST_LIKENESS = 0.6
"""Unless it means nearly the same: no general question is as like to any case as that."""
_MOST_FACETS = 500


Near = Callable[[str, int], Mapping[int, float]]
"""The articles that mean most nearly what a question means: their ids, and how nearly, at most 1."""
NearCases = Callable[[str, int, Collection[int] | None], Mapping[int, float]]
"""The same of cases, among those that may be found."""


@dataclass(frozen=True, slots=True)
class LawVersion:
    """One version of a law without its text."""

    id: int
    name: str
    key: str
    kind: Kind
    issuer: str | None
    published: str | None
    effective: str | None
    repealed: bool
    source: str
    article_count: int
    history: tuple[str, ...] = ()
    """The days on which the law was first made and then amended, up to this version; empty where nobody says so."""

    @property
    def begins(self) -> str:
        """The day from which it counts; where that is unknown, the day of its publication."""
        return self.effective or self.published or ""


@dataclass(frozen=True, slots=True)
class StoredArticle:
    id: int
    law_id: int
    number: ArticleNumber
    path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Repeal:
    """An article that says of another law that it is no longer in force."""

    law_id: int
    number: ArticleNumber
    since: str


class LegalIndex:
    """One complete index. All methods may be called from any thread."""

    def __init__(self, folder: Path, today: Callable[[], date] = date.today) -> None:
        self._today = today
        self._lock = threading.Lock()
        self._database = connect_read_only(folder / DATABASE)
        self._searcher = _searcher(folder / TEXT)
        apart = (
            folder / CASE_TEXT
        ).is_dir()  # in indexes of earlier versions of this program cases stand among articles
        self._case_searcher = _searcher(folder / CASE_TEXT) if apart else self._searcher
        self._current: tuple[str, dict[str, LawVersion]] = ("", {})
        self._weighed = lru_cache(maxsize=_WEIGHED)(self._weigh)
        self._versions = {version.id: version for version in self._load_versions()}
        self._by_key: dict[str, list[LawVersion]] = defaultdict(list)
        for version in self._versions.values():
            self._by_key[version.key].append(version)
        for versions in self._by_key.values():
            versions.sort(
                key=lambda version: (version.published or "", version.effective or "", version.id), reverse=True
            )

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    # ── Laws ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def outdated(self) -> str:
        """What an index lacks that an older program wrote; empty for any other."""
        if self._rows("SELECT 1 FROM sqlite_master WHERE name = 'history'"):
            return ""
        return "法规库是旧版程序导入的，没有记下历次修改，按日期选择的版本可能不准。"

    def _histories(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, tuple[str, ...]] = defaultdict(tuple)
        if not self.outdated:
            for law_id, day in self._rows("SELECT law_id, day FROM history ORDER BY day"):
                found[law_id] += (day,)
        return found

    def _load_versions(self) -> Iterator[LawVersion]:
        histories = self._histories()
        for row in self._rows(
            "SELECT id, name, key, kind, issuer, published, effective, repealed, source, article_count FROM law"
        ):
            identity, name, key, kind, issuer, published, effective, repealed, source, count = row
            yield LawVersion(
                *(identity, name, key, Kind(kind), issuer, published, effective, bool(repealed), source, count),
                history=histories.get(identity, ()),
            )

    def version(self, law_id: int) -> LawVersion:
        return self._versions[law_id]

    def versions(self, key: str) -> Sequence[LawVersion]:
        """All versions of a law, the newest first."""
        return self._by_key.get(key, ())

    def current(self, key: str) -> LawVersion | None:
        """The newest version that is in force; without one, the newest of all."""
        today = self._today().isoformat()
        if self._current[0] != today:
            self._current = (today, {key: self._newest(versions, today) for key, versions in self._by_key.items()})
        return self._current[1].get(key)

    @staticmethod
    def _newest(versions: Sequence[LawVersion], today: str) -> LawVersion:
        return next((version for version in versions if version.begins <= today), versions[0])

    def status(self, version: LawVersion) -> Status:
        if version.begins > self._today().isoformat():
            return Status.NOT_YET
        newer = self.current(version.key)
        if newer is not None and newer.id != version.id:
            return Status.AMENDED
        return Status.REPEALED if version.repealed or self.repeal(version.key) else Status.IN_FORCE

    def resolve(self, name: str) -> LawVersion | None:
        """The current version of the law that a written name stands for: exact or by a known short name."""
        return next((self.current(key) for key in spellings(name) if key in self._by_key), None)

    def is_known(self, name: str) -> bool:
        return self.resolve(name) is not None or law_key(name) in self._repeals

    def match(self, query: str, limit: int = 10) -> list[LawVersion]:
        """Laws whose names hold the letters of the query in order (工伤条例 → 工伤保险条例), the likeliest first."""
        exact = self.resolve(query)
        keys = best_match(query, ((key, self._weight(key)) for key in self._by_key), limit)
        found = [version for key in keys if (version := self.current(key))]
        return ([exact] if exact else []) + [law for law in found if law != exact][: limit - bool(exact)]

    def asked_back(self, name: str) -> str:
        """The question which law is meant by a name that no law has: 劳动合同发. Empty where none is like it."""
        law = self.resolve(mended(name))
        if law is None and not (is_abroad(name) or is_local(name)):
            key = likest_name(name, self._by_key)
            law = self.current(key) if key else None
        return f"是否指《{law.name}》？" if law else ""

    def containing(self, words: str, limit: int) -> list[LawVersion]:
        """Laws whose names contain the words as they are."""
        key = law_key(words)
        keys = [name for name in self._by_key if key in name]
        keys.sort(key=lambda name: (-self._weight(name), len(name)))
        return [version for name in keys[:limit] if (version := self.current(name))]

    def _weight(self, key: str) -> float:
        return self._by_key[key][0].kind.weight

    def laws(self) -> list[LawVersion]:
        """The current version of every law, by kind and name."""
        order = list(Kind)
        found = [version for key in self._by_key if (version := self.current(key))]
        return sorted(found, key=lambda law: (order.index(law.kind), law.name))

    @cached_property
    def _repeals(self) -> dict[str, Repeal]:
        rows = self._rows("SELECT key, law_id, number, suffix, since FROM repeal")
        return {row[0]: Repeal(row[1], ArticleNumber(row[2], row[3]), row[4]) for row in rows}

    def repeal(self, key: str, day: str = "") -> Repeal | None:
        """The article that had put this law out of force by a day, unless a law of the same name was made after that."""
        repeal = self._repeals.get(key)
        if repeal is None or repeal.since > (day or self._today().isoformat()):
            return None
        newest = self.versions(key)[0].published if key in self._by_key else None
        return None if newest and newest >= repeal.since else repeal

    def repealed_by(self, law_id: int) -> list[tuple[str, Repeal]]:
        """The keys of the laws that a closing article of this one puts out of force."""
        return [(key, repeal) for key, repeal in self._repeals.items() if repeal.law_id == law_id]

    def amended_later(self, law: LawVersion) -> LawVersion | None:
        """What the library holds of a later change that is not in this text: an amendment, or a version that is still to come."""
        versions = [other for other in self.versions(law.key) if self.status(other) is Status.NOT_YET]
        later = [*versions, *self._amendments.get(law.key, ())]
        newest = max(later, key=lambda other: other.published or "", default=None)
        return newest if newest and law.published and (newest.published or "") > law.published else None

    @cached_property
    def _amendments(self) -> dict[str, list[LawVersion]]:
        found: dict[str, list[LawVersion]] = defaultdict(list)
        for version in self._versions.values():
            if amended := next(filter(None, map(self.resolve, amended_law(version.name))), None):
                found[amended.key].append(version)
        return found

    def newest(self) -> str:
        """The day of the last publication that the library knows of: how old it is."""
        today = self._today().isoformat()
        return max(
            (law.published for law in self._versions.values() if law.published and law.published <= today), default=""
        )

    # ── Articles ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _articles(self, condition: str, *values: Any) -> list[StoredArticle]:
        rows = self._rows(f"SELECT id, law_id, number, suffix, path, text FROM article WHERE {condition}", *values)  # noqa: S608 (the conditions stand in this file)
        return [StoredArticle(row[0], row[1], ArticleNumber(row[2], row[3]), _path(row[4]), row[5]) for row in rows]

    def article(self, law_id: int, number: ArticleNumber) -> StoredArticle | None:
        found = self._articles("law_id = ? AND number = ? AND suffix = ? ORDER BY id LIMIT 1", law_id, *number)
        return found[0] if found else None

    def before(self, law_id: int, number: ArticleNumber, back: int) -> StoredArticle | None:
        """The article `back` places before: 前条 of 第一百二十一条 may be 第一百二十条之六."""
        found = self._articles(
            "law_id = ? AND number > 0 AND (number, suffix) < (?, ?) ORDER BY number DESC, suffix DESC LIMIT 1 OFFSET ?",
            law_id,
            *number,
            back - 1,
        )
        return found[0] if found else None

    def articles(self, law_id: int) -> list[StoredArticle]:
        """The whole law, in its own order."""
        return self._articles("law_id = ? ORDER BY id", law_id)

    def meanings(self) -> Iterator[tuple[int, str]]:
        """Each article of a current version, with the words that an embedding model is shown of it."""
        for law in self.laws():
            for article in self.articles(law.id):
                yield article.id, " ".join((law.name, *article.path, str(article.number), article.text))[:_MEANT]

    def highest(self, law_id: int) -> int:
        return int(self._rows("SELECT max(number) FROM article WHERE law_id = ?", law_id)[0][0] or 0)

    def search(
        self,
        text: str,
        limit: int,
        near: Near = lambda _text, _limit: {},
        also: Sequence[str] = (),
        counts: Callable[[LawVersion], bool] | None = None,
    ) -> list[StoredArticle]:
        """Articles that fit the words, best first; of two that fit alike, the statute.

        `near` adds those that mean the same in other words; `also` is the same question in other words. `counts`: which versions are
        looked in, without it the current ones.
        """
        pool = limit + (_MARGIN if counts is None else _NARROW_MARGIN)
        fused: dict[int, float] = defaultdict(float)
        for wording in (text, *also):
            for rank, identity in enumerate(self._ranked(wording, pool, near, counts)):
                fused[identity] += 1 / (_RANKS_ALIKE + rank)
        best = sorted(fused, key=lambda identity: -fused[identity])[:limit]
        found = {article.id: article for article in self._articles(f"id IN ({_marks(best)})", *best)}
        return [found[identity] for identity in best]

    def _ranked(self, text: str, limit: int, near: Near, counts: Callable[[LawVersion], bool] | None) -> list[int]:
        """The ids of articles, best first."""
        weighted, today = search_terms(text), self._today().isoformat()
        scores, likeness = self._hits(ARTICLE_FIELDS, weighted, limit), near(text, limit)
        fused = _fused(scores, likeness)
        asked = [term for term, weight in weighted.items() if weight == 1.0]
        fitting: dict[int, float] = {}
        for identity, law_id, path, words in self._rows(
            f"SELECT id, law_id, path, text FROM article WHERE id IN ({_marks(fused)})",  # noqa: S608 (question marks)
            *fused,
        ):
            law, (is_current, weight) = self.version(law_id), self._weighed(law_id, today)
            if counts(law) if counts else is_current:
                fit = self._fit(f"{words}\n{law.name}\n{path}", len(words), asked)
                fitting[identity] = weight * fit * fused[identity]
        return sorted(fitting, key=lambda identity: -fitting[identity])

    def closeness(self, question: str) -> tuple[float, float]:
        """How well the best article fits a question, and how common its words are in laws; neither grows with the library."""
        weighted = search_terms(question)
        asked = [term for term, weight in weighted.items() if weight == 1.0]
        best = max(self._hits(ARTICLE_FIELDS, weighted, 1).values(), default=0.0)
        times = (self._searcher.doc_freq("body", term) + self._searcher.doc_freq("title", term) for term in asked)
        common = sum(map(math.log1p, times)) / max(len(asked), 1)
        size = math.log1p(max(self._searcher.num_docs, 1))
        return best / size, common / size

    @staticmethod
    def _fit(words: str, length: int, asked: list[str]) -> float:
        """What BM25 does not see of an article: how many of the words are there at all, and its length."""
        coverage = len([term for term in asked if term in words]) / max(len(asked), 1)
        return (1 + _COVERAGE * coverage) * math.pow(length, _LENGTH)

    def _weigh(self, law_id: int, today: str) -> tuple[bool, float]:
        """Whether it is the current version, and what BM25 does not see of a law: its rank, how often people ask about it, whether it counts.

        `today` says only how long this may be remembered.
        """
        law = self.version(law_id)
        in_force = _NOT_IN_FORCE if self.status(law) in {Status.REPEALED, Status.NOT_YET} else 1.0
        weight = (1 + _PRIOR * law.kind.weight) * (1 + _FAMILIARITY * familiarity(law.key)) * in_force
        return self.current(law.key) == law, weight

    def _hits(self, fields: dict[str, float], weighted: dict[str, float], limit: int) -> dict[int, float]:
        """The best documents and their scores.

        Only a plain union of terms lets tantivy skip most documents, so neither a filter nor a prior is part of it.
        """
        terms = [
            (tantivy.Occur.Should, tantivy.Query.boost_query(_term(name, term), weight * boost))
            for term, weight in weighted.items()
            for name, boost in fields.items()
        ]
        searcher = self._case_searcher if fields is CASE_FIELDS else self._searcher
        hits = searcher.search(tantivy.Query.boolean_query(terms), limit, count=False).hits
        ids = searcher.fast_field_values("id", [address for _, address in hits])
        return {int(identity): score for identity, (score, _) in zip(ids, hits, strict=True) if identity is not None}

    # ── Cases ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def cases_by_number(self, number: str) -> list[CourtCase]:
        return self._cases("number_key = ?", number)

    def cases_by_name(self, name: str) -> list[CourtCase]:
        return self._cases("name = ?", name)

    def search_cases(
        self, text: str, limit: int, wanted: CaseFilter | None = None, near: NearCases = lambda *_: {}
    ) -> list[CourtCase]:
        """Cases that fit the words and the filter, best first; without words the newest. `near` adds those that mean the same."""
        condition, values = self._wanted(wanted or CaseFilter())
        if not text.strip():
            return self._cases(f"{condition} ORDER BY date DESC LIMIT ?", *values, limit)
        allowed = None
        if wanted:
            rows = self._rows(f"SELECT id FROM court_case WHERE {condition}", *values)  # noqa: S608 (conditions from below)
            allowed = {row[0] for row in rows}
        weighted = search_terms(text)
        pool = limit + _CASE_MARGIN
        scores, likeness = self._case_scores(weighted, pool, allowed), near(text, pool, allowed)
        asked = [term for term, weight in weighted.items() if weight == 1.0]
        alike = {id for id, likely in likeness.items() if likely >= _LEAST_LIKENESS}
        best = alike | set(sorted(scores, key=lambda id: -scores[id])[:pool])
        found = self._cases(f"id IN ({_marks(best)})", *best)
        covered = {case.id: _covered(case, asked) for case in found}
        if not alike and max(covered.values(), default=0.0) < _LEAST_COVERAGE:
            return []
        fused = _fused(scores, likeness)
        return sorted(found, key=lambda case: -fused[case.id] * (1 + _COVERAGE * covered[case.id]))[:limit]

    def case_meanings(self) -> Iterator[tuple[int, str]]:
        """Each case, with the words that an embedding model is shown of it."""
        known = "cause, gist" if self._has_causes else "NULL, NULL"
        last = -1
        while rows := self._rows(
            f"SELECT id, name, {known}, substr(coalesce(summary, text, ''), 1, ?) FROM court_case WHERE id > ? ORDER BY id LIMIT 1000",  # noqa: S608 (names from above)
            _LOOKED_THROUGH,
            last,
        ):
            for last, *said, facts in rows:
                begin = _FACTS_BEGIN.search(facts)
                yield last, " ".join(filter(None, (*said, facts[begin.end() :] if begin else facts)))[:_CASE_MEANT]

    def _case_scores(self, weighted: dict[str, float], limit: int, allowed: set[int] | None) -> dict[int, float]:
        """A filter may leave few of the best: then more are looked through."""
        depth = limit if allowed is None else limit * max(1, self._case_searcher.num_docs // max(len(allowed), 1))
        while True:
            scores = self._hits(CASE_FIELDS, weighted, depth)
            fitting = {id: score for id, score in scores.items() if allowed is None or id in allowed}
            if len(fitting) >= min(limit, len(allowed or fitting)) or len(scores) < depth:
                return fitting
            depth *= 20

    def _wanted(self, wanted: CaseFilter) -> tuple[str, list[str]]:
        conditions = {
            "type = ?": wanted.type and wanted.type.value,
            "instr(court, ?)": wanted.court,
            "substr(date, 1, 4) = ?": wanted.year and str(wanted.year),
            "instr(coalesce(cause, name), ?)" if self._has_causes else "instr(name, ?)": wanted.cause,
        }
        given = {condition: value for condition, value in conditions.items() if value}
        return " AND ".join(given) or "true", list(given.values())

    @cached_property
    def _has_causes(self) -> bool:
        return "cause" in self._columns("court_case")

    @cached_property
    def case_facets(self) -> dict[str, list[str]]:
        """What can be chosen: 案由 and courts, the most frequent first, and years, the newest first."""
        columns = {"cause": "cause" if self._has_causes else "NULL", "court": "court", "year": "substr(date, 1, 4)"}
        found = {}
        for name, column in columns.items():
            order = "1 DESC" if name == "year" else "count(*) DESC"
            rows = self._rows(
                f"SELECT {column} FROM court_case WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY {order} LIMIT ?",  # noqa: S608 (names from above)
                _MOST_FACETS,
            )
            found[name] = [row[0] for row in rows]
        return found

    def _cases(self, condition: str, *values: Any) -> list[CourtCase]:
        added = "cause, gist" if self._has_causes else "NULL, NULL"
        rows = self._rows(
            f"SELECT name, number, court, date, type, {added}, summary, verdict, url, source, text, id"  # noqa: S608 (the conditions stand in this file)
            f" FROM court_case WHERE {condition}",
            *values,
        )
        return [_case(*row) for row in rows]

    def imported(self) -> str:
        """The day of the last import."""
        return str(self._rows("SELECT max(imported) FROM import")[0][0] or "")[:10]

    def origins(self) -> dict[str, str | None]:
        """Where the library was imported from, in that order, each with the checksum of its last import; not every one is known."""
        if "origin" not in self._columns("import"):
            return {}
        rows = self._rows(
            "SELECT origin, sha256, max(id) FROM import WHERE origin IS NOT NULL GROUP BY origin ORDER BY 3"
        )
        return {row[0]: row[1] for row in rows}

    def _columns(self, table: str) -> set[str]:
        """Indexes of earlier versions of this program have fewer."""
        return {row[1] for row in self._rows(f"PRAGMA table_info({table})")}

    def counts(self) -> dict[str, int]:
        """What the index holds: laws, versions, articles, cases."""
        articles, cases = self._rows("SELECT (SELECT count(*) FROM article), (SELECT count(*) FROM court_case)")[0]
        return {"laws": len(self._by_key), "versions": len(self._versions), "articles": articles, "cases": cases}


def _fused(scores: Mapping[int, float], likeness: Mapping[int, float]) -> dict[int, float]:
    """What was found by words and by meaning, and how well it fits by both."""
    worded, meant = _shares(scores, 0.0), _shares(likeness, min(likeness.values(), default=0.0))
    return {one: worded.get(one, 0.0) + _MEANING * meant.get(one, 0.0) for one in scores.keys() | likeness.keys()}


def _shares(scores: Mapping[int, float], least: float) -> dict[int, float]:
    """The best becomes 1, the least 0: all cosines of a model's answers lie close together."""
    width = max(scores.values(), default=1.0) - least
    return {identity: (score - least) / width if width else 1.0 for identity, score in scores.items()}


def _case(*row: Any) -> CourtCase:
    name, number, court, day, kind, *rest = row
    return CourtCase(name, number, court, day, CaseType(kind) if kind else None, *rest)


def _covered(case: CourtCase, asked: list[str]) -> float:
    """The share of the words that are in the case at all."""
    words = "\n".join(filter(None, (case.name, case.cause, case.gist, case.text)))
    return sum(term in words for term in asked) / max(len(asked), 1)


def _marks(values: Collection[int]) -> str:
    return ",".join("?" * len(values))


def _path(stored: str) -> tuple[str, ...]:
    return tuple(stored.split("\n")) if stored else ()


def _text_schema() -> tantivy.Schema:
    """Terms are cut by `core.base.text.terms`, so tantivy only has to split at blanks."""
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", fast=True)
    for name in (*ARTICLE_FIELDS, *CASE_FIELDS):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


TEXT_SCHEMA = _text_schema()


def _searcher(folder: Path) -> tantivy.Searcher:
    text = tantivy.Index.open(str(folder))
    text.config_reader(num_warmers=0, reload_policy="manual")
    return text.searcher()


def _term(field: str, term: str) -> tantivy.Query:
    return tantivy.Query.term_query(TEXT_SCHEMA, field, term, "freq")


class Shelf(NamedTuple):
    """Texts that are compared by meaning with each other."""

    file: str
    texts: Callable[[LegalIndex], Iterator[tuple[int, str]]]


ARTICLES = Shelf("vectors", LegalIndex.meanings)
CASES = Shelf("case-vectors", LegalIndex.case_meanings)
SHELVES = {"计算向量": ARTICLES, "计算案例的向量": CASES}
"""As an import tells of them. Articles come first: they are used while the cases are under way."""


class LegalLibrary:
    """Whatever index is in use at the moment, below the data folder."""

    def __init__(self, data_dir: Path, today: Callable[[], date] = date.today, *, embedding: str = "") -> None:
        """`embedding`: a folder or a name, as `Embedder` takes them."""
        self.folder = data_dir / "legal"
        self._today = today
        self._embedding = embedding
        self._lock = threading.Lock()
        self._open: tuple[str, LegalIndex] | None = None
        self._seen: tuple[int, int] | None = None
        self._neighbours: dict[Shelf, tuple[str, Neighbours]] = {}
        self.problem = ""
        """Why nothing is found by meaning although a model is configured."""

    @cached_property
    def _embedder(self) -> Embedder:
        from core.legal.library.embedding import Embedder

        return Embedder(self._embedding)

    @property
    def vectors(self) -> Vectors | None:
        """Those of articles."""
        return self.vectors_of(ARTICLES)

    def vectors_of(self, shelf: Shelf) -> Vectors | None:
        """None without a model. Raises an EmbeddingError for one that cannot be used."""
        if not self._embedding:
            return None
        from core.legal.library.vectors import Vectors

        return Vectors(self.folder, self._embedder, shelf.file)

    def near(self, text: str, limit: int) -> Mapping[int, float]:
        return self._near(ARTICLES, text, limit)

    def near_cases(self, text: str, limit: int, among: Collection[int] | None) -> Mapping[int, float]:
        return self._near(CASES, text, limit, among)

    def _near(self, shelf: Shelf, text: str, limit: int, among: Collection[int] | None = None) -> Mapping[int, float]:
        """Nothing without a model, and while the vectors of what was imported last are still being computed."""
        try:
            neighbours = self._neighbours_now(shelf)
            found = neighbours.nearest(text, limit, among) if neighbours else {}
        except EmbeddingError as error:
            if not self.problem:
                log.warning("laws and cases are found by their words alone: %s", error)
            self.problem, found = str(error), {}
        return found

    def _neighbours_now(self, shelf: Shelf) -> Neighbours | None:
        index, version = self.index(), self.version
        if self.problem or index is None or version is None or not self._embedding:
            return None
        if shelf not in self._neighbours or self._neighbours[shelf][0] != version:
            vectors = self.vectors_of(shelf)
            if vectors is None or not vectors.complete(version):
                return None
            from core.legal.library.vectors import Neighbours

            self._neighbours[shelf] = version, Neighbours(vectors, shelf.texts(index))
        return self._neighbours[shelf][1]

    @property
    def version(self) -> str | None:
        """Names the index in use without opening it; another one after each import."""
        return current_folder(self.folder)

    @property
    def available(self) -> bool:
        return self.version is not None

    def index(self) -> LegalIndex | None:
        """None before the first import."""
        for _ in range(3):  # a folder may be removed between reading its name and opening it
            seen = self._stamp()
            if seen is None:
                return None
            with self._lock:
                if self._open and self._seen == seen:
                    return self._open[1]
                with suppress(OSError, ValueError, sqlite3.Error):
                    name = current_folder(self.folder)
                    if name and (not self._open or self._open[0] != name):
                        self._open = (name, LegalIndex(self.folder / name, self._today))
                    self._seen = seen
                    return self._open[1] if self._open else None
        return None

    def _stamp(self) -> tuple[int, int] | None:
        try:
            stat = (self.folder / MANIFEST).stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_ino


def connect_read_only(database: Path) -> sqlite3.Connection:
    """Nobody writes to an index in use, so no lock is taken on it."""
    return sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def current_folder(folder: Path) -> str | None:
    """The name of the folder in use; None without one, when it is gone, and for one that a newer program wrote."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        return None
    name = str(manifest.get("folder"))
    return name if (folder / name / DATABASE).is_file() else None
