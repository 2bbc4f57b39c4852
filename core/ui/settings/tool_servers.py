"""MCP servers of others (设置 → 外部工具): their state and tools, a test, and a form that adds one by its address.

A command can only be named in settings.yaml or the environment: nothing here starts a process that is not named there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st
from markupsafe import Markup
from pydantic import SecretStr

from core.app import App
from core.base.logs import hide_typed_key_in_logs
from core.base.settings import EVERY_TOOL, MAX_SERVERS, McpServer, encode_page_servers
from core.base.web_addresses import host_of
from core.mcp_client import ForeignTool, McpError, ServerState
from core.ui import permission
from core.ui.advice import pause_words
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning
from core.ui.settings import connect

SETTING = "MCP_PAGE_SERVERS"
ROUND = "mcp_round"
"""Session key of a counter in the form's key. After a server was added the form is a new one, and empty."""
NONE_YET = "还没有外部工具。"
HOW_TO_START = (
    "要由问源启动的服务器（command），只能由管理员写进 settings.yaml 的 `mcp` 下面，或写进环境变量 `MCP_SERVERS`，"
    "在这里不能添加。"
)


def draw(app: App) -> None:
    """Draw the part 外部工具 of the page."""
    st.caption(
        "Agent 可以使用这些 MCP 服务器的工具，带回的内容和其他来源一样编号、引用和核验。"
        "没有声明只读的工具，每次使用前都会先问读者。"
    )
    connect.show_saved_message()
    may_edit = permission.may_edit(app)
    servers = app.settings.mcp.all_servers
    if not servers:
        st.info(NONE_YET, icon=":material/info:")
    states = {state.server.name: state for state in app.mcp.states}
    for server in servers:
        _draw_server(app, states.get(server.name) or ServerState(server), may_edit=may_edit)
    if not may_edit:
        connect.draw_refusal(app)
        return
    if locked := app.loaded_settings.locking_variables("mcp"):
        connect.draw_locked(locked)
    elif len(servers) < MAX_SERVERS:
        _draw_form(app)
    st.caption(HOW_TO_START)


def _draw_server(app: App, state: ServerState, *, may_edit: bool) -> None:
    server = state.server
    place = st.empty()
    if may_edit:
        with st.container(horizontal=True):
            is_asked = server.enabled and st.button("测试", key=f"mcp-test-{server.name}")
            if server.is_from_page:
                _draw_changes(app, server)
        if is_asked:
            with st.spinner(f"正在连接 {escape_label(server.name)}…"):
                state = _tested(app, state)
    draw_html(_server_html(state, may_edit=may_edit), place)


def _draw_changes(app: App, server: McpServer) -> None:
    """Draw the buttons that change a server of the page."""
    word = "停用" if server.enabled else "启用"
    if st.button(word, key=f"mcp-switch-{server.name}", type="tertiary"):
        _save(app, [replace(server, enabled=not server.enabled)], f"{server.name}：已{word}。")
    if st.button("删除", key=f"mcp-remove-{server.name}", type="tertiary"):
        _save(app, [], f"{server.name}：已删除，令牌也不再保存。", removed=server.name)


def _tested(app: App, state: ServerState) -> ServerState:
    try:
        return app.loop.submit(app.mcp.check(state.server.name)).result()
    except McpError as error:  # somebody has removed it meanwhile
        return replace(state, problem=error.message)


def _save(app: App, changed: Iterable[McpServer], message: str, *, removed: str = "") -> None:
    """Save the servers of the page, with these in place of those of the same name."""
    known = {server.name: server for server in app.settings.mcp.all_servers if server.is_from_page}
    known.pop(removed, None)
    changes = {SETTING: encode_page_servers((known | {server.name: server for server in changed}).values())}
    if connect.checked_settings(app, changes):
        st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
        connect.save(app, changes, message)


# ── A new one ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_form(app: App) -> None:
    st.subheader("添加服务器", anchor=False)
    key = st.session_state.get(ROUND, 0)
    with st.form(f"mcp-new-{key}"):
        name = st.text_input("名称", max_chars=32, placeholder="小写字母和数字，如 docs", key=f"mcp-name-{key}").strip()
        url = st.text_input("网址", max_chars=500, placeholder="https://…/mcp", key=f"mcp-url-{key}").strip()
        token = st.text_input(
            "令牌（没有可不填）", type="password", max_chars=1000, placeholder="粘贴到这里", key=f"mcp-token-{key}"
        ).strip()
        header = st.text_input(
            "放令牌的请求头",
            max_chars=60,
            placeholder="不填就是 Authorization: Bearer",
            key=f"mcp-header-{key}",
        ).strip()
        is_trusted = st.checkbox(
            "使用它的工具都不用先问读者", key=f"mcp-allow-{key}", help="只在这个服务器的所有工具都可以放心使用时勾选。"
        )
        is_sent = st.form_submit_button("添加", type="primary", icon=":material/add:")
    hide_typed_key_in_logs(token)
    if not is_sent:
        return
    if any(server.name == name for server in app.settings.mcp.all_servers):
        draw_warning("已经有叫这个名称的服务器。")
        return
    new = McpServer(
        name,
        url=url,
        header=header,
        token=SecretStr(token) if token else None,
        allow=(EVERY_TOOL,) if is_trusted else (),
    )
    _save(app, [new], f"{name}：已添加，现在可以测试。")


# ── As HTML ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _server_html(state: ServerState, *, may_edit: bool) -> Markup:
    """Return a server as a row. Who may not change it is not told where it is."""
    server = state.server
    word, state_class = _state_words(state)
    where = Markup(' <span class="note">%s</span>') % _where(server) if may_edit else Markup()
    problem = Markup('<div class="note">%s</div>') % state.problem if state.problem else Markup()
    pause = Markup('<div class="note">%s。</div>') % pause_words(state.pause) if state.pause else Markup()
    row = Markup('<div class="wy-engine"><div><b>%s</b> <span class="state %s">%s</span>%s</div>%s%s%s</div>')
    return row % (server.name, state_class, word, where, problem, pause, _tools_html(state))


def _state_words(state: ServerState) -> tuple[str, str]:
    if not state.server.enabled:
        return "未启用", "off"
    if state.pause:
        return "暂停中", "resting"
    if state.is_connected:
        return "已连接", "ready"
    return ("没有连接", "resting") if state.problem else ("用到时连接", "off")


def _where(server: McpServer) -> str:
    """Return the program or the host, without arguments, which may hold keys."""
    return f"命令 {server.command[0]}" if server.command else host_of(server.url) or server.url


def _tools_html(state: ServerState) -> Markup:
    listing = state.listing
    if not (listing.tools or listing.refused):
        return Markup()
    counted = f"{len(listing.tools)} 个工具" + (f"，{len(listing.refused)} 个不能用" if listing.refused else "")
    row = Markup('<div class="note"><b>%s</b> %s</div>')
    rows = [row % (tool.name, "；".join(filter(None, _tool_facts(tool)))) for tool in listing.tools]
    rows += [row % (tool.name, f"不能用：{tool.reason}") for tool in listing.refused]
    return Markup("<details><summary>%s</summary>%s</details>") % (counted, Markup().join(rows))


def _tool_facts(tool: ForeignTool) -> tuple[str, ...]:
    asks = "每次先问读者" if tool.needs_approval else "只读" if tool.is_read_only else "不用问读者"
    return asks, tool.description, tool.remark
