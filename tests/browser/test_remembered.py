"""What was chosen is there after a reload and in a new tab of the same browser, and in no other browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from support.app_server import AppServer
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

OFFER = "现在不联网"


def sidebar(page: Page) -> Locator:
    return page.get_by_test_id("stSidebar")


def test_a_reload_and_a_new_tab_have_what_was_chosen_and_another_browser_has_not(
    two_models: AppServer, visit: Visit
) -> None:
    visitor = visit(two_models)
    visitor.search_on()
    visitor.choose_model("ok")
    expect(sidebar(visitor.page).get_by_text("模型：ok")).to_be_visible()
    visitor.settled()
    visitor.flip("Agent")
    expect(visitor.page.get_by_text("已切换到 Agent 模式")).to_be_visible()
    visitor.settled()

    visitor.page.reload()
    tab = Visitor(visitor.page.context.new_page(), two_models.url)
    for page in (visitor.page, tab.page):
        expect(sidebar(page).get_by_text("模型：ok")).to_be_visible()
        expect(page.get_by_text("Agent 模式下由 AI 自动决策搜索")).to_be_visible()
    tab.flip("Agent")
    expect(tab.page.get_by_text("联网 已启用")).to_be_visible()
    expect(tab.switch("联网")).to_be_checked()

    stranger = visit(two_models)
    expect(sidebar(stranger.page).get_by_text("模型：echo")).to_be_visible()
    expect(stranger.page.get_by_text("联网 已禁用")).to_be_visible()
    expect(stranger.page.get_by_text("Agent 已禁用")).to_be_visible()


def test_the_offer_is_taken_with_one_click_and_comes_no_more(two_models: AppServer, visit: Visit) -> None:
    visitor = visit(two_models)
    expect(visitor.page.get_by_text(OFFER)).to_be_visible()
    visitor.ask("你好")
    visitor.answered("你好")
    expect(visitor.page.get_by_text("打开联网搜索以后，回答会带来源")).to_be_visible()
    for width in (1280, 390):  # and a phone it is from here on
        visitor.page.set_viewport_size({"width": width, "height": 844})
        visitor.settled()
        assert visitor.page.evaluate("document.documentElement.scrollWidth") == width
    visitor.page.get_by_role("button", name="打开联网搜索并再问").click()
    expect(visitor.page.get_by_text("联网 已启用")).to_be_visible()  # it lasts, unlike the toast
    visitor.answered("tokens")
    expect(visitor.page.get_by_text(OFFER)).to_have_count(0)
    visitor.settled()

    visitor.page.goto(two_models.url)
    visitor.settled()
    expect(visitor.page.get_by_role("heading", name="问源")).to_be_visible()
    expect(visitor.page.get_by_text(OFFER)).to_have_count(0)
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("参考文献")


def test_who_keeps_it_off_is_left_in_peace(two_models: AppServer, visit: Visit) -> None:
    visitor = visit(two_models)
    visitor.page.get_by_role("button", name="先不用").click()
    expect(visitor.page.get_by_text(OFFER)).to_have_count(0)
    visitor.settled()
    visitor.page.reload()
    visitor.settled()
    expect(visitor.page.get_by_role("button", name=re.compile("最近的新闻"))).to_be_visible()
    expect(visitor.page.get_by_text(OFFER)).to_have_count(0)
    visitor.ask("你好")
    visitor.answered("你好")
    expect(visitor.page.get_by_text(OFFER)).to_have_count(0)
