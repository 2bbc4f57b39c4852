"""依据核验 of an answer, against the texts of its sources as they were read."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from core.answer.check_results import CHECKER_VERSION, AnswerCheck, InventedCitation, SourceText
from core.answer.check_texts import TextsByNumber as TextsByNumber
from core.answer.check_texts import drop_marks, lost_sources, with_digests, with_places, withdraw
from core.answer.check_texts import source_texts as source_texts
from core.answer.events import Answer, Checked, RunEvent, TextDelta, ToolStarted
from core.answer.message import Message
from core.base.logs import with_log_ids
from core.checks import CheckMemory, MeaningComparison, check_answer
from core.run.run_sources import RunSources
from core.search.types import Source

log = logging.getLogger(__name__)

RECHECK_WAIT_SECONDS = 0.3
"""Seconds that a page waits for a repeated check. Meanwhile no mark is shown."""
MAX_CACHED_CHECKS = 256
LONG_ANSWER, LONG_SOURCES = 20_000, 1_000_000
"""Characters from which a check may take a second or more. Nobody else waits for it."""
FIRST_LENGTH, GROWTH = 500, 1.5
"""Characters after which an unfinished answer is first checked, and how many times as long it is each next time."""

Result = AnswerCheck | None
Invented = tuple[InventedCitation, ...]


def check_text(
    text: str,
    sources: Sequence[Source],
    texts: TextsByNumber,
    meaning: MeaningComparison | None = None,
    *,
    invented: Invented = (),
) -> AnswerCheck | None:
    """Return the check of a text. None without sources and citations, or if the check failed: no answer may break because
    of it."""
    return _check(text, source_texts(sources, texts), None, meaning, invented) if sources or invented else None


def _check(
    text: str,
    texts: Sequence[SourceText],
    memory: CheckMemory | None,
    meaning: MeaningComparison | None,
    invented: Invented = (),
) -> AnswerCheck | None:
    try:
        found = check_answer(text, texts, memory, meaning, invented=invented)
        return with_places(with_digests(found, texts), texts)
    except Exception:
        log.exception("an answer could not be checked against its sources")
        return None


def merge_sources(cited_sources: Sequence[Source], found_sources: Sequence[Source]) -> Sequence[Source]:
    """Return all sources, cited or not. Uncited ones show that a sentence could have had a source."""
    return tuple({source.number: source for source in (*found_sources, *cited_sources)}.values())


class AnswerChecks:
    """The checks of a process, one after the other: answers that end together would all wait for the last of them.
    Long answers, and stored ones whose check is repeated, have a queue of their own."""

    def __init__(self, meaning: MeaningComparison | None = None, *, patience: float = RECHECK_WAIT_SECONDS) -> None:
        self.meaning = meaning
        """The comparison in meaning, where a model for it is configured."""
        self._patience = patience
        self._turns = ThreadPoolExecutor(1, thread_name_prefix="wenyuan-checks")
        self._slow_turns = ThreadPoolExecutor(1, thread_name_prefix="wenyuan-slow-checks")
        self._lock = threading.Lock()
        self._repeated: dict[tuple[str, str], Future[Result]] = {}

    def warm_up(self) -> None:
        """Load the model of the comparison in meaning, if there is one, in the background."""
        if self.meaning:
            threading.Thread(target=self.meaning.warm_up, name="wenyuan-embedder", daemon=True).start()

    def begin(self, run_sources: RunSources) -> GrowingCheck:
        """Return the check of an answer that is about to be written."""
        return GrowingCheck(run_sources, self._turns, self._slow_turns, self.meaning)

    def check_for(
        self, message: Message, load_texts: Callable[[], TextsByNumber], *, patience: float | None = None
    ) -> AnswerCheck | None:
        """Return the check of a message that is shown later: its own, or a new one if it has none of this checker."""
        own = message.check
        if own is not None and own.version == CHECKER_VERSION:
            return own
        waiting = withdraw(own) if own else None
        if not (message.sources or message.invented):
            return waiting
        try:
            return self._repeat(message, load_texts).result(self._patience if patience is None else patience) or waiting
        except TimeoutError:
            return waiting

    def is_repeated(self, message: Message) -> bool:
        """Return whether the check of this message has been made again, and can be shown."""
        with self._lock:
            started = self._repeated.get((message.id, message.text))
        return started is not None and _is_usable(started)

    def _repeat(self, message: Message, load_texts: Callable[[], TextsByNumber]) -> Future[Result]:
        """Start the check, unless it was started before and may still succeed."""
        key = message.id, message.text
        with self._lock:
            started = self._repeated.pop(key, None)
            if started is None or (started.done() and not _is_usable(started)):
                started = self._slow_turns.submit(lambda: _check_again(message, load_texts, self.meaning))
            self._repeated[key] = started
            while len(self._repeated) > MAX_CACHED_CHECKS:
                self._repeated.pop(next(iter(self._repeated))).cancel()
            return started

    def close(self) -> None:
        for queue in (self._turns, self._slow_turns):
            queue.shutdown(wait=False, cancel_futures=True)


class GrowingCheck:
    """The check of an answer that is being written. It is begun before the end: answers that end together would otherwise
    all be checked at that moment."""

    def __init__(
        self,
        run_sources: RunSources,
        turns: ThreadPoolExecutor,
        slow_turns: ThreadPoolExecutor,
        meaning: MeaningComparison | None = None,
    ) -> None:
        self._run_sources = run_sources
        self._turns, self._slow_turns = turns, slow_turns
        self._meaning = meaning
        self._written = ""
        self._next_length = FIRST_LENGTH
        self._ahead: Future[Result] | None = None
        self._memory, self._compared = CheckMemory(), list[SourceText]()

    def record_event(self, event: RunEvent) -> None:
        """Check what has been written so far, whenever it has become half as long again."""
        if isinstance(event, ToolStarted):
            self._written = ""
        elif isinstance(event, TextDelta):
            self._written += event.text
            if len(self._written) >= self._next_length and (self._ahead is None or self._ahead.done()):
                self._next_length = int(len(self._written) * GROWTH)
                self._ahead = self._submit(self._slow_turns, self._written, self._run_sources.sources)

    async def finish(self, answer: Answer) -> Checked | None:
        """Check the complete answer in its turn. Other answers are being written meanwhile."""
        if self._ahead is not None and not self._ahead.cancel():
            await asyncio.wrap_future(self._ahead)
        sources = merge_sources(answer.sources, self._run_sources.sources)
        if not (sources or answer.invented):
            return None
        is_long = len(answer.text) > LONG_ANSWER or sum(len(one.text) for one in self._texts(sources)) > LONG_SOURCES
        queue = self._slow_turns if is_long else self._turns
        found = await asyncio.wrap_future(self._submit(queue, answer.text, sources, answer.invented))
        return Checked(found) if found is not None else None

    def _submit(
        self, queue: ThreadPoolExecutor, text: str, sources: Sequence[Source], invented: Invented = ()
    ) -> Future[Result]:
        texts = self._texts(sources)
        if texts != self._compared:  # a page was read meanwhile
            self._memory, self._compared = CheckMemory(), texts
        memory = self._memory
        return queue.submit(with_log_ids(lambda: _check(text, texts, memory, self._meaning, invented)))

    def _texts(self, sources: Sequence[Source]) -> list[SourceText]:
        return source_texts(sources, dict(self._run_sources.pages))


def _is_usable(check: Future[Result]) -> bool:
    return check.done() and not check.cancelled() and check.result() is not None


def _check_again(
    message: Message, load_texts: Callable[[], TextsByNumber], meaning: MeaningComparison | None
) -> Result:
    try:
        texts = load_texts()
    except Exception:
        log.warning("what was read for an answer could not be loaded for its check", exc_info=True)
        return None
    found = check_text(message.text, message.sources, texts, meaning, invented=message.invented)
    return drop_marks(found, lost_sources(message.sources, texts)) if found else None
