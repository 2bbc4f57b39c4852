"""Stretches of time: those that figures are summed up over, and those that the dashboard looks back on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

HOUR = 3600
DAY = 24 * HOUR


class Grain(StrEnum):
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"

    def start(self, at: float) -> int:
        """When the minute, the hour, or the day on this machine's calendar began."""
        if self is Grain.DAY:
            return int(datetime.fromtimestamp(at).replace(hour=0, minute=0, second=0, microsecond=0).timestamp())
        seconds = 60 if self is Grain.MINUTE else HOUR
        return int(at // seconds * seconds)

    def kept_since(self, now: float, keep_days: int) -> float:
        """The finer ones are for looking at what happened just now."""
        return now - {Grain.MINUTE: 2 * HOUR, Grain.HOUR: 8 * DAY, Grain.DAY: keep_days * DAY}[self]


@dataclass(frozen=True, slots=True)
class Span:
    label: str
    grain: Grain
    count: int

    def since(self, now: float) -> int:
        """So that there are `count` minutes, hours or days, the present one included."""
        if self.grain is Grain.DAY:
            today = datetime.fromtimestamp(self.grain.start(now))
            return int((today - timedelta(days=self.count - 1)).timestamp())
        seconds = 60 if self.grain is Grain.MINUTE else HOUR
        return self.grain.start(now) - (self.count - 1) * seconds

    def starts(self, now: float) -> list[int]:
        """Of every minute, hour or day in it."""
        if self.grain is Grain.DAY:
            first = datetime.fromtimestamp(self.since(now))
            return [int((first + timedelta(days=n)).timestamp()) for n in range(self.count)]
        seconds = 60 if self.grain is Grain.MINUTE else HOUR
        return [self.since(now) + n * seconds for n in range(self.count)]


SPANS = (
    Span("1 小时", Grain.MINUTE, 60),
    Span("24 小时", Grain.HOUR, 24),
    Span("7 天", Grain.HOUR, 7 * 24),
    Span("30 天", Grain.DAY, 30),
    Span("90 天", Grain.DAY, 90),
)
