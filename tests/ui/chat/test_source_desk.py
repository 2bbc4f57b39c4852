"""The reading desk without a browser: what is sent, when, and to whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.message import Message
from core.app import App
from core.ui import identity
from core.ui.chat.source_desk import NO_SOURCES, OPEN, WANTED
from support.openai_server import OpenAIServer, openai_server
from support.pages import ask, open_page, rerun, serving
from support.reading import kept_workers
from support.word_files import word_file

__all__ = ["kept_workers"]

RENT = "租金为每月 3,500 元，押二付一。"
PENALTY = "逾期付款的，每日按未付金额的万分之五支付违约金。"
LEASE = word_file(RENT, PENALTY)
MINE = "m" * 32


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def app(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setattr(identity, "visitor", lambda: MINE)
    server.reply = lambda request: [f"{PENALTY.removesuffix('。')}[1]。"]
    with serving(OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k", LLM_MODEL="openai:reply", CHAT_FOLLOW_UPS="0") as app:
        yield app


def answered_page(app: App) -> AppTest:
    page = open_page()
    page.chat_input[0].upload("租约.docx", LEASE)
    page = rerun(ask(page, "违约金怎么算？"))
    app.outbox.flush(10)
    return page


def answers(page: AppTest) -> list[Message]:
    return [one for one in page.session_state["chat"].messages if one.role == "assistant"]


def desk(page: AppTest) -> str:
    """What is sent of it; empty where there is none."""
    sent = (element.proto.body for element in page.get("html"))
    return "".join(body for body in sent if body.startswith('<aside class="wy-sources"'))


def flip(page: AppTest) -> AppTest:
    page.button(key="desk-switch").click()
    return rerun(page)


def want(page: AppTest, wanted: str) -> AppTest:
    """As the script of the page does."""
    page.text_input(key=WANTED).set_value(wanted)
    return rerun(page)


def test_a_page_without_sources_has_nothing_of_it(app: App) -> None:
    page = ask(open_page(), "你好")
    assert not answers(page)[0].sources
    assert not [button for button in page.button if button.key == "desk-switch"]
    page.session_state[OPEN] = True
    assert not [field for field in rerun(page).text_input if field.key == WANTED]


def test_closed_it_is_one_button_and_open_it_sends_nothing_before_the_browser_asks(app: App) -> None:
    page = answered_page(app)
    assert page.button(key="desk-switch").label == "来源"
    assert not [field for field in page.text_input if field.key == WANTED]
    flip(page)
    assert page.button(key="desk-switch").label == "收起来源"
    assert not desk(page)
    want(page, answers(page)[0].id)
    assert (
        f'<mark class="supported" data-s="0" data-at="{len(RENT) + 1}" tabindex="0" title="有据：{PENALTY}">{PENALTY}'
        in desk(page)
    )
    assert "附件 · 44 字" in desk(page)
    want(page, "")
    assert not desk(page)
    flip(page)
    assert not [field for field in page.text_input if field.key == WANTED]


def test_the_choice_is_stored_for_the_next_visit(app: App) -> None:
    page = flip(answered_page(app))
    assert app.preferences.load(MINE)[OPEN] is True
    again = open_page(c=page.session_state["chat"].conversation_id)
    assert again.button(key="desk-switch").label == "收起来源"
    flip(again)
    assert OPEN not in app.preferences.load(MINE)


def test_it_is_made_once_and_again_when_the_text_has_come_or_another_answer_is_wanted(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = flip(answered_page(app))
    loads: list[str] = []
    load = app.read_pages.load

    def counted(id: str, message_id: str, **how: Any) -> Any:
        loads.append(message_id)
        return load(id, message_id, **how) if len(loads) > 1 else {}

    monkeypatch.setattr(app.read_pages, "load", counted)
    want(page, answers(page)[0].id)
    assert "没有保存这个来源的文字" in desk(page), "not yet"
    rerun(page)
    assert PENALTY in desk(page)
    before = len(loads)
    rerun(page)
    assert len(loads) == before
    want(page, f"{answers(page)[0].id}/1")
    assert len(loads) > before


@pytest.mark.parametrize("wanted", ["-", "nobody", "nobody/1/read", "//", "a/b/c/d/e", "<script>"])
def test_what_is_not_in_this_conversation_is_not_shown(app: App, wanted: str) -> None:
    page = want(flip(answered_page(app)), wanted)
    assert NO_SOURCES in desk(page)
    assert "<mark" not in desk(page)
    question = page.session_state["chat"].messages[0]
    assert NO_SOURCES in desk(want(page, question.id))


def test_a_source_that_was_read_is_not_read_again(app: App, server: OpenAIServer) -> None:
    page = flip(answered_page(app))
    asked = len(server.requests)
    want(page, f"{answers(page)[0].id}/1/read")
    assert len(server.requests) == asked
    assert PENALTY in desk(page)
