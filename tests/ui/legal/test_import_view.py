"""Who may import: whoever sits at the machine itself, unless the settings say otherwise; and what the buttons do."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.app import shared_app
from core.legal.errors import CorpusError
from core.legal.imports.import_run import law_import
from core.ui import legal_views
from core.ui.legal import import_view as legal_import
from support import invented
from support.legal_page import opened, ran
from support.pages import html
from support.waiting import until


class Importer:
    """Notes what reaches it; refuses with what it was given."""

    def __init__(self, refusal: Exception | None = None) -> None:
        self.refusal = refusal
        self.taken: list[str] = []

    def take(self, name: str, *_: object) -> None:
        if self.refusal:
            raise self.refusal
        self.taken.append(name)

    start_from_address = start_from_upload = take


def pressed(monkeypatch: pytest.MonkeyPatch, importer: Importer, *, by: str, upload: object) -> dict[str, object]:
    """Both buttons, as a page that was drawn earlier may still show them; what the next run of the page will find."""
    app = SimpleNamespace(
        settings=SimpleNamespace(legal=SimpleNamespace(import_by=by)), legal=SimpleNamespace(importer=importer)
    )
    state: dict[str, object] = {legal_import.ADDRESS: " https://laws.example/a.zip ", legal_import.UPLOAD: upload}
    monkeypatch.setattr(st, "session_state", state)
    legal_import._import_typed(app)  # type: ignore[arg-type]
    legal_import._import_upload(app)  # type: ignore[arg-type]
    return state


LAWS = SimpleNamespace(name="laws.zip")


def test_a_button_that_is_still_shown_imports_nothing_for_who_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    importer = Importer()
    pressed(monkeypatch, importer, by="nobody", upload=LAWS)
    assert importer.taken == []
    pressed(monkeypatch, importer, by="everyone", upload=LAWS)
    assert importer.taken == ["https://laws.example/a.zip", "laws.zip"]


@pytest.mark.parametrize(
    ("refusal", "upload", "said"),
    [
        (None, None, "还没有选择文件"),
        (CorpusError("已经有一个导入。", cure="请等它结束。"), LAWS, "请等它结束"),
        (OSError("No space left on device"), LAWS, "磁盘空间"),
    ],
)
def test_an_upload_that_cannot_be_taken_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, refusal: Exception | None, upload: object, said: str
) -> None:
    monkeypatch.setattr(legal_import, "_import_typed", lambda app: None)
    state = pressed(monkeypatch, Importer(refusal), by="everyone", upload=upload)
    assert said in str(state[legal_import.PROBLEM])


# ── How an import ended ───────────────────────────────────────────────────────────────────────────────────────────

LAW = {"name": "灯塔法", "published": "2020-01-01", "articles": [{"number": "第一条", "text": "由人看守。"}]}
NO_VECTORS = "语义模型无法读取"


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")


@pytest.fixture
def _unusable_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("LEGAL_EMBEDDING", str(tmp_path / "empty"))


def outcome() -> AppTest:
    """The page once the import is over."""
    job = shared_app().legal.importer.job
    until(lambda: job is not None and not job.is_running)
    page = opened()
    page.session_state[legal_views.VIEW] = legal_views.IMPORT
    return ran(page)


@pytest.mark.usefixtures("_unusable_model")
def test_an_import_without_vectors_says_so() -> None:
    shared_app().legal.importer.start_from_upload("灯.jsonl", io.BytesIO(json.dumps(LAW).encode()))
    page = outcome()
    assert "1 部法规（1 条）" in page.success[0].value
    assert "没有跳过任何内容" not in page.success[0].value
    assert NO_VECTORS in page.warning[0].value


@pytest.mark.usefixtures("_unusable_model")
def test_an_update_says_what_went_wrong_although_no_law_has_changed(tmp_path: Path) -> None:
    desk = shared_app().legal
    kept = invented.jsonl(tmp_path / "kept.jsonl", LAW)
    gone = invented.jsonl(tmp_path / "gone.jsonl", {**LAW, "name": "浮标法"})
    for source in (kept, gone):
        law_import(desk.library, str(source))
    gone.unlink()
    desk.importer.start_update()
    page = outcome()
    assert "最新" not in page.success[0].value
    assert re.search(r"找不到 \S*gone", page.warning[0].value)
    assert NO_VECTORS in page.warning[1].value


def test_an_update_lists_what_it_skipped(tmp_path: Path) -> None:
    desk = shared_app().legal
    source = invented.jsonl(tmp_path / "laws.jsonl", LAW)
    law_import(desk.library, str(source))
    invented.jsonl(source, {**LAW, "published": "2024-01-01"}, "不是 JSON")
    desk.importer.start_update()
    page = outcome()
    assert "跳过 1 处" in page.success[0].value
    assert "<td>laws.jsonl:2</td><td>不是 JSON</td>" in html(page)
