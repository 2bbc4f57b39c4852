"""Permission to change what is shared by everybody here: for the owners of the installation, or for listed accounts."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from core.app import App
from core.base.settings import Settings, are_proxies_configured, is_claimed, is_owner
from core.base.visitors import LOCAL_NAMES
from core.ui import identity

_PROXY_HEADERS = ("via", "forwarded", "x-forwarded-", "x-real-", "x-client-", "true-client-", "cf-", "x-envoy-")
"""Beginnings of headers that proxies and tunnels add."""


def may_edit(app: App) -> bool:
    """Return whether this visitor may connect models and engines for the whole installation."""
    match app.settings.settings.edit_by:
        case "local":
            return owns_installation(app)
        case "login":
            return _is_from_own_page(app.settings) and not _account_names().isdisjoint(app.settings.settings.admins)
    return False


def owns_installation(app: App) -> bool:
    """Return whether this visitor is an owner. Until there is one, whoever is on this machine counts as such."""
    saved = app.loaded_settings.saved.values
    if is_claimed(saved):
        return is_owner(saved, identity.visitor()) and _is_from_own_page(app.settings)
    return is_on_this_machine(app.settings)


def is_on_this_machine(settings: Settings) -> bool:
    """Return whether the visitor is on this machine, in a browser. That cannot be known where strangers may come through
    this machine too: with an open port, a proxy, or another name in the request or in PUBLIC_URL."""
    headers = st.context.headers
    is_proxied = are_proxies_configured() or any(name.lower().startswith(_PROXY_HEADERS) for name in headers)
    addresses = (f"//{headers.get('Host', '')}", headers.get("Origin", ""), settings.public.url)
    names = {st.get_option("server.address"), *(urlsplit(address).hostname for address in addresses)}
    return st.context.ip_address is None and not is_proxied and names <= LOCAL_NAMES and _is_from_own_page(settings)


def _is_from_own_page(settings: Settings) -> bool:
    """Return whether the connection comes from this app's own page. Without asgi.py, Streamlit lets pages of any local
    port connect. Programs other than browsers send no origin, and have no cookies but their own."""
    origin = st.context.headers.get("Origin")
    own = {st.context.headers.get("Host"), urlsplit(settings.public.url).netloc}
    return origin is None or urlsplit(origin).netloc in own


def _account_names() -> set[str]:
    """Return the names of the logged-in account. An e-mail address counts only if the provider has verified it."""
    if not st.user.get("is_logged_in"):
        return set()
    verified = st.user.get("email") if st.user.get("email_verified") is True else None
    return {str(name) for name in (st.user.get("sub"), verified) if name}
