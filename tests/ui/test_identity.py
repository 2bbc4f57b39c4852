"""Who somebody is to the app, from what Streamlit knows about the connection."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core import VISITOR_COOKIE
from core.answer.message import Message
from core.base.visitors import Visitor
from core.store.errors import ConversationNotFound
from core.ui import conversation_list, identity, session
from core.ui.session import ChatState
from support.scripted_app import scripted_app

MARK = "m" * 32
ZHANG = {"is_logged_in": True, "iss": "https://id.example", "sub": "1", "email": "z@example.org"}


@pytest.fixture
def arrive(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(session, "chat", lambda: SimpleNamespace(session_id="session"))

    def arrive(user: dict[str, Any], *, mark: str = "", address: str | None = None) -> None:
        context = SimpleNamespace(cookies={VISITOR_COOKIE: mark}, ip_address=address)
        monkeypatch.setattr(identity, "st", SimpleNamespace(user=user, context=context, session_state={}))

    return arrive


def test_a_limit_counts_for_the_account_wherever_it_is(arrive: Any) -> None:
    arrive(ZHANG, mark=MARK, address="203.0.113.7")
    assert identity.rate_limited_visitor() == Visitor("https://id.example 1")


def test_without_a_login_for_the_browser_and_for_its_address(arrive: Any) -> None:
    arrive({"is_logged_in": False}, mark=MARK, address="203.0.113.7")
    assert identity.rate_limited_visitor() == Visitor(MARK, "203.0.113.7")
    arrive({}, mark=MARK, address="2001:db8::1:2:3:4")
    assert identity.rate_limited_visitor() == Visitor(MARK, "2001:db8::/64")


def test_this_machine_has_an_address_too_and_who_has_no_cookie_is_a_session(arrive: Any) -> None:
    arrive({})
    assert identity.rate_limited_visitor() == Visitor("session", "127.0.0.1")


@pytest.mark.parametrize("mark", ["https://id.example 1", "203.0.113.7", "short", MARK + "x"])
def test_nobody_becomes_another_by_a_cookie_of_their_own(arrive: Any, mark: str) -> None:
    arrive({}, mark=mark)
    assert identity.visitor() is None


def test_an_account_without_a_subject_owns_nothing(arrive: Any) -> None:
    arrive({"is_logged_in": True, "email": "z@example.org"})
    assert identity.owner() is None


def test_nobody_renames_or_deletes_what_belongs_to_another(arrive: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = ChatState(session_id="session")
    monkeypatch.setattr(session, "chat", lambda: chat)
    with scripted_app(says=[]) as (app, _):
        id = app.store.create(owner="https://id.example li")
        app.store.save(id, Message("user", "只有李四知道的问题"), visitor_id="https://id.example li")
        entry = app.store.load(id, visitor_id="https://id.example li").conversation
        arrive(ZHANG, mark=MARK)
        with pytest.raises(ConversationNotFound):
            conversation_list.rename(app, id, "我的")
        with pytest.raises(ConversationNotFound):
            conversation_list.delete(app, entry)
        with pytest.raises(ConversationNotFound):
            conversation_list.share(app, id)
        kept = app.store.load(id, visitor_id="https://id.example li")
    assert kept.conversation.title == "只有李四知道的问题"
