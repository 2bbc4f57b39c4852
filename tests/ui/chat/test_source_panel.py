"""The line above an answer that names its sources, and what it opens."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.events import Answer, SearchFinished
from core.answer.message import Message, message_from_run
from core.answer.source_details import is_official
from core.search.types import SearchQuery, SearchResponse, SearchResult, Source
from core.ui.session import ChatState
from support.pages import html, open_page, rerun

HOSTS = ("flk.npc.gov.cn", "law.example", "news.example", "blog.example", "flk.npc.gov.cn", "left.example")
FOUND = tuple(
    SearchResult(f"第{n}页", f"https://{host}/{n}", f"第{n}页的摘要。" * 30, host, "2026-01-31", "fake")
    for n, host in enumerate(HOSTS, 1)
)
SOURCES = tuple(Source.from_result(result, number=n) for n, result in enumerate(FOUND[:5], 1))


def answer() -> Message:
    response = SearchResponse(SearchQuery("甲"), FOUND, provider="fake")
    text = "三十日[2][1]。"
    return message_from_run(
        [SearchFinished(response, SOURCES), Answer(text, SOURCES[:2])], seconds=2, id="a1", mode="agent"
    )


def page_with(message: Message) -> AppTest:
    page = open_page()
    page.session_state["chat"] = ChatState(messages=[Message("user", "问"), message])
    return rerun(page)


def titles(page: AppTest) -> list[str]:
    return [fold.label.replace("\\", "") for fold in page.main.expander]


def test_the_line_counts_sources_and_names_sites() -> None:
    page = page_with(answer())
    assert titles(page)[0] == (
        "5 个来源 :gray-badge[**1、5** flk.npc.gov.cn · 官方] :gray-badge[**2** law.example] "
        ":gray-badge[**3** news.example] :gray-badge[**4** blog.example]"
    )
    assert titles(page)[0].count("5 个") == 1
    assert "搜索记录" not in html(page), "nothing is written out before somebody opens it"
    assert not [title for title in titles(page) if "没有引用" in title]


def test_the_panel_has_all_that_is_known() -> None:
    page = page_with(answer())
    page.session_state["sources-a1"] = True  # as a click does
    rerun(page)
    (panel,) = [
        body for body in map(str, (e.proto.body for e in page.get("html"))) if "wy-refs whole" in body and "<ol" in body
    ]
    assert panel.count("已引用 · 2026-01-31 · 仅摘要") == 2
    assert panel.count("未引用 · 2026-01-31 · 仅摘要") == 3
    assert panel.count('<span class="wy-badge">官方</span>') == 2
    assert "第1页的摘要。" * 30 in panel, "not cut"
    assert "另外找到 1 条，没有取用" in html(page)
    assert "left.example" in html(page)
    assert "搜索记录" in html(page)


def test_an_answer_without_sources_says_so_and_keeps_the_ledger() -> None:
    nothing = SearchFinished(SearchResponse(SearchQuery("甲"), provider="fake"))
    assert titles(page_with(message_from_run([nothing, Answer("没有。")], seconds=1)))[0] == "没有来源 · 搜索记录"
    assert titles(page_with(message_from_run([Answer("你好。")], seconds=1))) == []


@pytest.mark.parametrize(
    ("url", "official"),
    [
        ("https://gov.cn/", True),
        ("https://www.court.gov.cn/x", True),
        ("https://notgov.cn/", False),
        ("https://gov.cn.evil.example/", False),
        ("https://evil.example/gov.cn", False),
        ("https://evil.example\\.gov.cn/", False),
        ("/legal?law=x", False),
    ],
)
def test_official_is_a_name_and_what_is_below_it(url: str, official: bool) -> None:
    assert is_official(Source(1, "甲", url, ""), ("gov.cn",)) is official
    assert not is_official(Source(1, "甲", url, "", tool="notes.search"), ("gov.cn",)), "it may name any address"
