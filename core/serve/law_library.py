"""The law library of a new installation: whoever asks it while it is being built waits a while."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from core.app import App
from core.base.errors import AppError
from core.base.http import Deadline
from core.legal import ImportJob, ImportProgress
from core.serve.errors import LibraryNotBuilt

log = logging.getLogger(__name__)

PATIENCE = 30.0
"""Seconds that a caller waits. Most programs give up after a minute."""
_LOOK_EVERY = 0.2


def wait_for_library(app: App, deadline: Deadline, report: Callable[[str], None] = lambda stage: None) -> None:
    """Wait while the library is built for the first time, here or by another process; `report` is told how far it is.
    Raise LibraryNotBuilt if that takes long. Return where nothing is built: the services say what is missing."""
    waiting, told = deadline.with_limit(PATIENCE), ""
    while app.legal.library.index() is None:
        job = app.legal.importer.job or _start_building(app)
        if job is None or not (job.is_running or job.was_busy):
            return
        stage = _describe(job.progress)
        if waiting.cancelled or not waiting.remaining():
            raise LibraryNotBuilt(stage)
        if stage != told:
            report(f"正在建立法规库：{stage}")
        told = stage
        time.sleep(_LOOK_EVERY)


def _describe(progress: ImportProgress) -> str:
    if not progress.done:
        return progress.stage
    return f"{progress.stage} {progress.done:,}{f'/{progress.total:,}' if progress.total else ''}"


def _start_building(app: App) -> ImportJob | None:
    """Start to build the library; if another process does, the job is busy. Return None where nothing is to be built."""
    try:
        return app.legal.start_built_in_import()
    except (AppError, OSError) as error:
        log.warning("the library of laws was not built: %s", error)
        return None
