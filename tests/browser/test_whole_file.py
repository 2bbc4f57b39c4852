"""A question about the whole of a long file, as a reader follows it: part by part, and afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import expect

from support.app_server import AppServer
from support.openai_server import OpenAIServer, openai_server
from support.visitor import Visitor

pytestmark = pytest.mark.browser

LINE = "本馆的陈列柜在春季擦拭一次，由值班人员登记。"
PART = re.compile(r"的第 (\d+)/(\d+) 部分")


@pytest.fixture
def reader_model() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_step_counts_the_parts_and_the_source_says_how_it_was_read(
    serve: Callable[..., AppServer],
    visit: Callable[..., Visitor],
    reader_model: OpenAIServer,
    tmp_path: Path,
    width: int,
    *,
    dark: bool,
) -> None:
    go_on = Event()

    def reply(asked: dict[str, Any]) -> Sequence[Any]:
        part = PART.search(str(asked["messages"][-1]["content"]))
        if part is None:
            return [f"{LINE.removesuffix('。')}[1]。"]
        return ["笔记"] if part[1] == "1" else [go_on, "笔记"]

    reader_model.reply = reply
    server = serve(
        SEARCH_PROVIDER_PRIORITY="bundled",
        OPENAI_API_KEY="k",
        OPENAI_BASE_URL=reader_model.url,
        LLM_MODEL="openai:reply",
        LLM_CONTEXT_TOKENS="8192",
        CHECKS_JUDGE="off",
    )
    rules = tmp_path / "馆规.txt"
    rules.write_text("\n".join(f"第{n}条 {LINE}" for n in range(900)), "utf-8")
    visitor = visit(server, width=width, dark=dark)
    page = visitor.page
    page.get_by_test_id("stChatInput").locator("input[type=file]").set_input_files([rules])
    expect(page.get_by_test_id("stFileChip")).to_contain_text("馆规.txt")
    visitor.ask("请概括附件的主要内容。")
    answer = page.get_by_test_id("stChatMessage").last
    expect(answer.get_by_text(re.compile(r"读第 2/\d+ 部分")).first).to_be_visible()
    go_on.set()
    visitor.answered("参考文献")
    expect(answer.get_by_text(re.compile(r"分 \d+ 部分通读《馆规.txt》")).first).to_be_visible()
    expect(page.locator(".wy-refs").last).to_contain_text(re.compile(r"附件 · [\d,]+ 字，分 \d+ 部分交给模型"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()
    visitor.settled()
    expect(page.get_by_text(re.compile(r"分 \d+ 部分通读《馆规.txt》")).first).to_be_visible()
