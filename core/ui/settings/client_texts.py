"""What one pastes into other programs so that they call this installation with a token."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ClientText:
    """The text for one program."""

    program: str
    where: str
    """Where it goes, in Markdown."""
    text: str
    language: Literal["json", "bash"] | None


def client_texts(base: str, token: str, *, is_unencrypted: bool) -> tuple[ClientText, ...]:
    """Return the texts for the installation at this address."""
    bearer = f"Bearer {token}"
    # Claude Desktop has no field for a header, and breaks arguments with blanks on Windows.
    remote = ["-y", "mcp-remote", f"{base}/mcp", "--header", "Authorization:${TOKEN}"]
    remote += ["--allow-http"] if is_unencrypted else []
    desktop = {"command": "npx", "args": remote, "env": {"TOKEN": bearer}}
    cherry = {"name": "问源", "type": "streamableHttp", "url": f"{base}/mcp", "headers": {"Authorization": bearer}}
    code = f'claude mcp add --transport http wenyuan {base}/mcp --header "Authorization: {bearer}"'
    model = f"API 地址：{base}/v1\nAPI 密钥：{token}\n模型：wenyuan-chat、wenyuan-agent、wenyuan-plain"
    curl = (
        f"curl -s {base}/api/v1/search \\\n"
        f'  -H "Authorization: {bearer}" -H "Content-Type: application/json" \\\n'
        """  -d '{"query": "怎么打开联网搜索"}'"""
    )
    return (
        ClientText(
            "Claude Desktop", "写进 claude_desktop\\_config.json，需要装有 Node.js：", _servers(desktop), "json"
        ),
        ClientText("Claude Code", "在终端里运行：", code, "bash"),
        ClientText("Cherry Studio", "在「设置 → MCP 服务器 → 从 JSON 导入」里粘贴：", _servers(cherry), "json"),
        ClientText("当作模型", "Cherry Studio、Open WebUI、Dify 等，添加 OpenAI 类型的服务商：", model, None),
        ClientText("curl", "在终端里运行：", curl, "bash"),
    )


def _servers(server: Mapping[str, object]) -> str:
    return json.dumps({"mcpServers": {"wenyuan": server}}, ensure_ascii=False, indent=2)
