"""Imports started from the page: in the background, one at a time per process, visible to every visitor.

A run of the page may end at any moment. An import continues until it is done, fails or is cancelled.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from core.base.errors import AppError
from core.base.http import Deadline
from core.base.tuning import use_all_cores
from core.legal.errors import CorpusError, ImportBusy, ImportCancelled
from core.legal.imports.build import DOWNLOAD, ImportProgress
from core.legal.imports.corpus_download import safe_name
from core.legal.imports.import_run import law_import
from core.legal.imports.law_package import LAW_PACKAGE, installed_law_package
from core.legal.imports.report import ImportReport
from core.legal.library.index import LegalLibrary

log = logging.getLogger(__name__)

IMPORT_FAILED = "导入没有完成，细节已写入日志；原有的法规与案例库没有变化。请检查数据目录的空间和权限。"


class ImportJob:
    """One import, running or finished. Its own thread writes it, any number of pages read it."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.progress = ImportProgress("准备", 0, 0)
        self.report: ImportReport | None = None
        """None while the import runs, and when it failed."""
        self.problem = ""
        self.was_busy = False
        """True if another process was importing."""
        self.is_running = True
        self._deadline = Deadline(float("inf"))

    def cancel(self) -> None:
        """Cancel the import. Reading and indexing stop at the next file, a download stops at once."""
        self._deadline.cancel()

    @property
    def is_cancelled(self) -> bool:
        return self._deadline.cancelled

    def run(
        self, library: LegalLibrary, path_or_url: str, *, mirrors: Mapping[str, str], temporary: bool = False
    ) -> None:
        """Run the import. Without a path or an address, update everything from where it was imported."""
        try:
            self.report = law_import(
                library,
                path_or_url,
                update=not path_or_url,
                public_only=True,
                temporary=temporary,
                mirrors=mirrors,
                on_progress=self._on_progress,
                on_bytes=lambda done, total: self._on_progress(ImportProgress(DOWNLOAD, done, total or 0)),
                deadline=self._deadline,
            )
        except ImportCancelled as error:
            self.problem = str(error)
        except AppError as error:
            self.was_busy = isinstance(error, ImportBusy)
            self.problem = f"{error}原有的法规与案例库没有变化。"
        except Exception:
            log.exception("import failed")
            self.problem = IMPORT_FAILED
        finally:
            self.is_running = False

    def _on_progress(self, progress: ImportProgress) -> None:
        self.progress = progress


class Importer:
    def __init__(self, library: LegalLibrary, mirrors: Mapping[str, str] | None = None) -> None:
        self._library = library
        self._mirrors = mirrors or {}
        self._lock = threading.Lock()
        self.job: ImportJob | None = None
        """The running import, or the last one."""

    def start_from_address(self, url: str, title: str = "") -> ImportJob:
        """Start an import from a web address. Raises CorpusError for anything else, such as a local path."""
        if not url.startswith(("http://", "https://")):
            raise CorpusError("这不是网址，没有导入。", cure="请输入以 http:// 或 https:// 开头的网址。")
        return self._start(title or url, url)

    def start_from_law_package(self) -> ImportJob:
        return self._start("国家法律", LAW_PACKAGE)

    def start_if_new(self) -> ImportJob | None:
        """Start to import the law package if the library is empty, or if a newer package was installed since. Another
        process may be doing so already: then the job was busy. Return the job that runs, or None."""
        index, package = self._library.index(), installed_law_package()
        is_newer = index and package and LAW_PACKAGE in index.origins() and not index.was_imported(package.title)
        if index is None or is_newer:
            with suppress(ImportBusy):
                return self._start("国家法律", LAW_PACKAGE, may_lose=True)
        return self.job

    def start_update(self) -> ImportJob:
        """Start an update from all known origins. Only what changed there is imported."""
        return self._start("更新法规库", "")

    def start_from_upload(self, name: str, content: IO[bytes]) -> ImportJob:
        folder = Path(tempfile.mkdtemp(prefix="wenyuan-upload-"))
        file = folder / safe_name(name.replace("\\", "/"))
        try:
            with file.open("wb") as target:
                shutil.copyfileobj(content, target)
            return self._start(name, str(file), folder_to_remove=folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _start(
        self, title: str, path_or_url: str, *, folder_to_remove: Path | None = None, may_lose: bool = False
    ) -> ImportJob:
        """Start an import. One that `may_lose` is forgotten if another process is importing at this moment."""
        with self._lock:
            if self.job is not None and self.job.is_running:
                raise ImportBusy
            self.job = job = ImportJob(title)

        def work() -> None:
            with use_all_cores():
                job.run(self._library, path_or_url, mirrors=self._mirrors, temporary=folder_to_remove is not None)
            if folder_to_remove is not None:
                shutil.rmtree(folder_to_remove, ignore_errors=True)
            if may_lose and job.was_busy:
                self.job = None

        threading.Thread(target=work, name="wenyuan-import", daemon=True).start()
        return job

    def close(self) -> None:
        if self.job is not None:
            self.job.cancel()
