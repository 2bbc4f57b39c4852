"""运行看板 as a person meets it: after real questions, with filters, a download, in the dark and on a phone."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Locator, Page, expect
from prometheus_client.parser import text_string_to_metric_families

from support.app_server import AppServer
from support.axe import judge
from support.forked_server import forked_server
from support.visitor import Visitor
from support.waiting import until

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def server() -> Iterator[AppServer]:
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled", METRICS_PROMETHEUS="true") as running:
        yield running


@pytest.fixture
def dashboard(visit: Visit) -> Iterator[Visitor]:
    """Of a server that nobody else has asked anything, opened from the sidebar after a question with search and one without."""
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled") as fresh:
        yield after_two_questions(visit(fresh, watched=True))


def after_two_questions(visitor: Visitor) -> Visitor:
    """The figures come a second later."""
    visitor.ask("你是谁？")
    visitor.answered("内置摘录模型")
    visitor.search_on()
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("参考文献")
    visitor.page.get_by_test_id("stSidebar").get_by_text("运行看板", exact=True).click()
    visitor.page.get_by_role("heading", name="运行看板").wait_for()
    visitor.settled()
    until(lambda: both_are_counted(visitor), 60)
    return visitor


def both_are_counted(visitor: Visitor) -> bool:
    if metric(visitor.page, "回答").count() and figure(visitor.page, "回答") == 2:
        return True
    visitor.page.reload()
    visitor.settled()
    return False


def metric(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stMetric").filter(has=page.get_by_text(name, exact=True))


def figure(page: Page, name: str) -> int:
    return int(metric(page, name).get_by_test_id("stMetricValue").inner_text().split()[0])


def side_by_side(page: Page, left: str, right: str) -> bool:
    one, other = (page.get_by_role("heading", name=name).bounding_box() for name in (left, right))
    return bool(one and other and one["y"] == other["y"] and one["x"] < other["x"])


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def test_real_questions_become_figures_that_can_be_filtered_and_saved(dashboard: Visitor, tmp_path: Path) -> None:
    page = dashboard.page
    searches = figure(page, "搜索")
    assert searches == 1
    expect(metric(page, "搜索成功率").get_by_text("暂不比较")).to_be_visible()
    expect(metric(page, "搜索").locator(".mark-line path")).to_have_css("display", "inline")
    until(lambda: side_by_side(page, "搜索的次数", "回答的次数"))
    assert page.get_by_test_id("stMainBlockContainer").evaluate("box => box.clientWidth") > 900
    expect(
        page.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg").first
    ).to_be_visible()
    assert dashboard.foreign == []

    page.get_by_test_id("stButtonGroup").get_by_text("1 小时", exact=True).click()
    dashboard.settled()
    assert figure(page, "搜索") == searches
    page.get_by_test_id("stButtonGroup").get_by_text("内置手册").click()
    dashboard.settled()
    assert figure(page, "搜索") == searches

    page.get_by_text("表格", exact=True).first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="下载 CSV").first.click()
    download.value.save_as(tmp_path / "searches.csv")
    with (tmp_path / "searches.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(int(row["有结果（次）"]) for row in rows) == searches

    page.set_viewport_size({"width": 390, "height": 844})
    dashboard.settled()
    until(lambda: not side_by_side(page, "搜索的次数", "回答的次数"))
    assert fits(page)
    assert judge(dashboard) == []


def test_in_the_dark_and_on_a_phone_nothing_scrolls_sideways(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path="/dashboard", dark=True)
    for width in (1280, 390):
        visitor.page.set_viewport_size({"width": width, "height": 844})
        visitor.page.reload()
        expect(visitor.page.get_by_role("heading", name="运行看板")).to_be_visible()
        visitor.settled()
        assert fits(visitor.page)


def test_prometheus_reads_the_real_server(server: AppServer) -> None:
    with urlopen(f"{server.url}/metrics") as answer:
        assert answer.headers["content-type"].startswith("text/plain")
        names = {family.name for family in text_string_to_metric_families(answer.read().decode())}
    assert {"wenyuan_searches", "wenyuan_answers", "wenyuan_metrics_dropped", "wenyuan_open_pages"} <= names
