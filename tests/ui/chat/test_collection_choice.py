"""资料 at the input: which collections a conversation uses, what it remembers, and what it says when one is gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.app import App
from core.documents import Access
from core.run import Question
from core.ui import identity
from core.ui.chat.search_offer import FIRST_OFFER
from support.filled_collections import fill_collection
from support.pages import ask, open_page, rerun, serving, values

MINE = "m" * 32


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setattr(identity, "visitor", lambda: MINE)
    with serving() as running:
        yield running


@pytest.fixture
def asked(app: App, monkeypatch: pytest.MonkeyPatch) -> list[Question]:
    questions = list[Question]()
    start = app.chat.start

    def noted(question: Question) -> object:
        questions.append(question)
        return start(question)

    monkeypatch.setattr(app.chat, "start", noted)
    return questions


def label(page: AppTest) -> str:
    (menu,) = (one for one in page.get("popover") if "资料" in one.proto.popover.label)
    return str(menu.proto.popover.label).replace("\\", "")


def tick(page: AppTest, id: str, *, on: bool = True) -> AppTest:
    page.checkbox(key=f"collection-{id}").set_value(on)
    return rerun(page)


def test_without_a_collection_the_way_to_make_one_stands_there(app: App) -> None:
    links = [one.proto.label for one in open_page().get("page_link")]
    assert links == ["资料"]


def test_the_choice_goes_with_each_question_and_with_the_conversation(app: App, asked: list[Question]) -> None:
    contracts, rules = fill_collection(app, "合同", Access(MINE)), fill_collection(app, "规章", Access(MINE))
    page = open_page()
    assert label(page) == "资料"
    assert FIRST_OFFER in values(page.caption)
    assert label(tick(page, contracts.id)) == "资料：合同"
    assert FIRST_OFFER not in values(page.caption), "answers have sources now"
    ask(page, "租金是多少")
    assert (asked[-1].options.collections, asked[-1].options.access) == ((contracts.id,), Access(MINE))
    app.outbox.flush(10)
    id = page.session_state["chat"].conversation_id
    assert label(open_page(c=id)) == "资料：合同", "chosen before there was a conversation"
    assert label(tick(page, rules.id)) == "资料：合同 等 2 个"
    ask(page, "年假几天")
    assert asked[-1].options.collections == (contracts.id, rules.id)
    app.outbox.flush(10)
    assert label(open_page(c=id)) == "资料：合同 等 2 个"
    assert label(open_page()) == "资料", "another conversation has its own choice"
    assert label(tick(page, contracts.id, on=False)) == "资料：规章"
    app.outbox.flush(10)
    assert label(open_page(c=id)) == "资料：规章"


def test_a_collection_that_is_gone_is_named_and_not_asked(app: App, asked: list[Question]) -> None:
    contracts, rules = fill_collection(app, "合同", Access(MINE)), fill_collection(app, "规章", Access(MINE))
    page = ask(tick(tick(open_page(), contracts.id), rules.id), "租金是多少")
    app.documents.delete_collection(contracts.id, Access(MINE))
    page = rerun(page)
    assert label(page) == "资料：规章"
    assert "「合同」已经删除，或者不再分享给你" in values(page.caption).replace("\\", "")
    ask(page, "年假几天")
    assert asked[-1].options.collections == (rules.id,)
    page.button(key="forget-missing").click()
    assert "已经删除" not in values(rerun(page).caption)


@pytest.mark.parametrize("environ", [{"PUBLIC_PAGES": "legal"}, {"DOCUMENTS_ENABLED": "false"}])
def test_nothing_of_it_is_there_where_it_is_hidden_or_switched_off(environ: dict[str, str]) -> None:
    with serving(**environ):
        page = open_page()
        assert not page.get("popover")
        assert not page.get("page_link")
