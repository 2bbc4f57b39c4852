"""A failed answer offers the next step in place: another model, the question again, the rest of the text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.events import UNFINISHED, SearchFinished
from core.answer.message import Message
from core.search.types import DOCUMENTS, SearchQuery, SearchResponse
from core.ui.chat.actions import CONTINUE_PROMPT
from core.ui.chat.failed_answer import OTHER_MODELS
from support.openai_server import DISCONNECT, Call, Fail, OpenAIServer, in_turn, openai_server
from support.pages import ask, html, open_page, rerun, search, serving, values


@contextmanager
def failing(model: str, others: str = "", **environ: str) -> Iterator[tuple[AppTest, OpenAIServer]]:
    with openai_server() as server:
        connection = {"OPENAI_BASE_URL": server.url, "LLM_MODEL": f"openai:{model}", "LLM_MODELS": others}
        with serving(OPENAI_API_KEY="k", CHAT_FOLLOW_UPS="0", LLM_ATTEMPTS="1", **connection, **environ):
            yield open_page(), server


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.main.button]


def click(page: AppTest, label: str) -> AppTest:
    next(button for button in page.main.button if button.label == label).click()
    return rerun(page)


def messages(page: AppTest) -> list[Message]:
    kept: list[Message] = page.session_state["chat"].messages
    return kept


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("500", "模型服务出错（500）。可以换个模型，或稍后再问。"),
        ("429", "模型服务正忙（429）。请过一会儿再问，或换个模型。"),
        ("403", "模型服务拒绝了访问（403）。"),
        ("401", "模型服务拒绝了当前的密钥。"),
    ],
)
def test_another_model_answers_in_place(model: str, said: str) -> None:
    with failing(model, "openai:ok") as (page, server):
        page = ask(page, "问题")
        assert said in values(page.error).replace("\\", "")
        assert labels(page).count("重新回答") == 1
        page = click(page, "换 ok 再答")
        assert messages(page)[0].text == "问题"
        assert len(messages(page)) == 2, "in the place of the one that failed"
        assert messages(page)[-1].model == "ok"
        assert not page.error
        ask(page, "再问")
        assert server.requests[-1]["model"] == "ok", "it is the chosen one from now on"


def test_several_other_models_are_a_list() -> None:
    with failing("500", "openai:401,openai:ok") as (page, _):
        page = ask(page, "问题")
        menu = next(menu for menu in page.menu_button if str(menu.key).startswith(OTHER_MODELS))
        assert menu.label == "换一个模型再答"
        menu.click("ok")
        assert messages(rerun(page))[-1].model == "ok"


def test_without_another_model_there_is_nothing_to_choose() -> None:
    with failing("500") as (page, _):
        page = ask(page, "问题")
        assert not any(label.startswith("换") for label in labels(page))
        assert "重新回答" in labels(page)
        page = click(page, "重新回答")
        assert len(messages(page)) == 2


def test_a_text_that_broke_off_goes_on_after_its_own_words_and_search() -> None:
    with failing("reply", CHAT_SEARCH_DEFAULT="off") as (page, server):
        server.reply = in_turn(["前半句，", DISCONNECT], ["后半句。"])
        page = ask(search(page, on=True), "标题1 是什么")
        assert "连接在回答途中断开" in values(page.error)
        assert "前半句，" in html(page)
        searched = messages(page)[-1].searches[-1].response.query.text
        page = click(page, "继续")
        sent = [message["content"] for message in server.requests[-1]["messages"]]
        assert sent[-2] == "前半句，"
        assert CONTINUE_PROMPT in sent[-1]
        assert messages(page)[1].text == "前半句，", "it stays"
        assert messages(page)[-1].text == "后半句。"
        assert messages(page)[-1].searches[-1].response.query.text == searched
        assert "继续" not in labels(page)


def test_a_saved_part_says_so_below_itself_and_goes_on() -> None:
    with failing("reply") as (page, server):
        server.reply = in_turn(["后半句。"])
        chat = page.session_state["chat"]
        chat.messages += [
            Message("user", "问题"),
            Message("assistant", "前半句，", events=(UNFINISHED,), model="reply"),
        ]
        page = rerun(page)
        assert UNFINISHED.text in values(page.warning)
        assert UNFINISHED.text not in values(page.info), "below the text, which it calls 以上"
        assert messages(click(page, "继续"))[-1].text == "后半句。"


def test_what_was_looked_up_in_collections_is_not_searched_on_the_web_when_it_goes_on() -> None:
    found = SearchFinished(SearchResponse(SearchQuery("租金"), provider=DOCUMENTS))
    with failing("reply", CHAT_SEARCH_DEFAULT="off") as (page, server):
        server.reply = in_turn(["后半句。"])
        chat = page.session_state["chat"]
        chat.messages += [
            Message("user", "租金是多少？"),
            Message("assistant", "前半句，", events=(found, UNFINISHED), model="reply"),
        ]
        page = click(rerun(page), "继续")
        assert messages(page)[-1].text == "后半句。"
        assert not messages(page)[-1].searches


def test_what_has_no_text_cannot_go_on() -> None:
    with failing("500") as (page, _):
        assert "继续" not in labels(ask(page, "问题"))


def test_an_agent_that_failed_after_its_searches_offers_another_model_too() -> None:
    with failing("reply", "openai:ok", AGENT_STRATEGY="tools") as (page, server):
        server.reply = in_turn([Call("web_search", '{"query": "标题1"}')], [Fail(401)])
        page.session_state["mode"] = "agent"
        page = ask(rerun(page), "标题1 是什么")
        assert messages(page)[-1].ending is None
        assert "换 ok 再答" in labels(page)
