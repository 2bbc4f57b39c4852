"""Tokens: what other programs call the services with. A token is shown once, and only its hash is stored."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Row, delete, func, insert, or_, select, true, update

from core.base.errors import InputError
from core.base.text import one_line, shorten
from core.store.database import Database
from core.store.errors import TokenNotFound
from core.store.ids import digest
from core.store.outbox import Outbox
from core.store.tables import token_uses, tokens

TOKEN_PREFIX = "wy-"  # noqa: S105 (how tokens begin)
NAME_LENGTH = 40
MOST_TOKENS = 50
"""Tokens that one maker may have. All of them are kept in memory."""
CACHE_SECONDS = 2.0
"""Time after which the tokens are read again: so long may one work that was withdrawn at another server."""
TOUCH_SECONDS = 60.0
"""Time after which another use of a token is noted."""
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token: everything but the token itself."""

    id: str
    owner: str
    """The digest of its maker, as of conversations and collections."""
    name: str
    scopes: frozenset[str]
    created: float
    """Seconds since 1970, like all times here."""
    expires: float | None
    """None: never."""
    per_minute: int | None
    """Its own limit of requests; None: that of the settings."""
    last_used: float | None
    """To the minute."""

    def is_expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


class TokenStore:
    """The tokens in the database. Every method raises StoreError if the database cannot be used."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        *,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._outbox = outbox
        self._clock = clock
        self._timer = timer
        self._reading = threading.Lock()
        self._by_hash: dict[str, Token] | None = None
        self._read_at = 0.0

    def create(
        self,
        visitor_id: str,
        name: str,
        scopes: Collection[str],
        *,
        days: int | None = None,
        per_minute: int | None = None,
    ) -> tuple[Token, str]:
        """Make a token that is valid for so many days, and return it with the text that programs send, which is nowhere else.
        Raise InputError."""
        if not (shown := shorten(one_line(name), NAME_LENGTH)):
            raise InputError("令牌没有名称。", cure="请写它给哪个程序用。")
        if not scopes:
            raise InputError("没有选令牌可以做什么。", cure="请至少选一项。")
        now, secret, owner = self._clock(), TOKEN_PREFIX + secrets.token_urlsafe(32), digest(visitor_id) or ""
        expires = None if days is None else now + days * DAY
        token = Token(secrets.token_hex(8), owner, shown, frozenset(scopes), now, expires, per_minute, None)
        row = {name: getattr(token, name) for name in ("id", "owner", "name", "created", "expires", "per_minute")}
        with self._database.write() as connection:
            count = select(func.count()).select_from(tokens).where(tokens.c.owner == owner)
            if connection.execute(count).scalar_one() >= MOST_TOKENS:
                raise InputError(f"已经有 {MOST_TOKENS} 个令牌，不能再建。", cure="请先撤回不用的。")
            connection.execute(insert(tokens), {**row, "hash": digest(secret), "scopes": " ".join(sorted(scopes))})
        self._forget()
        return token, secret

    def find(self, secret: str) -> Token | None:
        """Return the valid token with this text, and note that it is used. Asks the database every two seconds at most, however
        many tokens are tried."""
        now, hash, known = self._clock(), digest(secret) or "", self._known()
        found = known.get(hash)
        if found is None or found.is_expired(now):
            return None
        if found.last_used is None or found.last_used < now - TOUCH_SECONDS:
            self._outbox.merge_changes("tokens", {found.id: now}, self._note_uses)
            known[hash] = replace(found, last_used=now)
        return found

    def list_tokens(self, visitor_id: str | None) -> tuple[Token, ...]:
        """Return the tokens that a visitor has made, the latest first; with None, everybody's."""
        query = select(tokens).where(_made_by(visitor_id)).order_by(tokens.c.created.desc(), tokens.c.id)
        with self._database.read() as connection:
            return tuple(map(_token, connection.execute(query)))

    def withdraw(self, id: str, visitor_id: str | None) -> None:
        """Delete a token that this visitor has made; with None, anybody's. It is refused from now on, at other servers after
        CACHE_SECONDS. Raise TokenNotFound."""
        with self._database.write() as connection:
            if not connection.execute(delete(tokens).where(tokens.c.id == id, _made_by(visitor_id))).rowcount:
                raise TokenNotFound
            connection.execute(delete(token_uses).where(token_uses.c.token_id == id))
        self._forget()

    def _known(self) -> dict[str, Token]:
        """Return all tokens by their hashes, as they were not long ago."""
        with self._reading:
            if self._by_hash is None or self._timer() - self._read_at >= CACHE_SECONDS:
                now = self._timer()
                with self._database.read() as connection:
                    self._by_hash = {row.hash: _token(row) for row in connection.execute(select(tokens))}
                self._read_at = now
            return self._by_hash

    def _forget(self) -> None:
        with self._reading:
            self._by_hash = None

    def _note_uses(self, times: Mapping[str, float]) -> None:
        with self._database.write() as connection:
            for id, at in times.items():
                is_later = or_(tokens.c.last_used.is_(None), tokens.c.last_used < at)
                connection.execute(update(tokens).where(tokens.c.id == id, is_later).values(last_used=at))


def _made_by(visitor_id: str | None) -> ColumnElement[bool]:
    return true() if visitor_id is None else tokens.c.owner == (digest(visitor_id) or "")


def _token(row: Row[tuple[object, ...]]) -> Token:
    scopes = frozenset(row.scopes.split())
    return Token(row.id, row.owner, row.name, scopes, row.created, row.expires, row.per_minute, row.last_used)
