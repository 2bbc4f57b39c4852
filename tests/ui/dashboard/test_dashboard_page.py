"""The page 运行看板 without a browser: figures of known records, filters, and what it says when there is nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import altair as alt
import pytest
from streamlit.proto.Metric_pb2 import Metric as MetricProto
from streamlit.testing.v1 import AppTest

from core.app import App
from core.metrics.recorder import write_batch
from core.metrics.records import AnswerRecord, AttemptRecord, Record, RequestRecord, SearchRecord
from core.store import MetricsStore
from core.store.errors import StoreError
from core.ui import permission
from core.ui.dashboard.dashboard_page import PART, PARTS
from core.ui.session import ROUTED
from support.base import ROOT
from support.pages import html, values
from support.scripted_app import scripted_app
from support.shared import shared


def known() -> list[Record]:
    """Eight searches and three answers of this moment."""
    at = time.time()
    asked = SearchRecord(at, "general", "tavily", "ok", "", "", None, 0.5, (AttemptRecord("tavily", "ok", 0.5, ""),))
    failed = (AttemptRecord("tavily", "failed", 2.0, "timeout"), AttemptRecord("ddgs", "ok", 1.0, ""))
    return [
        *[asked] * 4,
        SearchRecord(at, "general", "ddgs", "ok", "", "", None, 3.0, failed),
        SearchRecord(at, "news", "tavily", "ok", "", "shared", 60.0, 0.01, ()),
        SearchRecord(at, "general", "", "refused", "rate_limited", "", None, 0.01, ()),
        SearchRecord(at, "general", "", "failed", "timeout", "", None, 5.0, failed[:1], "<b>查询</b>"),
        AnswerRecord(at, "chat", "m", "ok", "", 4.0, 1_000_000, 500_000, False, 0, 0),
        AnswerRecord(at, "agent", "<i>x</i>", "ok", "", 9.0, 2_000, 100, True, 3, 2),
        AnswerRecord(at, "chat", "m", "failed", "model_timeout", 9.0, 0, 0, False, 0, 0),
    ]


@contextmanager
def opened(records: Sequence[Record], **environ: Any) -> Iterator[tuple[AppTest, App]]:
    with scripted_app(says=[["答"]], **environ) as (app, _):
        if records:
            write_batch(app.metrics_store, records)
        with shared(app):
            page = AppTest.from_file(str(ROOT / "pages" / "dashboard.py"), default_timeout=30)
            page.session_state[ROUTED] = True
            yield ran(page), app


def ran(page: AppTest) -> AppTest:
    page.run()
    assert not page.exception
    return page


def go(page: AppTest, part: str) -> AppTest:
    page.session_state[PART] = part
    return ran(page)


def headlines(page: AppTest) -> dict[str, str]:
    return {metric.label: metric.value.replace("\\", "") for metric in page.metric}


def changes(page: AppTest) -> dict[str, tuple[str, str]]:
    """What the figures are compared with the time before, and in which colour."""
    colours = {MetricProto.RED: "bad", MetricProto.GREEN: "good", MetricProto.GRAY: "neither"}
    return {metric.label: (metric.delta.replace("\\", ""), colours[metric.proto.color]) for metric in page.metric}


def charts(page: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in page.get("vega_lite_chart")]


def test_the_figures_of_known_records_are_on_the_page() -> None:
    with opened(known(), METRICS_PRICES="m=2/10", METRICS_CURRENCY="美元") as (page, _):
        assert headlines(page) == {
            "搜索成功率": "75.0%",
            "回答用时 p95": "9.0 秒",
            "错误率": "18.2%",
            "估算费用": "7.00 美元",
            "搜索": "8 次",
            "回答": "3 次",
            "缓存命中": "14.3%",
            "超出限额": "1 次",
        }
        assert '<td>Tavily</td><td>66.7%</td><td>33.3%</td><td class="number">4</td>' in html(go(page, "引擎"))
        assert "<td>综合</td><td>0.0%</td>" in html(go(page, "缓存"))
        text = html(go(page, "模型"))
        assert '<td>m</td><td class="number">2</td><td class="number">1,000,000</td>' in text
        assert "&lt;i&gt;x&lt;/i&gt;" in text
        assert "未设价格" in text
        assert "<i>x" not in text
        assert "平均每次运行调用 2.0 次工具" in values(page.caption)
        assert "<td>引擎</td><td>Tavily</td><td>搜索超时</td>" in html(go(page, "错误"))


def test_every_chart_names_its_unit_and_brings_its_data_along() -> None:
    with opened(known()) as (page, _):
        drawn = {part: charts(go(page, part)) for part in PARTS}
        assert {part: len(specs) for part, specs in drawn.items()} == {
            "次数": 2,
            "引擎": 2,
            "缓存": 1,
            "模型": 2,
            "错误": 1,
            "记录": 0,
        }
        for spec in (spec for specs in drawn.values() for spec in specs):
            alt.Chart.from_dict(spec).validate(spec)
            (bars,) = spec["layer"]
            assert any(bars["encoding"][axis].get("title") for axis in "xy"), spec
            assert "http" not in json.dumps(bars)
        searches = drawn["次数"][0]["layer"][0]["data"]["values"]
        assert {row["what"]: row["times"] for row in searches} == {"有结果": 6, "超出限额": 1, "失败": 1}


def test_the_axis_of_time_has_the_whole_span() -> None:
    with opened(known()) as (page, _):
        searches = charts(page)[0]["layer"][0]["data"]["values"]
    starts = [row["start"] / 1000 for row in searches]
    assert max(starts) - min(starts) == 23 * 3600


def test_each_figure_says_how_it_has_changed_since_the_day_before() -> None:
    now = known()
    yesterday = [replace(record, at=record.at - 86400) for record in [*now[:4], *now[4:6] * 2, *now[8:]]]
    first = replace(now[0], at=time.time() - 4 * 86400)
    with opened([*now, *yesterday, first], METRICS_PRICES="m=2/10") as (page, _):
        assert changes(page) == {
            "搜索成功率": ("-25.0 个百分点", "bad"),
            "回答用时 p95": ("持平", "neither"),
            "错误率": ("+9.1 个百分点", "bad"),
            "估算费用": ("持平", "neither"),
            "搜索": ("持平", "neither"),
            "回答": ("持平", "neither"),
            "缓存命中": ("-10.7 个百分点", "bad"),
            "超出限额": ("+1 次", "bad"),
        }
        assert "变化是与之前的 24 小时相比" in values(page.caption)
        curves = {metric.label: list(metric.proto.chart_data) for metric in page.metric}
        assert len(curves["搜索"]) == 23, "all hours but the present one, which is not over"
        assert curves["搜索成功率"] == [], "a curve needs two hours of which something is known"


def test_what_has_nothing_before_it_says_so() -> None:
    with opened(known()) as (page, _):
        assert set(changes(page).values()) == {("暂不比较", "neither")}
        assert "之前的 24 小时数据不全" in values(page.caption)


def test_what_is_not_over_is_marked_as_such() -> None:
    with opened(known()) as (page, _):
        bars = charts(page)[0]["layer"][0]
        last = max(row["start"] for row in bars["data"]["values"])
        assert {row["start"] == last for row in bars["data"]["values"] if row["running"]} == {True}
        assert bars["encoding"]["opacity"]["condition"]["test"] == "datum.running"
        assert values(page.caption).count("现在这一小时，还没有结束") == 2


def test_a_day_has_the_date_of_the_servers_calendar() -> None:
    with opened(known()) as (page, _):
        page.session_state["dashboard_span"] = "30 天"
        bars = charts(ran(page))[0]["layer"][0]
        assert bars["encoding"]["x"]["timeUnit"] == "utcyearmonthdate"
        last = max(row["start"] for row in bars["data"]["values"]) / 1000
        today = datetime.now().date()
        assert datetime.fromtimestamp(last, UTC).date() == today
        assert f"<td>{today}</td>" in html(page)


def test_only_the_chosen_engines_are_counted() -> None:
    with opened(known()) as (page, _):
        page.session_state["dashboard_engines"] = ["ddgs"]
        engines = html(go(page, "引擎"))
        assert headlines(page)["搜索"] == "1 次"
        assert headlines(page)["回答"] == "3 次"
        assert "DuckDuckGo" in engines
        assert "Tavily" not in engines


def test_a_span_without_records_says_so() -> None:
    old = [SearchRecord(time.time() - 3 * 86400, "general", "ddgs", "ok", "", "", None, 0.1, ())]
    with opened(old) as (page, _):
        assert "还没有记录" in values(page.info)
        for coming in ("成功率、用时和错误率", "模型和费用", "错误"):
            assert coming in values(page.markdown)
        page.session_state["dashboard_span"] = "7 天"
        assert headlines(ran(page))["搜索"] == "1 次"


def test_the_words_of_a_search_that_were_kept_are_shown_as_text() -> None:
    with opened(known()) as (page, _):
        text = html(go(page, "记录"))
        assert "&lt;b&gt;查询&lt;/b&gt;" in text
        assert "<b>查询" not in text


def test_without_kept_words_there_is_no_place_for_them() -> None:
    with opened([record for record in known() if getattr(record, "query", None) is None]) as (page, _):
        assert "搜索词</th>" not in html(go(page, "记录"))
        assert "不记录搜索词" in values(page.markdown)


def test_switched_off_what_was_recorded_before_is_still_shown() -> None:
    with opened(known(), METRICS_ENABLED="false") as (page, _):
        assert "记录已经关闭" in values(page.warning)
        assert headlines(page)["搜索"] == "8 次"


def test_a_database_out_of_order_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise StoreError

    with opened([]) as (page, app):
        assert "还没有记录" in values(page.info)
        monkeypatch.setattr(MetricsStore, "counts", refuse)
        app.metrics.dropped = 7
        ran(page)
        assert "运行数据暂时读不出来" in values(page.warning)
        assert "7 条记录没能写进数据库" in values(page.caption)


def test_the_chat_page_imports_neither_altair_nor_pandas() -> None:
    code = f"""
import sys
from core.app import App
App.warm_up = lambda self: None
from streamlit.testing.v1 import AppTest
app = AppTest.from_file({str(ROOT / "Home.py")!r}, default_timeout=30).run()
assert not app.exception and app.header[0].value == "问源"
list_of_conversations = AppTest.from_string("from core.ui.chat import sidebar_conversations; sidebar_conversations._search_box()").run()
assert not list_of_conversations.exception and list_of_conversations.text_input
print([name for name in ("altair", "pandas", "pyarrow", "prometheus_client") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ── Other programs ────────────────────────────────────────────────────────────────────────────────────────────────


def use_of(token_id: str) -> list[Record]:
    at = time.time()
    answer = AnswerRecord(at, "chat", "m", "ok", "", 4.0, 700, 30, False, 0, 0, token_id)
    outcomes = ("ok", "ok", "ok", "refused", "failed")
    return [answer, *(RequestRecord(at, token_id, outcome) for outcome in outcomes), RequestRecord(at, "", "ok")]


def cells(*values: int) -> str:
    return "".join(f'<td class="number">{value}</td>' for value in values)


@pytest.mark.parametrize("searches", [True, False], ids=["beside searches", "alone"])
def test_who_may_edit_sees_the_use_of_each_token(monkeypatch: pytest.MonkeyPatch, searches: bool) -> None:
    monkeypatch.setattr(permission, "may_edit", lambda app: True)
    with opened(known() if searches else []) as (page, app):
        assert "接口" not in tabs(page), "switched off, and never used"
        token, secret = app.tokens.create("somebody", "<b>她的</b>", ["law"])
        write_batch(app.metrics_store, use_of(token.id))
        shown = html(go(ran(page), "接口"))
        assert "<td>&lt;b&gt;她的&lt;/b&gt;</td>" + cells(5, 3, 1, 1, 1, 700, 30) in shown
        assert "<td>本机的程序，不带令牌</td>" + cells(1, 1, 0, 0) + "<td>–</td>" * 3 in shown
        assert secret[3:] not in shown
        page.segmented_control[0].set_value("1 小时")
        assert "请求按整点计" in values(ran(page).caption)


def test_others_see_sums_without_names() -> None:
    with opened(known()) as (page, app):
        for name in ("甲的", "乙的"):
            write_batch(app.metrics_store, use_of(app.tokens.create("somebody", name, ["law"])[0].id))
        shown = html(go(ran(page), "接口"))
        assert "<td>其他人的令牌</td>" + cells(10, 6, 2, 2, 2, 1400, 60) in shown.replace(",", "")
        assert "甲的" not in shown


def test_an_interface_that_is_open_and_not_used_says_so() -> None:
    with opened(known(), API_ENABLED="true") as (page, _):
        go(page, "接口")
        assert "没有程序通过接口请求过" in values(page.caption)


def tabs(page: AppTest) -> list[str]:
    return [tab.label for tab in page.tabs]
