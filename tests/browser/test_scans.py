"""A scan at the input: the reader sees it being recognized, then the answer with the page that says it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support.app_server import AppServer
from support.openai_server import OpenAIServer
from support.scans import file_of, one_recognizer, scan
from support.visitor import Visitor

pytestmark = pytest.mark.browser

RENT = "承租方每月支付租金人民币48,600元。"
LIGHT = "灯塔的灯每晚六点点亮，早上七点熄灭。"


def test_a_scan_is_recognized_page_by_page_and_cited(
    serve: Callable[..., AppServer], visit: Callable[..., Visitor], model_server: OpenAIServer, tmp_path: Path
) -> None:
    lease = tmp_path / "扫描合同.pdf"
    lease.write_bytes(file_of("PDF", scan(LIGHT), scan(RENT), *[scan(LIGHT)] * 3))
    model_server.reply = lambda request: ["承租方每月支付租金人民币48,600元 [1]。"]
    model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model_server.url, "LLM_MODEL": "openai:reply"}
    with one_recognizer():
        visitor = visit(serve(SEARCH_PROVIDER_PRIORITY="bundled", CHAT_FOLLOW_UPS="0", **model), width=390, dark=True)
        page = visitor.page
        page.get_by_test_id("stChatInput").locator("input[type=file]").set_input_files([lease])
        expect(page.get_by_test_id("stFileChip")).to_have_count(1)
        page.get_by_test_id("stChatInputTextArea").fill("租金是多少？")
        expect(page.get_by_role("button", name="发送")).to_be_enabled()
        page.get_by_test_id("stChatInputTextArea").press("Enter")
        expect(page.get_by_text("「扫描合同.pdf」是扫描件，正在识别第")).to_be_visible(timeout=60_000)
        expect(page.get_by_text("完成后发送「租金是多少？」")).to_be_visible()
        expect(page.get_by_role("button", name="停止识别")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not any("租金是多少" in str(request) for request in model_server.requests), "nothing is sent before"
        expect(page.get_by_test_id("stChatMessage").last).to_contain_text("48,600", timeout=120_000)
        visitor.answered("参考文献")
        expect(page.locator("sup.cite").first).to_contain_text("第 2 页（识别）")
        expect(page.get_by_role("button", name="停止识别")).to_have_count(0)
