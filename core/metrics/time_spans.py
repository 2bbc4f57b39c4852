"""Time spans that the dashboard can show, and the minutes, hours or days in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

HOUR = 3600
DAY = 24 * HOUR


class Grain(StrEnum):
    """The length of time over which metrics are summed."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"

    def start(self, timestamp: float) -> int:
        """Return the start of the minute, the hour, or the day on this machine's calendar."""
        if self is Grain.DAY:
            return int(datetime.fromtimestamp(timestamp).replace(hour=0, minute=0, second=0, microsecond=0).timestamp())
        seconds = 60 if self is Grain.MINUTE else HOUR
        return int(timestamp // seconds * seconds)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time span that the dashboard can show."""

    label: str
    grain: Grain
    count: int
    """Number of minutes, hours or days, the present one included."""

    def start(self, now: float) -> int:
        return self.edges(now)[0]

    def previous_start(self, now: float) -> int:
        """Return the start of the span before this one, of the same length."""
        return self.start(self.start(now) - 1)

    def edges(self, now: float) -> list[int]:
        """Return the start of each minute, hour or day, and at last the end of the present one."""
        present = self.grain.start(now)
        if self.grain is Grain.DAY:
            today = datetime.fromtimestamp(present)
            return [int((today + timedelta(days=day)).timestamp()) for day in range(1 - self.count, 2)]
        seconds = 60 if self.grain is Grain.MINUTE else HOUR
        return [present + n * seconds for n in range(1 - self.count, 2)]


TIME_SPANS = (
    TimeSpan("1 小时", Grain.MINUTE, 60),
    TimeSpan("24 小时", Grain.HOUR, 24),
    TimeSpan("7 天", Grain.HOUR, 7 * 24),
    TimeSpan("30 天", Grain.DAY, 30),
    TimeSpan("90 天", Grain.DAY, 90),
)
