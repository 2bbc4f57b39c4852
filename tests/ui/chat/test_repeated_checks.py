"""Answers that another version of the checker has marked: opened, shared, exported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.check_results import (
    CHECKER_VERSION,
    AnswerCheck,
    CitationCheck,
    SourceCheck,
    StatementCheck,
    Verdict,
)
from core.answer.events import Answer, Checked, SearchFinished
from core.answer.export import as_html, as_json, as_markdown
from core.answer.message import Message
from core.app import App, build_app
from core.reading import Page
from core.search.types import SearchQuery, SearchResponse, Source
from core.ui import identity
from core.ui.conversation_sync import with_repeated_checks
from support.base import ROOT, loaded
from support.pages import rerun
from support.shared import shared_and_closed
from support.waiting import until

SOURCE = Source(1, "灯塔", "https://a.example/", "灯塔", read="page")
PAGE = "守塔人应当在日落前点灯，并在日出后熄灯。灯塔高三十米，建于一九二〇年。"
SAID = "灯塔高四十米[1]。"
GREEN = SourceCheck(Verdict.SUPPORTED, 0.9, "原文如此。")
FALSELY_GREEN = AnswerCheck(
    (StatementCheck(0, 10, "灯塔高四十米。", GREEN, (CitationCheck(1, 6, 9, GREEN),)),), version=1
)

ME = "m" * 32


@pytest.fixture(autouse=True)
def me(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is opened by the same browser."""
    monkeypatch.setattr(identity, "visitor", lambda: ME)


@pytest.fixture
def app() -> Iterator[App]:
    with shared_and_closed(build_app(loaded())) as app:
        yield app


@pytest.fixture
def id(app: App) -> str:
    return keep(app)


def keep(app: App, *, with_page: bool = True) -> str:
    id = app.store.create(visitor_id=ME)
    found = SearchFinished(SearchResponse(SearchQuery("灯塔"), provider="fake"), (SOURCE,))
    events = found, Checked(FALSELY_GREEN), Answer(SAID, (SOURCE,))
    app.store.save(id, Message("user", "灯塔多高？", id="question"), visitor_id=ME)
    app.store.save(id, Message("assistant", SAID, events, (SOURCE,), id="answer"), visitor_id=ME)
    page = Page(SOURCE.url, SOURCE.url, "灯塔", PAGE, None, "html", datetime.now(UTC), 0, is_cut=False)
    if with_page:
        app.read_pages.save(id, "answer", {1: page}, visitor_id=ME)
    return id


def opened(**parameters: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=60)
    for name, value in parameters.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    return "".join(element.proto.body for element in page.get("html"))


def stored_check(app: App, id: str) -> AnswerCheck:
    check = app.store.load(id, visitor_id=ME).messages[-1].check
    assert check is not None
    return check


def test_it_is_made_again_once_saved_and_never_green_meanwhile(
    app: App, id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.checks, "_patience", 0.0)
    before = app.store.load(id, visitor_id=ME).conversation
    page = opened(c=id)
    while 'class="cite contradicted"' not in html(page):
        assert 'class="cite unchecked"' in html(page)
        assert 'class="cite supported"' not in html(page)
        rerun(page)
    until(lambda: stored_check(app, id).version == CHECKER_VERSION)
    assert stored_check(app, id).statements[0].citations[0].check.verdict is Verdict.CONTRADICTED
    assert app.store.load(id, visitor_id=ME).conversation == before, "it is as old as it was"

    def again(*_: object) -> None:
        raise AssertionError("it was made again already")

    monkeypatch.setattr("core.run.answer_checking.check_answer", again)
    assert 'class="cite contradicted"' in html(opened(c=id))


def test_without_the_text_it_stays_open_and_says_why(app: App) -> None:
    id = keep(app, with_page=False)
    page = opened(c=id)
    until(lambda: stored_check(app, id).version == CHECKER_VERSION)
    assert 'class="cite unchecked"' in html(rerun(page))
    assert "不再有效" in html(page)


def test_readers_of_a_share_see_the_new_check_and_change_nothing(app: App) -> None:
    id = keep(app)
    share = app.store.share(id, visitor_id=ME)
    with app.database.write() as connection:
        connection.exec_driver_sql("UPDATE conversations SET owner = 'somebody' WHERE id = ?", (id,))
    page = opened(s=share)
    until(lambda: 'class="cite contradicted"' in html(rerun(page)))
    assert app.outbox.flush(60)
    (*_, answer) = app.store.load(id, share=share, visitor_id="another").messages
    assert answer.check is not None
    assert answer.check.version != CHECKER_VERSION


def test_exports_have_the_new_check_or_none(app: App, id: str) -> None:
    messages = with_repeated_checks(app, app.store.load(id, visitor_id=ME).messages, id, visitor_id=ME)
    assert "1 处不符" in as_markdown("灯塔", messages)
    (statement,) = json.loads(as_json("灯塔", messages))["messages"][1]["check"]["statements"]
    assert statement["verdict"] == "contradicted"
    for stored in (
        app.store.load(id, visitor_id=ME).messages,
        app.store.load(keep(app, with_page=False), visitor_id=ME).messages,
    ):
        for export in (as_markdown, as_html, as_json):
            text = export("灯塔", stored)
            assert "有据" not in text
            assert "supported" not in text
