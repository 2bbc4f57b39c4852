"""The tab 依据核验 without a browser: any text with its sources, drawn as below an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from core.run.pasted_check import MAX_TEXT_LENGTH
from core.ui import legal_views as legal
from core.ui.legal import pasted_check_form
from support.base import ROOT
from support.pages import html, serving, values
from support.tiny_embedder import write_model

SOURCES = "[1]\n灯塔公司2024年的收入为一亿两千万元，同比增长20%。\n[2]\n海州灯塔建成于2001年，塔高六十米，由三名守塔人轮流值守。"
STATED = "灯塔公司2024年的收入为1.2亿元[1]。海州灯塔建成于2003年，塔高六十米[2]。另有70家分店。"
ATTACK = (
    '<script>alert(1)</script><img src=x onerror=alert(2)>![x](http://evil.example/y)[l](javascript:alert(3)):red[r]"'
)


def ran(page: AppTest) -> AppTest:
    page._page_hash = page._finished_page_script_hash = calc_hash("legal")
    page.run()
    assert not page.exception
    return page


def checked(text: str, sources: str) -> AppTest:
    page = ran(AppTest.from_file(str(ROOT / "Home.py"), default_timeout=30))
    page.session_state[legal.VIEW] = legal.CLAIMS
    ran(page)
    page.text_area(key=pasted_check_form.TEXT).set_value(text)
    page.text_area(key=pasted_check_form.SOURCES).set_value(sources)
    return again(page)


def again(page: AppTest) -> AppTest:
    next(button for button in page.main.button if button.label == "核验").click()
    return ran(page)


def warnings(page: AppTest) -> str:
    return values(page.warning).replace("\\", "")


def test_each_place_is_counted_marked_and_listed() -> None:
    with serving():
        page = checked(STATED, SOURCES)
        for _ in range(2):
            assert values(page.subheader).replace("\\", "") == "1 处不符 · 1 处有据 · 1 句无出处"
            shown = html(page.main)
            assert 'class="cite supported"' in shown
            assert 'class="cite contradicted"' in shown
            assert shown.count("<li>") >= 3
            assert "2001年" in shown
            assert page.text_area(key=pasted_check_form.TEXT).value == STATED
            ran(page)
        assert not page.warning


def test_the_marks_are_explained_without_a_link_to_another_page() -> None:
    with serving(PUBLIC_PAGES="legal"):
        page = checked(STATED, SOURCES)
        (explanation,) = [one for one in page.main.get("popover") if one.proto.popover.label == "这些标记怎么来的"]
        assert "不是「这是事实」" in values(explanation.markdown)


def test_one_kind_on_demand_keeps_the_rest_of_the_page() -> None:
    with serving():
        page = checked(STATED, SOURCES)
        page.main.button_group(key="claims-kind-pasted").set_value("不符")
        listed = html(ran(page).main).partition("wy-claims")[2]
        assert "建成于<del>2003年</del>" in listed
        assert "建成于<ins>2001年</ins>" in listed
        assert "70家" not in listed


@pytest.mark.parametrize(
    ("text", "sources", "said"),
    [
        ("", SOURCES, "没有要核验的文字"),
        ("甲" * (MAX_TEXT_LENGTH + 1), SOURCES, "超过 20,000 字的上限，没有核验"),
        (STATED, "", "没有看懂来源"),
        (STATED, "随便写的话", "第 1 行不是网址"),
    ],
)
def test_what_cannot_be_checked_is_a_sentence(text: str, sources: str, said: str) -> None:
    with serving():
        page = checked(text, sources)
        assert said in warnings(page)
        assert not page.subheader


def test_a_source_that_is_missing_is_named_and_a_text_without_numbers_told_how() -> None:
    with serving():
        page = checked("海州灯塔建成于2001年[5]。", SOURCES)
        assert "文字引用了 [5]，来源里没有给出" in warnings(page)
        page = checked("你好。", SOURCES)
        assert "没有可以核验的引用" in values(page.info)


def test_reading_counts_as_a_search_of_the_visitors() -> None:
    with serving(SEARCH_RATE_LIMIT="1", READING_PAGES="0"):
        page = checked(STATED, "https://a.example/\nhttps://b.example/")
        assert "管理员关闭了网页阅读" in warnings(page)
        assert "上限" in warnings(again(page))
        page.text_area(key=pasted_check_form.SOURCES).set_value(SOURCES)
        assert not again(page).warning, "what was pasted asks nobody"


def test_hostile_text_stays_text() -> None:
    with serving():
        page = checked(
            f"{ATTACK}海州灯塔建成于2003年，塔高六十米[1]。",
            f'[1] https://evil.example/"><script>\n{ATTACK}海州灯塔建成于2001年，塔高六十米。',
        )
        shown = html(page.main)
        assert "<script" not in shown
        assert "<img" not in shown
        assert "javascript:" not in "".join(part for part in shown.split('"') if part.startswith("javascript"))


def test_a_paraphrase_is_open_where_a_model_for_meanings_is_configured(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", ("雾笛响吼",))
    source = "[1]\n灯塔高三十米。大雾期间，鸣笛一直响到天明。"
    for embedding, shown in (("", "cite absent"), (str(model), "cite unchecked")):
        with serving(LEGAL_EMBEDDING=embedding):
            assert f'class="{shown}"' in html(checked("起霾时分须大声呼吼[1]。", source).main)
