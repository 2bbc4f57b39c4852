"""One-year loan prime rate (一年期贷款市场报价利率) as it was published, up to the last change that this table knows."""

from __future__ import annotations

from datetime import date

_PUBLISHED = (
    (date(2019, 8, 20), 4.25),
    (date(2019, 9, 20), 4.20),
    (date(2019, 11, 20), 4.15),
    (date(2020, 2, 20), 4.05),
    (date(2020, 4, 20), 3.85),
    (date(2021, 12, 20), 3.80),
    (date(2022, 1, 20), 3.70),
    (date(2022, 8, 22), 3.65),
    (date(2023, 6, 20), 3.55),
    (date(2023, 8, 21), 3.45),
    (date(2024, 7, 22), 3.35),
    (date(2024, 10, 21), 3.10),
    (date(2025, 5, 20), 3.00),
)
"""Days on which the rate changed, with the new rate in per cent."""
KNOWN_UNTIL = date(2025, 6, 19)
"""Last day for which the table is known to be complete. The rate is published on the 20th of each month."""
HIGHEST = max(rate for _, rate in _PUBLISHED)


def rate_on(day: date) -> tuple[date, float] | None:
    """Return when the rate of a day was published, and the rate; None before the first. After `KNOWN_UNTIL` it is only
    the last one known."""
    return next(((since, rate) for since, rate in reversed(_PUBLISHED) if since <= day), None)
