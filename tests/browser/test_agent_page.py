"""Agent mode as a person meets it: the steps, the modes, and leaving in the middle."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from core.ui.chat.actions import AGENT_DECIDES, AGENT_ON, CHAT_ON
from support.app_server import AppServer
from support.openai_server import Call, OpenAIServer, in_turn
from support.visitor import Visitor
from support.waiting import until

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

EMBEDDED = {"SEARCH_PROVIDER_PRIORITY": "bundled"}


def calling_tools(serve: Serve, model_server: OpenAIServer, model: str) -> AppServer:
    return serve(
        **EMBEDDED,
        OPENAI_API_KEY="k",
        OPENAI_BASE_URL=model_server.url,
        LLM_MODEL=f"openai:{model}",
        AGENT_STRATEGY="tools",
    )


def switch(visitor: Visitor, confirmation: str) -> None:
    visitor.flip("Agent")
    visitor.page.get_by_text(confirmation).last.wait_for()
    visitor.settled()


def go(visitor: Visitor, page: str, sign: str) -> None:
    visitor.page.get_by_test_id("stSidebar").get_by_text(page, exact=True).click()
    visitor.page.get_by_text(sign).filter(visible=True).first.wait_for()
    visitor.settled()


def see_the_steps(visitor: Visitor) -> None:
    """All of them, each folded; the first one is opened and folded again."""
    answer = visitor.page.get_by_test_id("stChatMessage").last
    expect(answer.get_by_text(re.compile(r"✓ 已搜索 1 次 · \d+ 秒"))).to_be_visible()
    shown = answer.locator(".wy-step > summary")
    expect(shown).to_have_text(
        [re.compile("搜索「打开联网搜索」 · 内置手册 · .* 条"), re.compile(r"(?:思考|已思考 \d+ 秒) · ")]
    )
    query = answer.get_by_text("搜索词 打开联网搜索")
    expect(query).not_to_be_visible()
    shown.first.click()
    expect(query).to_be_visible()
    shown.first.click()
    expect(query).not_to_be_visible()


def test_the_mode_is_confirmed_steps_appear_fold_and_stay_and_the_toggle_comes_back(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(**EMBEDDED), watched=True)
    toggle = visitor.switch("联网")
    visitor.search_on()
    switch(visitor, AGENT_ON)
    expect(visitor.page.get_by_text(AGENT_DECIDES)).to_be_visible()
    expect(toggle).to_be_disabled()
    visitor.ask("怎么打开联网搜索？")
    visitor.answered("参考文献")
    see_the_steps(visitor)
    go(visitor, "帮助", "查找文章")
    go(visitor, "对话", AGENT_DECIDES)
    expect(toggle).to_be_disabled()
    visitor.answered("参考文献")
    see_the_steps(visitor)
    visitor.page.reload()
    visitor.answered("参考文献")
    see_the_steps(visitor)
    switch(visitor, CHAT_ON)
    expect(toggle).to_be_enabled()
    expect(toggle).to_be_checked()
    go(visitor, "帮助", "查找文章")
    go(visitor, "对话", "联网 已启用")
    expect(toggle).to_be_checked()
    expect(visitor.page.get_by_text(AGENT_ON)).to_have_count(1)
    assert visitor.foreign == []


def test_leaving_cancels_the_run(serve: Serve, visit: Visit, model_server: OpenAIServer) -> None:
    # With tool calling the question stands last, and its last word says how the model behaves.
    visitor = visit(calling_tools(serve, model_server, "as-asked"))
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


ANSWER = r"""根据 [1] 的说法，$a^2+b^2=c^2$，见 [1]。

| 产品 QuantumScape | 能量密度 | 循环寿命 | 说明 Description | 备注 |
|---|---:|---|---|---|
| QuantumScape QSE-5 | 301 Wh/kg | 1000 次 | solid-state lithium-metal | $E=mc^2$ |

```python
print(1)
```
"""


def ask_the_agent(visitor: Visitor, model_server: OpenAIServer, *, calls: int) -> Locator:
    """It searches the manual so often, then calls a tool that does not exist, then answers."""
    search = [Call("web_search", f'{{"query": "打开联网搜索 {n}"}}') for n in range(calls)]
    model_server.reply = in_turn(*([call] for call in search), [Call("no_such_tool", "{}")], [ANSWER])
    visitor.ask("怎么打开联网搜索？")
    answer = visitor.page.get_by_test_id("stChatMessage").last
    expect(answer.locator(".wy-cost")).to_be_visible()
    visitor.settled()
    answer.get_by_role("button", name="更多").click()
    expect(visitor.page.locator(".wy-menu").filter(has_text=f"{calls + 2} 轮")).to_be_visible()
    visitor.page.keyboard.press("Escape")
    visitor.settled()
    return answer


def height(place: Locator) -> float:
    box = place.bounding_box()
    assert box is not None
    return box["height"]


def test_the_rail_is_light_says_what_failed_and_stays_folded(
    serve: Serve, visit: Visit, model_server: OpenAIServer
) -> None:
    visitor = visit(calling_tools(serve, model_server, "reply"), width=1440, watched=True)
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    switch(visitor, AGENT_ON)
    answer = ask_the_agent(visitor, model_server, calls=3)
    lines = answer.locator(".wy-step")
    expect(lines).to_have_count(4)
    assert height(answer.locator(".wy-rail")) / 4 * 10 <= 4 * 58, "ten are no higher than four boxes were"
    failed = answer.locator(".wy-step.failed > summary")
    expect(failed).to_contain_text("失败：没有这个工具")
    expect(answer.get_by_text("已搜索 3 次")).to_contain_text("1 步没有成功")
    top, text = answer.bounding_box(), answer.locator(".wy-answer").first.bounding_box()
    assert top is not None
    assert text is not None
    assert text["y"] + text["height"] - top["y"] < 844, "the answer is on the first screen"

    expect(answer.locator(".wy-answer math")).to_have_count(2)
    expect(answer.locator(".wy-named").first).to_be_visible()
    answer.get_by_role("button", name="复制", exact=True).click()
    expect(answer.locator(".wy-copy")).to_have_attribute("data-said", "已复制")
    copied = page.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n")
    assert copied.startswith("根据 [1] 的说法，$a^2+b^2=c^2$，见 [1]。\n\n产品 QuantumScape\t能量密度\t")
    assert "\tsolid-state lithium-metal\t$E=mc^2$\n\nprint(1)\n\n" in copied
    assert re.search(r"\n\n参考文献\n\[1\] .+ · http://", copied)

    answer.get_by_text("已搜索 3 次").click()
    expect(lines).to_have_count(0)
    page.reload()
    visitor.answered("QSE-5")
    expect(lines).to_have_count(0)
    again = ask_the_agent(visitor, model_server, calls=1)
    expect(again.get_by_text("已搜索 1 次")).to_be_visible()
    expect(again.locator(".wy-step")).to_have_count(0)
    assert visitor.foreign == []


def test_on_a_phone_tables_scroll_in_their_own_box_and_words_stay_whole(
    serve: Serve, visit: Visit, model_server: OpenAIServer
) -> None:
    visitor = visit(calling_tools(serve, model_server, "reply"), width=390)
    visitor.ask("/mode agent")
    visitor.page.get_by_text(AGENT_ON).last.wait_for()
    visitor.settled()
    answer = ask_the_agent(visitor, model_server, calls=1)
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
    table = answer.locator(".wy-answer table")
    assert table.evaluate("table => table.scrollWidth > table.clientWidth")
    words = "cell => { const range = document.createRange(); range.selectNodeContents(cell); range.setEnd(cell.firstChild, 12);"
    assert table.locator("td").first.evaluate(f"{words} return range.getClientRects().length }}") == 1, "QuantumScape"
    assert height(answer.locator(".wy-step > summary").first) <= 32
    answer.get_by_text("个来源").click()
    expect(answer.get_by_text("已引用").first).to_be_visible()
    expect(answer.locator("ol.wy-refs.whole .summary").first).to_be_visible()
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
