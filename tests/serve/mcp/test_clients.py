"""Real clients, over standard input and over HTTP, in the protocol of 2026 and in the one before it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import fastmcp
import mcp_types
import pytest
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from mcp import Client, MCPError

from support.mcp_world import MODES, Mode, World, started


@pytest.fixture(params=["stdio", "http"])
def client(request: pytest.FixtureRequest, world: World) -> Callable[[Mode], Client]:
    if request.param == "stdio":
        return lambda mode: Client(started(world.environ), mode=mode)
    address = request.getfixturevalue("server").url + "/mcp"
    return lambda mode: Client(address, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_answers_with_text_and_with_what_its_schema_says(
    client: Callable[[Mode], Client], mode: Mode, world: World
) -> None:
    async def use() -> None:
        async with client(mode) as connected:
            assert getattr(connected.server_info, "name", "") == "wenyuan"
            offered = {tool.name: tool for tool in (await connected.list_tools()).tools}
            assert offered.keys() == world.calls.keys()
            for name, (arguments, words) in world.calls.items():
                result = await connected.call_tool(name, arguments)
                assert not result.is_error, result.content
                assert words in text_of(result)
                assert result.structured_content  # the client has compared it with the schema

    asyncio.run(use())


@pytest.mark.parametrize("mode", MODES)
def test_resources_prompts_progress_and_sentences_come_through(
    client: Callable[[Mode], Client], mode: Mode, world: World
) -> None:
    stages: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        stages.append(message or "")

    async def use() -> None:
        async with client(mode) as connected:
            pages = await connected.list_resources()
            manual = await connected.read_resource(pages.resources[0].uri)
            assert body(manual).startswith(f"# {pages.resources[0].title}")
            article = await connected.read_resource("law://%E5%8A%B3%E5%8A%A8%E5%90%88%E5%90%8C%E6%B3%95/第三十八条")
            assert "未及时足额支付劳动报酬" in body(article)
            with pytest.raises(MCPError, match="法规库里没有《火星法》。"):
                await connected.read_resource("law://火星法")
            assert [one.title for one in (await connected.list_prompts()).prompts] == ["带来源回答", "核对这份草稿"]
            filled = await connected.get_prompt("check_draft", {"text": "依照《灯塔法》。"})
            assert "依照《灯塔法》。" in getattr(filled.messages[0].content, "text", "")
            arguments, _ = world.calls["verify_statutes"]
            await connected.call_tool("verify_statutes", arguments, progress_callback=hear)
            with pytest.raises(MCPError, match="没有叫「search」的工具。可以用的有：web_search、"):
                await connected.call_tool("search", {})
            refused = await connected.call_tool("read_page", {"url": "http://[::1]/"})
            assert refused.is_error
            assert "不是公开的网络地址" in text_of(refused) or "不能阅读" in text_of(refused)

    asyncio.run(use())
    assert stages == ["正在核验法条", "法条核验了 1 处，正在核验案号、审查合同条款"]


def test_a_megabyte_control_characters_and_halves_of_characters_are_read_or_refused(
    client: Callable[[Mode], Client], world: World
) -> None:
    async def use() -> None:
        async with client("auto") as connected:
            draft = "守塔人应当在日落前点灯。" * 25_000 + "《劳动合同法》第九百条另有规定。"
            long = await connected.call_tool("verify_statutes", {"text": draft})
            assert "✗ 《劳动合同法》第九百条：没有这一条" in text_of(long)
            longer = await connected.call_tool("verify_statutes", {"text": draft * 4})
            assert text_of(longer) == "「text」太长，最多 400,000 字。请按工具的说明改正后再调用。"
            strange = await connected.call_tool("search_documents", {"query": "租\x00金\u202e\x1b[31m"})
            assert "八千六百" in text_of(strange)

    asyncio.run(use())


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_the_client_of_fastmcp_reads_the_results_as_their_types(
    request: pytest.FixtureRequest, way: str, world: World
) -> None:
    async def use() -> None:
        async with fastmcp.Client(target) as connected:
            assert {tool.name for tool in await connected.list_tools()} == world.calls.keys()
            for name, (arguments, words) in world.calls.items():
                assert words in text_of(await connected.call_tool(name, arguments)), name
            found = await connected.call_tool("get_article", {"law": "劳动合同法", "article": "38"})
            assert found.data.article.articleNumber == "第三十八条"
            assert found.data.coverage.laws == 1
            with pytest.raises(ToolError, match="「query」没有给出。"):
                await connected.call_tool("web_search", {})
            (article,) = await connected.read_resource("law://劳动合同法/第三十八条")
            assert "未及时足额支付劳动报酬" in getattr(article, "text", "")

    command = started(world.environ)
    stdio = StdioTransport(command.command, command.args, env=command.env, cwd=str(command.cwd))
    target: Any = stdio if way == "stdio" else f"{request.getfixturevalue('server').url}/mcp"
    asyncio.run(use())


def text_of(result: Any) -> str:
    assert isinstance(result.content[0], mcp_types.TextContent)
    return result.content[0].text


def body(resource: Any) -> str:
    text: str = resource.contents[0].text
    return text
