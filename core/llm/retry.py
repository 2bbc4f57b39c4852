"""The retries of model calls, the same for both modes."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from core.base.settings import LlmSettings
from core.llm.errors import ModelError

log = logging.getLogger(__name__)


def retry_attempts(
    limits: LlmSettings,
    *,
    count_call: Callable[[], Awaitable[None]],
    should_retry: Callable[[BaseException], bool],
    sleep: Callable[[float], Awaitable[None]],
) -> AsyncRetrying:
    """Return tenacity's attempts for the settings. `count_call` is awaited before each attempt and may refuse it."""

    async def count_attempt(_: RetryCallState) -> None:
        await count_call()

    return AsyncRetrying(
        before=count_attempt,
        stop=stop_after_attempt(limits.attempts),
        wait=wait_exponential_jitter(multiplier=0.5, max=8),
        retry=retry_if_exception(should_retry),
        sleep=sleep,
        retry_error_callback=_raise_last_error,
    )


def _raise_last_error(state: RetryCallState) -> None:
    """Raise the error of the last attempt, which says so if there were others before it."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, ModelError) and state.attempt_number > 1:
        raise error.after_retries()
    if error is not None:
        raise error


def log_cause(error: ModelError, cause: BaseException) -> ModelError:
    """Log the client's own error text, which readers never see, and return the ModelError."""
    if error is not cause:
        log.warning("model: %s (%s: %s)", error.kind, type(cause).__name__, cause)
    return error
