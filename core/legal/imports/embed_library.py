"""Embedding of the imported texts. It takes minutes and computes each text once; the index is in use meanwhile."""

from __future__ import annotations

from functools import partial

from core.base.http import Deadline
from core.legal.errors import ImportCancelled
from core.legal.imports.build import ImportProgress, OnProgress
from core.legal.library.index import SHELVES, LegalLibrary
from core.legal.library.index_files import import_lock


def embed_library(
    library: LegalLibrary, *, on_progress: OnProgress = lambda _: None, deadline: Deadline | None = None
) -> int | None:
    """Compute missing vectors, continuing where an import was cancelled. Returns the number of new texts, or None
    without a model or an index."""
    index, version = library.index(), library.version
    if index is None or version is None:
        return None
    count = 0
    for stage, shelf in SHELVES.items():
        if (vectors := library.vectors_of(shelf)) is None:
            return None
        with import_lock(library.folder):
            missing = vectors.missing_texts(text for _, text in shelf.texts(index))
            vectors.add(missing, partial(_report_progress, stage, len(missing), on_progress, deadline))
            vectors.mark_complete_for(version)
        count += len(missing)
    return count


def _report_progress(stage: str, total: int, on_progress: OnProgress, deadline: Deadline | None, done: int) -> None:
    if deadline is not None and deadline.cancelled:
        raise ImportCancelled(f"{stage}到第 {done:,} 条时取消了，下次从这里继续；法规与案例库已经可用。")
    on_progress(ImportProgress(stage, done, total))
