"""依据核对 of an answer, against the texts of its sources as they were read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Protocol

from core.answer.checked import VERSION, AnswerCheck, SourceText
from core.answer.events import Answer, Checked
from core.answer.message import Message
from core.base.threads import in_a_thread
from core.base.web_addresses import host_of
from core.checks import check_answer
from core.run.evidence import Evidence
from core.search.types import Source

log = logging.getLogger(__name__)

PATIENCE = 0.3
"""Seconds that a page waits for a repeated check. A later result is shown at the next rerun."""
CHECKS_KEPT = 256


class Text(Protocol):
    """A page as it was read, or as it was stored."""

    @property
    def text(self) -> str: ...


Texts = Mapping[int, Text]
"""The texts of sources, by the number of the source."""


def check(text: str, sources: Sequence[Source], texts: Texts) -> AnswerCheck | None:
    """Return the check of a text. None if there are no sources, or if the check failed: no answer may break because of
    it."""
    if not sources:
        return None
    try:
        return check_answer(text, source_texts(sources, texts))
    except Exception:
        log.exception("an answer could not be checked against its sources")
        return None


def source_texts(sources: Sequence[Source], texts: Texts) -> list[SourceText]:
    return [_source_text(source, texts.get(source.number)) for source in sources]


def _source_text(source: Source, page: Text | None) -> SourceText:
    if page is None:
        named = source.title != host_of(source.url)  # a title that is only the host name says nothing about the page
        words = f"{source.title}\n{source.snippet}" if named else source.snippet
        return SourceText(source.number, words, is_full=False, published=source.published)
    is_full = not getattr(page, "is_cut", False)
    return SourceText(source.number, page.text, is_full=is_full, published=source.published)


async def checked(answer: Answer, evidence: Evidence) -> Checked | None:
    """Check a complete answer in a thread, because other answers are being written meanwhile."""
    sources, texts = known(answer.sources, evidence.sources), dict(evidence.pages)
    found = await in_a_thread(lambda: check(answer.text, sources, texts), name="wenyuan-checks")
    return Checked(found) if found is not None else None


def known(cited: Sequence[Source], found: Sequence[Source]) -> Sequence[Source]:
    """Return all sources, cited or not. Uncited ones show that a sentence could have had a source."""
    return tuple({source.number: source for source in (*found, *cited)}.values())


class Checks:
    """Checks for answers that are shown later: the stored check, or a new one if the checker's version has changed."""

    def __init__(self, *, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="wenyuan-checks")
        self._again = lru_cache(maxsize=CHECKS_KEPT)(self._begin)

    def of(self, message: Message, load: Callable[[], Texts]) -> AnswerCheck | None:
        made = message.check
        if (made is not None and made.version == VERSION) or not message.found:
            return made
        try:
            return self._again(_Repeated(message, load)).result(self._patience)
        except TimeoutError:
            return made

    def _begin(self, wanted: _Repeated) -> Future[AnswerCheck | None]:
        return self._worker.submit(wanted.check)

    def close(self) -> None:
        self._worker.shutdown(wait=False, cancel_futures=True)


class _Repeated:
    """A check to be made again. Two of the same answer are equal."""

    def __init__(self, message: Message, load: Callable[[], Texts]) -> None:
        self._message = message
        self._load = load
        self._key = (message.id, message.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Repeated) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def check(self) -> AnswerCheck | None:
        try:
            texts = self._load()
        except Exception:
            log.warning("what was read for an answer could not be loaded for its check", exc_info=True)
            return self._message.check
        return check(self._message.text, self._message.found, texts)
