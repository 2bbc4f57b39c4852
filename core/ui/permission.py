"""Permission to change what is shared by everybody here: for the owners of the installation, or for listed accounts."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from core.app import App
from core.base.settings import LoadedSettings, are_proxies_configured, is_claimed, is_owner
from core.base.visitors import LOCAL_NAMES
from core.serve import Outsiders, host_and_port, is_from_elsewhere, is_own_page
from core.ui import identity


def may_edit(app: App) -> bool:
    """Return whether this visitor may connect models and engines for the whole installation."""
    match app.settings.settings.edit_by:
        case "local":
            return owns_installation(app)
        case "login":
            return _is_from_own_page(app.loaded_settings) and not _account_names().isdisjoint(
                app.settings.settings.admins
            )
    return False


def may_make_tokens(app: App) -> bool:
    """Return whether this visitor may make tokens, which act for them."""
    match app.settings.api.tokens_by:
        case "local":
            return may_edit(app)
        case "login":
            has_account = identity.owner() is not None and _is_from_own_page(app.loaded_settings)
            return has_account or may_edit(app)
    return False


def owns_installation(app: App) -> bool:
    """Return whether this visitor is an owner. Until there is one, whoever is on this machine counts as such."""
    saved = app.loaded_settings.saved.values
    if is_claimed(saved):
        return is_owner(saved, identity.visitor()) and _is_from_own_page(app.loaded_settings)
    return is_on_this_machine(app.loaded_settings)


def is_on_this_machine(loaded: LoadedSettings) -> bool:
    """Return whether the visitor is on this machine, in a browser. That cannot be known where strangers may come through
    this machine too: with an open port, a proxy, another name in PUBLIC_URL, or after any request from elsewhere."""
    headers = st.context.headers
    if are_proxies_configured() or Outsiders.were_seen or is_from_elsewhere(headers.items()):
        return False
    page = host_and_port(headers.get("Origin", ""))
    names = {st.get_option("server.address"), urlsplit(loaded.values.public.url).hostname, page and page[0]}
    return st.context.ip_address is None and names <= LOCAL_NAMES and _is_from_own_page(loaded)


def _is_from_own_page(loaded: LoadedSettings) -> bool:
    """Return whether the connection comes from this app's own page. Without asgi.py, Streamlit lets pages of any local
    port connect. Programs other than browsers send no origin, and have no cookies but their own."""
    headers = st.context.headers
    origin, public_url = headers.get("Origin"), loaded.configured_public_url
    return origin is None or is_own_page(origin, headers.get("Host", ""), [public_url] if public_url else [])


def _account_names() -> set[str]:
    """Return the names of the logged-in account. An e-mail address counts only if the provider has verified it."""
    if not st.user.get("is_logged_in"):
        return set()
    verified = st.user.get("email") if st.user.get("email_verified") is True else None
    return {str(name) for name in (st.user.get("sub"), verified) if name}
