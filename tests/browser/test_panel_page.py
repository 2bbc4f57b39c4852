"""The settings panel as a person meets it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from playwright.sync_api import Locator, TimeoutError, expect

from support.app_server import AppServer
from support.openai_server import OpenAIServer
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]


def sidebar(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stSidebar")


def unfolded(visitor: Visitor, group: str) -> Locator:
    """A group of the panel, opened where it is not: what the page has done meanwhile may have left it either way."""
    fold = sidebar(visitor).locator("details").filter(has=visitor.page.get_by_text(group))
    visitor.settled()
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    expect(fold).to_have_attribute("open", "")
    return fold


def take_back(visitor: Visitor, group: str) -> None:
    """A fold that is still opening moves its button away from under the pointer; a person clicks again."""
    for _ in range(6):
        with suppress(TimeoutError):
            unfolded(visitor, group).get_by_role("button", name="恢复默认").click(timeout=5_000)
        visitor.settled()
        if sidebar(visitor).get_by_text(group, exact=True).count():
            return


def to_the_left(visitor: Visitor, title: str, reading: str) -> None:
    """One step down on the scale."""
    slider = sidebar(visitor).get_by_role("slider", name=title)
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", reading)
    visitor.settled()


def test_what_is_chosen_is_used_kept_and_taken_back(
    two_models: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    visitor = visit(two_models, watched=True)
    visitor.search_on()
    search = sidebar(visitor).get_by_text("搜索设置")
    search.click()
    visitor.pick("时间范围", "最近一周")
    to_the_left(visitor, "取用的结果数", "4 条")
    expect(sidebar(visitor).get_by_text("搜索设置 · 已修改 2 项")).to_be_visible()
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("参考文献")
    assert visitor.page.locator(".wy-refs-title + ol.wy-refs li").count() == 4
    visitor.cost_shows("echo")
    visitor.page.get_by_text("个来源").last.click()
    expect(visitor.page.get_by_text("条件 最近一周").filter(visible=True)).to_be_visible()

    sidebar(visitor).get_by_text("帮助", exact=True).click()
    expect(visitor.page.get_by_text("查找文章")).to_be_visible()
    sidebar(visitor).get_by_text("对话", exact=True).click()
    expect(sidebar(visitor).get_by_text("搜索设置 · 已修改 2 项")).to_be_visible()
    visitor.settled()

    visitor.choose_model("ok")
    visitor.ask("换一个模型")
    visitor.answered("问源的回答会给出来源")
    visitor.cost_shows("ok")
    assert model_server.requests[-1]["model"] == "ok"

    stranger = visit(two_models)
    expect(sidebar(stranger).get_by_text("搜索设置", exact=True)).to_be_visible()

    take_back(visitor, "搜索设置")
    expect(sidebar(visitor).get_by_text("搜索设置", exact=True)).to_be_visible()
    expect(sidebar(visitor).get_by_text("模型：ok")).to_be_visible()
    expect(sidebar(visitor).get_by_role("slider", name="取用的结果数")).to_have_attribute("aria-valuetext", "5 条")
    assert visitor.foreign == []


def test_on_a_phone_the_panel_fits_and_works(two_models: AppServer, visit: Visit) -> None:
    visitor = visit(two_models, width=390)
    visitor.page.get_by_test_id("stExpandSidebarButton").click()
    for group in ("搜索设置", "模型与 Agent"):
        sidebar(visitor).get_by_text(group).click()
    visitor.pick("语言", "英文")
    expect(sidebar(visitor).get_by_text("搜索设置 · 已修改 1 项")).to_be_visible()
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 390
    content = visitor.page.get_by_test_id("stSidebarContent")
    assert content.evaluate("element => element.scrollWidth <= element.clientWidth")
