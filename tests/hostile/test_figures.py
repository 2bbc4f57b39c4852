"""docs/architecture.md does not promise more cases than there are."""

from __future__ import annotations

import re
import subprocess
import sys

from support.base import ROOT


def test_the_documented_figures_are_not_larger_than_the_suite() -> None:
    collect = [sys.executable, "-m", "pytest", "tests/hostile", "--collect-only", "-q"]
    listed = subprocess.run(collect, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    real = _figures(r"^tests/hostile/test_(\w+)\.py: (\d+)$", listed)
    document = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    told = _figures(r"^\| (\w+) \| (\d+) \|", document)
    assert set(told) == set(real) - {"figures"}
    assert {name: count for name, count in told.items() if count > real[name]} == {}


def _figures(pattern: str, text: str) -> dict[str, int]:
    return {name: int(count) for name, count in re.findall(pattern, text, re.MULTILINE)}
