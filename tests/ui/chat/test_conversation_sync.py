"""The page and a database that is busy or away: nothing vanishes from the screen, and what is not kept says so."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.message import Message
from core.app import App, build_app
from core.ui import identity
from support.base import ROOT, loaded
from support.pages import ask, rerun, values
from support.postgres import Postgres
from support.shared import shared_and_closed
from support.waiting import until

pytestmark = pytest.mark.xdist_group("postgres")

ME = "m" * 32


@pytest.fixture(autouse=True)
def me(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is opened by the same browser."""
    monkeypatch.setattr(identity, "visitor", lambda: ME)


@contextmanager
def installed(**environ: str) -> Iterator[App]:
    with shared_and_closed(build_app(loaded(**environ))) as app:
        yield app


def opened(conversation: str = "") -> AppTest:
    page = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=60)
    if conversation:
        page.query_params["c"] = conversation
    page.run()
    assert not page.exception
    return page


def said(page: AppTest) -> list[str]:
    return [message.text for message in page.session_state["chat"].messages]


def test_a_conversation_goes_on_while_the_database_is_away(postgres: Postgres) -> None:
    with installed(DATABASE_URL=postgres.new_database()) as app:
        id = app.store.create(visitor_id=ME)
        app.store.save(id, Message("user", "以前的问题", id="old"), visitor_id=ME)
        app.store.save(id, Message("assistant", "以前的回答", id="older"), visitor_id=ME)
        app.database.close()
        postgres.stop()
        try:
            page = opened(id)
            assert "打不开对话数据库" in values(page.warning)
            ask(page, "怎么打开联网搜索？")
            assert said(page)[0] == "怎么打开联网搜索？"
            assert len(said(page)) == 2, "it was answered"
            until(lambda: "尚未保存" in values(rerun(page).caption), seconds=30)
            assert said(page)[0] == "怎么打开联网搜索？"
        finally:
            postgres.start()
        assert app.outbox.flush(30)
        page = rerun(page)
        assert said(page)[:3] == ["以前的问题", "以前的回答", "怎么打开联网搜索？"]
        assert "尚未保存" not in values(page.caption)
        assert not page.warning
        assert [message.text for message in app.store.load(id, visitor_id=ME).messages] == said(page)


def test_a_question_that_cannot_be_kept_yet_says_so(tmp_path: Path) -> None:
    with installed(DATA_DIR=str(tmp_path)) as app:
        page = ask(opened(), "第一个问题")
        assert app.outbox.flush(10)
        with closing(sqlite3.connect(tmp_path / "database" / "wenyuan.sqlite3", isolation_level=None)) as backup:
            backup.execute("BEGIN IMMEDIATE")
            ask(page, "第二个问题")
            until(lambda: "尚未保存" in values(rerun(page).caption), seconds=30)
            until(lambda: "正忙" in values(rerun(page).warning), seconds=30)
            backup.execute("ROLLBACK")
        assert app.outbox.flush(10)
        page = rerun(page)
        assert "尚未保存" not in values(page.caption)
        assert not page.warning
        (conversation,) = {page.session_state["chat"].conversation_id}
        assert len(app.store.load(conversation, visitor_id=ME).messages) == 4


def test_a_question_without_an_answer_can_be_asked_again(tmp_path: Path) -> None:
    with installed(DATA_DIR=str(tmp_path)) as app:
        id = app.store.create(visitor_id=ME)
        app.store.save(id, Message("user", "怎么打开联网搜索？"), visitor_id=ME)
        page = opened(id)
        assert "还没有得到回答" in values(page.info)
        page.button(key="answer-unanswered").click()
        rerun(page)
        assert len(said(page)) == 2
        assert "还没有得到回答" not in values(page.info)


def test_a_conversation_with_the_old_spelling_of_its_mode_opens_in_it(tmp_path: Path) -> None:
    with installed(DATA_DIR=str(tmp_path)) as app:
        id = app.store.create(mode="Agent", visitor_id=ME)
        app.store.save(id, Message("user", "怎么打开联网搜索？"), visitor_id=ME)
        assert opened(id).session_state["mode"] == "agent"


def test_an_address_that_is_not_ours_after_all(postgres: Postgres) -> None:
    """What was said in memory moves to a conversation of its own."""
    with installed(DATABASE_URL=postgres.new_database()) as app:
        foreign = app.store.create("somebody else")
        app.store.save(foreign, Message("user", "别人的问题"), visitor_id="somebody else")
        app.database.close()
        postgres.stop()
        try:
            page = ask(opened(foreign), "我的问题")
        finally:
            postgres.start()
        until(lambda: app.outbox.flush(0), seconds=30)
        page = rerun(page)
        assert app.outbox.flush(30)
        own = page.session_state["chat"].conversation_id
        assert own != foreign
        assert "别人的问题" not in " ".join(said(page))
        assert app.store.load(own, visitor_id=ME).messages[0].text == "我的问题"
        assert len(app.store.load(foreign, visitor_id="somebody else").messages) == 1


def test_an_address_that_is_only_to_be_read_after_all(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was said in memory moves into a copy of the account's own: this browser had begun it before the login."""
    monkeypatch.setattr(identity, "browser", lambda: "y" * 32)
    monkeypatch.setattr(identity, "owner", lambda: ME)
    with installed(DATABASE_URL=postgres.new_database()) as app:
        foreign = app.store.create(visitor_id="y" * 32)
        app.store.save(foreign, Message("user", "别人的问题"), visitor_id="y" * 32)
        app.database.close()
        postgres.stop()
        try:
            page = ask(opened(foreign), "我的问题")
        finally:
            postgres.start()
        until(lambda: app.outbox.flush(0), seconds=30)
        page = rerun(page)
        assert app.outbox.flush(30)
        own = page.session_state["chat"].conversation_id
        assert own != foreign
        assert said(page)[:2] == ["别人的问题", "我的问题"]
        assert [message.text for message in app.store.load(own, visitor_id=ME).messages] == said(page)
        assert len(app.store.load(foreign, visitor_id="y" * 32).messages) == 1
        assert "尚未保存" not in values(rerun(page).caption)
