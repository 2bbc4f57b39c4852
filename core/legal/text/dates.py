"""When a version of a law was adopted and when it came into force, read from what the text itself says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from core.base.chinese.calendar import dates_in

_COMES_INTO_FORCE = re.compile(r"\s*(?:零时|0时)?\s*起\s*(?:开始)?(?:施行|实施|生效|执行)")
_FROM_ANNOUNCEMENT = re.compile(r"自(?:公布|发布|颁布|公告|印发)之日起\s*(?:施行|实施|生效|执行)")
_QUOTED = re.compile(r"[《〈<].*?[》〉>]")
_AMENDS = re.compile(r"修正|修订|修改")
_LAST_ARTICLES = 3
_ANNOUNCED_WITHIN = timedelta(days=60)
"""Largest distance between two dates of one version. Sources give the day of the session or of publication."""


def are_close(day: str, other: str) -> bool:
    """Return whether two days may be those of one version, its session and its announcement."""
    return abs(date.fromisoformat(day) - date.fromisoformat(other)) <= _ANNOUNCED_WITHIN


def days_in(line: str) -> list[str]:
    return [one.iso for one in dates_in(line) if one.iso]


def adopted(head: Sequence[str]) -> str | None:
    """Return the day of the last event above the text that is not a coming into force."""
    return max((day for line in head if not _tells_force(line) for day in days_in(_QUOTED.sub("", line))), default=None)


def history(head: Sequence[str]) -> tuple[str, ...]:
    """Return the day on which a law was first made and the days of its amendments, as far as its head says."""
    events = [(line, day) for line in head for day in days_in(_QUOTED.sub("", line)) if not _tells_force(line)]
    amended = {day for line, day in events if _AMENDS.search(line)}
    first = min((day for _, day in events), default=None)
    return tuple(sorted(amended | {first})) if first else ()


def in_force(
    head: Sequence[str], articles: Sequence[str], published: str | None, recorded: str | None = None
) -> str | None:
    """Return the day of coming into force, or None. After an amendment (修正) the last article still names the day of
    the first version, so a day before the publication of this version does not count."""
    earliest = published or ""
    stated = [day for line in head if _tells_force(line) for day in days_in(line)[:1]]
    if stated and stated[-1] >= earliest:
        return stated[-1]
    closing = " ".join(articles[-_LAST_ARTICLES:])
    named = stated_force(closing)
    if named and named >= earliest:
        return named
    events = [line for line in head if days_in(line) and not _tells_force(line)]
    amended = bool(events) and bool(re.search("修正|修改", events[-1]))
    if published and not named and not amended and _FROM_ANNOUNCEMENT.search(closing):
        return published
    return recorded


def stated_force(text: str) -> str | None:
    """Return the day of the last 自…起施行 of a text."""
    named = [
        one.iso
        for one in dates_in(text)
        if one.iso and text[: one.start].rstrip().endswith("自") and _COMES_INTO_FORCE.match(text, one.end)
    ]
    return named[-1] if named else None


def _tells_force(line: str) -> bool:
    return re.search(r"(?:施行|实施|生效)\s*$", line) is not None
