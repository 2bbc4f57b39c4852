"""Import from a folder, an archive, a file, a web address or the law package, and updates from there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.base.embedding import EmbeddingError
from core.base.errors import AppError
from core.base.http import Deadline
from core.legal.errors import CorpusError, ImportBusy, ImportCancelled, NoLegalIndex
from core.legal.imports.build import (
    DOWNLOAD,
    ImportProgress,
    OnProgress,
    checksum,
    import_source,
    index_contents,
    law_changes,
)
from core.legal.imports.corpus_download import OnBytes, download_corpus, public_corpus
from core.legal.imports.embed_library import embed_library
from core.legal.imports.law_package import LAW_PACKAGE, download_law_package, installed_law_package
from core.legal.imports.report import ImportReport
from core.legal.library.index import LegalLibrary


def law_import(
    library: LegalLibrary,
    path_or_url: str,
    *,
    update: bool = False,
    public_only: bool = False,
    temporary: bool = False,
    mirrors: Mapping[str, str] | None = None,
    on_progress: OnProgress = lambda _: None,
    on_bytes: OnBytes = lambda _done, _total: None,
    deadline: Deadline | None = None,
) -> ImportReport:
    """Import laws and cases, and compute their vectors if an embedding model is configured. `update` imports only what
    changed; without a path, from all known origins. A `temporary` file is not recorded as an origin. The short name of a
    public corpus stands for its address; `mirrors` are other addresses by these names."""
    corpus = public_corpus(path_or_url)
    if corpus and not Path(path_or_url).exists():
        path_or_url = corpus.url
    work = _ImportRun(library, update, public_only, temporary, mirrors or {}, on_progress, on_bytes, deadline)
    with library.changing():
        report = work.run(path_or_url, work.known_checksum(path_or_url)) if path_or_url else work.update_all()
        library.publish()
        try:
            report.vectors = embed_library(library, on_progress=on_progress, deadline=deadline)
        except EmbeddingError as error:  # the laws are imported all the same
            report.problem = str(error)
        if report.vectors:
            library.publish()
    return report


@dataclass(frozen=True, slots=True)
class _ImportRun:
    library: LegalLibrary
    update: bool
    public_only: bool
    temporary: bool
    mirrors: Mapping[str, str]
    on_progress: OnProgress
    on_bytes: OnBytes
    deadline: Deadline | None

    def known_checksum(self, path_or_url: str) -> str | None:
        """Return the checksum of the last import from there, if this is an update."""
        index = self.library.index() if self.update else None
        origin = path_or_url if _is_origin(path_or_url) else str(Path(path_or_url).absolute())
        return index.origins().get(origin) if index else None

    def update_all(self) -> ImportReport:
        """Update from all origins, in the order of their imports. A changed one may replace a text that a later one made
        fuller, so all that follow it are imported again."""
        index = self.library.index()
        if index is None:
            raise NoLegalIndex
        origins = index.origins()
        if not origins:
            raise CorpusError("没有记下法规库是从哪里导入的，没有更新。", cure="请给出路径或网址，之后就会记得。")
        before, reports = index_contents(self.library.folder), list[ImportReport]()
        for origin, sha256 in origins.items():
            unchanged = all(report.up_to_date for report in reports)
            reports.append(self._update_origin(origin, sha256 if unchanged else None))
        return ImportReport.combine(reports, list(law_changes(before, index_contents(self.library.folder))))

    def _update_origin(self, origin: str, known_checksum: str | None) -> ImportReport:
        """Update from one origin. If it cannot be reached, all that came from it stays as it is."""
        try:
            return self.run(origin, known_checksum)
        except (ImportBusy, ImportCancelled):
            raise
        except AppError as error:
            return ImportReport(origin, problem=str(error), up_to_date=True)

    def run(self, path_or_url: str, known_checksum: str | None) -> ImportReport:
        """Import one source. A file with the known checksum is not read again."""
        if path_or_url == LAW_PACKAGE:
            return self._import_law_package()
        if not _is_origin(path_or_url):
            path = Path(path_or_url).absolute()
            return self._read(path, "" if self.temporary else str(path), known_checksum)
        folder = self.library.folder / "download"
        known = public_corpus(path_or_url)
        mirror = self.mirrors.get(known.key) if known else None
        corpus = download_corpus(
            mirror or path_or_url,
            folder,
            public_only=self.public_only and not mirror,  # the operator's own address may be a private one
            on_bytes=self.on_bytes,
            deadline=self.deadline,
        )
        file = self.library.folder / f"{corpus.sha256[:16]}-{corpus.path.name}"  # an import deletes folders first
        corpus.path.replace(file)
        try:
            report = self._read(file, path_or_url, known_checksum)
        finally:
            file.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
        report.source, report.size, report.sha256 = mirror or path_or_url, corpus.size, corpus.sha256
        return report

    def _import_law_package(self) -> ImportReport:
        """Import the law package that is installed, or, for an update or if none is, from the user's package index."""
        with tempfile.TemporaryDirectory(prefix="wenyuan-law-") as folder:
            package = None if self.update else installed_law_package()
            if package is None:
                self.on_progress(ImportProgress(DOWNLOAD, 0, 0))
                deadline = self.deadline or Deadline(float("inf"))
                package = download_law_package(Path(folder), newest=self.update, deadline=deadline)
            index = self.library.index()
            if self.update and index and index.was_imported(package.title):
                return ImportReport(package.title, up_to_date=True)
            return self._build(package.file, LAW_PACKAGE, package.title)

    def _read(self, path: Path, origin: str, known_checksum: str | None) -> ImportReport:
        if known_checksum and checksum(path) == known_checksum:
            return ImportReport(path.name, up_to_date=True)
        return self._build(path, origin)

    def _build(self, path: Path, origin: str, title: str = "") -> ImportReport:
        return import_source(
            self.library.folder,
            path,
            origin=origin,
            title=title,
            update=self.update,
            on_progress=self.on_progress,
            deadline=self.deadline,
        )


def _is_origin(path_or_url: str) -> bool:
    """Return whether this is recorded as it is: an address or the law package. A path is made absolute."""
    return path_or_url == LAW_PACKAGE or path_or_url.startswith(("http://", "https://"))
