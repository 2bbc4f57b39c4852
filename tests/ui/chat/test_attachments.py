"""Files at the input: sources of the question that they come with, and of the questions after it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.message import Message
from core.app import App
from core.run import ABOUT_FILES
from core.ui import identity
from support import web_pages as pages
from support.openai_server import OpenAIServer, openai_server
from support.pages import ask, html, open_page, put_back, rerun, serving, values
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
    server.reply = lambda request: ["逾期付款的，每日按未付金额的万分之五支付违约金 [1]。"]
    with serving(OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k", LLM_MODEL="openai:reply", CHAT_FOLLOW_UPS="0") as app:
        yield app


def attach(page: AppTest, question: str, *files: tuple[str, bytes]) -> AppTest:
    for name, body in files:
        page.chat_input[0].upload(name, body)
    return ask(page, question)


def answered(page: AppTest) -> Message:
    message: Message = page.session_state["chat"].messages[-1]
    return message


def prompt(server: OpenAIServer) -> str:
    return str(server.requests[-1]["messages"][-1]["content"])


def test_a_file_is_a_source_of_the_answer(app: App, server: OpenAIServer) -> None:
    page = attach(open_page(), "违约金怎么算？", ("租约.docx", LEASE))
    assert PENALTY in prompt(server)
    entry = answered(page)
    assert [(source.number, source.title, source.read) for source in entry.cited] == [(1, "租约.docx", "file")]
    assert entry.check is not None
    assert [citation.check.verdict.value for one in entry.check.statements for citation in one.citations] == [
        "supported"
    ]
    drawn = "".join(html.proto.body for html in page.get("html"))
    assert "租约.docx</span>" in drawn, "in the bubble of the question"
    assert "附件 · 44 字" in drawn, "in the list of references"
    assert "attachment:" not in drawn


def test_a_file_is_a_source_of_later_questions_too_also_after_a_reload(app: App, server: OpenAIServer) -> None:
    page = ask(attach(open_page(), "违约金怎么算？", ("租约.docx", LEASE)), "那租金呢？")
    assert RENT in prompt(server)
    chat = page.session_state["chat"]
    assert answered(page).sources[0].title == "租约.docx"
    assert chat.messages[2].files == ()
    app.outbox.flush(10)
    again = ask(open_page(c=chat.conversation_id), "租金再说一遍？")
    assert answered(again).sources[0].read == "file"
    assert RENT in prompt(server)
    kept = again.session_state["chat"].messages
    assert [message.files for message in kept if message.role == "user"] == [("租约.docx",), (), ()]


def test_its_text_is_kept_once_and_shown_with_every_answer(app: App, server: OpenAIServer) -> None:
    page = ask(attach(open_page(), "违约金怎么算？", ("租约.docx", LEASE)), "那租金呢？")
    app.outbox.flush(10)
    chat = page.session_state["chat"]
    assert [app.read_pages.load(chat.conversation_id, one.id, visitor_id=MINE).keys() for one in chat.messages] == [
        *({1}, set(), set(), set()),
    ]
    next(
        button for button in page.button if button.label == "来源原文" and chat.messages[-1].id in str(button.key)
    ).click()
    assert RENT in html(rerun(page))


def test_what_cannot_be_read_is_said_and_the_question_waits_with_the_rest(app: App, server: OpenAIServer) -> None:
    page = attach(open_page(), "违约金怎么算？", ("扫描.pdf", pages.DRAWING), ("租约.docx", LEASE))
    assert "是扫描件，没有文字层" in values(page.warning)
    assert put_back(page) == "违约金怎么算？"
    assert not server.requests
    assert [button.label for button in page.button if "detach" in (button.key or "")] == ["租约\\.docx"]
    page = ask(page, "违约金怎么算？")
    assert not page.warning
    assert answered(page).cited[0].title == "租约.docx"
    assert not [button for button in page.button if "detach" in (button.key or "")]


def test_a_waiting_file_can_be_left_out(app: App, server: OpenAIServer) -> None:
    page = attach(open_page(), "问", ("扫描.pdf", pages.DRAWING), ("租约.docx", LEASE))
    next(button for button in page.button if button.key == "detach-0").click()
    page = ask(rerun(page), "问")
    assert answered(page).sources == ()


def test_no_more_files_than_a_question_may_have(app: App, server: OpenAIServer) -> None:
    page = attach(open_page(), "问", *((f"{n}.txt", f"第 {n} 份".encode()) for n in range(6)))
    assert "没有读：一个问题最多带 5 个文件。" in values(page.warning)
    assert len(answered(ask(page, "问")).sources) == 5


def test_files_without_a_word_are_summed_up(app: App, server: OpenAIServer) -> None:
    page = attach(open_page(), "", ("租约.docx", LEASE))
    assert page.session_state["chat"].messages[0].text == ABOUT_FILES
    assert RENT in prompt(server)


def test_another_answer_and_other_words_keep_the_file(app: App, server: OpenAIServer) -> None:
    page = attach(open_page(), "违约金怎么算？", ("租约.docx", LEASE))
    next(button for button in page.main.button if button.label == "重新回答").click()
    page = rerun(page)
    assert answered(page).sources[0].title == "租约.docx"
    next(button for button in page.main.button if button.label == "修改问题").click()
    rerun(page)
    page.text_area[0].set_value("租金是多少？")
    next(button for button in page.button if button.label == "重新发送").click()
    page = rerun(page)
    question, answer = page.session_state["chat"].messages
    assert (question.text, question.files) == ("租金是多少？", ("租约.docx",))
    assert answer.sources[0].title == "租约.docx"
    assert list(page.session_state["chat"].files) == [question.id]


def test_the_agent_is_given_the_file_beforehand(app: App, server: OpenAIServer) -> None:
    page = ask(open_page(), "/mode agent")
    page = attach(page, "违约金怎么算？", ("租约.docx", LEASE))
    assert any(PENALTY in str(message["content"]) for message in server.requests[0]["messages"])
    assert answered(page).cited[0].title == "租约.docx"
    assert not any(notice.kind == "not_searched" for notice in answered(page).notices)


def test_with_search_the_file_comes_first(app: App, server: OpenAIServer) -> None:
    page = ask(open_page(), "/search on")
    page = attach(page, "问源怎么标引用？", ("租约.docx", LEASE))
    first, *others = answered(page).sources
    assert (first.number, first.read) == (1, "file")
    assert others
    assert {source.read for source in others} <= {"library", "page", "snippet"}


def test_the_name_of_a_file_is_only_a_name(app: App, server: OpenAIServer) -> None:
    name = "<img src=x onerror=alert(1)>:red[a]![](javascript:alert(2)).txt"
    page = attach(open_page(), "问", (name, RENT.encode()), ("扫描.pdf", pages.DRAWING))
    (waiting,) = [button for button in page.button if "detach" in (button.key or "")]
    assert ":red[" not in waiting.label
    page = ask(page, "问")
    drawn = html(page)
    assert "<img src=x" not in drawn
    assert "&lt;img src=x" in drawn
    assert "javascript" not in "".join(re.findall(r'href="[^"]*"', drawn))
