"""Permission to change what is shared by everybody here: for visitors on the machine itself, or for listed accounts."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from core.base.settings import Settings

_LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}


def may_edit(settings: Settings) -> bool:
    """Return whether this visitor may connect models and engines for the whole installation."""
    match settings.settings.edit_by:
        case "local":
            return is_on_this_machine(settings)
        case "login":
            return _is_from_own_page(settings) and not _account_names().isdisjoint(settings.settings.admins)
    return False


def is_on_this_machine(settings: Settings) -> bool:
    """Return whether the visitor is on this machine, with no proxy in between. There must be no other address, and no
    other name in the browser's address bar or in PUBLIC_URL."""
    opened = (st.context.headers.get("Origin") or "", settings.public.url)
    hosts = {urlsplit(address).hostname for address in opened if address}
    forwarded = any(name in st.context.headers for name in ("X-Forwarded-For", "Forwarded", "X-Real-Ip"))
    local = st.context.ip_address is None and not forwarded and hosts <= _LOCAL_HOSTS
    return local and _is_from_own_page(settings)


def _is_from_own_page(settings: Settings) -> bool:
    """Return whether the connection comes from this app's own page. Streamlit lets pages of any local port connect, and
    without CORS any page at all. Programs other than browsers send no origin, and have no cookies but their own."""
    origin = st.context.headers.get("Origin")
    own = {st.context.headers.get("Host"), urlsplit(settings.public.url).netloc}
    return origin is None or urlsplit(origin).netloc in own


def _account_names() -> set[str]:
    """Return the names of the logged-in account. An e-mail address counts only if the provider has verified it."""
    if not st.user.get("is_logged_in"):
        return set()
    verified = st.user.get("email") if st.user.get("email_verified") is True else None
    return {str(name) for name in (st.user.get("sub"), verified) if name}
