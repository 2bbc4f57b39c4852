"""Calls of tools, as the threads see them that work on them: with a deadline that ends with the request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext

from core.base.http import Cancelled, Deadline
from core.serve.access import Caller

if TYPE_CHECKING:
    from core.app import App


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, as the thread sees it that works on it."""

    app: App
    caller: Caller
    deadline: Deadline
    """Cancelled when the client cancels the call, or has gone."""
    report: Callable[[str], None]
    """Tells the client the stage of the work, if it wants to know."""


def stage_reporter(context: ServerRequestContext[Any, Any], deadline: Deadline) -> Callable[[str], None]:
    """Return a function that sends the stages of a call as progress, from its thread, if the client gave a token for it.
    It raises Cancelled once the deadline is cancelled: nobody waits for the rest."""
    wants_progress = "progress_token" in (context.meta or {})
    loop, count = asyncio.get_running_loop(), 0

    def report(stage: str) -> None:
        nonlocal count
        if deadline.cancelled:
            raise Cancelled
        if wants_progress:
            count += 1
            sending = context.session.report_progress(count, message=stage)
            asyncio.run_coroutine_threadsafe(sending, loop).result()

    return report
