"""Questions to the reader in the middle of a run: may this be done?

The run waits on the process-wide loop; the reader answers on any thread. Nobody is asked twice about a tool that they have
refused in the same run.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from core.answer.events import ApprovalAnswered, ApprovalAsked, ApprovalOutcome, RunEvent


class Approvals:
    """The approvals of one run."""

    def __init__(self, *, has_reader: bool = False) -> None:
        """`has_reader`: somebody follows the run who can answer."""
        self._has_reader = has_reader
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Future[bool]]] = {}
        self._refused = set[str]()
        self._turn = asyncio.Lock()

    async def ask(
        self,
        asked: ApprovalAsked,
        emit: Callable[[RunEvent], None],
        not_counted: Callable[[float], AbstractContextManager[None]],
    ) -> ApprovalOutcome:
        """Ask the reader, one question at a time, and return what came of it. `not_counted`: lets at most so many seconds
        pass that do not count as the run's."""
        async with self._turn:
            with not_counted(asked.seconds):
                outcome = await self._outcome(asked, emit)
        if outcome != "allowed":
            self._refused.add(asked.tool)
        emit(ApprovalAnswered(asked.tool, outcome, asked.call_id))
        return outcome

    async def _outcome(self, asked: ApprovalAsked, emit: Callable[[RunEvent], None]) -> ApprovalOutcome:
        if not self._has_reader:
            return "nobody"
        if asked.tool in self._refused:
            return "refused"
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bool] = loop.create_future()
        with self._lock:
            self._waiting[asked.call_id] = loop, answer
        emit(asked)
        try:
            async with asyncio.timeout(asked.seconds):
                return "allowed" if await answer else "refused"
        except TimeoutError:
            return "timeout"
        finally:
            with self._lock:
                del self._waiting[asked.call_id]

    def decide(self, call_id: str, *, is_allowed: bool) -> bool:
        """Answer a question. Return whether somebody still waits for the answer. The first answer counts."""
        with self._lock:
            loop, answer = self._waiting.get(call_id, (None, None))
            if loop is None or answer is None:
                return False
            loop.call_soon_threadsafe(lambda: None if answer.done() else answer.set_result(is_allowed))
            return True
