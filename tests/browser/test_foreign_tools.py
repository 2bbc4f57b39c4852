"""Tools of a foreign MCP server as a person meets them: the question before a change, its answer, and the sources."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.ui.chat.actions import AGENT_ON
from support.app_server import AppServer
from support.forked_server import forked_server
from support.mcp_servers import NOTE, calls, recorded, running, stdio_entry
from support.openai_server import Call, OpenAIServer, in_turn
from support.visitor import Visitor
from support.waiting import until

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]
READS = Call("notes__read_note", json.dumps({"name": "会议"}))
DELETES = Call("notes__delete_note", json.dumps({"name": "会议"}))


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp") / "record"


@pytest.fixture
def server(serve: Serve, model_server: OpenAIServer, record: Path) -> AppServer:
    return serve(
        SEARCH_PROVIDER_PRIORITY="bundled",
        OPENAI_API_KEY="k",
        OPENAI_BASE_URL=model_server.url,
        LLM_MODEL="openai:reply",
        AGENT_STRATEGY="tools",
        MCP_SERVERS=json.dumps({"notes": stdio_entry("honest", record)}),
        MCP_WAIT="60",
    )


def deletions(record: Path) -> int:
    return calls(record).count("delete_note")


def ask_for_deletion(visitor: Visitor, model_server: OpenAIServer, ending: str) -> None:
    """Ask the agent, which calls the tool that changes something, and wait for the question."""
    visitor.ask("/mode agent")
    visitor.page.get_by_text(AGENT_ON).last.wait_for()
    visitor.settled()
    model_server.reply = in_turn([DELETES], [ending])
    visitor.ask("删掉会议笔记")
    box = visitor.page.locator("[class*=st-key-approval-]")
    expect(box).to_contain_text("notes.delete_note 没有声明自己是只读的")
    expect(box).to_contain_text('"name": "会议"')
    expect(visitor.page.locator(".wy-step.running")).to_contain_text("等你允许")


def test_a_tool_that_may_change_something_waits_for_the_button(
    server: AppServer, visit: Visit, model_server: OpenAIServer, record: Path
) -> None:
    visitor = visit(server, watched=True)
    ask_for_deletion(visitor, model_server, "已经删除[1]。")
    before = deletions(record)
    visitor.page.get_by_role("button", name="允许", exact=True).click()
    visitor.answered("已经删除")
    expect(visitor.page.locator("[class*=st-key-approval-]")).to_have_count(0)
    assert deletions(record) == before + 1
    answer = visitor.page.get_by_test_id("stChatMessage").last
    answer.locator(".wy-step > summary").click()
    expect(answer.locator(".wy-step")).to_contain_text("是否允许 你允许了")
    assert visitor.foreign == []
    visitor.page.reload()
    visitor.answered("已经删除")
    expect(visitor.page.get_by_text("外部工具 1 次")).to_be_visible()
    expect(visitor.page.locator("[class*=st-key-approval-]")).to_have_count(0)


def test_a_refusal_keeps_the_tool_from_running(
    server: AppServer, visit: Visit, model_server: OpenAIServer, record: Path
) -> None:
    visitor = visit(server)
    before = deletions(record)
    ask_for_deletion(visitor, model_server, "好的，没有删除。")
    visitor.page.get_by_role("button", name="不允许").click()
    visitor.answered("没有删除")
    assert deletions(record) == before
    told = json.dumps(model_server.requests[-1], ensure_ascii=False)
    assert "用户不允许使用这个工具，没有执行。" in told
    expect(visitor.page.locator(".wy-step.failed > summary")).to_contain_text("用户不允许使用这个工具")


def test_a_reader_who_stops_ends_the_question(
    server: AppServer, visit: Visit, model_server: OpenAIServer, record: Path
) -> None:
    visitor = visit(server)
    before = deletions(record)
    ask_for_deletion(visitor, model_server, "不会说的。")
    visitor.page.get_by_role("button", name="停止回答").click()
    visitor.answered("已停止")
    expect(visitor.page.locator("[class*=st-key-approval-]")).to_have_count(0)
    assert deletions(record) == before


def test_a_text_of_a_tool_is_cited_checked_and_can_be_read(
    server: AppServer, visit: Visit, model_server: OpenAIServer, record: Path
) -> None:
    visitor = visit(server, watched=True)
    visitor.ask("/mode agent")
    visitor.page.get_by_text(AGENT_ON).last.wait_for()
    visitor.settled()
    model_server.reply = in_turn([READS], ["会议定于 2026 年 3 月 5 日上午九点[1]。"])
    visitor.ask("会议在什么时候？")
    visitor.answered("会议定于")
    answer = visitor.page.get_by_test_id("stChatMessage").last
    expect(answer.locator("sup.cite i")).to_have_text("✓")
    expect(answer.locator("ol.wy-refs").last).to_contain_text("notes.read_note：会议")
    expect(answer.locator("ol.wy-refs").last).to_contain_text(f"外部工具 notes.read_note · {len(NOTE)} 字")
    expect(answer.locator("ol.wy-refs a:not(.back)")).to_have_count(0)
    answer.get_by_role("button", name="来源原文").click()
    expect(visitor.page.get_by_role("dialog")).to_contain_text("在三楼会议室，由王工主持")
    assert visitor.foreign == []


def test_the_process_ends_with_the_app(visit: Visit, model_server: OpenAIServer, tmp_path: Path) -> None:
    record = tmp_path / "record"
    environ = {
        "SEARCH_PROVIDER_PRIORITY": "bundled",
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": model_server.url,
        "LLM_MODEL": "openai:reply",
        "AGENT_STRATEGY": "tools",
        "MCP_SERVERS": json.dumps({"notes": stdio_entry("honest", record)}),
        "MCP_WAIT": "60",
    }
    with forked_server(**environ) as own:
        visitor = visit(own)
        visitor.ask("/mode agent")
        visitor.page.get_by_text(AGENT_ON).last.wait_for()
        visitor.settled()
        model_server.reply = in_turn([READS], ["会议在九点[1]。"])
        visitor.ask("会议在什么时候？")
        visitor.answered("会议在九点")
        assert len(running(record)) == 1
    until(lambda: running(record) == [])
    assert recorded(record)
