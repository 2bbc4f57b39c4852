"""A model that makes one wait: whether it has not begun, thinks, writes or has stopped can be seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from threading import Event

import pytest
from playwright.sync_api import Locator, expect

from core.ui.chat.actions import AGENT_ON
from support.app_server import AppServer
from support.openai_server import Call, OpenAIServer, Thinks, in_turn, openai_server
from support.visitor import Visitor
from support.waiting import until

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def thinker() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def page(serve: Serve, visit: Visit, thinker: OpenAIServer) -> Visitor:
    return visit(
        serve(
            SEARCH_PROVIDER_PRIORITY="bundled",
            OPENAI_BASE_URL=thinker.url,
            LLM_MODEL="openai:reply",
            AGENT_STRATEGY="tools",
            CHAT_FOLLOW_UPS="0",
        )
    )


def last(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stChatMessage").last


def sees(visitor: Visitor, pattern: str) -> None:
    expect(last(visitor).get_by_text(re.compile(pattern)).filter(visible=True).first).to_be_visible()


def costs(visitor: Visitor, text: str) -> None:
    """What makes up the total is behind ⋯."""
    last(visitor).get_by_role("button", name="更多").click()
    parts = visitor.page.locator(".wy-menu").filter(has_text=text)
    expect(parts).to_be_visible()
    visitor.page.keyboard.press("Escape")
    expect(parts).to_have_count(0)


def ticks(place: Locator) -> None:
    """The seconds after it are counted by the style sheet, which has no text to look for."""
    seconds = "row => Number(getComputedStyle(row, '::after').getPropertyValue('--wy-seconds'))"
    expect(place).to_be_visible()
    before = place.evaluate(seconds)
    until(lambda: place.evaluate(seconds) > before, 20)


def test_waiting_thinking_stopping_and_writing_look_different(page: Visitor, thinker: OpenAIServer) -> None:
    begin, think, go_on, write = Event(), Event(), Event(), Event()
    thinker.reasoning_tokens = 5
    thinker.reply = in_turn(
        [begin, Thinks("先想年限，"), think, Thinks("再想工资基数。"), go_on, "应当支付", write, "经济补偿。"]
    )
    page.ask("要付补偿吗")
    ticks(last(page).get_by_text("正在等待模型…"))
    begin.set()
    ticks(last(page).locator(".wy-step.running > summary").filter(has_text="思考中"))
    sees(page, "先想年限，")
    expect(last(page).get_by_text("正在等待模型")).to_have_count(0)
    think.set()
    sees(page, "先想年限，再想工资基数。")
    ticks(last(page).get_by_text("模型停顿了"))
    thoughts = last(page).locator(".wy-thought").filter(visible=True)
    expect(thoughts).to_have_count(1)
    go_on.set()
    sees(page, r"已思考 \d+ 秒")
    sees(page, "应当支付")
    sees(page, "模型停顿了")
    write.set()
    page.answered("tokens")
    costs(page, "其中推理 5")
    (thought,) = re.findall(r"已思考 \d+ 秒", last(page).inner_text())
    assert int(re.sub(r"\D", "", thought)) >= 4  # what it stood still for counts
    expect(last(page).get_by_text("模型停顿了")).to_have_count(0)
    expect(thoughts).to_have_count(0)
    page.page.reload()
    page.answered("tokens")
    costs(page, "其中推理 5")
    sees(page, r"已思考 (?:[3-9]|\d\d) 秒 · 先想年限，再想工资基数。")


def test_an_agent_is_never_silent(page: Visitor, thinker: OpenAIServer) -> None:
    first, again, end = Event(), Event(), Event()
    thinker.reply = in_turn(
        [first, Thinks("要查手册。"), Call("web_search", '{"query": "打开联网搜索"}')],
        [again, Thinks("查到了。"), end, "点开关即可 [1]。"],
    )
    page.flip("Agent")
    page.page.get_by_text(AGENT_ON).last.wait_for()
    page.settled()
    page.ask("怎么打开联网搜索")
    ticks(last(page).get_by_text("正在等待模型…"))
    first.set()
    expect(last(page).locator(".wy-step.done")).to_contain_text(re.compile("搜索「打开联网搜索」 · 内置手册 · .* 条"))
    ticks(last(page).get_by_text("正在等待模型…"))
    again.set()
    sees(page, "思考中")
    end.set()
    page.answered("参考文献")
    expect(last(page).get_by_text("正在等待模型")).to_have_count(0)
