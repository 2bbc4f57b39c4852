"""The limits of an agent's run: time, retries, unreadable outputs, repeated actions."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.exceptions import OutputParserException

from core.agent.callback_handler import AgentCallbackHandler
from core.agent.classic import RunnableMultiActionAgent
from core.agent.errors import AgentOutputError, BudgetExceeded, LoopDetected
from core.base.chinese.numerals import NUMERAL, to_int
from core.base.chinese.sentences import key_terms
from core.base.http import Deadline
from core.base.settings import LlmSettings
from core.base.text import normalize
from core.llm import log_cause, retry_attempts
from core.llm.errors import ModelDisconnected, is_retryable, to_model_error

log = logging.getLogger(__name__)

T = TypeVar("T")
Plan = AgentAction | list[AgentAction] | AgentFinish

MAX_UNREADABLE_OUTPUTS = 2
MAX_REPEATS = 2
SAME_WORDS_SHARE = 0.8
RESERVE_SHARE, MAX_RESERVE = 0.25, 30.0
CANCEL_ATTEMPTS, CANCEL_PATIENCE = 5, 0.08


def acting_deadline(run_deadline: Deadline) -> Deadline:
    """Return the deadline for acting. It ends before the whole run does, because the last answer needs time too."""
    seconds = run_deadline.remaining()
    return run_deadline.with_limit(seconds - min(seconds * RESERVE_SHARE, MAX_RESERVE))


async def run_within(work: Coroutine[Any, Any, T], current_deadline: Callable[[], Deadline]) -> T:
    """Return the result of the work, or raise TimeoutError. The deadline may change while the work goes on."""
    task = asyncio.create_task(work)
    try:
        while not task.done() and (left := current_deadline().remaining()) > 0:
            await asyncio.wait({task}, timeout=left)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        await cancel_task(task)


async def cancel_task(task: asyncio.Task[Any]) -> None:
    """Cancel a task until it is over, for a bounded time. Once is not always enough: `asyncio.wait_for` of Python 3.11
    forgets a cancellation if a result arrives at the same moment, and langchain-openai reads every chunk through it."""
    _keep_cancelling(task, CANCEL_ATTEMPTS)
    await asyncio.wait({task}, timeout=CANCEL_ATTEMPTS * CANCEL_PATIENCE)


def _keep_cancelling(task: asyncio.Task[Any], attempts: int) -> None:
    """Cancel again and again by a timer, because the caller that waits for the task may be cancelled too."""
    if task.done():
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it
    elif attempts:
        task.cancel()
        asyncio.get_running_loop().call_later(CANCEL_PATIENCE, _keep_cancelling, task, attempts - 1)
    else:
        log.error("a task of an agent run could not be cancelled")


@dataclass
class LoopGuard:
    """Counts repeated actions. The first is tolerated, as the cache answers it; the second ends the run."""

    repeats: int = 0
    _earlier_actions: list[_Signature] = field(default_factory=list)

    def check(self, actions: Sequence[AgentAction]) -> None:
        """Raise LoopDetected on too many repeats. Only earlier turns count: three cities' weather at once is no loop."""
        turn = [_signature(action) for action in actions]
        self.repeats += any(_is_repeat(now, before) for now in turn for before in self._earlier_actions)
        self._earlier_actions += turn
        if self.repeats >= MAX_REPEATS:
            raise LoopDetected


class _Signature(NamedTuple):
    tool: str
    text: str
    words: frozenset[str]
    numbers: frozenset[int]


def _signature(action: AgentAction) -> _Signature:
    given = action.tool_input
    values = [given] if isinstance(given, str) else [str(value) for value in given.values() if value is not None]
    text = normalize(" ".join(values))
    return _Signature(action.tool, text, frozenset(key_terms(_NUMBER.sub(" ", text))), frozenset(_numbers_in(text)))


_NUMBER = re.compile(rf"第\s*({NUMERAL})\s*条?|({NUMERAL})\s*[条款项号年月]|\d+")


def _numbers_in(text: str) -> Iterator[int]:
    """Yield the numbers in a text. Queries that differ in a number are different; 第38条 equals 第三十八条."""
    for found in _NUMBER.finditer(text):
        with suppress(ValueError):
            yield to_int(found[1] or found[2] or found[0])


def _is_repeat(action: _Signature, earlier: _Signature) -> bool:
    """Return whether both have nearly the same words, in any order, and the same numbers: never 2023 and 2024."""
    if (action.tool, action.numbers) != (earlier.tool, earlier.numbers):
        return False
    common, either = action.words & earlier.words, action.words | earlier.words
    return action.text == earlier.text or len(common) > SAME_WORDS_SHARE * len(either)


class ModelGuard:
    """Asks the model for the agent, with retries, timeouts and checks of the output."""

    def __init__(
        self,
        handler: AgentCallbackHandler,
        limits: LlmSettings,
        *,
        reports_end: bool,
        count_call: Callable[[], Awaitable[None]],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.handler = handler
        self._limits = limits
        self._reports_end = reports_end
        self._count_call = count_call
        self._sleep = sleep
        self._loop_guard = LoopGuard()
        self._unreadable_outputs = 0

    async def ask_model(self, plan: Callable[[], Awaitable[Plan]]) -> Plan:
        """Ask for the next step. Raises AgentOutputError on repeated unreadable outputs, LoopDetected on a loop."""
        try:
            planned = await self._ask_with_retries(plan)
        except OutputParserException:
            self._unreadable_outputs += 1
            if self._unreadable_outputs >= MAX_UNREADABLE_OUTPUTS:
                raise AgentOutputError from None
            raise  # AgentExecutor tells the model
        if isinstance(planned, AgentAction):
            planned = [planned]
        if isinstance(planned, list):
            self._loop_guard.check(planned)
        return planned

    async def _ask_with_retries(self, plan: Callable[[], Awaitable[Plan]]) -> Plan:
        def silent_so_far(error: BaseException) -> bool:
            return is_retryable(error) and not self.handler.has_output

        count, sleep = self._count_call, self._sleep
        async for attempt in retry_attempts(self._limits, count_call=count, should_retry=silent_so_far, sleep=sleep):
            with attempt:
                return await self._ask_once(plan)
        raise AssertionError("tenacity ends by returning or raising")

    async def _ask_once(self, plan: Callable[[], Awaitable[Plan]]) -> Plan:
        """Ask once, with a timeout for the first token and for each next one: the HTTP client's timeouts are per read."""
        now = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(self._limits.first_token_timeout) as patience:
                self.handler.on_token = lambda: _extend_timeout(patience, now() + self._limits.idle_timeout)
                planned = await plan()
        except OutputParserException:
            self._refuse_incomplete()
            raise
        except Exception as error:
            raise log_cause(to_model_error(error, mid_stream=self.handler.has_output), error) from None
        self._refuse_incomplete()
        return planned

    def _refuse_incomplete(self) -> None:
        turn = self.handler.turn
        if self._reports_end and turn is not None and not turn.finished:
            raise ModelDisconnected  # a dropped connection without a length looks like an ordinary end


def _extend_timeout(patience: asyncio.Timeout, until: float) -> None:
    if abs(until - (patience.when() or 0.0)) > 0.5:  # not a new timer for every token
        with suppress(RuntimeError):  # it has expired at this moment
            patience.reschedule(until)


class GuardedAgent(RunnableMultiActionAgent):
    """LangChain's agent, which asks its model through the guard."""

    guard: Any
    stream_runnable: bool = False  # the callback handler sees to the streaming

    async def aplan(self, intermediate_steps: Any, callbacks: Any = None, **kwargs: Any) -> Any:
        plan = super().aplan
        return await self.guard.ask_model(lambda: plan(intermediate_steps, callbacks, **kwargs))

    def return_stopped_response(self, *args: Any, **kwargs: Any) -> AgentFinish:
        """Raise BudgetExceeded. AgentExecutor would answer with a fixed English sentence; "generate" fails here."""
        raise BudgetExceeded
