"""Who may change what holds for everybody here: whoever sits at the machine itself, or an account on a list."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from core.base.settings import Settings

_LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}


def may_edit(settings: Settings) -> bool:
    """Whether this visitor may connect models and engines for the whole installation."""
    match settings.settings.edit_by:
        case "local":
            return on_this_machine(settings)
        case "login":
            return _from_own_page(settings) and not _names().isdisjoint(settings.settings.admins)
    return False


def on_this_machine(settings: Settings) -> bool:
    """Nobody stands between: no address of another machine, no other name in the browser's address bar or in PUBLIC_URL."""
    opened = (st.context.headers.get("Origin") or "", settings.public.url)
    hosts = {urlsplit(address).hostname for address in opened if address}
    forwarded = any(name in st.context.headers for name in ("X-Forwarded-For", "Forwarded", "X-Real-Ip"))
    local = st.context.ip_address is None and not forwarded and hosts <= _LOCAL_HOSTS
    return local and _from_own_page(settings)


def _from_own_page(settings: Settings) -> bool:
    """Streamlit lets pages of any port of this machine connect, and without CORS any page at all. Programs that are no
    browser name no origin; they bring no cookies but their own."""
    origin = st.context.headers.get("Origin")
    own = {st.context.headers.get("Host"), urlsplit(settings.public.url).netloc}
    return origin is None or urlsplit(origin).netloc in own


def _names() -> set[str]:
    """An e-mail address counts only where the provider has verified it: anybody may call themselves by it."""
    if not st.user.get("is_logged_in"):
        return set()
    verified = st.user.get("email") if st.user.get("email_verified") is True else None
    return {str(name) for name in (st.user.get("sub"), verified) if name}
