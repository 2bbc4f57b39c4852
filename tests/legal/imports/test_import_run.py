"""Importing from wherever the texts are, and what is said about it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.legal.imports import import_run
from core.legal.library.index import LegalLibrary
from support import invented
from support.base import ROOT


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LegalLibrary:
    folder = tmp_path_factory.mktemp("commands")
    library = LegalLibrary(folder / "data", today=lambda: invented.TODAY)
    report = import_run.law_import(library, str(invented.lawrefbook(folder / "laws")))
    assert (report.laws, report.skipped_count, len(report.skipped)) == (9, 3, 3)
    return library


def test_the_report_is_json(library: LegalLibrary, tmp_path: Path) -> None:
    report = import_run.law_import(
        library, str(invented.jsonl(tmp_path / "more.jsonl", {"caseName": "甲案", "text": "全文。"}))
    )
    document = report.to_json()
    assert json.loads(json.dumps(document, ensure_ascii=False)) == document
    assert (document["source"], document["layout"], document["cases"]) == ("more.jsonl", "JSONL", 1)
    counted = {"laws", "articles", "cases", "unchanged", "skipped", "seconds", "vectors"}
    assert set(document) == counted | {"source", "layout", "changed", "reasons", "upToDate"}


def test_it_all_loads_where_the_system_has_no_fcntl() -> None:
    code = """
import pkgutil, sys
sys.modules["fcntl"] = None  # as on Windows: importing it is an ImportError
import core.legal
for module in pkgutil.walk_packages(core.legal.__path__, "core.legal."):
    __import__(module.name)
print("core.legal.imports.build" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_it_all_runs_without_page_and_model() -> None:
    code = "import sys, core.legal.imports.import_run; print([n for n in sys.modules if n.split('.')[0] in ('streamlit', 'langchain', 'langchain_core')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
