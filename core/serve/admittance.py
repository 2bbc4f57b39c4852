"""Who may call a service: programs with a token, and those on this machine. Never a page of somebody else."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from core.app import App
from core.base.settings import are_proxies_configured
from core.base.visitors import LOCAL_NAMES, address_group
from core.serve.errors import ApiOff, NoToken, OriginRefused, TokenRefused, TooManyFailures, TooManyRequests
from core.serve.origins import host_and_port, is_own_page
from core.serve.outsiders import Outsiders, is_from_elsewhere
from core.store import TOKEN_PREFIX, Token

FAILURES_PER_MINUTE = 20
"""Wrong tokens that one address may try before it is told to wait."""
_OWN_SITES = ("", "none", "same-origin")
"""What browsers write into Sec-Fetch-Site for requests that no foreign page has caused. Programs write nothing."""


def admit(app: App, scope: Scope) -> Token | None:
    """Return the token with which a program calls, or None for one on this machine, which needs none. Raise an ApiError."""
    if not app.settings.api.enabled:
        raise ApiOff
    headers = Headers(scope=scope)
    kind, _, sent = headers.get("authorization", "").partition(" ")
    has_token = kind.lower() == "bearer" and sent.strip().startswith(TOKEN_PREFIX)
    _refuse_foreign_pages(app, scope, headers, has_token=has_token)
    if has_token:
        return _find_token(app, scope, sent.strip())
    # Many clients insist on sending some key. A password is for whoever stands in front of this server.
    if kind.lower() in ("", "bearer") and _is_on_this_machine(app, scope, headers):
        return None
    raise TokenRefused if kind else NoToken


def _find_token(app: App, scope: Scope, sent: str) -> Token:
    if found := app.tokens.find(sent):
        return found
    client = scope.get("client")
    key = FAILURES_PER_MINUTE, "wrong-token", address_group(client[0]) if client else ""
    if app.failure_counter.hit(*key):
        raise TokenRefused
    raise TooManyFailures(retry_after=app.failure_counter.seconds_until_free(*key))


def count_request(app: App, token: Token) -> None:
    """Count a request of the token, or raise TooManyRequests."""
    key = token.per_minute or app.settings.api.requests_per_minute, "request", token.id
    if not app.request_counter.hit(*key):
        raise TooManyRequests(retry_after=app.request_counter.seconds_until_free(*key))


def _refuse_foreign_pages(app: App, scope: Scope, headers: Headers, *, has_token: bool) -> None:
    """Raise OriginRefused for a request that a page of somebody else has caused, also under a name that leads here. Pages
    do not know tokens; some programs that do are written as pages, of no address."""
    hosts = headers.getlist("host")
    host = hosts[0] if len(hosts) == 1 else ""
    if not is_known_host(app, host):
        raise OriginRefused
    public = _public_addresses(app)
    is_foreign = any(
        not is_own_page(origin, host, public) and not (has_token and _is_of_no_address(origin))
        for origin in headers.getlist("origin")
    )
    if is_foreign or scope["method"] == "OPTIONS":  # what browsers ask before a page may send more
        raise OriginRefused
    if not has_token and headers.get("sec-fetch-site", "") not in _OWN_SITES:
        raise OriginRefused


def is_known_host(app: App, host: str) -> bool:
    """Return whether programs may call under this name, as the header Host has it."""
    asked_for = host_and_port(f"http://{host}")
    public = filter(None, (urlsplit(url).hostname for url in _public_addresses(app)))
    known = {*LOCAL_NAMES, *app.settings.api.hosts, *public}
    return asked_for is not None and (asked_for[0] in known or _is_ip_address(asked_for[0]))


def _public_addresses(app: App) -> list[str]:
    public_url = app.loaded_settings.configured_public_url
    return [public_url] if public_url else []


def _is_of_no_address(origin: str) -> bool:
    """Return whether this is the origin of a program on somebody's machine that is written as a page: file:// or null."""
    return not origin.lower().startswith(("http:", "https:"))


def _is_ip_address(host: str) -> bool:
    """Return whether this is no name at all: no stranger can let an address lead elsewhere."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_on_this_machine(app: App, scope: Scope, headers: Headers) -> bool:
    """Return whether the caller is a program on this machine. That cannot be known where strangers may come through it
    too: with a proxy, another name in PUBLIC_URL, or after any request from elsewhere."""
    if are_proxies_configured() or Outsiders.were_seen or is_from_elsewhere(headers.items()):
        return False
    if scope.get("http_version") == "1.0":  # what nginx speaks to a server behind it, unless it is told otherwise
        return False
    client = scope.get("client")
    return client is not None and client[0] in LOCAL_NAMES and urlsplit(app.settings.public.url).hostname in LOCAL_NAMES
