"""MCP servers of others whose tools the agent may use, as they are written in the settings.

Two forms: a command, which is started and spoken to over its standard input, and the address of a server. Only whoever
writes settings.yaml or the environment may name a command: nothing that is saved from a page starts a process.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from core.base.settings.values import SettingProblem, add_problem, parse_secret, parse_web_address
from core.base.text import clean, one_line, shorten

MAX_SERVERS = 16
EVERY_TOOL = "*"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,60}")
_KEYS = {"command", "args", "env", "url", "header", "tools", "allow", "enabled"}
_PAGE_KEYS = {"url", "header", "token", "tools", "allow", "enabled"}


@dataclass(frozen=True, slots=True, repr=False)
class McpServer:
    """One server: either its command or its address is set. Shown without the arguments of a command, which may hold keys."""

    name: str
    command: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    """Names of our environment variables that the command gets, besides the harmless ones."""
    url: str = ""
    header: str = ""
    """Name of the header that carries the token; empty: `Authorization`, as a bearer token."""
    token: SecretStr | None = None
    tools: tuple[str, ...] = ()
    """The tools that may be used; empty: all."""
    allow: tuple[str, ...] = ()
    """The tools that are used without asking the reader, also if they are not read-only; `*`: all."""
    enabled: bool = True
    is_from_page: bool = False

    def __str__(self) -> str:
        where = self.command[0] if self.command else self.url
        return f"{self.name}（{where}{'' if self.enabled else '，未启用'}）"

    __repr__ = __str__

    def offers(self, tool: str) -> bool:
        """Return whether the administrator lets this tool be used at all."""
        return not self.tools or tool in self.tools

    def allows(self, tool: str) -> bool:
        """Return whether the administrator lets this tool be used without asking the reader."""
        return EVERY_TOOL in self.allow or tool in self.allow


def parse_servers(value: Any) -> tuple[McpServer, ...]:
    """Return the servers of a mapping or a JSON text: each name with its entries. One that cannot be used is reported and
    left out. The form `{"mcpServers": {…}}`, in which other programs keep theirs, is read too."""
    if isinstance(value, tuple):
        return value
    return tuple(_usable(_entries(value), "MCP_SERVERS", _KEYS))


def parse_page_servers(value: SecretStr) -> SecretStr:
    """Return the servers that the page has saved, or raise ValueError: none of them may be a command."""
    for name, entry in _entries(value.get_secret_value()).items():
        _server(name, entry, _PAGE_KEYS)
    return value


def page_servers(value: SecretStr | None) -> tuple[McpServer, ...]:
    """Return the servers that the page has saved."""
    entries = _entries(value.get_secret_value()) if value else {}
    return tuple(replace(_server(name, entry, _PAGE_KEYS), is_from_page=True) for name, entry in entries.items())


def encode_page_servers(servers: Iterable[McpServer]) -> str:
    """Return what is saved for the page's servers; empty without any."""
    entries = {server.name: _page_entry(server) for server in servers}
    return json.dumps(entries, separators=(",", ":")) if entries else ""


def _page_entry(server: McpServer) -> dict[str, Any]:
    token = server.token.get_secret_value() if server.token else ""
    entry = {"url": server.url, "header": server.header, "token": token, "allow": server.allow, "tools": server.tools}
    return {name: value for name, value in entry.items() if value} | ({} if server.enabled else {"enabled": False})


def parse_tokens(value: SecretStr) -> SecretStr:
    """Return the tokens `docs=…, files=…`, or raise ValueError without naming one."""
    for entry in value.get_secret_value().split(","):
        name, _, token = entry.strip().partition("=")
        if not name.strip() or not token.strip():
            raise ValueError("应写成「服务器名=令牌」，几个之间用逗号分开")
        parse_secret(SecretStr(token))
    return value


def tokens_by_name(value: SecretStr | None) -> dict[str, SecretStr]:
    pairs = (entry.strip().partition("=") for entry in (value.get_secret_value() if value else "").split(",") if entry)
    return {name.strip(): SecretStr(token.strip()) for name, _, token in pairs}


def _entries(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError("应是 JSON：{名称: {…}}") from None
    if isinstance(value, dict) and set(value) == {"mcpServers"}:
        value = value["mcpServers"]
    value = {} if value == [] else value
    if not isinstance(value, dict):
        raise ValueError("应写成「名称: 命令或网址」的一组")
    if len(value) > MAX_SERVERS:
        raise ValueError(f"最多 {MAX_SERVERS} 个服务器")
    return {str(name): entry for name, entry in value.items()}


def _usable(entries: Mapping[str, Any], variable: str, known: set[str]) -> Iterator[McpServer]:
    for name, entry in entries.items():
        try:
            yield _server(name, entry, known)
        except ValueError as error:
            shown = shorten(one_line(name), 40)
            add_problem(SettingProblem(f"{variable} {shown}", str(error), used_instead="其余的服务器"))


def _server(name: str, entry: Any, known: set[str]) -> McpServer:
    if not _NAME.fullmatch(name):
        raise ValueError("名称只能用小写字母、数字、- 和 _，最多 32 个字符")
    if not isinstance(entry, dict):
        raise ValueError("应是一组键和值，如 command 或 url")
    for key in entry:
        if key not in known:
            raise ValueError(_unknown_key(str(key), known))
    server = McpServer(
        name,
        command=_command(entry.get("command"), entry.get("args")),
        env=_names(entry.get("env"), "env", _VARIABLE),
        url=_url(entry.get("url")),
        header=_header(entry.get("header")),
        token=_token(entry.get("token")),
        tools=_names(entry.get("tools"), "tools"),
        allow=_names(entry.get("allow"), "allow"),
        enabled=_flag(entry.get("enabled", True)),
    )
    if bool(server.command) is bool(server.url):
        raise ValueError("要写 command 或 url，只写其中一个" if "command" in known else "没有写 url")
    return server


def _unknown_key(key: str, known: set[str]) -> str:
    if key in _KEYS:
        return f"{key} 只能写在 settings.yaml 或环境变量里"
    if key in {"token", "headers"}:
        return f"没有 {key} 这个键：令牌请写在 MCP_TOKENS 里"
    return f"没有 {shorten(one_line(key), 30)} 这个键，可以写的有 {'、'.join(sorted(known))}"


def _command(command: Any, arguments: Any) -> tuple[str, ...]:
    if command is None and arguments is None:
        return ()
    if isinstance(command, str):
        try:
            command = [command] if arguments is not None else shlex.split(command)
        except ValueError:
            raise ValueError("command 的引号没有配对") from None
    words = (*_words(command, "command"), *_words(arguments or (), "args"))
    if not words or not words[0] or any("\0" in word for word in words):
        raise ValueError("command 应是一个命令和它的参数")
    return words


def _words(value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(word, str | int | float) for word in value):
        raise ValueError(f"{key} 应是一个列表")
    return tuple(map(str, value))


def _names(value: Any, key: str, shape: re.Pattern[str] | None = None) -> tuple[str, ...]:
    if value is None:
        return ()
    names = tuple(clean(name).strip() for name in _words([value] if isinstance(value, str) else value, key))
    if not all(name and (shape is None or shape.fullmatch(name)) for name in names):
        raise ValueError(f"{key} 应是名字的列表")
    return names


def _url(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError("url 应是网址")
    if "?" in value or "@" in urlsplit(value).netloc:  # the address is shown on the page 设置
        raise ValueError("网址里不能有用户名、密码和 ? 后面的参数；密钥请写在令牌里")
    return parse_web_address(value)


def _header(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or not _HEADER.fullmatch(value):
        raise ValueError("header 应是请求头的名称，如 X-API-Key")
    return value


def _token(value: Any) -> SecretStr | None:
    if not value:
        return None
    if not isinstance(value, str):
        raise ValueError("令牌应是一个字符串")
    return parse_secret(SecretStr(value))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("enabled 只能是 true 或 false")
    return value
