"""The scripts of the page."""

from __future__ import annotations

import re

import pytest

from core.ui import frame, scripts
from core.ui.chat import answer_actions
from support.pages import open_page


def test_there_is_one_script_on_a_page() -> None:
    page = open_page()
    drawn = [element.proto for element in page.get("html") if "<script" in element.proto.body]
    assert [proto.unsafe_allow_javascript for proto in drawn] == [True]


def test_what_came_with_the_html_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn() -> str:
        return "".join(element.proto.body for element in open_page().get("html"))

    alone = drawn()
    assert "<script" in alone
    assert ".wy-answer" in alone
    monkeypatch.setattr(frame, "is_index_customized", True)
    served = drawn()
    assert "<script" not in served
    assert ".wy-answer" not in served


def test_nothing_in_it_looks_like_a_tag() -> None:
    """Streamlit drops the whole script otherwise."""
    assert not re.search(r"<[/\w!]", scripts.combined_script())


def test_the_copy_button_is_one_that_the_script_knows() -> None:
    assert 'class="wy-copy"' in answer_actions.COPY_BUTTON
    assert '".wy-copy, [data-copy]"' in scripts.combined_script()
