"""案号核验 below an answer: its chips, what a click shows, and the sources that contain the number."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.check_results import SourceText
from core.answer.events import SearchFinished
from core.answer.export import as_markdown
from core.answer.message import Message
from core.app import shared_app
from core.search.types import SearchQuery, SearchResponse, Source
from core.ui.chat.export_menu import _export_file
from core.ui.session import ChatState
from support import invented
from support.guiding_cases import GIST, write_guiding_cases
from support.pages import chips, html, open_check, open_page, rerun

SOURCE = Source(2, "某判决", "https://court.example/", "法院作出（2023）京01民终12号判决。")
SEARCHED = SearchFinished(SearchResponse(SearchQuery("搁浅"), provider="fake"), (SOURCE,))
TEXT = (
    f"指导案例24号指出：“{GIST}”而指导案例124号指出：“塔主在任何情形下都不赔偿。”"
    "另见（2023）京01民终12号[2]、（2031）京01民终3号。"
)


def answered(text: str = TEXT) -> AppTest:
    page = open_page()
    page.session_state["chat"] = ChatState(
        messages=[Message("user", "问"), Message("assistant", text, (SEARCHED,), (SOURCE,), id="a")]
    )
    return rerun(page)


@pytest.fixture
def cases(tmp_path: Path) -> None:
    invented.library(Path(os.environ["DATA_DIR"]), write_guiding_cases(tmp_path / "g.jsonl"))


def test_every_case_has_a_chip_and_its_sentence(cases: None) -> None:
    page = answered()
    for _ in range(2):
        assert chips(page) == [
            "✓ 指导案例24号",
            "≠ 指导案例124号",
            "？ （2023）京01民终12号",
            "✗ （2031）京01民终3号",
        ]
        shown = html(page.chat_message[-1])
        assert shown.index(">案号核验<") < shown.index(">参考文献<")
        for words in (
            "引述与裁判要旨一致。",
            "<b>与裁判要旨不一致。</b>",
            "裁判要点：第124种要点，与浮标的颜色和登记有关。",
            "<b>库中没有这个案件，未能核验（不等于不存在）。</b>来源 [2] 中有此案号。",
            "<b>案号形式有误。</b>2031 年还没有到。",
            'href="/legal?case=%E6%8C%87%E5%AF%BC%E6%80%A7%E6%A1%88%E4%BE%8B24%E5%8F%B7"',
        ):
            assert words in shown
        assert "法条核验" not in shown
        rerun(page)


def test_without_cases_it_says_that_nothing_was_compared() -> None:
    shown = html(open_check(answered("参照指导案例24号。")).chat_message[-1])
    assert "还没有导入案例，未能核验（不等于不存在）。" in shown
    assert "还没有导入法规库" not in shown, "no statute is cited"


def test_an_answer_without_cases_has_none(cases: None) -> None:
    assert "案号核验" not in html(open_check(answered("法释〔2020〕17号[2]。")).chat_message[-1])


def test_exports_say_the_same(cases: None) -> None:
    talk = [Message("user", "问"), Message("assistant", TEXT, (SEARCHED,), (SOURCE,), id="a")]
    made = _export_file(partial(as_markdown, "题"), lambda: talk, lambda answer: {}, shared_app()).decode()
    lines = [line for line in made.partition("**案号核验**")[2].splitlines() if line.startswith("- ")]
    assert [line[2] for line in lines[:4]] == ["✓", "≠", "？", "✗"]
    assert "与裁判要旨不一致：原文是「第124种要点，与浮标的颜色和登记有关。」" in lines[1]
    assert "来源" in lines[2]


def test_texts_that_were_read_are_searched_too(cases: None) -> None:
    talk = [Message("user", "问"), Message("assistant", "见（2022）京01民终3号。", (SEARCHED,), (), id="a")]
    read = {2: SourceText(2, "另有（2022）京01民终3号一案。")}
    made = _export_file(partial(as_markdown, "题"), lambda: talk, lambda answer: read, shared_app()).decode()
    assert r"来源 \[2\] 中有此案号" in made
