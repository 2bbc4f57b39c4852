"""What can be wrong with an MCP server. What it says itself is quoted, cleaned and short."""

from __future__ import annotations

from core.base.errors import AppError
from core.mcp_client.tool_schema import harmless_text

QUOTED = 200
ASK_ADMINISTRATOR = "请让管理员在「设置」的「外部工具」里检查它。"


class McpError(AppError):
    """Base class. `what` completes the sentence that begins with the server's name; `said`: words of the server."""

    kind = "mcp"
    what = "没有成功"
    default_cure = ASK_ADMINISTRATOR

    def __init__(self, server: str, *, what: str = "", said: str = "", cure: str = "") -> None:
        self.server = server
        words = harmless_text(said, QUOTED)
        self.what = f"{what or self.what}：「{words}」" if words else what or self.what
        super().__init__(f"MCP 服务器 {server} {self.what}。", cure=cure)


class McpNotStarted(McpError):
    kind = "mcp_not_started"
    what = "没有启动"


class McpEndedAtStart(McpNotStarted):
    """It has ended before it answered: some servers end at a question of a newer protocol."""

    what = "启动后就退出了"


class McpUnreachable(McpError):
    kind = "mcp_unreachable"
    what = "连接不上"


class McpRedirected(McpUnreachable):
    what = "把请求转到了别的主机，没有跟过去"


class McpRefused(McpError):
    kind = "mcp_refused"
    what = "拒绝了访问，可能是令牌不对"


class McpTimeout(McpError):
    kind = "mcp_timeout"
    what = "没有在规定的时间内答复"


class McpClosed(McpError):
    kind = "mcp_closed"
    what = "中途断开了"


class McpSessionLost(McpClosed):
    """The server has restarted and does not know us any more: it has not done what was asked."""


class McpTooLarge(McpError):
    kind = "mcp_too_large"
    what = "发来的内容太大，没有读"


class McpUnreadable(McpError):
    kind = "mcp_unreadable"
    what = "的答复不合 MCP 的规范，没有读"


class McpCompressed(McpUnreadable):
    what = "发来压缩过的内容，没有读"


class McpCallRefused(McpError):
    """The server has answered a call with an error of the protocol. The connection is good."""

    kind = "mcp_call_refused"
    what = "没有执行"
    default_cure = ""


class McpRemoved(McpError):
    kind = "mcp_removed"
    what = "已经不再使用"


class McpResting(McpError):
    """It failed a short time ago."""

    kind = "mcp_resting"
