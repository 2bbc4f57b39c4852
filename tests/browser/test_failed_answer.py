"""A failed answer in a real browser: the key form in place, one word about a server that is gone, and the text that goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.base.settings import SavedSettingsFile
from support import axe
from support.app_server import app_server, free_port
from support.forked_server import forked_server
from support.openai_server import ANSWER, OpenAIServer, openai_server
from support.scripted_searxng import scripted_searxng
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]
KEY = "right-key-0123456789-abcdef"
WRONG = "wrong-key-9876543210-fedcba"


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


def test_the_key_form_in_a_failed_answer_answers_the_question(
    model: OpenAIServer, visit: Visit, tmp_path: Path
) -> None:
    model.api_key = KEY
    SavedSettingsFile(tmp_path).change(
        {"OPENAI_API_KEY": WRONG, "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:ok"}
    )
    with forked_server(DATA_DIR=str(tmp_path), SEARCH_PROVIDER_PRIORITY="bundled", CHAT_FOLLOW_UPS="0") as server:
        visitor = visit(server)
        page = visitor.page
        visitor.ask("怎么打开联网搜索？")
        visitor.answered("模型服务拒绝了当前的密钥")
        form = page.locator('[class*="st-key-key-form-"]')
        expect(form).to_contain_text("换一个密钥")
        assert axe.judge(visitor) == []
        form.get_by_role("textbox", name="密钥").fill(KEY)
        keep = form.get_by_role("button", name="保存并重新回答")
        keep.click()
        visitor.answered(ANSWER.partition("[")[0])
        expect(page.get_by_test_id("stChatMessage")).to_have_count(2)
        expect(form).to_have_count(0)


def banner(page: Page) -> str:
    shown: str = page.evaluate("getComputedStyle(document.body, '::before').content")
    return shown


def test_after_a_server_was_killed_one_banner_says_it_and_the_text_goes_on(
    model: OpenAIServer, visit: Visit, tmp_path: Path
) -> None:
    model.reply = lambda asked: (
        ["前半句已经写出，", 2.0, "第二句，", 60.0] if "问题" in str(asked["messages"][-1]) else ["后半句。"]
    )
    environ = {
        "DATA_DIR": str(tmp_path),
        "SEARCH_PROVIDER_PRIORITY": "bundled",
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": model.url,
        "LLM_MODEL": "openai:reply",
        "CHAT_FOLLOW_UPS": "0",
    }
    port = free_port()
    with app_server(port=str(port), **environ) as server:
        visitor = visit(server)
        page = visitor.page
        visitor.ask("一个问题")
        page.get_by_text("第二句，").wait_for()
        page.wait_for_timeout(2_500)  # the answer is saved every second
        server.process.kill()
        server.process.wait(10)
        page.wait_for_function("() => getComputedStyle(document.body, '::before').content.includes('连接断开了')")
        page.wait_for_function("() => getComputedStyle(document.body, '::before').visibility == 'visible'")
        page.wait_for_timeout(3_000)
        assert page.get_by_role("dialog").count() == 0, "the banner says it; a dialog would cover the text"
        expect(page.get_by_text("前半句已经写出，")).to_be_visible()
    with app_server(port=str(port), **environ):
        page.wait_for_function("() => getComputedStyle(document.body, '::before').content == 'none'", timeout=60_000)
        expect(page.get_by_text("这条回答在写完之前中断了，以上是已保存的部分。")).to_be_visible()
        page.get_by_role("button", name="继续").click()
        visitor.answered("后半句。")
        expect(page.get_by_text("前半句已经写出，")).to_be_visible()


def test_lines_to_paste_are_copied_as_they_are(model: OpenAIServer, visit: Visit) -> None:
    with scripted_searxng(403) as searxng, forked_server(
        SEARCH_PROVIDER_PRIORITY="searxng", SEARXNG_URL=searxng.url, OPENAI_API_KEY="k", OPENAI_BASE_URL=model.url,
        LLM_MODEL="openai:ok", CHAT_FOLLOW_UPS="0",
    ) as server:  # fmt: skip
        visitor = visit(server)
        page = visitor.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        visitor.search_on()
        visitor.ask("全固态电池什么时候量产")
        visitor.answered("重新搜索")
        visitor.settled()
        button = page.locator(".wy-paste-copy").last
        button.click()
        expect(button).to_have_text("已复制")
        assert page.evaluate("navigator.clipboard.readText()") == "search:\n  formats: [html, json]"
        assert axe.judge(visitor) == []
