"""Two tabs of one conversation: what one says the other shows, and answers with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.message import Message
from core.app import App
from core.ui import conversation_sync, identity
from core.ui.chat import actions
from support.openai_server import OpenAIServer, openai_server
from support.pages import ask, open_page, put_back, rerun, serving, values

ME = "m" * 32


@pytest.fixture(autouse=True)
def me(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "visitor", lambda: ME)


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def app(model: OpenAIServer, tmp_path: Path) -> Iterator[App]:
    service = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:echo"}
    with serving(DATA_DIR=str(tmp_path), CHECKS_JUDGE="off", **service) as running:
        yield running


@pytest.fixture
def tabs(app: App) -> tuple[AppTest, AppTest]:
    one = ask(open_page(), "一")
    assert app.outbox.flush(10)
    return one, open_page(c=one.session_state["chat"].conversation_id)


def said(page: AppTest) -> list[str]:
    return [message.text for message in page.session_state["chat"].messages]


def look(page: AppTest) -> AppTest:
    """As core/ui/scripts/tabs.js does it."""
    page.query_params["look"] = "1"
    page = rerun(page)
    assert "look" not in page.query_params
    return page


def sent(model: OpenAIServer) -> list[str]:
    return [message["content"] for message in model.requests[-1]["messages"][1:]]


def click(page: AppTest, label: str) -> AppTest:
    next(button for button in page.main.button if button.label == label).click()
    return rerun(page)


def test_a_question_goes_to_the_model_with_what_another_tab_has_said(
    app: App, model: OpenAIServer, tabs: tuple[AppTest, AppTest]
) -> None:
    one, other = tabs
    ask(one, "二")
    assert app.outbox.flush(10)
    ask(other, "三")
    assert sent(model) == ["一", "一", "二", "二", "三"]
    assert said(other) == ["一", "一", "二", "二", "三", "三"]
    assert app.outbox.flush(10)
    ask(one, "四")
    assert sent(model) == ["一", "一", "二", "二", "三", "三", "四"]
    assert app.outbox.flush(10)
    id = one.session_state["chat"].conversation_id
    assert [message.text for message in app.store.load(id, visitor_id=ME).messages] == said(one)


def test_a_look_shows_what_was_said_changed_and_removed(app: App, tabs: tuple[AppTest, AppTest]) -> None:
    one, other = tabs
    assert conversation_sync.CHANGED not in one.session_state, "it was told"
    ask(one, "二")
    assert app.outbox.flush(10)
    assert said(look(other)) == ["一", "一", "二", "二"]
    id, answer = one.session_state["chat"].conversation_id, one.session_state["chat"].messages[-1]
    app.store.save(id, Message("assistant", "改过的", id=answer.id), visitor_id=ME)
    assert said(look(other)) == ["一", "一", "二", "改过的"]
    app.store.truncate_from(id, one.session_state["chat"].messages[2].id, visitor_id=ME)
    assert said(look(other)) == ["一", "一"]


def test_a_look_without_news_leaves_everything(app: App, tabs: tuple[AppTest, AppTest]) -> None:
    _, other = tabs
    other = ask(other, "/help")
    before = said(other)
    assert len(before) == 3
    assert said(look(other)) == before


def test_what_is_not_saved_yet_stays(app: App, tabs: tuple[AppTest, AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tabs
    ask(one, "二")
    assert app.outbox.flush(10)
    chat = other.session_state["chat"]
    waiting = Message("user", "还没有保存")
    monkeypatch.setattr(app.outbox, "pending_messages", lambda *_, **__: (waiting,))
    chat.messages.append(waiting)
    assert said(look(other)) == ["一", "一", "二", "二", "还没有保存"]


@pytest.mark.parametrize("way", ["重新回答", "修改问题"])
def test_a_click_that_was_meant_for_something_else_does_nothing(
    app: App, model: OpenAIServer, tabs: tuple[AppTest, AppTest], way: str
) -> None:
    one, other = tabs
    if way == "修改问题":
        click(other, way)
        other.text_area[0].set_value("改过的问题")
    ask(one, "二")
    assert app.outbox.flush(10)
    asked = len(model.requests)
    if way == "修改问题":
        next(button for button in other.button if button.label == "重新发送").click()
        other = rerun(other)
    else:
        other = click(other, way)
    assert actions.SEEN_NOW in values(other.warning)
    assert said(other) == ["一", "一", "二", "二"]
    assert len(model.requests) == asked
    assert app.outbox.flush(10)
    assert len(app.store.load(one.session_state["chat"].conversation_id, visitor_id=ME).messages) == 4


@pytest.mark.parametrize("by", ["look", "question"])
@pytest.mark.parametrize("what", ["deleted", "withdrawn"])
def test_what_was_deleted_or_withdrawn_elsewhere_is_said_and_nothing_typed_is_lost(
    app: App, monkeypatch: pytest.MonkeyPatch, tabs: tuple[AppTest, AppTest], by: str, what: str
) -> None:
    one, other = tabs
    id = one.session_state["chat"].conversation_id
    if what == "deleted":
        app.store.delete(id, visitor_id=ME)
    else:
        share = app.store.share(id, visitor_id=ME)
        monkeypatch.setattr(identity, "visitor", lambda: "y" * 32)
        other = open_page(s=share)
        assert said(other) == ["一", "一"]
        app.store.stop_sharing(id, visitor_id=ME)
    other = look(other) if by == "look" else ask(other, "接着问")
    (note,) = said(other)
    assert {"deleted": "可能在另一个标签页里被删除", "withdrawn": "分享链接已经失效"}[what] in note
    assert dict(other.query_params) == {}
    if by == "question":
        assert put_back(other) == "接着问"
        assert said(ask(other, "接着问"))[1:] == ["接着问", "接着问"]


def test_two_questions_at_once_are_stored_each_before_its_answer(app: App) -> None:
    id = app.store.create(visitor_id=ME)
    for message in (Message("user", "一", id="q1"), Message("user", "二", id="q2")):
        app.store.save(id, message, visitor_id=ME)
    app.store.save(id, Message("assistant", "答", id="a1"), visitor_id=ME, question_id="q1", finished=False)
    app.store.save(id, Message("assistant", "答二", id="a2"), visitor_id=ME, question_id="q2")
    app.store.save(id, Message("assistant", "答一", id="a1"), visitor_id=ME, question_id="q1")
    app.store.save(id, Message("assistant", "另答", id="a3"), visitor_id=ME, question_id="q1")
    said = [message.text for message in app.store.load(id, visitor_id=ME).messages]
    assert said == ["一", "答一", "二", "答二", "另答"]
