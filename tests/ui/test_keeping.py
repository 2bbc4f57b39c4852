"""Who somebody is to the app, from what Streamlit knows about the connection."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core import VISITOR_COOKIE
from core.ui import keeping, session

MARK = "m" * 32
PROXIED = {"X-Forwarded-For": "203.0.113.7"}
ZHANG = {"is_logged_in": True, "iss": "https://id.example", "sub": "1", "email": "z@example.org"}


@pytest.fixture
def arrive(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(session, "chat", lambda: SimpleNamespace(session_id="session"))

    def arrive(user: dict[str, Any], *, mark: str = "", address: str | None = None, **headers: str) -> None:
        context = SimpleNamespace(cookies={VISITOR_COOKIE: mark}, ip_address=address, headers=headers)
        monkeypatch.setattr(keeping, "st", SimpleNamespace(user=user, context=context))

    return arrive


def test_a_limit_counts_for_the_account_before_anything_else(arrive: Any) -> None:
    arrive(ZHANG, mark=MARK, address="203.0.113.7", **PROXIED)
    assert keeping.identity() == "https://id.example 1"


def test_then_for_the_address_that_a_trusted_proxy_tells(arrive: Any) -> None:
    arrive({"is_logged_in": False}, mark=MARK, address="203.0.113.7", **PROXIED)
    assert keeping.identity() == "203.0.113.7"


@pytest.mark.parametrize("address", [None, "198.51.100.1"])
def test_a_header_that_the_server_did_not_believe_counts_for_nothing(arrive: Any, address: str | None) -> None:
    arrive({}, mark=MARK, address=address, **PROXIED)
    assert keeping.identity() == MARK


def test_then_for_the_browser_and_at_last_for_the_session(arrive: Any) -> None:
    arrive({}, mark=MARK)
    assert keeping.identity() == MARK
    arrive({})
    assert keeping.identity() == "session"


@pytest.mark.parametrize("mark", ["https://id.example 1", "203.0.113.7", "short", MARK + "x"])
def test_nobody_becomes_another_by_a_cookie_of_their_own(arrive: Any, mark: str) -> None:
    arrive({}, mark=mark)
    assert keeping.visitor() is None


def test_an_account_without_a_subject_owns_nothing(arrive: Any) -> None:
    arrive({"is_logged_in": True, "email": "z@example.org"})
    assert keeping.owner() is None
