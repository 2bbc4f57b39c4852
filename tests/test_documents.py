"""The documents agree with the code and with each other."""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

from core.command_line import build_parser
from scripts import describe_modules
from support.base import ROOT

DECISIONS = ROOT / "docs" / "decisions"


def test_the_module_tree_is_current_and_a_change_is_found(tmp_path: Path) -> None:
    assert describe_modules.main(["--check"]) == 0
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "architecture.md", tmp_path / "docs")
    shutil.copytree(ROOT / "core", tmp_path / "core", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "core" / "planted.py").write_text('"""A planted module."""\n', "utf-8")
    assert describe_modules.main(["--check"], tmp_path) == 1


def test_every_decision_has_a_number_a_date_and_a_status_and_is_listed() -> None:
    listed = re.findall(r"^\| \[(\d{3})\]\((.+?)\) \|", (DECISIONS / "README.md").read_text("utf-8"), re.MULTILINE)
    files = sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))
    assert [name for _, name in listed] == files
    assert [int(number) for number, _ in listed] == list(range(1, len(files) + 1))
    for name in files:
        head = (DECISIONS / name).read_text("utf-8")
        assert re.match(
            rf"# {name[:3]}\. .+\n\nDate: \d{{4}}-\d\d-\d\d · Status: (accepted|superseded by \d{{3}})\n", head
        ), name


def test_modules_that_documents_name_exist() -> None:
    tutorial = ROOT / "docs" / "adding-an-engine.md"  # its engine is built by a test of its own
    documents = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "tests" / "README.md"]
    missing = {
        (str(document.relative_to(ROOT)), path)
        for document in documents
        if document.is_file() and document != tutorial
        for path in re.findall(r"\b(?:core|tests|bench|scripts)/[\w/]+\.\w+\b", document.read_text("utf-8"))
        if not (ROOT / path).exists()
    }
    assert missing == set()


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands below a command, by name."""
    found = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(next((action.choices for action in found), {}))


def test_the_manual_names_and_counts_every_command() -> None:
    manual = (ROOT / "docs" / "manual" / "70-cli-overview.md").read_text("utf-8")
    groups = commands(build_parser())
    sentence = re.search(r"有 (.+?) ([一二三四五六七八九十]+)组命令", manual)
    assert sentence
    assert sorted(re.split("、| 和 ", sentence[1])) == sorted(groups)
    assert sentence[2] == [*"〇一二三四五六七八九十", "十一", "十二", "十三", "十四", "十五"][len(groups)]
    every = {f"{name} {below}".strip() for name, group in groups.items() for below in commands(group) or [""]}
    assert set(re.findall(r"^\| `wenyuan ([a-z-]+(?: [a-z]+)?)", manual, re.MULTILINE)) == every
