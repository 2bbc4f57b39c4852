"""依据核对 on the chat page: what it says of an answer that has no sources."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.answer.citation_verdicts import NO_SOURCES_NOTE
from support.openai_server import openai_server
from support.pages import ask, open_page, rerun, search, serving


def said(page: AppTest) -> int:
    return [caption.value for caption in page.chat_message[-1].caption].count(NO_SOURCES_NOTE)


def test_an_answer_out_of_nothing_says_so_once_live_and_later() -> None:
    with openai_server() as server:
        server.script = ["水是湿的。"]
        with serving(OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:script:x"):
            page = ask(search(open_page(), on=False), "水怎么样？")
            assert said(page) == 1
            assert said(rerun(page)) == 1
            assert said(ask(search(page, on=True), "冰呢？")) == 0


def test_the_embedded_model_has_its_own_words_for_it() -> None:
    with serving():
        assert said(ask(search(open_page(), on=False), "水怎么样？")) == 0
