"""Access of this visitor to collections of documents (资料库): their own, and those that were shared with them by a link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.app import App
from core.documents import Access
from core.ui import identity, visitor_preferences

SHARES = "shared_collections"
"""Key of the shares that the visitor has opened, in the session and among the stored preferences; the latest first."""
MAX_SHARES = 50
NO_COOKIE = "这个浏览器没有保存 Cookie，刷新之后认不出你的资料集。请允许 Cookie，再放入文件。"


def is_offered(app: App) -> bool:
    """Return whether readers have a document library here."""
    return app.settings.documents.enabled and "documents" in app.settings.public.pages


def access() -> Access:
    return Access(identity.reader(), known_shares())


def known_shares() -> tuple[str, ...]:
    shares: tuple[str, ...] = st.session_state.get(SHARES, ())
    return shares


def draw_cookie_note() -> None:
    """Say what becomes of the collections of a browser without cookies."""
    if identity.visitor() is None:
        st.warning(NO_COOKIE, icon=":material/cookie_off:")


def restore(stored_choices: Mapping[str, Any]) -> None:
    stored = stored_choices.get(SHARES)
    keys = stored if isinstance(stored, list) else []
    st.session_state[SHARES] = tuple(key for key in keys if isinstance(key, str))[:MAX_SHARES]


def remember_share(share: str) -> None:
    if share not in known_shares():
        _keep_shares((share, *known_shares())[:MAX_SHARES])


def forget_share(share: str) -> None:
    _keep_shares(tuple(key for key in known_shares() if key != share))


def _keep_shares(shares: tuple[str, ...]) -> None:
    st.session_state[SHARES] = shares
    visitor_preferences.save({SHARES: list(shares) or None})
