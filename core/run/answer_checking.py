"""依据核对 of an answer, against the texts of its sources as they were read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from core.answer.check_results import CHECKER_VERSION, AnswerCheck, SourceText
from core.answer.events import Answer, Checked
from core.answer.message import Message
from core.base.threads import run_in_thread
from core.base.web_addresses import host_of
from core.checks import check_answer
from core.run.run_sources import RunSources
from core.search.types import Source

log = logging.getLogger(__name__)

RECHECK_WAIT_SECONDS = 0.3
"""Seconds that a page waits for a repeated check. A later result is shown at the next rerun."""
MAX_CACHED_CHECKS = 256


class HasText(Protocol):
    """A page as it was read, or as it was stored."""

    @property
    def text(self) -> str: ...


TextsByNumber = Mapping[int, HasText]
"""The texts of sources, by the number of the source."""


def check_text(text: str, sources: Sequence[Source], texts: TextsByNumber) -> AnswerCheck | None:
    """Return the check of a text. None without sources, or if the check failed: no answer may break because of it."""
    if not sources:
        return None
    try:
        return check_answer(text, source_texts(sources, texts))
    except Exception:
        log.exception("an answer could not be checked against its sources")
        return None


def source_texts(sources: Sequence[Source], texts: TextsByNumber) -> list[SourceText]:
    return [_source_text(source, texts.get(source.number)) for source in sources]


def _source_text(source: Source, page: HasText | None) -> SourceText:
    if page is None:
        named = source.title != host_of(source.url)  # a title that is only the host name says nothing about the page
        words = f"{source.title}\n{source.snippet}" if named else source.snippet
        return SourceText(source.number, words, is_full=False, published=source.published)
    is_full = not getattr(page, "is_cut", False)
    return SourceText(source.number, page.text, is_full=is_full, published=source.published)


async def check_run_answer(answer: Answer, run_sources: RunSources) -> Checked | None:
    """Check a complete answer in a thread, because other answers are being written meanwhile."""
    sources, texts = merge_sources(answer.sources, run_sources.sources), dict(run_sources.pages)
    found = await run_in_thread(lambda: check_text(answer.text, sources, texts), name="wenyuan-checks")
    return Checked(found) if found is not None else None


def merge_sources(cited_sources: Sequence[Source], found_sources: Sequence[Source]) -> Sequence[Source]:
    """Return all sources, cited or not. Uncited ones show that a sentence could have had a source."""
    return tuple({source.number: source for source in (*found_sources, *cited_sources)}.values())


class AnswerChecks:
    """Checks for answers that are shown later: the stored check, or a new one if the checker's version has changed."""

    def __init__(self, *, patience: float = RECHECK_WAIT_SECONDS) -> None:
        self._patience = patience
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="wenyuan-checks")
        self._repeat = lru_cache(maxsize=MAX_CACHED_CHECKS)(self._start_check)

    def check_for(self, message: Message, load_texts: Callable[[], TextsByNumber]) -> AnswerCheck | None:
        stored = message.check
        if (stored is not None and stored.version == CHECKER_VERSION) or not message.sources:
            return stored
        try:
            return self._repeat(_RepeatedCheck(message.id, message.text, message, load_texts)).result(self._patience)
        except TimeoutError:
            return stored

    def _start_check(self, repeated_check: _RepeatedCheck) -> Future[AnswerCheck | None]:
        return self._worker.submit(repeated_check.check)

    def close(self) -> None:
        self._worker.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class _RepeatedCheck:
    """A check to be made again. Two of the same answer are equal."""

    id: str
    text: str
    message: Message = field(compare=False)
    load_texts: Callable[[], TextsByNumber] = field(compare=False)

    def check(self) -> AnswerCheck | None:
        try:
            texts = self.load_texts()
        except Exception:
            log.warning("what was read for an answer could not be loaded for its check", exc_info=True)
            return self.message.check
        return check_text(self.text, self.message.sources, texts)
