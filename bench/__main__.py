"""`make bench` measures everything; `make bench ARGS=page` one part. The table goes to docs/benchmarks.md."""

from __future__ import annotations

import platform
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
}
REPORT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
INTRODUCTION = """# Benchmarks

Written by `make bench`: figures of one run, each beside its limit and, where there is one, a peer measured in the same
run. Times on a shared machine vary; ratios and bytes do not.
"""


def main(wanted: list[str]) -> int:
    sections, missed = [], 0
    for part, title in PARTS.items():
        if wanted and part not in wanted:
            continue
        rows: list[Row] = []
        for row in import_module(f"bench.{part}").rows():
            print(" · ".join(filter(None, row.cells())), flush=True)
            rows.append(row)
        missed += sum(not row.ok for row in rows)
        sections.append(f"## {title}\n\n{table(rows)}\n")
    if not wanted:
        machine = f"{date.today()}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
        REPORT.write_text("\n".join([INTRODUCTION, f"Last run: {machine}.\n", *sections]), "utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
