"""What the command line prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.legal.errors import CorpusError
from core.legal.imports import load
from core.legal.library.cases import CaseService
from core.legal.library.index import LegalLibrary
from core.legal.library.statutes import RegulationService
from core.legal.verify import Verifier
from support import invented
from support.base import ROOT


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LegalLibrary:
    folder = tmp_path_factory.mktemp("commands")
    library = LegalLibrary(folder / "data", today=lambda: invented.TODAY)
    document = load.law_import(library, str(invented.lawrefbook(folder / "laws")))
    assert (document["laws"], document["skipped"], len(document["reasons"])) == (9, 3, 3)
    return library


def test_every_document_is_json(library: LegalLibrary, tmp_path: Path) -> None:
    draft = tmp_path / "稿.txt"
    draft.write_bytes("《灯塔法》第三条、第九条。《月光法》第一条。".encode("gb18030"))
    verified = load.law_verify(Verifier(library), draft)
    assert verified["counts"] == {"✓": 1, "✗": 1, "≠": 0, "⌛": 0, "？": 1}
    for document in (
        verified,
        load.law_search(RegulationService(library), "灯塔法第二条"),
        load.case_search(CaseService(library), "渔船", "民事"),
    ):
        assert json.loads(json.dumps(document, ensure_ascii=False)) == document


def test_a_file_that_cannot_be_read(library: LegalLibrary, tmp_path: Path) -> None:
    with pytest.raises(CorpusError):
        load.law_verify(Verifier(library), tmp_path / "nothing")
    (tmp_path / "x.docx").write_bytes(b"PK\x00\xff\x00")
    with pytest.raises(CorpusError):
        load.law_verify(Verifier(library), tmp_path / "x.docx")


def test_it_all_runs_without_page_and_model() -> None:
    code = "import sys, core.legal.imports.load; print([n for n in sys.modules if n.split('.')[0] in ('streamlit', 'langchain', 'langchain_core')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
