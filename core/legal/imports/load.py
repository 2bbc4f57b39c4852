"""Importing from wherever the texts are: a folder, an archive, a file or a web address."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from core.base.http import Deadline
from core.legal.errors import EmbeddingError
from core.legal.imports.build import OnProgress, import_source
from core.legal.imports.download import OnBytes, download
from core.legal.imports.embed import embed_library
from core.legal.library.index import LegalLibrary


def law_import(
    library: LegalLibrary,
    path_or_url: str,
    *,
    public_only: bool = False,
    on_progress: OnProgress = lambda _: None,
    on_bytes: OnBytes = lambda _done, _total: None,
    until: Deadline | None = None,
) -> dict[str, Any]:
    """Laws and cases alike. The report of the import can be written as JSON."""
    report = _import(library, path_or_url, public_only, on_progress, on_bytes, until)
    try:
        return report | {"vectors": embed_library(library, on_progress=on_progress, until=until)}
    except EmbeddingError as error:  # the laws are imported all the same
        return report | {"vectors": None, "problem": str(error)}


def _import(
    library: LegalLibrary,
    path_or_url: str,
    public_only: bool,
    on_progress: OnProgress,
    on_bytes: OnBytes,
    until: Deadline | None,
) -> dict[str, Any]:
    if not path_or_url.startswith(("http://", "https://")):
        summary = import_source(library.folder, Path(path_or_url), on_progress=on_progress, until=until)
        return summary.to_json()
    fetched = library.folder / "download"
    got = download(path_or_url, fetched, public_only=public_only, on_bytes=on_bytes, until=until)
    aside = library.folder / f"{got.sha256[:16]}-{got.path.name}"  # folders are cleared when an import begins
    got.path.replace(aside)
    try:
        summary = import_source(library.folder, aside, on_progress=on_progress, until=until)
    finally:
        aside.unlink(missing_ok=True)
        shutil.rmtree(fetched, ignore_errors=True)
    return summary.to_json() | {"source": path_or_url, "bytes": got.size, "sha256": got.sha256}
