"""docs/benchmarks.md: one section per part, each as its own last run wrote it."""

from __future__ import annotations

import os
import platform
import re
from datetime import date
from pathlib import Path

REPORT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
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
