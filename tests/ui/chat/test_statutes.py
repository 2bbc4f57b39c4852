"""法条核验 below an answer: where it stands, what it says without an index, and that it never breaks an answer."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.events import SearchFinished, ToolFinished, ToolStarted
from core.answer.export import as_markdown
from core.answer.message import Message, Role
from core.app import shared_app
from core.search.types import SearchQuery, SearchResponse, Source
from core.ui import identity
from core.ui import statute_findings as legal_check
from core.ui.chat.export_menu import _export_file
from core.ui.session import ChatState
from support import invented
from support.openai_server import openai_server
from support.pages import ask, check_title, chips, html, open_check, open_page, rerun, serving

TEXT = "守塔人应当在日落前点灯（《灯塔法》第三条）[1]。《灯塔法》第九十九条？《浮标法》第二条规定：“浮标由守塔人登记，每年一次。”"
SOURCE = Source(1, "灯塔法全文", "https://law.example/", "第三条 守塔人应当在日落前点灯。")
BY_AGENT = (
    ToolStarted("web_search", "点灯", "1"),
    SearchFinished(SearchResponse(SearchQuery("点灯"), provider="fake"), (SOURCE,)),
    ToolFinished("web_search", True, "找到", "1"),
)

ME = "m" * 32


@pytest.fixture(autouse=True)
def me(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page is opened by the same browser."""
    monkeypatch.setattr(identity, "visitor", lambda: ME)


def answered(text: str = TEXT, events: Any = (BY_AGENT[1],), question: str = "问") -> AppTest:
    page = open_page()
    message = Message("assistant", text, events, (SOURCE,), id="a")
    page.session_state["chat"] = ChatState(messages=[Message("user", question), message])
    return rerun(page)


def opened(page: AppTest) -> str:
    """What is drawn of the answer when its check is unfolded."""
    return html(open_check(page).chat_message[-1])


@pytest.fixture
def laws(tmp_path: Path) -> None:
    invented.library(Path(os.environ["DATA_DIR"]), invented.lawrefbook(tmp_path / "laws"))


@pytest.mark.parametrize("events", [(BY_AGENT[1],), BY_AGENT], ids=["chat", "agent"])
def test_it_stands_between_the_answer_and_its_references(laws: None, events: Any) -> None:
    page = answered(events=events)
    counted = "核验 · :red[法条 1 条查无] · :red[法条 1 条不一致] · 法条 1 条一致"
    assert check_title(page).startswith(counted), "the sentences may still be compared"
    assert ">法条核验<" not in html(page.chat_message[-1]), "it is written only when somebody opens it"
    for _ in range(2):
        assert chips(page) == ["✓ 《灯塔法》第三条", "✗ 《灯塔法》第九十九条", "≠ 《浮标法》第二条"]
        shown = html(page.chat_message[-1])
        assert shown.index("日落前点灯") < shown.index(">法条核验<") < shown.index(">参考文献<")
        assert "浮标由船长登记。" in shown
        assert "法规库：7 部，截至 2022-04-04" in shown
        rerun(page)


def test_an_answer_with_an_article_as_its_source_says_how_old_the_library_is(laws: None) -> None:
    article = replace(SOURCE, engine="laws", read="library", url="/legal?law=灯塔法")
    shown = opened(answered("要点灯[1]。", (SearchFinished(BY_AGENT[1].response, (article,)),)))
    assert "法规库：7 部，截至 2022-04-04" in shown
    assert "法规库：" not in opened(answered("你好[1]。"))


@pytest.mark.parametrize("events", [(BY_AGENT[1],), BY_AGENT], ids=["chat", "agent"])
def test_the_date_in_the_question_says_which_law_counts(laws: None, events: Any) -> None:
    old = "《灯塔法》第二条规定：“灯塔由守塔人看守，旧规定。”"
    assert chips(answered(old, events, "2015 年的合同，谁看守？")) == ["✓ 《灯塔法》第二条"]
    assert chips(answered(old, events, "谁看守？")) == ["⌛ 《灯塔法》第二条"]


def test_the_date_in_the_question_counts_while_it_is_answered_and_after_a_reload(laws: None) -> None:
    with openai_server() as server:
        server.script = ["《灯塔法》第二条规定：“灯塔由守塔人看守，旧规定。”"]
        model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:script:laws"}
        with serving(DATA_DIR=os.environ["DATA_DIR"], **model) as app:
            live = ask(open_page(), "2015 年的合同，谁看守？")
            assert chips(live) == ["✓ 《灯塔法》第二条"]
            assert app.outbox.flush(20)
            assert chips(open_page(c=live.session_state["chat"].conversation_id)) == ["✓ 《灯塔法》第二条"]


def test_exports_know_the_date_in_the_question(laws: None) -> None:
    old = "《灯塔法》第二条规定：“灯塔由守塔人看守，旧规定。”"
    talk = [Message(role, text) for question in ("2015 年谁看守？", "谁看守？") for role, text in _turn(question, old)]
    made = _export_file(partial(as_markdown, "题"), lambda: talk, lambda answer: {}, shared_app()).decode()
    assert [line[2] for line in made.splitlines() if line.startswith("- ") and "《灯塔法》第二条：" in line] == [
        "✓",
        "⌛",
    ]


def _turn(question: str, answer: str) -> list[tuple[Role, str]]:
    return [("user", question), ("assistant", answer)]


def test_an_answer_without_statutes_has_none(laws: None) -> None:
    assert "法条核验" not in opened(answered("你好[1]。"))


def test_without_an_index_one_line_says_where_to_get_it() -> None:
    page = answered()
    assert check_title(page).endswith("法条没有核验")
    shown = opened(page)
    assert "法规库是空的，回答引用的法条没有核验" in shown
    assert 'href="/legal"' in shown
    assert chips(page) == []
    assert "法条核验" not in opened(answered("你好[1]。"))


def test_an_error_while_drawing_leaves_the_answer(
    laws: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(legal_check, "draw", lambda *_, **__: 1 / 0)
    page = open_check(answered())
    assert "日落前点灯" in html(page.chat_message[-1])
    assert ">参考文献<" in html(page.chat_message[-1])
    assert "could not be drawn" in caplog.text
