"""复制: the answer as Markdown, written out for the one that is opened."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.export import answer_as_markdown
from core.answer.message import Message
from core.search.types import Source
from core.ui.chat import render
from core.ui.session import ChatState
from support.pages import open_page, rerun

SOURCE = Source(1, "灯塔法全文", "https://law.example/", "守塔人应当在日落前点灯。")


def copied(page: AppTest) -> list[str]:
    return [code.value for code in page.code]


def test_only_what_is_opened_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def counting(message: Message, *rest: Any, **more: Any) -> str:
        written.append(message.id)
        return answer_as_markdown(message, *rest, **more)

    monkeypatch.setattr(render, "answer_as_markdown", counting)
    page = open_page()
    answers = [Message("assistant", f"第 {number} 答 [1]。", (), (SOURCE,), id=f"a{number}") for number in range(5)]
    page.session_state["chat"] = ChatState(messages=answers)
    rerun(page)
    assert len(page.chat_message) == 5
    assert (written, copied(page)) == ([], [])
    page.session_state["copy-a3"] = True  # as a click does
    rerun(page)
    assert set(written) == {"a3"}
    (text,) = copied(page)
    assert "第 3 答" in text
    assert "**参考文献**" in text
    page.session_state["copy-a3"] = False
    rerun(page)
    assert copied(page) == []
