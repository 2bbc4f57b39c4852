"""Agent mode as a person meets it: the steps, the modes, and leaving in the middle."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from core.ui.chat.actions import AGENT_DECIDES, AGENT_ON, CHAT_ON
from support.app_server import AppServer
from support.openai_server import OpenAIServer
from support.patience import until
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

EMBEDDED = {"SEARCH_PROVIDER_PRIORITY": "bundled"}


def switch(visitor: Visitor, confirmation: str) -> None:
    visitor.flip("Agent")
    visitor.page.get_by_text(confirmation).last.wait_for()
    visitor.settled()


def go(visitor: Visitor, page: str, sign: str) -> None:
    visitor.page.get_by_test_id("stSidebar").get_by_text(page, exact=True).click()
    visitor.page.get_by_text(sign).filter(visible=True).first.wait_for()
    visitor.settled()


def see_the_steps(visitor: Visitor) -> None:
    """All of them, folded; the second one is opened and folded again."""
    answer = visitor.page.get_by_test_id("stChatMessage").last
    shown = answer.locator("summary").filter(visible=True)
    thought, search, found, last = [text.strip().splitlines()[-1] for text in shown.all_inner_texts()[:4]]
    assert re.match(r"(?:思考|已思考 \d+ 秒) · ", thought)
    assert search == "搜索「打开联网搜索」 · 完成"
    assert found.startswith("搜索结果 · 内置手册 · 找到")
    assert re.match(r"(?:思考|已思考 \d+ 秒) · ", last)
    query = answer.get_by_text("查询").first
    expect(query).not_to_be_visible()
    shown.nth(1).click()
    expect(query).to_be_visible()
    shown.nth(1).click()
    expect(query).not_to_be_visible()


def test_steps_appear_fold_and_stay(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    switch(visitor, AGENT_ON)
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("参考文献")
    see_the_steps(visitor)
    go(visitor, "帮助", "查找文章")
    go(visitor, "对话", AGENT_ON)
    visitor.answered("参考文献")
    see_the_steps(visitor)
    visitor.page.reload()
    visitor.answered("参考文献")
    see_the_steps(visitor)
    assert visitor.foreign == []


def test_the_mode_is_confirmed_and_the_toggle_comes_back(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED))
    toggle = visitor.switch("联网")
    visitor.search_on()
    switch(visitor, AGENT_ON)
    expect(visitor.page.get_by_text(AGENT_DECIDES)).to_be_visible()
    expect(toggle).to_be_disabled()
    go(visitor, "帮助", "查找文章")
    go(visitor, "对话", AGENT_DECIDES)
    expect(toggle).to_be_disabled()
    switch(visitor, CHAT_ON)
    expect(toggle).to_be_enabled()
    expect(toggle).to_be_checked()
    go(visitor, "帮助", "查找文章")
    go(visitor, "对话", "联网 已启用")
    expect(toggle).to_be_checked()
    expect(visitor.page.get_by_text(AGENT_ON)).to_have_count(1)


def test_leaving_cancels_the_run(serve: Serve, visit: Visit, model_server: OpenAIServer) -> None:
    # With tool calling the question stands last, and its last word says how the model behaves.
    server = serve(
        **EMBEDDED,
        OPENAI_API_KEY="k",
        OPENAI_BASE_URL=model_server.url,
        LLM_MODEL="openai:as-asked",
        AGENT_STRATEGY="tools",
    )
    visitor = visit(server)
    switch(visitor, AGENT_ON)
    visitor.ask("慢慢想 slow")
    visitor.page.get_by_text("第30词").first.wait_for()
    before = model_server.broken_off
    visitor.page.get_by_test_id("stSidebar").get_by_text("帮助", exact=True).click()
    until(lambda: model_server.broken_off == before + 1)
    visitor.page.get_by_text("查找文章").wait_for()
    go(visitor, "对话", "已停止")
    assert "进行中" not in visitor.last_answer
    assert "思考中" not in visitor.last_answer
