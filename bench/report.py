"""docs/benchmarks.md: one section per part, each as its own last run wrote it; and the figures in docs/trust.md."""

from __future__ import annotations

import json
import os
import platform
import re
from datetime import date
from pathlib import Path

from bench.rows import Row

REPORT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
TRUST = REPORT.with_name("trust.md")
FIGURES, END_OF_FIGURES = "<!-- figures: written by python -m bench checks -->", "<!-- end of figures -->"
RESULTS = Path(__file__).resolve().parent / "results.json"
"""The last value of every row on this machine, to compare the next with. Not in the repository: another machine's tell nothing."""
INTRODUCTION = """# Benchmarks

Written by `make bench` and `make load`: figures of one run, each beside its limit and, where there is one, a peer measured in
the same run. Times on a shared machine vary; ratios and bytes do not.
"""


def write_section(title: str, text: str) -> None:
    """Replaces this section, or adds it, and leaves the others."""
    old = REPORT.read_text("utf-8") if REPORT.exists() else ""
    sections = dict(re.findall(r"^## (.+?)\n\n(.*?)(?=^## |\Z)", old, re.MULTILINE | re.DOTALL))
    machine = f"{date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}"
    sections[title] = f"Measured {machine}.\n\n{text}"
    whole = "".join(f"\n## {name}\n\n{section.strip()}\n" for name, section in sections.items())
    REPORT.write_text(INTRODUCTION + whole, "utf-8")


def write_figures(text: str) -> None:
    """Replaces what stands between the two marks in docs/trust.md, and leaves the rest."""
    old = TRUST.read_text("utf-8")
    before, start, rest = old.partition(FIGURES)
    _, end, after = rest.partition(END_OF_FIGURES)
    if not end:
        raise ValueError(f"{TRUST.name} has no place for figures")
    TRUST.write_text(f"{before}{start}\n{text.strip()}\n{end}{after}", "utf-8")


def change(row: Row) -> float:
    """Since the last run, which is forgotten for this one: 0.1 is a tenth more. Nought, if there was none.

    What has a peer is compared as a multiple of it: both were measured in the same hour.
    """
    results: dict[str, float] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    key = f"{row.name} ÷ {row.peer}" if row.ratio is not None else row.name
    now, before = row.value if row.ratio is None else row.ratio, results.get(key)
    RESULTS.write_text(json.dumps(results | {key: now}, ensure_ascii=False, indent=1), "utf-8")
    return now / before - 1 if before else 0.0
