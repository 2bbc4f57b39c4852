"""What a result rests on: the law library and its date, and what was not looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.app import App


def law_coverage(app: App, *not_checked: str) -> dict[str, Any]:
    """Return the size and date of the law library, and sentences on what was not checked."""
    index = app.legal.library.index()
    counts = index.counts() if index else {}
    missing = ["没有法规库：法条没有查，也没有核验。"] if index is None else []
    missing += ["没有案例库：案号只核对写法，不知道案件是否存在。"] if index and not counts["cases"] else []
    return {
        "library": app.legal.library_summary,
        "newestLaw": index.newest() if index else None,
        "laws": counts.get("laws", 0),
        "cases": counts.get("cases", 0),
        "notChecked": [*missing, *filter(None, not_checked)],
    }
