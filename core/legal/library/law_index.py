"""The imported laws: their names, versions, validity and repeals. The texts are in `article_index`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path

from core.legal.article_numbers import ArticleNumber
from core.legal.entities import LawKind, LawStatus
from core.legal.library.index_files import IndexFiles
from core.legal.text.amendments import amended_law_names
from core.legal.text.law_names import candidate_keys, closest_name, corrected_ending, law_key, rank_names
from core.legal.text.law_qualifiers import is_abroad, is_local


@dataclass(frozen=True, slots=True)
class LawVersion:
    """One version of a law without its text."""

    id: int
    name: str
    key: str
    kind: LawKind
    issuer: str | None
    published: str | None
    effective: str | None
    repealed: bool
    source: str
    article_count: int
    history: tuple[str, ...] = ()
    """Days on which the law was made and amended, up to this version; empty if no source states them."""

    @property
    def begins(self) -> str:
        """Day from which this version is in force; if unknown, the day of its publication."""
        return self.effective or self.published or ""


@dataclass(frozen=True, slots=True)
class Repeal:
    """Article that repeals another law."""

    law_id: int
    number: ArticleNumber
    since: str


class LawIndex(IndexFiles):
    """The laws of one index."""

    def __init__(self, folder: Path, today: Callable[[], date] = date.today) -> None:
        super().__init__(folder, today)
        self._current: tuple[str, dict[str, LawVersion]] = ("", {})
        self._versions = {version.id: version for version in self._load_versions()}
        self._by_key: dict[str, list[LawVersion]] = defaultdict(list)
        for version in self._versions.values():
            self._by_key[version.key].append(version)
        for versions in self._by_key.values():
            versions.sort(key=lambda one: (one.published or "", one.effective or "", one.id), reverse=True)

    @cached_property
    def outdated(self) -> str:
        """Note that an older program wrote this index and what it lacks, or empty."""
        if self._rows("SELECT 1 FROM sqlite_master WHERE name = 'history'"):
            return ""
        return "法规库是旧版程序导入的，没有记下历次修改，按日期选择的版本可能不准。"

    def _histories(self) -> dict[int, tuple[str, ...]]:
        histories: dict[int, tuple[str, ...]] = defaultdict(tuple)
        if not self.outdated:
            for law_id, day in self._rows("SELECT law_id, day FROM history ORDER BY day"):
                histories[law_id] += (day,)
        return histories

    def _load_versions(self) -> Iterator[LawVersion]:
        histories = self._histories()
        query = "SELECT id, name, key, kind, issuer, published, effective, repealed, source, article_count FROM law"
        for id, name, key, kind, issuer, published, effective, repealed, *rest in self._rows(query):
            law = LawVersion(id, name, key, LawKind(kind), issuer, published, effective, bool(repealed), *rest)
            yield replace(law, history=histories.get(id, ()))

    def version(self, law_id: int) -> LawVersion:
        return self._versions[law_id]

    def versions(self, key: str) -> Sequence[LawVersion]:
        """Return all versions of a law, newest first."""
        return self._by_key.get(key, ())

    def current(self, key: str) -> LawVersion | None:
        """Return the newest version in force, or the newest of all if none is."""
        today = self._today().isoformat()
        if self._current[0] != today:
            self._current = (today, {key: self._newest(versions, today) for key, versions in self._by_key.items()})
        return self._current[1].get(key)

    @staticmethod
    def _newest(versions: Sequence[LawVersion], today: str) -> LawVersion:
        return next((version for version in versions if version.begins <= today), versions[0])

    def status(self, version: LawVersion) -> LawStatus:
        if version.begins > self._today().isoformat():
            return LawStatus.NOT_YET_IN_FORCE
        newer = self.current(version.key)
        if newer is not None and newer.id != version.id:
            return LawStatus.AMENDED
        return LawStatus.REPEALED if version.repealed or self.repeal(version.key) else LawStatus.IN_FORCE

    def resolve(self, name: str) -> LawVersion | None:
        """Return the current version of the law with this name or known short name."""
        return next((self.current(key) for key in candidate_keys(name) if key in self._by_key), None)

    def is_known(self, name: str) -> bool:
        return self.resolve(name) is not None or law_key(name) in self._repeals

    def match(self, query: str, limit: int = 10) -> list[LawVersion]:
        """Return laws whose names have the characters of the query in order (工伤条例 → 工伤保险条例), likeliest first."""
        exact = self.resolve(query)
        keys = rank_names(query, ((key, self._weight(key)) for key in self._by_key), limit)
        found = [version for key in keys if (version := self.current(key))]
        return ([exact] if exact else []) + [law for law in found if law != exact][: limit - bool(exact)]

    def suggest_name(self, name: str) -> str:
        """Return a question that suggests the law meant by a wrong name (劳动合同发), or an empty string."""
        law = self.resolve(corrected_ending(name))
        if law is None and not (is_abroad(name) or is_local(name)):
            key = closest_name(name, self._by_key)
            law = self.current(key) if key else None
        return f"是否指《{law.name}》？" if law else ""

    def containing(self, words: str, limit: int) -> list[LawVersion]:
        """Return laws whose names contain the words as they are."""
        key = law_key(words)
        keys = [name for name in self._by_key if key in name]
        keys.sort(key=lambda name: (-self._weight(name), len(name)))
        return [version for name in keys[:limit] if (version := self.current(name))]

    def _weight(self, key: str) -> float:
        return self._by_key[key][0].kind.weight

    def laws(self) -> list[LawVersion]:
        """Return the current version of every law, by kind and name."""
        order = list(LawKind)
        found = [version for key in self._by_key if (version := self.current(key))]
        return sorted(found, key=lambda law: (order.index(law.kind), law.name))

    @cached_property
    def _repeals(self) -> dict[str, Repeal]:
        rows = self._rows("SELECT key, law_id, number, suffix, since FROM repeal")
        return {row[0]: Repeal(row[1], ArticleNumber(row[2], row[3]), row[4]) for row in rows}

    def repeal(self, key: str, day: str = "") -> Repeal | None:
        """Return the article that repealed this law by a day, unless a law of the same name was made after that."""
        repeal = self._repeals.get(key)
        if repeal is None or repeal.since > (day or self._today().isoformat()):
            return None
        newest = self.versions(key)[0].published if key in self._by_key else None
        return None if newest and newest >= repeal.since else repeal

    def repealed_by(self, law_id: int) -> list[tuple[str, Repeal]]:
        """Return the keys of the laws that this one repeals, each with the repeal."""
        return [(key, repeal) for key, repeal in self._repeals.items() if repeal.law_id == law_id]

    def amended_later(self, law: LawVersion) -> LawVersion | None:
        """Return the newest change that is not in this text: an amendment, or a version not yet in force."""
        versions = [other for other in self.versions(law.key) if self.status(other) is LawStatus.NOT_YET_IN_FORCE]
        later = [*versions, *self._amendments.get(law.key, ())]
        newest = max(later, key=lambda other: other.published or "", default=None)
        return newest if newest and law.published and (newest.published or "") > law.published else None

    @cached_property
    def _amendments(self) -> dict[str, list[LawVersion]]:
        found: dict[str, list[LawVersion]] = defaultdict(list)
        for version in self._versions.values():
            if amended := next(filter(None, map(self.resolve, amended_law_names(version.name))), None):
                found[amended.key].append(version)
        return found

    def newest(self) -> str:
        """Return the day of the last publication in the library, which tells its age."""
        days = (law.published or "" for law in self._versions.values())
        return max((day for day in days if day <= self._today().isoformat()), default="")
