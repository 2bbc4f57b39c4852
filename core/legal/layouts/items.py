"""Items that the readers of all layouts yield."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from core.legal.entities import CourtCase, Law
from core.legal.layouts.corpus_markdown import Undecodable, decode
from core.legal.layouts.source_files import SourceFile


@dataclass(frozen=True, slots=True)
class Skipped:
    path: str
    reason: str
    stored_as: str = ""
    """`Law.source` under which an earlier version of this program imported the file as a law, which it is not."""


Item = Law | CourtCase | Skipped


def decode_file(entry: SourceFile) -> str | Skipped:
    """Return the text of a file, or a `Skipped` with the reason."""
    if entry.problem:
        return Skipped(str(entry.path), entry.problem)
    try:
        text = decode(entry.data)
    except Undecodable:
        return Skipped(str(entry.path), "编码无法识别")
    return text if text.strip() else Skipped(str(entry.path), "文件是空的")


def path_below(path: PurePosixPath, folders: frozenset[str]) -> tuple[str, ...]:
    """Return the parts of a path from the first known folder on. Archives put a folder of their own on top."""
    return next((path.parts[depth:] for depth, part in enumerate(path.parts[:-1]) if part in folders), ())
