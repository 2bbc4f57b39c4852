"""What readers and administrators are told about a token."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from core.serve.access import Scope
from core.store import Token


def scope_labels(names: Iterable[str]) -> str:
    """Return what a token may be used for, in the order of the scopes."""
    wanted = set(names)
    return "、".join(scope.label for scope in Scope if scope in wanted)


def token_facts(token: Token, now: datetime) -> list[str]:
    """Return how long a token is valid, its own limit and when it was used last, on the clock of `now`."""

    def on(seconds: float, form: str = "%Y-%m-%d") -> str:
        return datetime.fromtimestamp(seconds, now.tzinfo).strftime(form)

    facts = [f"{on(token.created)} 建立"]
    if token.expires is None:
        facts.append("不会过期")
    else:
        facts.append(f"{on(token.expires)} {'已过期' if token.is_expired(now.timestamp()) else '到期'}")
    facts += [f"每分钟最多 {token.per_minute:,} 次"] if token.per_minute else []
    used = token.last_used and on(token.last_used, "%Y-%m-%d %H:%M")
    return [*facts, f"最近使用 {used}" if used else "还没有用过"]
