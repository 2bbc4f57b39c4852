"""The first minute as a person meets it: the box, what stands around it, and the address that fills it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from core.ui.chat.composer import FROM_LINK_NOTE
from support.app_server import AppServer
from support.faults import Server, json_answer, keep_alive
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

NEWS = {
    "title": "人工智能一周新闻",
    "url": "https://news.example/",
    "content": "最近一周，人工智能领域发布了三个重要的新模型。",
}


@pytest.fixture(scope="module")
def app(serve: Callable[..., AppServer]) -> Iterator[AppServer]:
    """A web in which there is news, and the embedded model, which quotes it."""
    with Server(keep_alive(json_answer({"results": [NEWS]}))) as searxng:
        yield serve(SEARCH_PROVIDER_PRIORITY="searxng", SEARXNG_URL=searxng.url)


def fits(visitor: Visitor, width: int) -> bool:
    return bool(visitor.page.evaluate("document.documentElement.scrollWidth") == width)


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_a_cited_answer_is_two_clicks_away(app: AppServer, visit: Visit, phone: bool) -> None:
    width = 390 if phone else 1440
    visitor = visit(app, width=width, touch=phone, watched=True)
    page, box = visitor.page, visitor.page.get_by_test_id("stChatInputTextArea")
    if phone:
        expect(box).not_to_be_focused()  # the keyboard would cover the page
    else:
        expect(box).to_be_focused()
    assert fits(visitor, width)
    page.get_by_role("button", name="最近的新闻").click()
    expect(box).to_have_value("最近一周人工智能领域有哪些重要新闻？")
    expect(page.get_by_text("联网 已启用")).to_be_visible()
    expect(page.get_by_test_id("stChatMessage")).to_have_count(0)
    page.get_by_role("button", name="发送").click()
    visitor.answered("参考文献")
    expect(page).to_have_title("最近一周人工智能领域有哪些重要新闻？ · 问源")
    visitor.flip("Agent")
    expect(page.get_by_text("Agent 模式下由 AI 自动决策搜索")).to_be_visible()
    visitor.settled()
    assert fits(visitor, width)
    assert visitor.foreign == []


def test_a_link_fills_the_box_and_its_reader_asks(app: AppServer, visit: Visit) -> None:
    visitor = visit(app, path="/?q=人工智能有什么新闻？&search=1")
    page, box = visitor.page, visitor.page.get_by_test_id("stChatInputTextArea")
    expect(box).to_have_value("人工智能有什么新闻？")
    expect(page.get_by_text(FROM_LINK_NOTE)).to_be_visible()
    visitor.settled()
    expect(page.get_by_test_id("stChatMessage")).to_have_count(0)
    assert "q=" not in page.url
    expect(box).to_be_focused()
    page.keyboard.press("Enter")
    visitor.answered("参考文献")
    expect(page.get_by_text(FROM_LINK_NOTE)).to_have_count(0)
    page.reload()
    visitor.answered("参考文献")
    expect(box).to_have_value("")

    page.get_by_test_id("stMainMenu").click()
    expect(page.get_by_test_id("stMainMenuPopover")).to_have_text(re.compile("系统.*浅色.*深色.*打印或存为 PDF"))
    page.keyboard.press("Escape")
    english = page.evaluate(
        "() => [...document.querySelectorAll('[aria-label]')].map(e => e.ariaLabel).filter(words => /^[ -~]+$/.test(words))"
    )
    assert [words for words in english if re.search("[A-Za-z]{2}", words)] == []

    page.get_by_role("button", name="新对话").click()
    page.get_by_role("button", name="核验一份文稿").click()
    expect(page.get_by_role("radio", name="核验文稿")).to_be_checked()
    expect(page).to_have_title("法规与案例 · 问源")
    page.goto(f"{app.url}/legal?law=灯塔法&article=第三条")
    expect(page).to_have_title("灯塔法 · 第三条 · 问源")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
