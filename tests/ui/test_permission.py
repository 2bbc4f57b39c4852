"""Who counts as sitting at the machine itself: nobody who comes through a proxy, from elsewhere, by another name, or in
another page. And which accounts may edit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from core.ui import permission
from core.ui.legal import import_view
from support.base import loaded

LOCAL = {"Origin": "http://localhost:8501", "Host": "localhost:8501"}


@pytest.mark.parametrize(
    ("headers", "address", "public_url", "allowed"),
    [
        (LOCAL, None, "http://localhost:8501", True),
        ({"Origin": "http://127.0.0.1:9000", "Host": "127.0.0.1:9000"}, None, "http://127.0.0.1:9000", True),
        ({"Origin": "http://[::1]:8501", "Host": "[::1]:8501"}, None, "http://localhost:8501", True),
        ({}, None, "http://localhost:8501", True),
        (LOCAL, "192.168.1.7", "http://localhost:8501", False),
        ({**LOCAL, "X-Forwarded-For": "127.0.0.1"}, None, "http://localhost:8501", False),
        ({"Origin": "https://laws.example", "Host": "laws.example"}, None, "http://localhost:8501", False),
        ({"Origin": "http://localhost.evil.example"}, None, "http://localhost:8501", False),
        ({**LOCAL, "Origin": "http://localhost:3000"}, None, "http://localhost:8501", False),
        ({**LOCAL, "Origin": "null"}, None, "http://localhost:8501", False),
        (LOCAL, None, "https://laws.example", False),
    ],
)
def test_only_a_page_of_ours_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], address: str | None, public_url: str, allowed: bool
) -> None:
    settings = loaded(PUBLIC_URL=public_url).values
    monkeypatch.setattr(st, "context", SimpleNamespace(headers=headers, ip_address=address))
    assert permission.may_edit(settings) is allowed
    assert import_view.may_import(SimpleNamespace(settings=settings)) is allowed  # type: ignore[arg-type]
    assert not permission.may_edit(loaded(PUBLIC_URL=public_url, SETTINGS_EDIT_BY="nobody").values)


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
    monkeypatch: pytest.MonkeyPatch, user: dict[str, Any], admins: str, allowed: bool
) -> None:
    settings = loaded(SETTINGS_EDIT_BY="login", SETTINGS_ADMINS=admins, PUBLIC_URL="https://ask.example").values
    monkeypatch.setattr(st, "user", user)
    for origin, own in (("https://ask.example", True), ("https://evil.example", False)):
        headers = {"Origin": origin, "Host": "10.0.0.5:8501", "X-Forwarded-For": "1.2.3.4"}
        monkeypatch.setattr(st, "context", SimpleNamespace(headers=headers, ip_address="10.0.0.1"))
        assert permission.may_edit(settings) is (allowed and own)
