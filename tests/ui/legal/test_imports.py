"""Who counts as sitting at the machine itself: nobody who comes through a proxy, from elsewhere, or by another name."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import streamlit as st

from core.ui.legal import imports as legal_import

LOCAL = {"Origin": "http://localhost:8501"}


@pytest.mark.parametrize(
    ("headers", "address", "public_url", "allowed"),
    [
        (LOCAL, None, "http://localhost:8501", True),
        ({"Origin": "http://127.0.0.1:9000"}, None, "http://127.0.0.1:9000", True),
        ({"Origin": "http://[::1]:8501"}, None, "http://localhost:8501", True),
        (LOCAL, "192.168.1.7", "http://localhost:8501", False),
        ({**LOCAL, "X-Forwarded-For": "127.0.0.1"}, None, "http://localhost:8501", False),
        ({"Origin": "https://laws.example"}, None, "http://localhost:8501", False),
        ({"Origin": "http://localhost.evil.example"}, None, "http://localhost:8501", False),
        (LOCAL, None, "https://laws.example", False),
    ],
)
def test_only_a_browser_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], address: str | None, public_url: str, allowed: bool
) -> None:
    app = SimpleNamespace(
        settings=SimpleNamespace(legal=SimpleNamespace(import_by="local"), public=SimpleNamespace(url=public_url))
    )
    monkeypatch.setattr(st, "context", SimpleNamespace(headers=headers, ip_address=address))
    assert legal_import.may_import(app) is allowed  # type: ignore[arg-type]
