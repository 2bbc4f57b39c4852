"""The part 外部工具 of 设置: what is shown of foreign MCP servers, and who may add which."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.app import App
from core.ui import identity, permission
from core.ui.session import ROUTED
from support.base import ROOT
from support.mcp_servers import http_server, recorded, running, stdio_entry
from support.pages import html, values
from support.scripted_app import scripted_app
from support.shared import shared

TOKEN = "tok-0123456789abcdef"
Visit = Callable[..., AbstractContextManager[tuple[AppTest, App]]]


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The part 外部工具, open for somebody."""

    @contextmanager
    def open_part(*, edits: bool = True, **environ: Any) -> Iterator[tuple[AppTest, App]]:
        monkeypatch.setattr(permission, "may_edit", lambda app: edits)
        monkeypatch.setattr(identity, "visitor", lambda: "m" * 32)
        with scripted_app(says=[], MCP_CONNECT_TIMEOUT="20", **environ) as (app, _), shared(app):
            page = AppTest.from_file(str(ROOT / "pages" / "settings.py"), default_timeout=60)
            page.session_state[ROUTED] = True
            page.session_state["settings_part"] = "外部工具"
            yield ran(page), app

    return open_part


def ran(page: AppTest) -> AppTest:
    page.run()
    assert not page.exception
    return page


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if button.label == label).click()
    return ran(page)


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def fill(page: AppTest, **texts: str) -> None:
    for name, text in texts.items():
        next(field for field in page.text_input if str(field.key).startswith(f"mcp-{name}-")).set_value(text)


def add(page: AppTest, **texts: str) -> AppTest:
    fill(page, **texts)
    return press(page, "添加")


def warnings(page: AppTest) -> str:
    return " ".join(warning.value for warning in page.warning)


def test_without_servers_the_page_says_so_and_starts_nothing(visit: Visit) -> None:
    with visit() as (page, app):
        assert "还没有外部工具。" in values(page.info)
        assert app.mcp.states == []


def test_a_server_is_added_tested_switched_off_and_removed(visit: Visit) -> None:
    with http_server(token=TOKEN) as server, visit() as (page, app):
        add(page, name="docs", url=server.url, token=TOKEN)
        assert "用到时连接" in html(page)
        assert app.settings.mcp.all_servers[0].is_from_page
        press(page, "测试")
        shown = html(page)
        assert "已连接" in shown
        assert "5 个工具" in shown
        assert "<b>delete_note</b> 每次先问读者；删除一条笔记。" in shown
        assert "<b>read_note</b> 只读；读一条笔记。" in shown
        press(page, "停用")
        assert "未启用" in html(page)
        assert app.mcp.states == []
        assert "测试" not in labels(page)
        press(page, "启用")
        press(page, "测试")
        assert "已连接" in html(page), "its token is still there"
        press(page, "删除")
        assert app.settings.mcp.all_servers == ()
        assert TOKEN not in json.dumps(dict(app.saved_settings.read().values))


def test_the_token_goes_to_the_server_and_never_back(visit: Visit) -> None:
    with http_server(token=TOKEN) as server, visit() as (page, app):
        add(page, name="docs", url=server.url, token=TOKEN)
        press(page, "测试")
        sent = " ".join(str(getattr(element, "value", "")) for element in page.main) + html(page)
        assert TOKEN not in sent
        page.session_state["settings_part"] = "配置"
        assert TOKEN not in html(ran(page))
        assert app.settings.mcp.all_servers[0].token is not None


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ({"name": "Docs", "url": "http://a.example/mcp"}, "小写字母"),
        ({"name": "docs", "url": "file:///etc/passwd"}, "http"),
        ({"name": "docs", "url": "http://user:pass@a.example/mcp"}, "密码"),
        ({"name": "docs"}, "没有写 url"),
        ({"name": "docs", "url": "http://a.example/mcp", "header": "X Y"}, "header"),
        ({"name": "docs", "url": "http://a.example/mcp", "token": "有 空格"}, "密钥"),
        ({"name": "time", "url": "http://a.example/mcp"}, "已经有"),
    ],
)
def test_what_cannot_be_used_is_not_saved(visit: Visit, tmp_path: Path, texts: dict[str, str], reason: str) -> None:
    entry = stdio_entry("honest", tmp_path / "record", enabled=False)
    with visit(MCP_SERVERS=json.dumps({"time": entry})) as (page, app):
        add(page, **texts)
        assert reason in warnings(page)
        assert len(app.settings.mcp.all_servers) == 1


def test_a_command_is_shown_and_tested_but_neither_added_nor_changed(visit: Visit, tmp_path: Path) -> None:
    record = tmp_path / "record"
    entries = {"time": stdio_entry("lists garbage", record)}
    with visit(MCP_SERVERS=json.dumps(entries)) as (page, _):
        assert "命令 " in html(page)
        assert str(record) not in html(page), "arguments may hold keys"
        assert not record.exists(), "it is started when it is used"
        assert not {"停用", "删除"} & set(labels(page))
        press(page, "测试")
        assert "不能用：参数的格式嵌套太深" in html(page)
        assert len(running(record)) == 1
    assert recorded(record)
    assert running(record) == []


def test_why_a_server_cannot_be_used_is_said(visit: Visit) -> None:
    with http_server() as server:
        gone = server.entry
    with visit(MCP_SERVERS=json.dumps({"docs": gone})) as (page, _):
        press(page, "测试")
        assert "暂停中" in html(page)
        assert "MCP 服务器 docs 连接不上。" in html(page)


def test_others_see_the_tools_and_neither_addresses_nor_buttons(visit: Visit, tmp_path: Path) -> None:
    with (
        http_server() as server,
        visit(edits=False, MCP_SERVERS=json.dumps({"docs": server.entry})) as (page, app),
    ):
        app.loop.submit(app.mcp.check("docs")).result(30)
        shown = html(ran(page))
        assert "docs" in shown
        assert "5 个工具" in shown
        assert "127.0.0.1" not in shown
        assert not {"测试", "添加", "删除"} & set(labels(page))


def test_where_the_environment_says_it_nothing_can_be_added(visit: Visit) -> None:
    saved = json.dumps({"docs": {"url": "http://a.example/mcp"}})
    with visit(MCP_PAGE_SERVERS=saved) as (page, _):
        assert "添加" not in labels(page)
        assert "MCP" in " ".join(caption.value for caption in page.caption)
