"""Scans at the input: recognized by the real models before the question is sent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.events import Notice
from core.answer.message import Message
from core.app import App
from core.reading import FileReading
from core.ui import identity
from support.openai_server import OpenAIServer, openai_server
from support.pages import ask, html, open_page, put_back, rerun, serving, values
from support.reading import kept_workers
from support.scans import file_of, one_recognizer, scan
from support.waiting import until

__all__ = ["kept_workers"]

RENT = "承租方每月支付租金人民币48,600元。"
LIGHT = "灯塔的灯每晚六点点亮，早上七点熄灭。"
SCAN = ("扫描.pdf", file_of("PDF", scan(LIGHT), scan(RENT)))
LONG = ("长扫描.pdf", file_of("PDF", *[scan(RENT, LIGHT)] * 6))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def app(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setattr(identity, "visitor", lambda: "m" * 32)
    server.reply = lambda request: ["承租方每月支付租金人民币48,600元 [1]。"]
    model = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k", "LLM_MODEL": "openai:reply"}
    with one_recognizer(), serving(CHAT_FOLLOW_UPS="0", **model) as app:
        yield app


def attach(page: AppTest, question: str, *files: tuple[str, bytes]) -> AppTest:
    for name, body in files:
        page.chat_input[0].upload(name, body)
    return ask(page, question)


def scans(page: AppTest) -> tuple[FileReading, ...]:
    found: tuple[FileReading, ...] = page.session_state["chat"].scans
    return found


def answered(page: AppTest) -> Message:
    message: Message = page.session_state["chat"].messages[-1]
    return message


def prompt(server: OpenAIServer) -> str:
    return str(server.requests[-1]["messages"][-1]["content"])


def test_a_scan_is_recognized_and_then_the_question_is_sent(app: App, server: OpenAIServer) -> None:
    page = attach(open_page(), "租金是多少？", SCAN)
    (reading,) = scans(page)
    assert "「扫描\\.pdf」是扫描件，正在识别" in values(page.caption)
    assert "完成后发送「租金是多少？」" in values(page.caption)
    assert not server.requests
    assert reading.wait(120)
    page = rerun(page)
    assert RENT in prompt(server)
    assert LIGHT in prompt(server)
    (citation,) = answered(page).check.statements[0].citations  # type: ignore[union-attr]
    assert citation.check.verdict.value == "supported"
    assert "第 2 页（识别）" in html(page)
    assert not scans(page)
    app.outbox.flush(10)
    again = ask(open_page(c=page.session_state["chat"].conversation_id), "再说一遍？")
    assert RENT in prompt(server), "a later question needs no second recognition"
    assert "第 2 页（识别）" in html(again)


def test_a_stop_sends_the_question_with_what_was_recognized(app: App, server: OpenAIServer) -> None:
    page = attach(open_page(), "租金是多少？", LONG)
    (reading,) = scans(page)
    until(lambda: reading.progress[0] == 3, 60)
    page.button(key="stop-scans").click()
    page = rerun(page)
    assert reading.wait(60)
    page = rerun(page)
    assert RENT in prompt(server)
    (notice,) = [event for event in answered(page).events if isinstance(event, Notice) and event.kind == "unread_pages"]
    assert "附件「长扫描.pdf」第 3–6 页只有图像，其中的文字没有识别，回答没有用到。" in notice.text
    assert "第 3–6 页" in html(page) + values(page.info) + values(page.warning)


def test_a_stop_before_the_first_page_puts_the_question_back(app: App, server: OpenAIServer) -> None:
    page = attach(open_page(), "租金是多少？", LONG)
    (reading,) = scans(page)
    reading.stop()
    assert reading.wait(60)
    page = rerun(page)
    assert "停止了识别，没有读。" in values(page.warning)
    assert put_back(page) == "租金是多少？"
    assert not server.requests


def test_nobody_waits_for_a_reader_who_has_gone(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.reading import file_reading

    monkeypatch.setattr(file_reading, "FORGOTTEN_SECONDS", 0.0)
    reading = FileReading(app.reader, *LONG)
    assert reading.wait(60)
    assert reading.problem == "「长扫描.pdf」停止了识别，没有读。"
