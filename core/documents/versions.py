"""Tells versions of the same file apart: by their names, what they say of themselves, and how alike their texts are."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from heapq import nsmallest

from core.base.text import terms
from core.documents.version_marks import VersionMarks, read_marks

SKETCH_LENGTH = 30_000
SKETCH_SIZE = 128
"""Number of hashes that stand for a text. Of two texts, the share that both have is known to within some percent."""
SHINGLE = 3
"""Number of consecutive terms that are compared at once."""
ALIKE, NEARLY_SAME = 0.15, 0.5
"""Share of two texts that is the same: of versions of a file, and where the day of the file may tell which is newer."""
MOST_COMPARED = 40
"""Number of newer files of the same name that one is compared with."""


@dataclass(frozen=True, slots=True)
class Version:
    """What is known of a file to tell its versions apart."""

    id: str
    marks: VersionMarks
    sketch: frozenset[int]
    modified: str = ""
    """ISO day of the file; empty if unknown."""


def encode_traits(name: str, text: str) -> str:
    """Return what is stored of a text, to be compared with other versions."""
    return json.dumps({**asdict(read_marks(name, text)), "sketch": sorted(_sketch(text))}, ensure_ascii=False)


def decode_traits(id: str, traits: str, modified: str | None) -> Version | None:
    """Return the version; None for what another version of the program has stored."""
    try:
        found = json.loads(traits)
        sketch = frozenset(found.pop("sketch"))
        found["number"], found["replaces"] = tuple(found["number"]), tuple(found["replaces"])
        return Version(id, VersionMarks(**found), sketch, modified or "")
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def outdated_ids(versions: Iterable[Version]) -> set[str]:
    """Return the ids of the files that are no longer valid: they say so, or a newer version of them is among these."""
    families: dict[str, list[Version]] = defaultdict(list)
    every = list(versions)
    for version in every:
        if version.marks.stem:
            families[version.marks.stem].append(version)
    found = {version.id for version in every if version.marks.is_invalid}
    found |= {old.id for old, new in _pairs(families.values()) if _is_older(old, new)}
    return found | set(_replaced_ids(every))


def _pairs(families: Iterable[Sequence[Version]]) -> Iterator[tuple[Version, Version]]:
    for family in families:
        newest = sorted(family, key=lambda one: (one.marks.date, one.modified, one.id), reverse=True)[:MOST_COMPARED]
        yield from ((old, new) for old in family for new in newest if new is not old)


def _is_older(old: Version, new: Version) -> bool:
    """Return whether the first one is an older version of the second. Both have the same name without marks."""
    a, b = old.marks, new.marks
    if (a.is_invalid or a.is_old) != (b.is_invalid or b.is_old):
        return a.is_invalid or a.is_old
    if b.is_invalid:
        return False
    alike = _likeness(old.sketch, new.sketch)
    if a.number and b.number and a.number != b.number:
        return a.number < b.number
    if a.is_periodical or alike < ALIKE:
        return False
    length = min(len(a.date), len(b.date))
    if a.date[:length] != b.date[:length]:
        return a.date[:length] < b.date[:length]
    if a.rank != b.rank:
        return a.rank < b.rank
    return bool(old.modified and new.modified) and old.modified < new.modified and alike >= NEARLY_SAME


def _replaced_ids(versions: Sequence[Version]) -> Iterator[str]:
    """Yield the ids of files that another one says it replaces."""
    by_name: dict[str, list[Version]] = defaultdict(list)
    for version in versions:
        for name in {version.marks.stem, version.marks.title}:
            by_name[name].append(version)
    for new in versions:
        for name in new.marks.replaces:
            for old in by_name.get(name, ()):
                if old.id != new.id and not new.marks.is_invalid and not _states_later(old, new):
                    yield old.id


def _states_later(one: Version, other: Version) -> bool:
    length = min(len(one.marks.date), len(other.marks.date))
    return one.marks.date[:length] > other.marks.date[:length]


def _sketch(text: str) -> frozenset[int]:
    """Return the smallest hashes of the text's shingles: those of two texts are the same where the texts are."""
    words = terms(text[:SKETCH_LENGTH])
    shingles = {" ".join(words[start : start + SHINGLE]) for start in range(max(len(words) - SHINGLE + 1, 1))}
    return frozenset(nsmallest(SKETCH_SIZE, (zlib.crc32(shingle.encode()) for shingle in shingles)))


def _likeness(one: frozenset[int], other: frozenset[int]) -> float:
    """Return which share of both texts is in both."""
    together = nsmallest(SKETCH_SIZE, one | other)
    return len(one & other & set(together)) / len(together) if together else 0.0
