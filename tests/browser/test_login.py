"""Streamlit's own login against a real OpenID provider: what belongs to whom, before, during and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocket, expect

from support.app_server import AppServer
from support.oidc_server import OidcServer, oidc_server
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

QUESTION = "只有张三知道的问题？"
NOT_FOUND = "这个对话没有分享给你，或者已经不存在"
HOSTILE = (
    "<img src=http://evil.example/a.png onerror=alert(1)>![](http://evil.example/b.png)"
    "[x](javascript:alert) www.evil.example :red[y] $z$"
)
PEOPLE: dict[str, dict[str, Any]] = {
    "zhang": {"sub": "1", "name": "张三", "email": "same@example.org"},
    "li": {"sub": "2", "name": "李四", "email": "same@example.org", "email_verified": False},
    "mallory": {"sub": "3<script>\u0000", "name": HOSTILE, "email": "<b>@evil.example"},
}


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcServer]:
    with oidc_server(PEOPLE) as server:
        yield server
        assert server.refused == []


@pytest.fixture(scope="module")
def app(serve: Serve, provider: OidcServer) -> AppServer:
    return serve(secrets=provider.secrets, SEARCH_PROVIDER_PRIORITY="bundled")


def log_in(visitor: Visitor, person: str) -> None:
    visitor.page.get_by_role("button", name="登录", exact=True).click()
    visitor.page.get_by_role("button", name=person, exact=True).click()  # on the provider's page
    visitor.page.get_by_text("已登录：").wait_for()
    visitor.settled()


def log_out(visitor: Visitor) -> None:
    visitor.page.get_by_role("button", name="退出登录").click()
    visitor.page.get_by_role("button", name="登录", exact=True).wait_for()
    visitor.settled()


def received(page: Page) -> list[bytes]:
    """Everything that the server tells this page from now on, shown or not."""
    frames: list[bytes] = []

    def follow(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: frames.append(frame if isinstance(frame, bytes) else frame.encode()))

    page.on("websocket", follow)
    return frames


def assert_closed(visitor: Visitor, address: str, sentence: str) -> None:
    frames = received(visitor.page)
    visitor.page.goto(address)
    expect(visitor.page.get_by_text(sentence)).to_be_visible()
    visitor.settled()
    told = b"".join(frames)
    assert NOT_FOUND.encode() in told
    assert QUESTION.encode() not in told


def test_conversations_and_choices_go_with_the_account_and_not_with_the_browser(
    app: AppServer, visit: Visit, provider: OidcServer
) -> None:
    here = visit(app)
    log_in(here, "zhang")
    expect(here.page.get_by_text("已登录：张三")).to_be_visible()
    here.ask(QUESTION)
    here.answered("内置摘录模型")
    here.page.wait_for_url("**/?c=*")
    address = here.page.url
    here.search_on()

    log_out(here)
    assert provider.logouts == 1, "the provider was told too"
    assert_closed(here, address, "请先登录")
    expect(here.page.get_by_test_id("stSidebar").get_by_role("button", name=QUESTION, exact=True)).to_have_count(0)

    # Another account with the same e-mail address, which nobody has verified.
    log_in(here, "li")
    expect(here.page.get_by_text("联网 已禁用")).to_be_visible()
    assert_closed(here, address, NOT_FOUND)

    elsewhere = visit(app)
    expect(elsewhere.page.get_by_text("联网 已禁用")).to_be_visible()
    log_in(elsewhere, "zhang")
    expect(elsewhere.page.get_by_text("联网 已启用")).to_be_visible()
    elsewhere.page.get_by_test_id("stSidebar").get_by_role("button", name=QUESTION, exact=True).click()
    elsewhere.answered("内置摘录模型")
    assert elsewhere.page.url == address


def test_a_hostile_name_is_only_text(app: AppServer, visit: Visit, provider: OidcServer) -> None:
    visitor = visit(app, watched=True)
    log_in(visitor, "mallory")
    caption = visitor.page.get_by_test_id("stCaptionContainer").filter(has_text="已登录")
    assert caption.inner_text().replace("\u2060", "").startswith(f"已登录：{HOSTILE[:39]}")
    assert caption.locator("img, a, script, span[style]").count() == 0
    assert all(address.startswith(provider.issuer) for address in visitor.foreign)


def test_an_incomplete_configuration_is_a_sentence(serve: Serve, visit: Visit) -> None:
    auth = '[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\ncookie_secret = "0123456789abcdef"\n'
    visitor = visit(serve(secrets=auth, SEARCH_PROVIDER_PRIORITY="bundled"))
    visitor.page.get_by_role("button", name="登录", exact=True).click()
    expect(visitor.page.get_by_text("现在不能登录")).to_be_visible()
    visitor.ask(QUESTION)
    visitor.answered("内置摘录模型")


def test_without_a_configuration_there_is_no_login(serve: Serve, visit: Visit) -> None:
    visitor = visit(serve(SEARCH_PROVIDER_PRIORITY="bundled"))
    expect(visitor.page.get_by_text("新对话")).to_be_visible()
    expect(visitor.page.get_by_text("登录")).to_have_count(0)
