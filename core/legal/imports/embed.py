"""Vectors for what was imported: computed once for each text, which takes minutes; the index is in use meanwhile."""

from __future__ import annotations

from core.base.http import Deadline
from core.legal.errors import ImportCancelled
from core.legal.imports.build import ImportProgress, OnProgress, alone
from core.legal.library.index import LegalLibrary

STAGE = "计算向量"


def embed_library(
    library: LegalLibrary, *, on_progress: OnProgress = lambda _: None, until: Deadline | None = None
) -> int | None:
    """How many texts were new to the model; None where no model is configured or nothing was imported.

    Cancelled, it keeps what is done, and the next import goes on from there.
    """
    index, vectors, version = library.index(), library.vectors, library.version
    if index is None or vectors is None or version is None:
        return None
    with alone(library.folder):
        missing = vectors.missing(text for _, text in index.meanings())

        def on_done(done: int) -> None:
            if until is not None and until.cancelled:
                raise ImportCancelled(f"向量算到第 {done:,} 条时取消了，下次从这里继续；法规与案例库已经可用。")
            on_progress(ImportProgress(STAGE, done, len(missing)))

        vectors.add(missing, on_done)
        vectors.completed(version)
    return len(missing)
