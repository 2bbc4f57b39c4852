"""查法规 without a browser: the directory, what narrows it down, the address that shows the same again, and the law of a day."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.ui import legal_views
from core.ui.legal import law_filters
from core.ui.legal.highlights import Marker, count_matches, highlight
from core.ui.legal.law import FIND
from support import invented
from support.legal_page import opened, ran
from support.pages import html, values


@pytest.fixture(autouse=True)
def _laws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")
    invented.library(Path(os.environ["DATA_DIR"]), invented.lawrefbook(tmp_path / "laws"))


def address(page: AppTest) -> dict[str, str]:
    return {name: "".join(value) for name, value in page.query_params.items()}


def pills(page: AppTest) -> dict[str, list[str]]:
    groups: list[Any] = list(page.get("button_group"))
    return {group.label: list(group.options) for group in groups if group.label != "要做什么"}


def test_the_directory_counts_kinds_and_fields() -> None:
    shown = html(opened())
    assert '<a class="wy-go" href="legal?kind=法律">法律</a> <span class="wy-dim">4</span>' in shown
    assert 'href="legal?kind=法律&amp;field=经济法">经济法</a> <span class="wy-dim">3</span>' in shown
    assert 'href="legal?kind=司法解释">司法解释</a>' in shown


def test_an_address_shows_the_laws_of_a_kind_and_a_field() -> None:
    page = opened(kind="法律", field="经济法")
    assert "3 部法规" in values(page.caption)
    shown = html(page)
    assert 'href="legal?law=中华人民共和国灯塔法">灯塔法</a>' in shown
    assert "海灯法典" not in shown
    assert pills(page)["种类"][0].startswith("法律 4")
    assert address(page) == {"kind": "法律", "field": "经济法"}


def test_what_is_chosen_and_typed_becomes_part_of_the_address() -> None:
    page = opened()
    page.session_state[law_filters.QUERY] = "守塔人点灯"
    assert address(ran(page)) == {"q": "守塔人点灯"}
    page.session_state["laws_kind"] = "行政法规"
    page.session_state[law_filters.AS_OF] = "2023年5月"
    assert address(ran(page)) == {"q": "守塔人点灯", "kind": "行政法规", "on": "2023-05"}
    assert "灯塔法实施条例" in str(page.get("page_link")[0].proto)
    assert "浮标" not in html(page)
    again = opened(**address(page))
    assert html(page) in html(again), "which has the style of the page besides"
    assert again.text_input(key=law_filters.QUERY).value == "守塔人点灯"


def test_a_browser_that_still_tells_the_old_address_takes_nothing_back() -> None:
    page = opened(q="守塔人点灯")
    page.session_state["laws_kind"] = "行政法规"
    ran(page)
    del page.query_params["kind"]
    page.session_state["laws_year"] = "2020—2029"
    assert address(ran(page)) == {"q": "守塔人点灯", "kind": "行政法规", "year": "2020—2029"}


def test_another_kind_leaves_the_field() -> None:
    page = opened(kind="法律", field="经济法")
    page.session_state["laws_kind"] = "司法解释"
    assert address(ran(page)) == {"kind": "司法解释"}
    assert "灯塔纠纷" in html(page)


@pytest.mark.parametrize("given", [{"kind": "不存在"}, {"field": "经济法"}, {"year": "<b>"}, {"on": "昨天"}])
def test_an_address_that_nobody_could_have_made_harms_nothing(given: dict[str, str]) -> None:
    assert "目录" in html(opened(**given)) or "部法规" in values(opened(**given).caption)


def test_the_search_is_there_again_after_another_part_of_the_page() -> None:
    page = opened(q="夜班津贴")
    views: Any = next(group for group in page.get("button_group") if "要做什么" in str(group.proto))
    views.set_value(legal_views.CASES)
    assert address(ran(page)) == {}
    assert page.text_input[0].label == "查案例"
    page.session_state[legal_views.VIEW] = legal_views.LAWS
    assert address(ran(page)) == {"q": "夜班津贴"}
    page.query_params.clear()
    assert "目录" in html(ran(page)), "back in the browser"


def test_hits_are_marked() -> None:
    assert "<mark>夜班津贴</mark>按月发放" in html(opened(q="夜班津贴"))
    assert "<mark>夜班津贴</mark>按月发放" in html(opened(q="夜班津贴", kind="行政法规")), "the only one, in full"
    assert "<mark>" not in html(opened(q="灯塔法第二条")), "the name of the law was not looked for in it"
    assert highlight("灯塔<b>", ["灯塔", "塔<"]) == "<mark>灯塔&lt;</mark>b&gt;"
    assert (highlight("İA灯", ["灯"]), count_matches("灯灯", ["灯"])) == ("İA<mark>灯</mark>", 2)


def test_a_law_that_is_not_held_is_named_before_what_resembles_it() -> None:
    page = opened(q="《月光法》怎么规定守塔人点灯")
    assert page.info[0].value == "库中没有《月光法》，以下是名称或内容相近的。"
    assert "点灯" in html(page)
    assert "库中没有《月光條例》" not in values(opened(q="燈塔法實施條例").info)


def test_words_are_found_in_a_law_and_stay_in_the_address() -> None:
    page = opened(law="灯塔法", find="守塔人")
    assert "「守塔人」5 处，在 3 条中：" in html(page)
    assert "<mark>守塔人</mark>应当在日落前" in html(page)
    page.text_input(key=FIND).set_value("月亮")
    ran(page)
    assert "本法中没有「月亮」" in html(page)
    assert address(page)["find"] == "月亮"


def test_a_day_selects_the_version_of_a_law_and_of_an_article() -> None:
    page = opened(law="灯塔法", article="第二条", on="2015")
    assert "灯塔由守塔人看守，旧规定。" in html(page)
    assert page.info[0].value == "这是 2015 年施行的版本（2010-05-01 公布），不是现行文本。"
    day = page.text_input(key="law-on-灯塔法")
    assert day.value == "2015"
    day.set_value("2021年3月1日")
    ran(page)
    assert address(page)["on"] == "2021-03-01"
    assert "就是这个版本，也是现行版本" in page.info[0].value
    assert "还没有这部法规" in opened(law="灯塔法", on="2009").info[0].value


def test_a_time_line_marks_what_changed() -> None:
    shown = html(opened(law="灯塔法", article="第二条"))
    assert "灯塔由守塔人看守<del>，旧规定。</del><ins>。守塔人有下列情形之一的" in shown
    assert "<ins>" in shown
    assert (
        'href="legal?law=中华人民共和国灯塔法&amp;article=第二条&amp;version=2010-05-01">2010-05-01 公布 · 第二条</a>'
        in shown
    )


def test_what_replaced_what_is_said_where_a_law_says_so() -> None:
    assert "施行后废止的法律" in html(opened(law="海灯法典"))
    assert "《灯笼法》" in html(opened(law="海灯法典"))
    missing = html(opened(law="灯笼法"))
    assert '2022-01-01 起由<a class="wy-go" href="legal?law=中华人民共和国海灯法典&amp;article=第三条">' in missing


def test_an_amendment_that_names_the_article_is_quoted(tmp_path: Path) -> None:
    amendment = {"name": "中华人民共和国灯塔法修正案（一）", "kind": "法律", "published": "2020-08-08"}
    text = "一、将灯塔法第二条修改为：“灯塔由守塔人看守。”\n二、在灯塔法第三条后增加一条，作为第三条之一：“鸣笛。”"
    source = invented.jsonl(tmp_path / "a.jsonl", {**amendment, "articles": [{"text": text}]})
    invented.library(Path(os.environ["DATA_DIR"]), source)
    assert "一、将灯塔法第二条修改为" in html(opened(law="灯塔法", article="第二条"))
    assert "二、在灯塔法第三条后增加" in html(opened(law="灯塔法", article="第三条之一"))
    assert "修正案" not in html(opened(law="灯塔法", article="第三条")).replace("st-key", "")


# ── Hits ──────────────────────────────────────────────────────────────────────────────────────────────────────────

RESIGNING = """用人单位有下列情形之一的，劳动者可以解除劳动合同：
（一）未按照劳动合同约定提供劳动保护或者劳动条件的；
（二）未及时足额支付劳动报酬的；
（三）未依法为劳动者缴纳社会保险费的。
用人单位以暴力、威胁或者非法限制人身自由的手段强迫劳动者劳动的，劳动者可以立即解除劳动合同，不需事先告知用人单位。"""
PAIRS = {"人民": 8000, "民法": 1300, "法院": 1500, "法典": 10, "合同": 1000, "同时": 360, "工资": 160, "拖欠": 20}
"""How many articles of real laws have a pair of letters, about."""


def test_a_hit_shows_the_part_that_matches() -> None:
    marker = Marker("拖欠工资可以辞职吗", lambda pair: PAIRS.get(pair, 1))
    opening, item = marker.matching_lines(RESIGNING, 180)
    assert opening == "用人单位有下列情形之一的，劳动者可以解除劳动合同："
    assert item == "…（二）未及时足额支付劳动报酬的；"
    assert "<mark>未及时足额支付劳动报酬</mark>" in marker.mark(item)
    assert marker.words[:3] == ["拖欠", "工资", "辞职"], "欠工 is no word"


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("人民法院依照民法典", ["民法", "法典"], ["民法典"]),
        ("人民法院受理", ["法院"], ["法院"]),
        ("订立合同时，", ["同时"], []),
        ("同时废止。", ["同时"], ["同时"]),
        ("劳动者的工资。", ["工资"], ["工资"]),
    ],
)
def test_marks_cut_no_words(text: str, words: list[str], marked: list[str]) -> None:
    shown = highlight(text, words, lambda pair: PAIRS.get(pair, 1))
    assert re.findall("<mark>(.*?)</mark>", shown) == marked


def test_only_laws_in_force_unless_others_are_asked_for() -> None:
    assert "雾号" not in html(opened(kind="部门规章"))
    page = opened(kind="部门规章", state="全部")
    assert '<span class="wy-tag red">已废止</span>' in html(page)
    assert address(page) == {"kind": "部门规章", "state": "全部"}
    assert address(opened(kind="法律", state="有效")) == {"kind": "法律"}, "an older address"
    assert "关于雾号问题的批复" in str(opened(q="关于雾号问题的批复").get("page_link")[0].proto), "it is named"
    assert "<mark>雾号</mark>" not in html(opened(q="雾号应当短促"))
    assert "<mark>雾号</mark>" in html(opened(q="雾号应当短促", on="2013")), "what held on that day counts"


def test_examples_find_something_in_the_library_at_hand() -> None:
    page = opened()
    examples = [button for button in page.button if button.key and button.key.startswith("law-example")]
    assert [button.label for button in examples] == ["灯塔法第一条", "灯塔法"]
    examples[0].click()
    assert "为了让夜航的船看得见岸" in html(ran(page))
