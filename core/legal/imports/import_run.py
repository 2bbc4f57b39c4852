"""Importing from wherever the texts are: a folder, an archive, a file or a web address; and once more from there."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from core.base.errors import AppError
from core.base.http import Deadline
from core.legal.errors import CorpusError, EmbeddingError, ImportBusy, ImportCancelled, NoLegalIndex
from core.legal.imports.build import OnProgress, checksum, import_source, index_contents, law_changes
from core.legal.imports.corpus_download import OnBytes, download_corpus
from core.legal.imports.embed_library import embed_library
from core.legal.imports.report import ImportReport
from core.legal.library.index import LegalLibrary


def law_import(
    library: LegalLibrary,
    path_or_url: str,
    *,
    update: bool = False,
    public_only: bool = False,
    passing: bool = False,
    on_progress: OnProgress = lambda _: None,
    on_bytes: OnBytes = lambda _done, _total: None,
    until: Deadline | None = None,
) -> ImportReport:
    """Import laws and cases alike, and compute their vectors where an embedding model is configured. `update`: only
    what changed; without a path, from everywhere the library came from. `passing`: the file will be gone."""
    work = _Import(library, update, public_only, passing, on_progress, on_bytes, until)
    report = work.of(path_or_url, work.known(path_or_url)) if path_or_url else work.of_all()
    try:
        report.vectors = embed_library(library, on_progress=on_progress, deadline=until)
    except EmbeddingError as error:  # the laws are imported all the same
        report.problem = str(error)
    return report


@dataclass(frozen=True, slots=True)
class _Import:
    library: LegalLibrary
    update: bool
    public_only: bool
    passing: bool
    on_progress: OnProgress
    on_bytes: OnBytes
    until: Deadline | None

    def known(self, path_or_url: str) -> str | None:
        """The checksum of what an update finds again."""
        index = self.library.index() if self.update else None
        place = path_or_url if _is_address(path_or_url) else str(Path(path_or_url).absolute())
        return index.origins().get(place) if index else None

    def of_all(self) -> ImportReport:
        """In the order in which they were imported, because later ones stand over earlier ones: what comes after a source that
        changed is imported again, too."""
        index = self.library.index()
        if index is None:
            raise NoLegalIndex
        origins = index.origins()
        if not origins:
            raise CorpusError("没有记下法规库是从哪里导入的，没有更新。", cure="请给出路径或网址，之后就会记得。")
        before, reports = index_contents(self.library.folder), list[ImportReport]()
        for origin, known in origins.items():
            unchanged = all(report.up_to_date for report in reports)
            reports.append(self._again(origin, known if unchanged else None))
        return ImportReport.combine(reports, law_changes(before, index_contents(self.library.folder)))

    def _again(self, origin: str, known: str | None) -> ImportReport:
        """A source that is gone, or not there today, leaves what came from it as it is."""
        try:
            return self.of(origin, known)
        except (ImportBusy, ImportCancelled):
            raise
        except AppError as error:
            return ImportReport(origin, problem=str(error), up_to_date=True)

    def of(self, path_or_url: str, known: str | None) -> ImportReport:
        """`known`: the checksum of what need not be read again."""
        if not _is_address(path_or_url):
            path = Path(path_or_url).absolute()
            return self._read(path, "" if self.passing else str(path), known)
        fetched = self.library.folder / "download"
        got = download_corpus(
            path_or_url, fetched, public_only=self.public_only, on_bytes=self.on_bytes, deadline=self.until
        )
        aside = self.library.folder / f"{got.sha256[:16]}-{got.path.name}"  # folders are cleared when an import begins
        got.path.replace(aside)
        try:
            report = self._read(aside, path_or_url, known)
        finally:
            aside.unlink(missing_ok=True)
            shutil.rmtree(fetched, ignore_errors=True)
        report.source, report.size, report.sha256 = path_or_url, got.size, got.sha256
        return report

    def _read(self, path: Path, origin: str, known: str | None) -> ImportReport:
        if known and checksum(path) == known:
            return ImportReport(path.name, up_to_date=True)
        return import_source(
            self.library.folder,
            path,
            origin=origin,
            update=self.update,
            on_progress=self.on_progress,
            deadline=self.until,
        )


def _is_address(path_or_url: str) -> bool:
    return path_or_url.startswith(("http://", "https://"))
