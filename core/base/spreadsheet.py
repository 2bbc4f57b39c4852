"""Table rows as a CSV file for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any


def to_csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return CSV with the byte order mark that Excel needs for UTF-8. Text that looks like a formula stays text."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(columns)
    writer.writerows([_escape_formula(cell) for cell in row] for row in rows)
    return "\ufeff" + file.getvalue()


def _escape_formula(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
