"""Identity of the visitor: the account that is logged in, else the browser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeGuard

import streamlit as st

from core import VISITOR_COOKIE
from core.base.visitors import LOOPBACK, Visitor, address_group
from core.ui import session

CLAIMS, BROWSER = "login_claims", "browser"
_COOKIE_VALUE = re.compile(r"[A-Za-z0-9_-]{32}")
"""Pattern of a visitor's cookie as asgi.py writes it. No owner and no address looks like one."""


def login_claims() -> Mapping[str, Any]:
    """Return the claims of the logged-in account, as they were when the page was opened. They are read once, because
    Streamlit would look for a missing secrets.toml on the disk each time."""
    if CLAIMS not in st.session_state:
        st.session_state[CLAIMS] = dict(st.user)
    claims: Mapping[str, Any] = st.session_state[CLAIMS]
    return claims


def is_login_configured() -> bool:
    """Return whether secrets.toml has a section [auth]. Without it, Streamlit has no `is_logged_in`."""
    return "is_logged_in" in login_claims()


def owner() -> str | None:
    """Return the account that is logged in. Only issuer and subject are unique and lasting in OpenID. An e-mail address
    may be unverified, or change its owner."""
    claims = login_claims()
    subject = claims.get("sub")
    return f"{claims.get('iss')} {subject}" if claims.get("is_logged_in") and subject else None


def visitor() -> str | None:
    """Return the account, else the cookie that asgi.py gave the browser. A cookie of another form does not count, so that
    nobody reaches an account's list by using its name as a cookie."""
    return owner() or browser()


def browser() -> str | None:
    """Return the cookie that asgi.py gave the browser, also while an account is logged in."""
    cookie = st.context.cookies.get(VISITOR_COOKIE)
    return cookie if is_visitor_mark(cookie) else None


def forget_other_browser() -> None:
    """Begin the session anew if another browser has reconnected to it: what it holds is not for that one."""
    if st.session_state.setdefault(BROWSER, browser()) != browser():
        st.session_state.clear()
        st.session_state[BROWSER] = browser()


def reader() -> str:
    """Return the name that conversations belong to: the visitor's. A browser without cookies has only its session, and
    nobody can open its conversations when that is over."""
    return visitor() or f"session {session.chat().session_id}"


def is_visitor_mark(value: object) -> TypeGuard[str]:
    """Return whether a cookie's value is a mark as asgi.py gives it to a browser."""
    return isinstance(value, str) and bool(_COOKIE_VALUE.fullmatch(value))


def rate_limited_visitor() -> Visitor:
    """Return the visitor that rate limits count: the account, else the browser or the session, with its address. The
    address is the one that asgi.py accepted. Streamlit has none for this machine itself."""
    if account := owner():
        return Visitor(account)
    return Visitor(visitor() or session.chat().session_id, address_group(str(st.context.ip_address or LOOPBACK)))
