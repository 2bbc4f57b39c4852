"""The version number: one place, and a released one is in the changelog."""

from __future__ import annotations

import re
import subprocess
import sys

from core import __version__
from support.base import ROOT


def test_the_command_line_prints_the_version() -> None:
    done = subprocess.run([sys.executable, "-m", "core", "--version"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"wenyuan {__version__}\n")


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = re.findall(r"^## (\S+) – \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    assert released[0] == __version__
