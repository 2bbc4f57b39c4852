"""A follow-up in a real browser: searched as what it means, both shown, searched again in the reader's words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from support.app_server import AppServer
from support.faults import Peer, Server, json_answer
from support.openai_server import openai_server
from support.visitor import Visitor

pytestmark = pytest.mark.browser

FIRST, FOLLOW_UP, QUERY = "劳动合同解除有几种方式？", "那第二种呢？", "员工单方解除劳动合同的条件"
FOUND = [{"title": f"结果{n}", "url": f"https://site{n}.example/", "content": "摘要"} for n in range(1, 4)]


def test_a_follow_up_is_searched_stand_alone_and_again_in_other_words(
    serve: Callable[..., AppServer], visit: Callable[..., Visitor]
) -> None:
    def searxng(peer: Peer) -> None:
        while peer.read_request():
            peer.send(json_answer({"results": FOUND, "unresponsive_engines": []}))

    with openai_server() as model, Server(searxng) as engine:
        model.reply = lambda asked: (
            [QUERY] if "最后一个问题：" in str(asked["messages"]) else ["1. 协商解除[1]\n2. 员工单方解除[2]"]
        )
        app = serve(
            SEARCH_PROVIDER_PRIORITY="searxng",
            SEARXNG_URL=engine.url,
            OPENAI_API_KEY="k",
            OPENAI_BASE_URL=model.url,
            LLM_MODEL="openai:reply",
            READING_PAGES="0",
        )
        visitor = visit(app, watched=True)
        answer = visitor.page.get_by_test_id("stChatMessage").last
        visitor.search_on()
        visitor.ask(FIRST)
        visitor.answered("参考文献")
        visitor.ask(FOLLOW_UP)
        expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(4)
        visitor.answered("参考文献")
        answer.get_by_text("3 个来源").click()
        expect(answer.get_by_text(f"搜索词 {QUERY}").filter(visible=True)).to_be_visible()
        expect(answer.get_by_text(f"原话 {FOLLOW_UP}").filter(visible=True)).to_be_visible()

        field = answer.get_by_role("textbox", name="搜索词")
        expect(field).to_have_value(QUERY)
        field.fill("辞职 提前三十日")
        answer.get_by_role("button", name="重新搜索").click()
        expect(answer.get_by_text(f"搜索词 {QUERY}")).to_have_count(0)
        visitor.answered("参考文献")
        answer.get_by_text("3 个来源").click()
        expect(answer.get_by_text("搜索词 辞职 提前三十日").filter(visible=True)).to_be_visible()
        expect(answer.get_by_text(f"原话 {FOLLOW_UP}").filter(visible=True)).to_be_visible()
        expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(4)

        visitor.page.reload()  # it is all kept
        visitor.answered("参考文献")
        answer.get_by_text("3 个来源").click()
        expect(answer.get_by_text("搜索词 辞职 提前三十日").filter(visible=True)).to_be_visible()
        assert visitor.foreign == []
