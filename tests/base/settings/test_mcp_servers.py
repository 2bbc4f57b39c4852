"""MCP servers in the settings: who may name what, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.app import extra_sections
from core.base.settings import LoadedSettings, McpServer, encode_page_servers, list_settings, load_settings
from core.base.settings.load import child_environment

TOKEN = "tok-0123456789"


def load(tmp_path: Path, yaml: str = "", **environ: str) -> LoadedSettings:
    file = tmp_path / "settings.yaml"
    file.write_text(yaml, "utf-8")
    return load_settings(file, environ, sections=extra_sections())


def servers(loaded: LoadedSettings) -> dict[str, McpServer]:
    return {server.name: server for server in loaded.values.mcp.all_servers}


def test_the_file_names_commands_and_addresses(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        """
mcp:
  servers:
    time: {command: "uvx mcp-server-time --local-timezone 'Asia/Shanghai'", env: [TZ]}
    files: {command: npx, args: [-y, server-files, /data], enabled: false}
    docs: {url: "https://docs.example/mcp/", tools: [search], allow: ["*"]}
""",
        MCP_TOKENS=f"docs={TOKEN}=",
    )
    assert loaded.problems == ()
    known = servers(loaded)
    assert known["time"].command == ("uvx", "mcp-server-time", "--local-timezone", "Asia/Shanghai")
    assert known["time"].env == ("TZ",)
    assert known["files"].command == ("npx", "-y", "server-files", "/data")
    assert not known["files"].enabled
    docs = known["docs"]
    assert docs.url == "https://docs.example/mcp"
    assert docs.token is not None
    assert docs.token.get_secret_value() == f"{TOKEN}="
    assert docs.offers("search")
    assert not docs.offers("delete")
    assert docs.allows("delete")
    assert not known["time"].allows("now")


def test_the_environment_is_json_also_as_other_programs_write_it(tmp_path: Path) -> None:
    pasted = {"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}
    loaded = load(tmp_path, MCP_SERVERS=json.dumps(pasted))
    assert servers(loaded)["time"].command == ("uvx", "mcp-server-time")


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({}, "要写 command 或 url"),
        ({"command": "x", "url": "http://a/mcp"}, "只写其中一个"),
        ({"command": "'x"}, "引号"),
        ({"command": ["x", {"y": 1}]}, "列表"),
        ({"command": "x", "env": {"KEY": "value"}}, "env"),
        ({"command": "x", "token": TOKEN}, "MCP_TOKENS"),
        ({"url": "http://user:pass@a/mcp"}, "密码"),
        ({"url": f"http://a/mcp?key={TOKEN}"}, "密钥请写在令牌里"),
        ({"url": "file:///etc/passwd"}, "http"),
        ({"url": "http://a/mcp", "header": "X Y"}, "header"),
        ({"command": "x", "enabled": "no"}, "enabled"),
        ({"comand": "x"}, "没有 comand"),
        ("uvx x", "键和值"),
    ],
)
def test_one_that_cannot_be_used_is_told_and_the_others_stay(tmp_path: Path, entry: object, reason: str) -> None:
    loaded = load(tmp_path, MCP_SERVERS=json.dumps({"bad": entry, "good": {"command": "x"}}))
    assert list(servers(loaded)) == ["good"]
    (problem,) = loaded.problems
    assert problem.key == "MCP_SERVERS bad"
    assert reason in problem.reason
    assert TOKEN not in problem.for_operator()


@pytest.mark.parametrize("value", ["time", "[1]", "{", '{"../x": {"command": "x"}}', "[" * 5000])
def test_what_is_no_list_of_servers_is_none(tmp_path: Path, value: str) -> None:
    loaded = load(tmp_path, MCP_SERVERS=value)
    assert servers(loaded) == {}
    assert len(loaded.problems) == 1


def test_the_page_saves_addresses_with_their_tokens_and_no_command(tmp_path: Path) -> None:
    """Whoever gets hold of the page, or of what it has saved, starts no process."""
    base = load(tmp_path, MCP_SERVERS='{"time": {"command": "x"}}')
    server = McpServer("docs", url="https://docs.example/mcp", token=SecretStr(TOKEN), allow=("search",))
    same_name = McpServer("time", url="https://other.example/mcp")
    loaded = base.with_changes({"MCP_PAGE_SERVERS": encode_page_servers([server, same_name])})
    assert loaded.problems == ()
    known = servers(loaded)
    assert known["docs"].is_from_page
    assert known["docs"].token == SecretStr(TOKEN)
    assert known["docs"].allow == ("search",)
    assert known["time"].command == ("x",), "the administrator's own comes first"
    for smuggled in (
        {"command": "sh"},
        {"url": "http://a/mcp", "args": ["-c"]},
        {"url": "http://a/mcp", "env": ["KEY"]},
    ):
        refused = base.with_changes({"MCP_PAGE_SERVERS": json.dumps({"evil": smuggled})})
        assert list(servers(refused)) == ["time"]
        assert refused.problems


def test_tokens_and_arguments_are_shown_nowhere(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        MCP_SERVERS=json.dumps({"docs": {"url": "https://docs.example/mcp"}, "x": {"command": f"run --key {TOKEN}"}}),
        MCP_TOKENS=f"docs={TOKEN}",
    )
    loaded = loaded.with_changes(
        {"MCP_PAGE_SERVERS": encode_page_servers([McpServer("p", url="http://p/mcp", token=SecretStr(f"{TOKEN}-p"))])}
    )
    shown = [entry.value for entry in list_settings(loaded)]
    assert not [value for value in shown if TOKEN in value]
    assert TOKEN not in repr(loaded.values.mcp)
    assert {TOKEN, f"{TOKEN}-p"} <= set(loaded.values.secrets()), "they are hidden in logs"
    (problem,) = load(tmp_path, MCP_TOKENS=f"{TOKEN} {TOKEN}").problems
    assert TOKEN not in problem.for_operator()


def test_a_command_gets_the_variables_that_were_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMED_KEY", "one")
    monkeypatch.setenv("OPENAI_API_KEY", "two")
    given = child_environment(["NAMED_KEY", "NOT_SET"])
    assert given["NAMED_KEY"] == "one"
    assert "OPENAI_API_KEY" not in given
    assert "NOT_SET" not in given
