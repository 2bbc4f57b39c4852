"""Values that were recognized in a picture and may be wrong: no verdict stands on them, for or against a statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from core.answer.check_results import SourceCheck, SourceText, Verdict

MAX_SHOWN = 3
_DECIDED = frozenset({Verdict.SUPPORTED, Verdict.CONTRADICTED})


def leave_uncertain(check: SourceCheck, sources: Iterable[SourceText]) -> SourceCheck:
    """Return a check that rests on uncertain values as 未核: a ✓ on those among the words that say the statement, another
    verdict on those anywhere in the passages. Others remain as they are."""
    if check.verdict not in _DECIDED:
        return check
    found = dict.fromkeys(value for source in sources if source.uncertain for value in _values(check, source))
    if not found:
        return check
    shown = "、".join(f"「{value}」" for value in list(found)[:MAX_SHOWN])
    reason = f"原文是从图像识别的，{shown}不确定，请看原页。"
    return replace(check, verdict=Verdict.UNCHECKED, reason=reason, differences=(), alignment=())


def _values(check: SourceCheck, source: SourceText) -> Iterator[str]:
    """Yield the uncertain values on which a check rests."""
    evidence = [(one.start, one.end) for one in check.evidence if one.source == source.number]
    words = [(one.found_start, one.found_end) for one in check.alignment]
    for first, last in source.uncertain:
        is_shown = _touches(first, last, evidence)
        if is_shown and (check.verdict is not Verdict.SUPPORTED or not words or _touches(first, last, words)):
            yield source.text[first:last]


def _touches(first: int, last: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(first < end and start < last for start, end in spans)
