"""Ownership of an installation: the browsers and accounts that may change what is shared by everybody here.

The first owner is whoever saves something first on the machine itself. Others open a setup link, which the terminal
prints. Owners and links are kept with the saved settings, as digests, so that all processes of an installation know them.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping

from core.base.settings.saved import OWNERS, SETUP_TOKENS, SavedSettingsStore

SETUP_SECONDS = 30 * 60
"""Time for which a setup link is valid."""
SETUP_VALIDITY = f"{SETUP_SECONDS // 60} 分钟内有效，只能用一次"
SETUP_QUERY = "setup"
"""Name of the token in the link's query."""
MAX_OWNERS = 20
_NOBODY = "nobody"
"""Stands in place of the owners after a reset, so that being on the machine makes no new one."""


def is_claimed(saved: Mapping[str, str]) -> bool:
    """Return whether the installation has an owner or had one before a reset, by what is saved."""
    return bool(saved.get(OWNERS))


def is_owner(saved: Mapping[str, str], visitor: str | None) -> bool:
    return visitor is not None and _digest(visitor) in saved.get(OWNERS, "").split()


def with_owner(saved: Mapping[str, str], visitor: str | None) -> dict[str, str]:
    """Return the change that makes the visitor an owner. The oldest of too many owners is forgotten."""
    if visitor is None:
        return {}
    others = [owner for owner in saved.get(OWNERS, "").split() if owner not in (_NOBODY, _digest(visitor))]
    return {OWNERS: " ".join([*others, _digest(visitor)][-MAX_OWNERS:])}


class SetupLinks:
    """Setup links: each is valid once, and not for long."""

    def __init__(self, store: SavedSettingsStore, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    def create_link(self, address: str) -> str:
        """Return a new link to the page at this address. Raise SettingsNotSaved."""
        return f"{address.rstrip('/')}/?{SETUP_QUERY}={self.create()}"

    def create(self) -> str:
        """Return a new token. Raise SettingsNotSaved if it cannot be kept."""
        token = secrets.token_urlsafe(24)
        ends = int(self._clock()) + SETUP_SECONDS
        self._store.change(lambda saved: _tokens_entry(self._tokens(saved) | {_digest(token): ends}))
        return token

    def reset(self) -> None:
        """Forget all owners and all links. Only a new link makes an owner then. Raise SettingsNotSaved."""
        self._store.change({OWNERS: _NOBODY, SETUP_TOKENS: ""})

    def redeem(self, token: str, visitor: str | None) -> bool:
        """Make the visitor an owner if the token is valid, and return whether it was. Raise SettingsNotSaved."""

        def use_up(saved: Mapping[str, str]) -> dict[str, str]:
            tokens = self._tokens(saved)
            if tokens.pop(_digest(token), None) is None:  # somebody else has just redeemed it
                return {}
            return _tokens_entry(tokens) | with_owner(saved, visitor)

        if visitor is None or _digest(token) not in self._tokens(self._store.read().values):
            return False
        return OWNERS in self._store.change(use_up)

    def _tokens(self, saved: Mapping[str, str]) -> dict[str, int]:
        """Return when each valid token ends, by its digest."""
        pairs = (entry.partition(":") for entry in saved.get(SETUP_TOKENS, "").split())
        return {digest: int(ends) for digest, _, ends in pairs if ends.isdecimal() and int(ends) > self._clock()}


def _tokens_entry(tokens: Mapping[str, int]) -> dict[str, str]:
    return {SETUP_TOKENS: " ".join(f"{digest}:{ends}" for digest, ends in tokens.items())}


def _digest(secret: str) -> str:
    return hashlib.sha256(f"wenyuan setup {secret}".encode()).hexdigest()
