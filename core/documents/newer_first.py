"""Puts newer versions of a file before older ones, unless the older ones are asked for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from core.documents.types import Document, PassageHit
from core.documents.version_marks import find_date, is_among_old_files, stem_of

OUTDATED_SHARE, OLD_FOLDER_SHARE = 0.35, 0.6
"""What is left of the score of a passage in an outdated file, and in a folder of old ones."""
_BEHIND = 0.99
_ASKS_FOR_OLD = re.compile(
    r"旧版|老版|旧的|新旧|从前|原先|历史版本|历年|历次|演变|沿革|修订前|修改前|上一版|前一版|作废|已废止|被取代"
    r"|(?<![a-z])(?:old|older|former(?:ly)?|previous(?:ly)?|historical|archived|superseded|obsolete|used to)(?![a-z])",
    re.IGNORECASE,
)


def newer_first(hits: Iterable[PassageHit], query: str) -> list[PassageHit]:
    """Return the hits, the best first, with the scores by which they stand so. Who asks for old versions, or names a date,
    finds the files as well as any others."""
    every = list(hits)
    if _ASKS_FOR_OLD.search(query):
        return every
    asked = find_date(query)
    weighted = [replace(hit, score=hit.score * _share(hit.document, asked)) for hit in every]
    return sorted(_behind_newer(weighted, asked), key=lambda hit: -hit.score)


def _share(document: Document, asked: str) -> float:
    if _is_asked_for(document, asked):
        return 1.0
    if document.is_outdated:
        return OUTDATED_SHARE
    return OLD_FOLDER_SHARE if is_among_old_files(document.name) else 1.0


def _is_asked_for(document: Document, asked: str) -> bool:
    """Return whether the date in the question is that of the file."""
    return bool(asked) and any(date.startswith(asked) for date in (find_date(document.name), document.modified or ""))


def _behind_newer(hits: list[PassageHit], asked: str) -> list[PassageHit]:
    """Return the hits, with those of older files behind the best one of a newer file of the same name."""
    families: dict[str, list[PassageHit]] = defaultdict(list)
    for hit in hits:
        families[stem_of(hit.document.name)].append(hit)
    limits: dict[str, float] = {}
    for stem, family in families.items():
        valid = [hit for hit in family if not hit.document.is_outdated]
        if stem and valid:
            limits[stem] = max(hit.score for hit in valid) * _BEHIND
    return [
        replace(hit, score=min(hit.score, limits.get(stem_of(hit.document.name), hit.score)))
        if hit.document.is_outdated and not _is_asked_for(hit.document, asked)
        else hit
        for hit in hits
    ]
