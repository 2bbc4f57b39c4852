"""Everybody can use it: axe-core finds nothing on any page, in light and dark, wide and narrow; and no mouse is needed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from support.app_server import AppServer
from support.axe import EVERY_VIEW, judge
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

EMBEDDED = {"SEARCH_PROVIDER_PRIORITY": "bundled"}


def test_axe_finds_nothing_on_the_chat_page(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    page = visitor.page
    assert judge(visitor, EVERY_VIEW) == [], "the first screen"
    visitor.search_on()
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("参考文献")
    answer = page.get_by_test_id("stChatMessage").last
    folded = answer.locator("details:not([open]) > summary").filter(visible=True)
    while folded.count():
        folded.first.click()
        visitor.settled()
    answer.locator("sup.cite a").first.focus()
    expect(answer.locator(".wy-card").first).to_be_visible()
    assert judge(visitor, within="sup.cite:focus-within") == [], "the card of a citation"
    answer.get_by_role("button", name="导出").click()
    expect(page.get_by_test_id("stPopoverBody").filter(visible=True)).to_be_visible()
    assert judge(visitor) == [], "an answer with its sources and folds, and a popover"
    page.keyboard.press("Escape")
    answer.get_by_role("button", name="来源原文").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert judge(visitor, within="[role=dialog]") == [], "a dialog"
    page.keyboard.press("Escape")
    visitor.ask("/mode agent")
    page.get_by_text("已切换到 Agent 模式").wait_for()
    visitor.settled()
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("参考文献")
    assert judge(visitor) == [], "the steps of the agent"


def test_axe_finds_nothing_on_the_other_pages(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    page = visitor.page
    visitor.search_on()
    visitor.ask("怎么打开联网搜索？")  # which the dashboard, the last of them, tells of
    visitor.answered("参考文献")
    for path, parts in (
        ("/settings", ("引擎", "配置", "诊断", "提示词", "接口")),
        ("/help", ()),
        ("/help?article=search-toggle", ()),
        ("/legal", ("查案例", "核验文稿", "依据核验", "导入")),
        ("/dashboard", ("引擎", "缓存", "模型", "错误", "记录")),
    ):
        page.goto(visitor.url + path)
        visitor.settled()
        assert judge(visitor) == [], path
        for part in parts:
            named = page.get_by_role("tab", name=part).or_(page.get_by_role("radio", name=part, exact=True))
            named.filter(visible=True).click()
            visitor.settled()
            assert judge(visitor, within="[data-testid=stMain]") == [], (path, part)


FOCUSED = """() => {
    const element = document.activeElement, style = getComputedStyle(element);
    const label = element.closest("label"), around = label && getComputedStyle(label);
    return {
        name: element.innerText || element.getAttribute("aria-label") || element.tagName,
        ring: [style, around].some(one => one && one.outlineStyle == "solid" && parseFloat(one.outlineWidth) >= 2),
        typing: element.matches("textarea, input:not([type=checkbox], [type=radio])"),
        cited: !!element.closest("sup.cite"),
    }
}"""


def tabs_until(page: Page, key: str, wanted: str) -> int:
    """How often the key is pressed until what has the focus is that. Each stop on the way can be seen."""
    for presses in range(1, 60):
        page.keyboard.press(key)
        found = page.evaluate(FOCUSED)
        assert found["ring"] or found["typing"], found
        if found[wanted]:
            return presses
    raise AssertionError(f"{key} never leads to it")


def test_no_mouse_is_needed(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    page = visitor.page
    page.emulate_media(reduced_motion="reduce")
    expect(page.get_by_test_id("stChatInputTextArea")).to_be_focused()
    page.evaluate("document.body.tabIndex = -1; document.body.focus()")  # where a page begins that has no such box
    page.keyboard.press("Tab")
    skip = page.get_by_test_id("stSkipToContent")
    expect(skip).to_be_focused()
    assert skip.evaluate("link => getComputedStyle(link, '::after').content") == '"跳到正文"'
    assert skip.evaluate("link => getComputedStyle(link).fontSize") == "0px", "without Streamlit's English words"
    tabs_until(page, "Tab", "typing")
    page.keyboard.type("/search on")
    page.keyboard.press("Enter")
    page.get_by_text("联网搜索已打开").wait_for()
    visitor.settled()
    page.get_by_test_id("stChatInputTextArea").focus()
    page.keyboard.type("怎么打开联网搜索？")
    page.keyboard.press("Enter")
    visitor.answered("参考文献")
    page.get_by_test_id("stChatInputTextArea").focus()
    tabs_until(page, "Shift+Tab", "cited")
    expect(page.locator("sup.cite:focus-within .wy-card")).to_be_visible()
    moving = page.evaluate(
        "[...document.querySelectorAll('*')].filter(one => parseFloat(getComputedStyle(one).transitionDuration) > 0).length"
    )
    assert moving == 0
