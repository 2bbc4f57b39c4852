"""Suggested questions: kept with the answer, gone with the next question."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.answer.message import Message
from core.answer.stored_message import decode_message, encode_message
from core.ui.session import ChatState
from support.pages import open_page, rerun

SUGGESTED = ("多久到账？", "需要什么材料？")


def suggestions(page: AppTest) -> list[str]:
    return [button.label for button in page.main.button if str(button.key).startswith("follow-up-")]


def test_they_come_back_with_the_conversation_and_go_with_a_question() -> None:
    answer = Message("assistant", "三十日。", suggestions=SUGGESTED)
    kept = decode_message(
        encode_message(answer), id=answer.id, role="assistant", text=answer.text, created=answer.created
    )
    assert kept.suggestions == SUGGESTED
    page = open_page()
    page.session_state["chat"] = ChatState(messages=[Message("user", "多久？"), kept])
    rerun(page)
    assert suggestions(page) == list(SUGGESTED)
    page.main.button(key="follow-up-1").click()
    rerun(page)
    assert suggestions(page) == []
    assert [message.text for message in page.session_state["chat"].messages[1:3]] == ["三十日。", SUGGESTED[1]]
