"""Who may import: whoever sits at the machine itself, unless the settings say otherwise; and what the buttons do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import streamlit as st

from core.legal.errors import CorpusError
from core.ui.legal import imports as legal_import


class Importer:
    """Notes what reaches it; refuses with what it was given."""

    def __init__(self, refusal: Exception | None = None) -> None:
        self.refusal = refusal
        self.taken: list[str] = []

    def take(self, name: str, *_: object) -> None:
        if self.refusal:
            raise self.refusal
        self.taken.append(name)

    from_address = from_upload = take


def pressed(monkeypatch: pytest.MonkeyPatch, importer: Importer, *, by: str, upload: object) -> dict[str, object]:
    """Both buttons, as a page that was drawn earlier may still show them; what the next run of the page will find."""
    app = SimpleNamespace(
        settings=SimpleNamespace(legal=SimpleNamespace(import_by=by)), legal=SimpleNamespace(importer=importer)
    )
    state: dict[str, object] = {legal_import.ADDRESS: " https://laws.example/a.zip ", legal_import.UPLOAD: upload}
    monkeypatch.setattr(st, "session_state", state)
    legal_import._import_typed_address(app)  # type: ignore[arg-type]
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
    monkeypatch.setattr(legal_import, "_import_typed_address", lambda app: None)
    state = pressed(monkeypatch, Importer(refusal), by="everyone", upload=upload)
    assert said in str(state[legal_import.PROBLEM])
