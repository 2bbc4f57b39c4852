from __future__ import annotations

from datetime import datetime

import pytest

from core.base.dates import iso_day

NOW = datetime(2026, 3, 1, 1, 30)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2026-07-22T00:00:00.000Z", "2026-07-22"),
        ("2026-02-23T08:18:30+08:00", "2026-02-23"),
        (" 2021/1/1", "2021-01-01"),
        ("2021年12月31日 08:00", "2021-12-31"),
        ("Mar 15, 2024", "2024-03-15"),
        ("September 1, 2025 — 某报", "2025-09-01"),
        ("Mon, 02 Nov 2026 08:00:00 GMT", "2026-11-02"),
        ("3 小时前", "2026-02-28"),
        ("30分钟前", "2026-03-01"),
        ("2 days ago", "2026-02-27"),
        ("2 weeks ago", None),
        ("2026-02-31", None),
        ("20260231", None),
        ("2026-01-011", None),
        ("", None),
        ("昨天", None),
        (None, None),
        (20260101, None),
    ],
)
def test_a_day_that_others_write(said: object, day: str | None) -> None:
    assert iso_day(said, NOW) == day
