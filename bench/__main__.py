"""`make bench` measures everything; `make bench ARGS=page` one part. The table goes to docs/benchmarks.md.

Each line ends with the change since the last run on this machine. The exit code is 1 if a row is worse than its limit.
"""

from __future__ import annotations

import sys
from importlib import import_module

from bench.report import change, write_section
from bench.rows import Row, table

PARTS = {
    "page": "The page",
    "chat": "Chat mode",
    "stream": "The model's stream",
    "search": "Search",
    "reading": "Reading pages",
    "agent": "Agent mode",
    "google": "Google through Chrome",
    "legal": "Legal search",
    "meaning": "Legal search by meaning",
    "statutes": "Checking statutes",
    "checks": "Checks",
    "dashboard": "Dashboard and recording",
}


def main(wanted: list[str]) -> int:
    missed = 0
    for part in wanted or PARTS:
        rows: list[Row] = []
        module = import_module(f"bench.{part}")
        for row in module.rows():
            print(" · ".join(filter(None, [*row.cells(), change(row)])), flush=True)
            rows.append(row)
        if not rows:
            print(f"{part} · skipped, it needs {getattr(module, 'NEEDS', '../shared')}", flush=True)
            continue
        missed += sum(not row.ok for row in rows)
        write_section(PARTS[part], f"{table(rows)}\n\n{getattr(module, 'NOTE', '')}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
