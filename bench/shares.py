"""Shares with their 95 % intervals."""

from __future__ import annotations

import math

from bench.rows import Row


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    z, share = 1.96, count / of
    middle, spread = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (middle - spread) / (1 + z * z / of)), min(1.0, (middle + spread) / (1 + z * z / of))


def share_row(name: str, count: int, of: int, limit: float | None = None, *, at_least: bool = False) -> Row:
    """Return a row in per cent, with the interval."""
    low, high = wilson(count, of)
    unit = f"% of {of:,} ({100 * low:.1f}–{100 * high:.1f})"
    return Row(name, 100 * count / max(1, of), unit, limit, at_least=at_least)


def share_cell(count: int, of: int) -> str:
    """Return a share and its interval for a table."""
    if not of:
        return "–"
    low, high = wilson(count, of)
    return f"{count / of:.1%} ({100 * low:.1f}–{100 * high:.1f})"
