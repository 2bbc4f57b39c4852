"""The imported laws: their names, versions, validity and repeals. The texts are in `article_index`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
    """The days on which the law was first made and then amended, up to this version; empty where nobody says so."""

    @property
    def begins(self) -> str:
        """The day from which it counts; where that is unknown, the day of its publication."""
        return self.effective or self.published or ""


@dataclass(frozen=True, slots=True)
class Repeal:
    """An article that says of another law that it is no longer in force."""

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
            versions.sort(
                key=lambda version: (version.published or "", version.effective or "", version.id), reverse=True
            )

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
                *(identity, name, key, LawKind(kind), issuer, published, effective, bool(repealed), source, count),
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

    def status(self, version: LawVersion) -> LawStatus:
        if version.begins > self._today().isoformat():
            return LawStatus.NOT_YET_IN_FORCE
        newer = self.current(version.key)
        if newer is not None and newer.id != version.id:
            return LawStatus.AMENDED
        return LawStatus.REPEALED if version.repealed or self.repeal(version.key) else LawStatus.IN_FORCE

    def resolve(self, name: str) -> LawVersion | None:
        """The current version of the law that a written name stands for: exact or by a known short name."""
        return next((self.current(key) for key in candidate_keys(name) if key in self._by_key), None)

    def is_known(self, name: str) -> bool:
        return self.resolve(name) is not None or law_key(name) in self._repeals

    def match(self, query: str, limit: int = 10) -> list[LawVersion]:
        """Laws whose names hold the letters of the query in order (工伤条例 → 工伤保险条例), the likeliest first."""
        exact = self.resolve(query)
        keys = rank_names(query, ((key, self._weight(key)) for key in self._by_key), limit)
        found = [version for key in keys if (version := self.current(key))]
        return ([exact] if exact else []) + [law for law in found if law != exact][: limit - bool(exact)]

    def asked_back(self, name: str) -> str:
        """The question which law is meant by a name that no law has: 劳动合同发. Empty where none is like it."""
        law = self.resolve(corrected_ending(name))
        if law is None and not (is_abroad(name) or is_local(name)):
            key = closest_name(name, self._by_key)
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
        order = list(LawKind)
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
        """The day of the last publication that the library knows of: how old it is."""
        today = self._today().isoformat()
        return max(
            (law.published for law in self._versions.values() if law.published and law.published <= today), default=""
        )
