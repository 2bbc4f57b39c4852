"""The tools of a foreign server as they may be offered to a model: cleaned, limited, and under names that a model can call."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.base.settings import McpServer
from core.base.text import one_line, shorten
from core.mcp_client.tool_schema import UnusableSchema, harmless_text, usable_schema

if TYPE_CHECKING:
    from mcp_types import Tool

MAX_TOOLS = 32
"""Tools of one server that are offered: each costs room in every prompt."""
MAX_LISTED = 1_000
MAX_NAME = 128
MAX_DESCRIPTION = 800
WIRE_LENGTH = 64
"""The longest name of a tool that services of models take."""
MAX_REFUSED = 50
LIKE_INSTRUCTIONS = "它的说明像是写给模型的指令，已略去"


@dataclass(frozen=True, slots=True)
class ForeignTool:
    server: str
    name: str
    """Its name there."""
    description: str
    schema: dict[str, Any] = field(hash=False)
    """The JSON Schema of its arguments."""
    is_read_only: bool = False
    """True if the server says so."""
    needs_approval: bool = True
    """True if the reader is asked before each call."""
    remark: str = ""
    """What was changed of it, for the administrator."""

    @property
    def full_name(self) -> str:
        """Its name as readers see it, server.tool."""
        return f"{self.server}.{self.name}"


@dataclass(frozen=True, slots=True)
class RefusedTool:
    """A tool that is not offered."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class ToolListing:
    tools: tuple[ForeignTool, ...] = ()
    refused: tuple[RefusedTool, ...] = ()
    total: int = 0
    """The number of tools that the server has."""


def read_listing(server: McpServer, tools: Sequence[Tool], malformed: Sequence[RefusedTool] = ()) -> ToolListing:
    """Return which of the server's tools are offered, and why the others are not."""
    offered: dict[str, ForeignTool] = {}
    refused = list(malformed)
    for tool in tools:
        if not server.offers(tool.name):
            continue
        try:
            usable = _usable_tool(server, tool, offered)
        except UnusableSchema as error:
            refused.append(RefusedTool(_shown_name(tool.name), str(error)))
        else:
            offered[usable.name] = usable
    return ToolListing(tuple(offered.values()), tuple(refused[:MAX_REFUSED]), len(tools) + len(malformed))


def _usable_tool(server: McpServer, tool: Tool, offered: dict[str, ForeignTool]) -> ForeignTool:
    if not tool.name or len(tool.name) > MAX_NAME or one_line(tool.name) != tool.name:
        raise UnusableSchema("名称是空的、太长或有看不见的字符")
    if tool.name in offered:
        raise UnusableSchema("有两个工具同名，只用第一个")
    if len(offered) >= MAX_TOOLS:
        raise UnusableSchema(f"一个服务器最多用 {MAX_TOOLS} 个工具；可以用 tools 选定要用的")
    schema = usable_schema(tool.input_schema)
    described = one_line((tool.description or "")[: MAX_DESCRIPTION * 4])
    description = harmless_text(described, MAX_DESCRIPTION)
    is_read_only = bool(tool.annotations and tool.annotations.read_only_hint)
    return ForeignTool(
        server.name,
        tool.name,
        description,
        schema,
        is_read_only=is_read_only,
        needs_approval=not (is_read_only or server.allows(tool.name)),
        remark=LIKE_INSTRUCTIONS if described and not description else "",
    )


def _shown_name(name: str) -> str:
    return shorten(one_line(name), 60) or "（没有名称）"


_NOT_ON_THE_WIRE = re.compile(r"[^a-zA-Z0-9_-]+")


def wire_names(tools: Iterable[ForeignTool]) -> dict[str, ForeignTool]:
    """Return the tools by the names under which a model calls them: `server__tool`, of letters, digits, `_` and `-`, at most
    64 characters, and none like another one."""
    named: dict[str, ForeignTool] = {}
    taken = set[str]()
    for tool in tools:
        plain = _NOT_ON_THE_WIRE.sub("_", f"{tool.server}__{tool.name}")
        is_same = plain == f"{tool.server}__{tool.name}"
        if not is_same or len(plain) > WIRE_LENGTH or plain.lower() in taken:
            digest = hashlib.sha256(tool.full_name.encode()).hexdigest()[:8]
            plain = f"{plain[: WIRE_LENGTH - 9]}_{digest}"
        taken.add(plain.lower())
        named[plain] = tool
    return named
