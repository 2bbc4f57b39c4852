"""Who owns an installation: who saved something first at the machine itself, or opened a setup link. Nobody is at the
machine who comes through a proxy, from elsewhere, by another name, or in another page. And which accounts may edit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from core import VISITOR_COOKIE
from core.base.settings import SavedSettingsFile, SetupLinks, is_owner, with_owner
from core.base.settings.saved import OWNERS
from core.ui import identity, permission
from core.ui.legal import import_view
from support.base import loaded

LOCAL = {"Origin": "http://localhost:8501", "Host": "localhost:8501"}
BEHIND_NGINX = {"Origin": "https://laws.example", "Host": "laws.example", "X-Forwarded-For": "203.0.113.9"}
MARK = "a" * 32


@pytest.fixture
def app(tmp_path: Path) -> Callable[..., Any]:
    """An app with these settings, and with what was saved from the page."""

    def build(**environ: str) -> Any:
        store = SavedSettingsFile(tmp_path)
        settings = loaded(**{"PUBLIC_URL": "http://localhost:8501"} | environ).with_saved(store.read())
        return SimpleNamespace(settings=settings.values, loaded_settings=settings, saved_settings=store)

    return build


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A page that is opened with these headers, from this address, at a server that listens there."""

    def open_page(
        headers: dict[str, str], *, address: str | None = None, listens: str | None = "127.0.0.1", mark: str = MARK
    ) -> None:
        monkeypatch.setattr(
            st, "context", SimpleNamespace(headers=headers, ip_address=address, cookies={VISITOR_COOKIE: mark})
        )
        monkeypatch.setattr(st, "get_option", {"server.address": listens}.get)
        monkeypatch.setattr(identity, "login_claims", dict)

    return open_page


@pytest.mark.parametrize(
    ("headers", "where", "environ", "allowed"),
    [
        (LOCAL, {}, {}, True),
        (
            {"Origin": "http://127.0.0.1:9000", "Host": "127.0.0.1:9000"},
            {},
            {"PUBLIC_URL": "http://127.0.0.1:9000"},
            True,
        ),
        ({"Origin": "http://[::1]:8501", "Host": "[::1]:8501"}, {"listens": "::1"}, {}, True),
        ({}, {}, {}, False),
        ({"Host": "localhost:8501"}, {}, {}, False),
        (LOCAL, {"address": "192.168.1.7"}, {}, False),
        (LOCAL, {"listens": "0.0.0.0"}, {}, False),
        (LOCAL, {"listens": None}, {}, False),
        (LOCAL, {}, {"PUBLIC_URL": "https://laws.example"}, False),
        (LOCAL | {"Host": "tunnel.example.org"}, {}, {}, False),
        ({"Origin": "https://laws.example", "Host": "laws.example"}, {}, {}, False),
        ({"Origin": "http://localhost.evil.example", "Host": "localhost:8501"}, {}, {}, False),
        (LOCAL | {"Origin": "http://localhost:3000"}, {}, {}, False),
        (LOCAL | {"Host": "localhost:3000"}, {}, {"PUBLIC_URL": ""}, False),
        (LOCAL | {"Host": "local\thost:8501"}, {}, {}, False),
        ({"Origin": "http://local\thost:8501", "Host": "local\thost:8501"}, {}, {}, False),
        (LOCAL | {"Origin": "ftp://localhost:8501"}, {}, {}, False),
        (LOCAL | {"Origin": "null"}, {}, {}, False),
        *(
            (LOCAL | {name: "127.0.0.1"}, {}, {}, False)
            for name in (
                *("X-Forwarded-For", "X-Forwarded-Host", "x-forwarded-proto", "Forwarded", "X-Real-Ip", "Via"),
                *("CF-Connecting-IP", "True-Client-IP", "X-Client-IP", "X-Original-Host", "X-Cluster-Client-IP"),
                *("Fastly-Client-IP", "Fly-Client-IP", "X-Azure-ClientIP", "Ngrok-Trace-Id", "Tailscale-User-Login"),
                *("X-Amzn-Trace-Id", "Cdn-Loop", "X-Request-Start"),
            )
        ),
    ],
)
def test_who_is_on_this_machine_until_there_is_an_owner(
    app: Callable[..., Any],
    visit: Callable[..., None],
    headers: dict[str, str],
    where: dict[str, Any],
    environ: dict[str, str],
    allowed: bool,
) -> None:
    visit(headers, **where)
    assert permission.may_edit(app(**environ)) is allowed
    assert import_view.may_import(app(**environ)) is allowed
    assert not permission.may_edit(app(**environ, SETTINGS_EDIT_BY="nobody"))


def test_a_configured_proxy_means_that_nobody_is_known_by_the_address(
    monkeypatch: pytest.MonkeyPatch, app: Callable[..., Any], visit: Callable[..., None]
) -> None:
    visit(LOCAL)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.1")
    assert not permission.may_edit(app())


def test_a_page_at_the_default_address_does_not_act_for_the_owner_of_another_server(
    app: Callable[..., Any], visit: Callable[..., None]
) -> None:
    """Without asgi.py: its cookies are those of every port of this machine."""
    app().saved_settings.change(with_owner({}, MARK))
    visit({"Origin": "http://localhost:8501", "Host": "localhost:9000"})
    assert not permission.may_edit(app(PUBLIC_URL=""))
    assert permission.may_edit(app(PUBLIC_URL="http://localhost:8501/wenyuan")), "somebody has said that it is the same"


def test_the_first_who_saves_here_is_the_owner_and_afterwards_the_place_counts_for_nothing(
    app: Callable[..., Any], visit: Callable[..., None]
) -> None:
    app().saved_settings.change(with_owner({}, MARK))
    visit(LOCAL)
    assert permission.may_edit(app())
    visit(BEHIND_NGINX, address="203.0.113.9", listens="0.0.0.0")
    assert permission.may_edit(app(PUBLIC_URL="https://laws.example")), "with several servers behind a proxy"
    for mark in ("b" * 32, "", OWNERS):
        visit(LOCAL, mark=mark)
        assert not permission.may_edit(app()), mark


def test_a_setup_link_makes_an_owner_once_and_not_for_long(tmp_path: Path) -> None:
    now = 1_000_000.0
    store = SavedSettingsFile(tmp_path)
    links = SetupLinks(store, clock=lambda: now)
    token, other = links.create(), links.create()
    assert not links.redeem("wrong", MARK)
    assert not links.redeem(token, None), "a browser without cookies"
    assert links.redeem(token, MARK)
    assert not links.redeem(token, "b" * 32), "a second time"
    now += 31 * 60
    assert not links.redeem(other, "b" * 32), "too late"
    saved = store.read().values
    assert is_owner(saved, MARK)
    assert not is_owner(saved, "b" * 32)
    kept = store.path.read_text("utf-8")
    assert MARK not in kept
    assert token not in kept
    assert loaded().with_saved(store.read()).problems == loaded().problems


ZHANG = {"is_logged_in": True, "sub": "1", "email": "zhang@example.org", "email_verified": True}


@pytest.mark.parametrize(
    ("user", "admins", "allowed"),
    [
        (ZHANG, "1", True),
        (ZHANG, "zhang@example.org", True),
        (ZHANG | {"email_verified": False}, "zhang@example.org", False),
        (ZHANG | {"email_verified": "true"}, "zhang@example.org", False),
        (ZHANG, "2, li@example.org", False),
        (ZHANG, "", False),
        (ZHANG | {"is_logged_in": False}, "1", False),
        ({}, "1", False),
        ({"is_logged_in": True}, "None", False),
    ],
)
def test_only_accounts_on_the_list(
    monkeypatch: pytest.MonkeyPatch, app: Callable[..., Any], user: dict[str, Any], admins: str, allowed: bool
) -> None:
    listed = app(SETTINGS_EDIT_BY="login", SETTINGS_ADMINS=admins, PUBLIC_URL="https://ask.example")
    monkeypatch.setattr(st, "user", user)
    for origin, own in (("https://ask.example", True), ("https://evil.example", False)):
        headers = {"Origin": origin, "Host": "10.0.0.5:8501", "X-Forwarded-For": "1.2.3.4"}
        monkeypatch.setattr(st, "context", SimpleNamespace(headers=headers, ip_address="10.0.0.1"))
        assert permission.may_edit(listed) is (allowed and own)
