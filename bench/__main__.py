"""`make bench` measures everything; `make bench ARGS=page` one part. The table goes to docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import re
import sys
from datetime import date
from importlib import import_module
from pathlib import Path

from bench.rows import Row, table

PARTS = {
    "page": "The page",
    "chat": "Chat mode",
    "search": "Search",
    "agent": "Agent mode",
    "google": "Google through Chrome",
    "legal": "Legal search",
    "dashboard": "Dashboard and recording",
}
REPORT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
INTRODUCTION = """# Benchmarks

Written by `make bench`: figures of one run, each beside its limit and, where there is one, a peer measured in the same
run. Times on a shared machine vary; ratios and bytes do not.
"""


def main(wanted: list[str]) -> int:
    missed = 0
    for part in wanted or PARTS:
        rows: list[Row] = []
        module = import_module(f"bench.{part}")
        for row in module.rows():
            print(" · ".join(filter(None, row.cells())), flush=True)
            rows.append(row)
        missed += sum(not row.ok for row in rows)
        _report(part, rows, getattr(module, "NOTE", ""))
    return 1 if missed else 0


def _report(part: str, rows: list[Row], note: str) -> None:
    """Replaces this part's section and leaves the others as their own last run wrote them."""
    old = REPORT.read_text("utf-8") if REPORT.exists() else ""
    sections = dict(re.findall(r"^## (.+?)\n\n(.*?)(?=^## |\Z)", old, re.MULTILINE | re.DOTALL))
    machine = f"{date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}"
    sections[PARTS[part]] = f"Measured {machine}.\n\n{table(rows)}\n\n{note}"
    text = "".join(f"\n## {title}\n\n{sections[title].strip()}\n" for title in PARTS.values() if title in sections)
    REPORT.write_text(INTRODUCTION + text, "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
