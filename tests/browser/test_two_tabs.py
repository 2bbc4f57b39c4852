"""Two tabs of one browser on the same conversation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from support.app_server import AppServer
from support.openai_server import OpenAIServer
from support.visitor import Visitor

pytestmark = pytest.mark.browser


def messages(visitor: Visitor, count: int) -> None:
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(count)
    visitor.settled()


def test_what_one_tab_says_the_other_shows_and_answers_with(
    two_models: AppServer, model_server: OpenAIServer, visit: Callable[..., Visitor]
) -> None:
    one = visit(two_models)
    one.ask("第一个问题")
    one.answered("tokens")
    one.page.wait_for_url("**/?c=*")
    address = one.page.url
    other = Visitor(one.page.context.new_page(), address)
    messages(other, 2)
    box = other.page.get_by_test_id("stChatInputTextArea")
    box.fill("打到一半的字")

    one.ask("第二个问题")
    one.answered("第二个问题")
    messages(other, 4)
    expect(other.page.get_by_test_id("stChatMessage").nth(2)).to_contain_text("第二个问题")
    expect(box).to_have_value("打到一半的字")
    assert other.page.url == address

    other.ask("第三个问题")
    other.answered("第三个问题")
    said = [message["content"] for message in model_server.requests[-1]["messages"] if message["role"] == "user"]
    assert said == ["第一个问题", "第二个问题", "第三个问题"]
    messages(one, 6)

    # Deleted in one, said in the other, and nothing typed is lost.
    box.fill("还没有发送")
    sidebar = one.page.get_by_test_id("stSidebar")
    sidebar.get_by_role("button", name="「第一个问题」的操作").click()
    one.page.get_by_role("menuitem", name="删除", exact=True).click()
    expect(other.page.get_by_text("可能在另一个标签页里被删除")).to_be_visible()
    messages(other, 0)
    expect(box).to_have_value("还没有发送")


def test_a_page_that_was_hidden_for_long_looks_when_it_is_seen_again(
    two_models: AppServer, visit: Callable[..., Visitor]
) -> None:
    """What was said on another device: the browser of a test has no other channel to it."""
    one = visit(two_models)
    one.ask("第一个问题")
    one.answered("tokens")
    one.page.wait_for_url("**/?c=*")
    device = visit(two_models)
    device.page.context.add_cookies(one.page.context.cookies())  # type: ignore[arg-type]
    device.page.goto(one.page.url)
    device.settled()
    messages(device, 2)
    device.ask("第二个问题")
    device.answered("第二个问题")
    one.settled()
    expect(one.page.get_by_test_id("stChatMessage")).to_have_count(2)
    one.page.evaluate(
        """() => {
            const pass = (hidden, later) => {
                Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
                const now = Date.now() + later;
                Date.now = () => now;
                document.dispatchEvent(new Event("visibilitychange"));
            };
            pass(true, 0);
            pass(false, 31_000);
        }"""
    )
    messages(one, 4)
