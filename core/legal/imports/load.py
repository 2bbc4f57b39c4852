"""What `python -m core law …` and `case …` do, as functions that return JSON-able documents."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from core.base.http import Deadline
from core.legal.errors import CorpusError
from core.legal.imports.build import OnProgress, import_source
from core.legal.imports.download import OnBytes, download
from core.legal.layouts.markup import Undecodable, decode
from core.legal.library.cases import CaseService
from core.legal.library.index import LegalLibrary
from core.legal.library.statutes import RegulationService
from core.legal.verify import Verifier, report


def law_import(
    library: LegalLibrary,
    path_or_url: str,
    *,
    public_only: bool = False,
    on_progress: OnProgress = lambda _: None,
    on_bytes: OnBytes = lambda _done, _total: None,
    until: Deadline | None = None,
) -> dict[str, Any]:
    """Imports a folder, an archive, a JSONL file or a web address; `case import` is the same."""
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


case_import = law_import


def law_search(service: RegulationService, query: str, limit: int = 10) -> dict[str, Any]:
    return service.search(query, limit).to_json()


def case_search(service: CaseService, query: str, case_type: str | None = None, limit: int = 10) -> dict[str, Any]:
    return service.search(query, case_type, limit).to_json()


def law_verify(verifier: Verifier, file: Path) -> dict[str, Any]:
    """Every statute cited in a text file, checked."""
    try:
        text = decode(file.read_bytes())
    except OSError as error:
        raise CorpusError(f"无法读取 {file.name}。", cure="请检查路径和权限。") from error
    except Undecodable:
        raise CorpusError(f"{file.name} 不是文本文件，或编码无法识别。", cure="请另存为 UTF-8 文本。") from None
    return {"file": file.name, **report(verifier.verify(text))}
