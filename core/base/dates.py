"""Days that others write, as ISO days."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORD = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_NUMBERS = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)", re.ASCII)
_MONTH_FIRST = re.compile(rf"\b{_WORD} (\d{{1,2}}),? (\d{{4}})\b", re.IGNORECASE | re.ASCII)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}}) {_WORD},? (\d{{4}})\b", re.IGNORECASE | re.ASCII)
_AGO = re.compile(
    r"(\d{1,3}) ?(?:(分钟|minutes?|mins?)|(小时|hours?)|(天|days?)) ?(?:前|ago)", re.IGNORECASE | re.ASCII
)


def iso_day(text: object, now: datetime | None = None) -> str | None:
    """2021-01-01T00:00:00Z, 2021/1/1, 2021年1月1日, `Jan 1, 2021`, `Fri, 01 Jan 2021 …`, `3 小时前`, `2 days ago`.

    None for anything else: two weeks ago is no day.
    """
    if not isinstance(text, str):
        return None
    if ago := _AGO.search(text):
        number, minutes, hours, _ = ago.groups()
        unit = timedelta(minutes=1) if minutes else timedelta(hours=1) if hours else timedelta(days=1)
        return ((now or datetime.now()) - int(number) * unit).date().isoformat()
    if found := _NUMBERS.match(text.strip()):
        year, month, day = found.groups()
    elif found := _MONTH_FIRST.search(text):
        month, day, year = found.groups()
    elif found := _DAY_FIRST.search(text):
        day, month, year = found.groups()
    else:
        return None
    try:
        return date(int(year), _month(month), int(day)).isoformat()
    except ValueError:
        return None


def _month(text: str) -> int:
    return int(text) if text.isdecimal() else _MONTHS.index(text[:3].lower()) + 1
