"""Who uses the page: the account that is logged in, else the browser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from core import VISITOR_COOKIE
from core.base.visitors import LOOPBACK, Visitor, address_group
from core.ui import session

CLAIMS = "login_claims"
_COOKIE_VALUE = re.compile(r"[A-Za-z0-9_-]{32}")
"""A visitor's cookie as asgi.py writes it. No owner and no address looks like one."""


def login_claims() -> Mapping[str, Any]:
    """Return what Streamlit knows of who is logged in: decided when the page was opened. It is asked once, because
    where there is no secrets.toml it looks for one on the disk whenever it is asked."""
    if CLAIMS not in st.session_state:
        st.session_state[CLAIMS] = dict(st.user)
    known: Mapping[str, Any] = st.session_state[CLAIMS]
    return known


def is_login_configured() -> bool:
    """Return whether secrets.toml has a section [auth]: only then does Streamlit say who is logged in."""
    return "is_logged_in" in login_claims()


def owner() -> str | None:
    """Return the account that is logged in; without one, conversations belong to whoever has their address. Issuer and
    subject are the only claims that OpenID promises to be unique and lasting: an e-mail address may be unverified, and
    may belong to somebody else next year."""
    claims = login_claims()
    subject = claims.get("sub")
    return f"{claims.get('iss')} {subject}" if claims.get("is_logged_in") and subject else None


def visitor() -> str | None:
    """Return the account, or the browser as asgi.py has marked it: who has conversations, and may change them. A cookie
    that asgi.py did not write does not count: nobody gets at another's list by making their name a cookie."""
    cookie = st.context.cookies.get(VISITOR_COOKIE)
    return owner() or (cookie if isinstance(cookie, str) and _COOKIE_VALUE.fullmatch(cookie) else None)


def rate_limited_visitor() -> Visitor:
    """Return whose limits count: the account, else this browser, else this session; without a login the address too.
    The address is what asgi.py believes. Streamlit has none for this machine itself."""
    if account := owner():
        return Visitor(account)
    return Visitor(visitor() or session.chat().session_id, address_group(str(st.context.ip_address or LOOPBACK)))
