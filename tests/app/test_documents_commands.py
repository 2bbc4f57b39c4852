"""The command line of the document library, as other programs and cron use it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.answer.events import PageRead
from core.app import build_app
from core.documents import Access
from core.serve import OPERATOR
from support.base import loaded
from support.command import Core, Done, core
from support.pdf_files import pdf_file
from support.reading import kept_workers

__all__ = ["core", "kept_workers"]

PDF = pdf_file(["房屋租赁合同", "灯塔街 12 号。"], ["第二条 租金", "月租金为人民币八千六百元，每季度首月五日前支付。"])
LEAVE = "年假制度\n入职满一年的员工每年有十天年假，由部门经理批准。"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a lease in a folder of its own, and a data directory of the test."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "公司"
    (folder / "合同").mkdir(parents=True)
    (folder / "合同" / "租赁.pdf").write_bytes(PDF)
    (folder / "年假.txt").write_text(LEAVE)
    return folder


def document(done: Done) -> Any:
    return json.loads(done.stdout)


def statuses(done: Done) -> dict[str, str]:
    return {file["file"]: file["status"] for file in document(done)["files"]}


def imported(core: Core, *paths: Path, name: str = "资料", options: Sequence[str] = ()) -> Done:
    return core("docs", "import", *map(str, paths), "--collection", name, "--json", *options)


def test_an_import_reports_each_file_and_reads_only_what_has_changed(core: Core, folder: Path) -> None:
    first = imported(core, folder)
    assert first.returncode == 0
    assert statuses(first) == {"公司/合同/租赁.pdf": "added", "公司/年假.txt": "added"}
    assert document(first)["files"][0]["pages"] == 2
    os.utime(folder / "年假.txt", (1, 1))
    (folder / "合同" / "租赁.pdf").write_bytes(PDF.replace(b"%PDF-1.4", b"%PDF-1.5"))
    second = imported(core, folder)
    assert statuses(second) == {"公司/合同/租赁.pdf": "updated", "公司/年假.txt": "unchanged"}
    assert document(second)["counts"]["updated"] == 1
    told = core("docs", "import", str(folder), "--collection", "资料").stdout
    assert told == "资料集「资料」：未变 2。\n"


def test_removed_files_are_reported_and_removed_only_on_demand(core: Core, folder: Path) -> None:
    imported(core, folder)
    (folder / "年假.txt").unlink()
    kept = imported(core, folder)
    assert statuses(kept)["公司/年假.txt"] == "missing"
    assert kept.returncode == 0
    assert "--remove-missing" in kept.stderr
    assert found(core, "年假")
    assert statuses(imported(core, folder, options=["--remove-missing"]))["公司/年假.txt"] == "removed"
    assert not found(core, "年假")
    assert statuses(imported(core, folder)) == {"公司/合同/租赁.pdf": "unchanged"}


def test_other_folders_of_a_collection_have_lost_nothing(core: Core, folder: Path, tmp_path: Path) -> None:
    (other := tmp_path / "公司二").mkdir()
    (other / "年假.txt").write_text(LEAVE)
    imported(core, other)
    assert "公司二/年假.txt" not in statuses(imported(core, folder, options=["--remove-missing"]))
    gone = tmp_path / "没有"
    done = imported(core, gone, options=["--remove-missing"])
    assert done.returncode == 1
    assert document(done)["files"][0]["reason"] == "没有这个目录或文件。"
    assert found(core, "年假")


def found(core: Core, query: str, name: str = "资料") -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = document(core("docs", "search", query, "--collection", name, "--json"))["results"]
    return results


def test_the_exit_status_tells_failures_and_the_report_their_reasons(core: Core, folder: Path) -> None:
    (folder / "坏.pdf").write_bytes(b"%PDF-1.4 nothing")
    (folder / "程序.exe").write_bytes(b"MZ")
    (folder / ".hidden.txt").write_text("x")
    (folder / "~$租赁.docx").write_text("x")
    done = imported(core, folder)
    assert done.returncode == 1
    assert statuses(done)["公司/坏.pdf"] == "unreadable"
    assert statuses(done)["公司/程序.exe"] == "skipped"
    assert len(statuses(done)) == 4
    reasons = {file["file"]: file["reason"] for file in document(done)["files"]}
    assert reasons["公司/坏.pdf"].endswith("。")
    told = core("docs", "import", str(folder), "--collection", "资料")
    assert told.returncode == 1, "what could not be read before still cannot"
    assert "无法读取　公司/坏.pdf：" in told.stdout


def test_links_and_pipes_are_named_and_not_followed(core: Core, folder: Path, tmp_path: Path) -> None:
    (secret := tmp_path / "secret").mkdir()
    (secret / "key.txt").write_text("保险柜的密码是海鸥。")
    (folder / "out").symlink_to(secret)
    (folder / "key.txt").symlink_to(secret / "key.txt")
    os.mkfifo(folder / "pipe.txt")
    done = imported(core, folder)
    skipped = {file["file"]: file["reason"] for file in document(done)["files"] if file["status"] == "skipped"}
    assert skipped == {
        "公司/key.txt": "是链接，没有跟随。",
        "公司/out": "是链接，没有跟随。",
        "公司/pipe.txt": "不是普通的文件。",
    }
    assert not found(core, "海鸥")


def test_results_have_file_page_and_text(core: Core, folder: Path) -> None:
    imported(core, folder)
    (best, *_) = found(core, "月租金是多少")
    assert (best["file"], best["page"], best["collection"]) == ("公司/合同/租赁.pdf", 2, "资料")
    assert "八千六百元" in best["text"]
    told = core("docs", "search", "月租金是多少", "--collection", "资料", "--limit", "1").stdout
    assert told.startswith("1. 公司/合同/租赁.pdf · 第 2 页")
    assert "八千六百元" in told
    lines = core("docs", "search", "-", "--collection", "资料", "--json", stdin="月租金\n年假\n").stdout.splitlines()
    assert [json.loads(line)["query"] for line in lines] == ["月租金", "年假"]
    assert core("docs", "search", "zebra", "--collection", "资料").stdout == "没有找到。\n"


def test_an_unknown_collection_is_an_error_that_names_the_known_ones(core: Core, folder: Path) -> None:
    imported(core, folder)
    done = core("docs", "search", "年假", "--collection", "没有", "--json")
    assert done.returncode == 1
    assert document(done)["error"] == {
        "kind": "collection_not_found",
        "message": "没有叫「没有」的资料集。现有的是「资料」。",
    }


def test_lists_and_removals(core: Core, folder: Path) -> None:
    imported(core, folder)
    (listed,) = document(core("docs", "list", "--json"))["collections"]
    assert (listed["name"], listed["files"], listed["mayChange"]) == ("资料", 2, True)
    files = document(core("docs", "list", "--collection", "资料", "--json"))["files"]
    assert [file["state"] for file in files] == ["indexed", "indexed"]
    assert core("docs", "list").stdout == "资料 · 2 个文件\n"
    assert core("docs", "remove", "--collection", "资料").returncode == 2
    unknown = core("docs", "remove", "没有.txt", "--collection", "资料")
    assert (unknown.returncode, unknown.stderr) == (1, "资料集里没有 没有.txt。\n")
    assert document(core("docs", "remove", "公司/合同", "--collection", "资料", "--json"))["removed"] == 1
    assert not found(core, "租金")
    assert found(core, "年假")
    assert core("docs", "remove", "--all", "--collection", "资料").returncode == 0
    assert document(core("docs", "list", "--json"))["collections"] == []


def test_collections_of_the_command_line_are_the_operators_until_they_are_shared(core: Core, folder: Path) -> None:
    imported(core, folder)
    url = document(core("docs", "share", "--collection", "资料", "--json"))["url"]
    key = url.partition("/documents?share=")[2]
    app = build_app(loaded(DATA_DIR=str(folder.parent / "data")))
    try:
        visitor = Access("0123456789abcdefghijklmnopqrstuv")
        assert app.documents.list_collections(visitor) == ()
        (shared,) = app.documents.list_collections(Access(visitor.visitor_id, (key,)))
        assert not shared.may_change
        assert app.documents.list_collections(OPERATOR.access)[0].share == key
    finally:
        app.close()
    core("docs", "share", "--collection", "资料", "--stop")
    assert "已分享" not in core("docs", "list").stdout


def events(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_without_a_model_a_question_is_answered_from_the_collection(core: Core, folder: Path) -> None:
    imported(core, folder)
    done = core("ask", "月租金是多少？", "--collection", "资料", "--json")
    assert done.returncode == 0
    answer = next(event for event in events(done) if event["type"] == "answer")
    assert "月租金为人民币八千六百元，每季度首月五日前支付。[1]" in answer["text"]
    assert (answer["sources"][0]["title"], answer["sources"][0]["collection"]) == ("公司/合同/租赁.pdf", "资料")
    (checked,) = (event for event in events(done) if event["type"] == "checked")
    assert checked["statements"][0]["citations"][0]["evidence"][0]["page"] == 2
    told = core("ask", "月租金是多少？", "--collection", "资料")
    assert "搜索：资料 · " in told.stderr
    assert "document:" not in told.stdout
    assert "资料「资料」" in told.stdout
    assert "第 2 页 · " in told.stdout.partition("参考文献")[2]


def test_a_question_with_files(core: Core, folder: Path) -> None:
    done = core(
        "ask", "月租金是多少？", "--file", str(folder / "合同" / "租赁.pdf"), str(folder / "年假.txt"), "--json"
    )
    read = [event for event in events(done) if event["type"] == PageRead.type]
    assert [event["ok"] for event in read] == [True, True]
    answer = next(event for event in events(done) if event["type"] == "answer")
    assert "八千六百元" in answer["text"]
    assert answer["sources"][0]["read"] == "file"
    told = core("ask", "月租金是多少？", "--file", str(folder / "合同" / "租赁.pdf"))
    assert "第 2 页 · 附件" in told.stdout.partition("参考文献")[2]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [(["--file", "/没有/的.pdf"], "input"), (["--collection", "没有"], "collection_not_found")],
)
def test_a_question_with_what_is_not_there_fails_with_a_sentence(
    core: Core, folder: Path, arguments: list[str], kind: str
) -> None:
    done = core("ask", "月租金是多少？", *arguments, "--json")
    assert done.returncode == 1
    assert document(done)["error"]["kind"] == kind
    assert document(done)["error"]["message"].endswith("。")


@pytest.mark.shared
def test_the_right_values_stand_in_the_first_five_hits_and_no_stale_file_before_the_current_one(
    core: Core, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    assert imported(core, shared / "data/documents/internal_docs").returncode == 0
    facts = [json.loads(line) for line in (shared / "data/documents/facts.jsonl").read_text().splitlines()]
    for fact in facts:
        hits = found(core, fact["q"])[:5]
        words = "\n".join(hit["text"] for hit in hits)
        assert [value for value in fact["must"] if value not in words] == [], fact["q"]
        assert_current_first(fact, hits)
    assert len(facts) == 8


def assert_current_first(fact: dict[str, Any], hits: list[dict[str, Any]]) -> None:
    """A current file with one of the values stands before every stale one."""
    stale = [fact.get("stale", "no file") in hit["file"] for hit in hits]
    has_value = [any(value in hit["text"] for value in fact["must"]) for hit in hits]
    current = [value and not old for value, old in zip(has_value, stale, strict=True)]
    assert current.index(True) < (stale.index(True) if True in stale else len(stale)), (fact["q"], hits)
