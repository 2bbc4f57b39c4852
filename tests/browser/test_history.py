"""The list of conversations as a person uses it, and a conversation that somebody else opens."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from support.app_server import AppServer
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

READ_ONLY = "这个对话只能阅读"


@pytest.fixture
def app(serve: Serve) -> AppServer:
    return serve(SEARCH_PROVIDER_PRIORITY="bundled")


def sidebar(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stSidebar")


def entries(visitor: Visitor) -> Locator:
    return sidebar(visitor).locator("[class*=st-key-open-] button")


def talk(visitor: Visitor, question: str) -> None:
    sidebar(visitor).get_by_role("button", name="新对话").click()
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(0)
    visitor.settled()
    visitor.ask(question)
    visitor.answered("tokens")


def choose(visitor: Visitor, title: str, option: str) -> None:
    sidebar(visitor).get_by_role("button", name=f"「{title}」的操作").click()
    visitor.page.get_by_role("menuitem", name=option, exact=True).click()
    visitor.settled()


def shown(visitor: Visitor, *titles: str) -> None:
    expect(entries(visitor)).to_have_text(titles)


def test_history_cannot_hurt_and_others_only_read(app: AppServer, visit: Visit) -> None:
    here = visit(app, width=1440, watched=True)
    page = here.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    talk(here, "你是谁甲")
    talk(here, "你是谁乙")
    shown(here, "你是谁乙", "你是谁甲")
    expect(sidebar(here).get_by_text("今天", exact=True)).to_be_visible()

    # To rename moves nothing, leaves nothing open, and a second click in the same place does nothing.
    choose(here, "你是谁甲", "改名")
    page.get_by_label("标题").fill("改过的名字")
    button = page.get_by_test_id("stDialog").get_by_role("button", name="改名")
    place = button.bounding_box()
    assert place is not None
    button.click()
    expect(page.get_by_test_id("stDialog")).to_have_count(0)
    page.mouse.click(place["x"] + 5, place["y"] + 5)
    here.settled()
    shown(here, "你是谁乙", "改过的名字")
    expect(page.get_by_role("menuitem")).to_have_count(0)

    # Deleted at once, and back, open as it was, with one click.
    choose(here, "你是谁乙", "删除")
    shown(here, "改过的名字")
    expect(page.get_by_test_id("stChatMessage")).to_have_count(0)
    sidebar(here).get_by_role("button", name="撤销").click()
    shown(here, "你是谁乙", "改过的名字")
    expect(page.get_by_test_id("stChatMessage")).to_have_count(2)
    here.settled()

    # Found by what an answer says, in traditional characters.
    box = sidebar(here).get_by_placeholder("搜索对话")
    box.fill("沒有這句話")
    expect(sidebar(here).get_by_text("没有找到含有这些字的对话")).to_be_visible()
    box.fill("我是問源的內置摘錄模型 甲")
    shown(here, "改过的名字")
    entries(here).first.click()
    expect(page.get_by_test_id("stChatMessage").first).to_contain_text("你是谁甲")
    expect(sidebar(here).locator(".st-key-history-open")).to_contain_text("改过的名字")
    here.settled()

    # Two clicks, and the link is in the clipboard.
    choose(here, "改过的名字", "分享")
    expect(page.get_by_text("已复制到剪贴板")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    own = page.url
    assert own.partition("c=")[2] not in link
    page.keyboard.press("Escape")

    stranger = visit(app, path=own.removeprefix(app.url))
    expect(stranger.page.get_by_text("这个对话没有分享给你，或者已经不存在")).to_be_visible()
    expect(stranger.page.get_by_test_id("stChatMessage")).to_have_count(0)
    assert "改过的名字" not in stranger.page.content()
    assert "你是谁甲" not in stranger.page.content()
    assert stranger.page.url == f"{app.url}/"

    reader = visit(app, path=link.removeprefix(app.url))
    expect(reader.page.get_by_text(READ_ONLY)).to_be_visible()
    expect(reader.page.get_by_test_id("stChatMessage").first).to_contain_text("你是谁甲")
    expect(reader.page.get_by_role("button", name="重新回答")).to_have_count(0)
    expect(entries(reader)).to_have_count(0)
    assert reader.page.url == link
    reader.ask("你是谁丙")
    reader.answered("tokens")
    shown(reader, "改过的名字")
    expect(reader.page.get_by_test_id("stChatMessage")).to_have_count(4)
    assert reader.page.url not in {link, own}
    page.reload()
    here.answered("tokens")
    expect(page.get_by_test_id("stChatMessage")).to_have_count(2)

    choose(here, "改过的名字", "分享")
    page.get_by_role("button", name="撤回").click()
    expect(page.get_by_test_id("stDialog")).to_have_count(0)
    here.settled()
    late = visit(app, path=link.removeprefix(app.url))
    expect(late.page.get_by_text("这个分享链接已经失效")).to_be_visible()
    assert here.foreign == []


def test_on_a_phone_the_list_makes_way_for_what_was_chosen(app: AppServer, visit: Visit) -> None:
    visitor = visit(app, width=390)
    visitor.ask("你是谁甲")
    visitor.answered("tokens")
    for name in ("你是谁甲", "新对话"):
        visitor.page.get_by_test_id("stExpandSidebarButton").click()
        expect(sidebar(visitor)).to_have_attribute("data-collapsed", "false")
        visitor.settled()
        sidebar(visitor).get_by_role("button", name=name, exact=True).click()
        expect(sidebar(visitor)).to_have_attribute("data-collapsed", "true")
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(0)
    visitor.settled()

    visitor.page.get_by_test_id("stExpandSidebarButton").click()
    choose(visitor, "你是谁甲", "删除")
    expect(sidebar(visitor)).to_have_attribute("data-collapsed", "false")
    sidebar(visitor).get_by_role("button", name="撤销").click()
    shown(visitor, "你是谁甲")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 390
