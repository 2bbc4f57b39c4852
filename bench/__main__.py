"""`make bench` measures everything; `make bench ARGS=page` one part. The table goes to docs/benchmarks.md.
`python -m bench judge --model NAME` measures a model as the judge of citations (`bench/judge.py`).

Each line ends with the change since the last run on this machine. At the end stand the rows that are worse than their limits, for
which the exit code is 1, and those that got much worse since the last run: on a shared machine that may be the machine.
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
    "openai_protocol": "The OpenAI protocol",
    "readers": "One process, many readers",
    "search": "Search",
    "reading": "Reading pages",
    "documents": "The document library",
    "documents_postgres": "The document library in PostgreSQL",
    "own_files": "Files of one's own in the prompt",
    "recognition": "Text of scans",
    "agent": "Agent mode",
    "google": "Google through Chrome",
    "legal": "Legal search",
    "meaning": "Legal search by meaning",
    "statutes": "Checking statutes",
    "mcp": "MCP",
    "commands": "The command line",
    "checks": "Checks",
    "dashboard": "Dashboard and recording",
    "conversations": "Conversations",
}


WORSE = 0.25
"""The share by which a row may differ from its last run unremarked. Processor time of the same code differs by a tenth."""


def main(wanted: list[str]) -> int:
    if wanted[:1] == ["judge"]:  # needs a model, which is named by options
        return int(import_module("bench.judge").main(wanted[1:]))
    missed: list[str] = []
    worse: list[str] = []
    for part in wanted or PARTS:
        rows: list[Row] = []
        module = import_module(f"bench.{part}")
        for row in module.rows():
            changed = change(row)
            line = " · ".join(filter(None, [*row.cells(), f"{changed:+.0%}" if changed else ""]))
            print(line, flush=True)
            rows.append(row)
            if not row.ok:
                missed.append(line)
            elif (-changed if row.at_least else changed) > WORSE:
                worse.append(line)
        if not rows:
            print(f"{part} · skipped, it needs {getattr(module, 'NEEDS', '../shared')}", flush=True)
            continue
        write_section(PARTS[part], f"{table(rows)}\n\n{getattr(module, 'NOTE', '')}")
    _tell("Worse than their limits", missed)
    _tell(f"Within their limits, but more than {WORSE:.0%} worse than the last time", worse)
    return 1 if missed else 0


def _tell(what: str, lines: list[str]) -> None:
    if lines:
        print(f"\n{what}:", *lines, sep="\n  ", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
