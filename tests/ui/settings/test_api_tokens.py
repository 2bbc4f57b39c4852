"""The part 接口 of 设置: who may make tokens, that a new one is shown once, and what is said about the interface."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.app import App
from core.serve import Scope
from core.store import TokenUse
from core.ui import identity, permission
from core.ui.session import ROUTED
from core.ui.settings.client_texts import client_texts
from support.base import ROOT
from support.pages import html, values
from support.scripted_app import scripted_app
from support.shared import shared

OPEN = {"API_ENABLED": "true"}
ME, HER = "m" * 32, "h" * 32
Visit = Callable[..., AbstractContextManager[tuple[AppTest, App]]]


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The part 接口, open for somebody."""

    @contextmanager
    def open_part(
        who: str = ME, *, edits: bool = True, account: str | None = None, **environ: Any
    ) -> Iterator[tuple[AppTest, App]]:
        monkeypatch.setattr(permission, "may_edit", lambda app: edits)
        monkeypatch.setattr(identity, "visitor", lambda: account or who)
        monkeypatch.setattr(identity, "owner", lambda: account)
        with scripted_app(says=[], **environ) as (app, _), shared(app):
            page = AppTest.from_file(str(ROOT / "pages" / "settings.py"), default_timeout=30)
            page.session_state[ROUTED] = True
            page.session_state["settings_part"] = "接口"
            yield ran(page), app

    return open_part


def ran(page: AppTest) -> AppTest:
    page.run()
    assert not page.exception
    return page


def may_make(page: AppTest) -> bool:
    return any(button.label == "新建令牌" for button in page.button)


def make(page: AppTest, name: str) -> str:
    """Make a token, and return what the page shows of it."""
    page.text_input[0].set_value(name)
    next(button for button in page.button if button.label == "新建令牌").click()
    ran(page)
    return next((code.value for code in page.code if code.value.startswith("wy-")), "")


def everything(page: AppTest) -> str:
    """All that is sent to the browser, and all that the session keeps."""

    def sent(node: object) -> Iterator[str]:
        yield str(getattr(node, "proto", ""))
        for child in getattr(node, "children", {}).values():
            yield from sent(child)

    return "\n".join(sent(page._tree)) + str(page.session_state.to_dict()) + str(dict(page.query_params))


def withdraw(page: AppTest, id: str) -> AppTest:
    page.button(key=f"withdraw-{id}").click()
    return ran(page)


# ── A token ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_token_is_shown_once_and_kept_nowhere(visit: Visit) -> None:
    with visit(**OPEN) as (page, app):
        secret = make(page, "我的 <b>Claude</b>")
        token = app.tokens.find(secret)
        assert token
        assert (token.name, sorted(token.scopes)) == ("我的 <b>Claude</b>", ["ask", "check", "law", "search"])
        assert token.expires == pytest.approx(token.created + 90 * 86_400)
        assert "只显示这一次" in values(page.success)
        assert secret in everything(page)
        assert secret not in str(page.session_state.to_dict())
        assert "我的 &lt;b&gt;Claude&lt;/b&gt;" in html(page), "it is in the list already"
        ran(page)
        assert secret not in everything(page)
        assert "只显示这一次" not in values(page.success)
        assert page.text_input[0].value == "", "the form is a new one"
        assert len(app.tokens.list_tokens(ME)) == 1


def test_scopes_expiry_and_limit_are_those_that_were_chosen(visit: Visit) -> None:
    with visit(**OPEN) as (page, app):
        page.button_group[0].set_value([Scope.LAW, Scope.DOCUMENTS])
        page.button_group[1].set_value("不过期")
        page.number_input[0].set_value(7)
        token = app.tokens.find(make(page, "x"))
        assert token
        assert (sorted(token.scopes), token.expires, token.per_minute) == (["documents", "law"], None, 7)
        assert "可以查法规和案例、核验法条、查自己的资料" in html(page)
        assert "不会过期 · 每分钟最多 7 次 · 还没有用过" in html(page)


def test_without_a_name_or_a_use_nothing_is_made_and_what_was_chosen_stays(visit: Visit) -> None:
    with visit(**OPEN) as (page, app):
        page.button_group[1].set_value("365 天")
        assert make(page, " ") == ""
        assert "令牌没有名称" in values(page.warning)
        assert page.button_group[1].value == "365 天"
        page.button_group[0].set_value([])
        assert make(page, "x") == ""
        assert "请至少选一项" in values(page.warning)
        assert app.tokens.list_tokens(None) == ()


def test_the_texts_to_paste_hold_the_token_and_are_what_they_should_be(visit: Visit) -> None:
    with visit(**OPEN, PUBLIC_URL="https://ask.example/") as (page, _):
        secret = make(page, "x")
        texts = [code.value for code in page.code]
    assert "https://ask.example/mcp" in texts
    holding = [text for text in texts if secret in text and text != secret]
    assert len(holding) == 5
    desktop, cherry = (json.loads(text)["mcpServers"]["wenyuan"] for text in holding if text.startswith("{"))
    assert desktop["env"] == {"TOKEN": f"Bearer {secret}"}
    assert desktop["args"][-3:] == ["https://ask.example/mcp", "--header", "Authorization:${TOKEN}"]
    assert cherry["headers"] == {"Authorization": f"Bearer {secret}"}
    assert cherry["url"] == "https://ask.example/mcp"


def test_a_bridge_that_refuses_http_is_told_to_allow_it() -> None:
    first = client_texts("http://192.168.1.5:8501", "wy-x", is_unencrypted=True)[0]
    assert json.loads(first.text)["mcpServers"]["wenyuan"]["args"][-1] == "--allow-http"


def test_the_list_says_how_a_token_is_used(visit: Visit) -> None:
    with visit(**OPEN) as (page, app):
        token, secret = app.tokens.create(ME, "x", ["law"])
        app.tokens.find(secret)
        assert app.outbox.flush(10)
        now = token.created
        uses = [(0, "ok", 3), (0, "refused", 1), (5, "refused", 1), (30, "ok", 9)]
        added = [TokenUse(token.id, now // 3600 * 3600 - days * 86_400, how, times) for days, how, times in uses]
        app.metrics_store.add([], [], [], added)
        shown = html(ran(page))
        assert "今天 4 次请求，7 天 5 次，其中 2 次被拒绝" in shown
        assert re.search(r"最近使用 \d{4}-\d\d-\d\d \d\d:\d\d ", shown)


def test_an_expired_token_is_marked(visit: Visit) -> None:
    with visit(**OPEN) as (page, app):
        app.tokens.create(ME, "x", ["law"], days=-1)
        assert '<span class="state failed">已过期</span>' in html(ran(page))


def test_a_withdrawn_token_is_gone(visit: Visit) -> None:
    with visit(**OPEN) as (page, app):
        secret = make(page, "x")
        token = app.tokens.find(secret)
        assert token
        withdraw(page, token.id)
        assert app.tokens.find(secret) is None
        assert "令牌「x」已撤回" in values(page.toast).replace("\\", "")
        assert f"withdraw-{token.id}" not in [button.key for button in page.button]


# ── Who may ───────────────────────────────────────────────────────────────────────────────────────────────────────

ACCOUNT = "https://id.example 1"


@pytest.mark.parametrize(
    ("by", "edits", "account", "allowed"),
    [
        ("local", True, None, True),
        ("local", False, None, False),
        ("local", False, ACCOUNT, False),
        ("login", False, ACCOUNT, True),
        ("login", False, None, False),
        ("login", True, None, True),
        ("nobody", True, ACCOUNT, False),
        ("nobody", False, ACCOUNT, False),
    ],
)
def test_who_may_make_tokens(visit: Visit, by: str, edits: bool, account: str | None, allowed: bool) -> None:
    with visit(edits=edits, account=account, **OPEN, API_TOKENS_BY=by) as (page, app):
        assert may_make(page) is allowed
        assert bool(page.info) is not allowed
        if allowed:
            make(page, "x")
            assert [one.name for one in app.tokens.list_tokens(account or ME)] == ["x"]


@pytest.mark.parametrize(("by", "said"), [("local", "管理者"), ("login", "登录"), ("nobody", "token create")])
def test_others_are_told_who_may(visit: Visit, by: str, said: str) -> None:
    with visit(edits=False, **OPEN, API_TOKENS_BY=by) as (page, _):
        assert said in values(page.info)


def test_readers_see_their_own_tokens_and_those_who_may_edit_see_all(visit: Visit) -> None:
    with visit(edits=False, account=ACCOUNT, **OPEN, API_TOKENS_BY="login") as (page, app):
        app.tokens.create(ACCOUNT, "我的", ["law"])
        hers, secret = app.tokens.create(HER, "她的", ["law"])
        shown = everything(ran(page))
        assert "我的" in shown
        assert "她的" not in shown
        assert hers.id not in shown
        permission.may_edit = lambda app: True  # restored by the fixture
        shown = everything(ran(page))
        assert "其他人建的令牌" in shown
        assert "她的" in shown
        assert secret[3:] not in shown
        withdraw(page, hers.id)
        assert app.tokens.list_tokens(None) == app.tokens.list_tokens(ACCOUNT)


def test_who_may_no_longer_edit_withdraws_nothing_of_others(visit: Visit) -> None:
    """The button is on the page, and the right is gone."""
    with visit(**OPEN) as (page, app):
        hers, secret = app.tokens.create(HER, "她的", ["law"])
        ran(page)
        permission.may_edit = lambda app: False
        withdraw(page, hers.id)
        assert app.tokens.find(secret)


# ── What is said about the interface ──────────────────────────────────────────────────────────────────────────────


def test_an_interface_that_is_off_says_how_to_switch_it_on(visit: Visit) -> None:
    with visit() as (page, _):
        assert "API_ENABLED=true" in values(page.info)
        assert not [code.value for code in page.code if "/mcp" in code.value]
        assert make(page, "for later"), "tokens can be prepared"


@pytest.mark.parametrize(
    ("public", "warned"),
    [("https://ask.example", False), ("http://ask.example", True), ("http://192.168.1.5:8501", True), ("", False)],
)
def test_tokens_in_the_clear_are_warned_of(visit: Visit, public: str, warned: bool) -> None:
    with visit(**OPEN, PUBLIC_URL=public) as (page, _):
        assert ("令牌在网络上不加密" in values(page.warning)) is warned


def test_the_addresses_are_those_of_the_browser_where_none_is_configured(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        st, "context", SimpleNamespace(url="http://nas.lan:8501/settings", timezone="", timezone_offset=0)
    )
    with visit(**OPEN) as (page, _):
        assert "http://nas.lan:8501/v1" in [code.value for code in page.code]
        assert "程序用这个主机名会被拒绝" in values(page.warning)
    with visit(**OPEN, API_HOSTS="nas.lan") as (page, _):
        assert "会被拒绝" not in values(page.warning)
