"""A token as a person makes it: shown once, pasted into a program, withdrawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import requests
from playwright.sync_api import WebSocket, expect

from support.app_server import AppServer
from support.visitor import Visitor
from support.waiting import until

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]
OPEN = {"SEARCH_PROVIDER_PRIORITY": "bundled", "API_ENABLED": "true"}


def opened(visit: Visit, server: AppServer, **options: object) -> Visitor:
    visitor = visit(server, path="/settings", **options)
    open_part(visitor)
    return visitor


def open_part(visitor: Visitor) -> None:
    visitor.page.get_by_role("tab", name="接口").click()
    visitor.page.get_by_label("名称").wait_for()
    visitor.settled()


def status(server: AppServer, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return requests.get(f"{server.url}/api/v1/search", {"query": "联网搜索"}, headers=headers, timeout=60).status_code


def test_a_token_is_made_seen_once_used_and_withdrawn(serve: Serve, visit: Visit, tmp_path: Path) -> None:
    server = serve(**OPEN, DATA_DIR=str(tmp_path))
    visitor = opened(visit, server)
    page = visitor.page
    page.get_by_label("名称").fill("我的 Claude")
    page.get_by_role("button", name="新建令牌").click()
    expect(page.get_by_text("它只显示这一次")).to_be_visible()
    secret = page.get_by_test_id("stCode").filter(has_text="wy-").first.inner_text().strip()
    assert len(secret) == 46
    assert secret not in page.url
    visitor.settled()
    page.get_by_role("tab", name="curl").click()
    expect(page.get_by_text(f"Bearer {secret}").filter(visible=True)).to_be_visible()

    frames: list[bytes] = []

    def watch(socket: WebSocket) -> None:
        socket.on(
            "framereceived",
            lambda payload: frames.append(bytes(payload, "utf-8") if isinstance(payload, str) else payload),
        )

    page.on("websocket", watch)
    page.reload()
    open_part(visitor)
    expect(page.get_by_text("我的 Claude")).to_be_visible()
    assert secret not in page.content()
    assert any("我的 Claude".encode() in frame for frame in frames)
    assert not any(secret.encode() in frame for frame in frames)

    assert status(server, secret) == 200
    until(lambda: _uses_are_shown(visitor))
    page.get_by_role("button", name="撤回").click()
    page.get_by_role("button", name="撤回令牌").click()
    expect(page.get_by_text("令牌「我的 Claude」已撤回。")).to_be_visible()
    assert status(server, secret) == 401
    expect(page.get_by_role("button", name="撤回")).to_have_count(0)
    assert secret not in server.log


def _uses_are_shown(visitor: Visitor) -> bool:
    visitor.page.reload()
    open_part(visitor)
    return visitor.page.get_by_text("今天 1 次请求，7 天 1 次").is_visible()


def test_on_a_phone_nothing_scrolls_sideways_also_with_a_token(serve: Serve, visit: Visit) -> None:
    visitor = opened(visit, serve(**OPEN), width=390)
    page = visitor.page
    page.get_by_label("名称").fill("手机")
    page.get_by_role("button", name="新建令牌").click()
    expect(page.get_by_text("它只显示这一次")).to_be_visible()
    for program in ("Claude Desktop", "Claude Code", "Cherry Studio", "当作模型", "curl"):
        page.get_by_role("tab", name=program).click()
        visitor.settled()
        widths = page.evaluate(
            "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".map(element => [element.scrollWidth, element.clientWidth])"
        )
        assert all(inner <= outer for inner, outer in widths), (program, widths)
