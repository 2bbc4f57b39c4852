"""Print what the changelog says of a release, for its page; fail where the tag, the program and the changelog disagree.

python -m scripts.release_notes v0.2.0
"""

from __future__ import annotations

import re
import sys

from core import __version__
from core.base.paths import PROGRAM_DIR


def main(arguments: list[str]) -> int:
    (tag,) = arguments
    if tag != f"v{__version__}":
        print(f"the tag is {tag}, but core/__init__.py says {__version__}", file=sys.stderr)
        return 1
    notes = find_section((PROGRAM_DIR / "CHANGELOG.md").read_text("utf-8"), __version__)
    if not notes:
        print(f"CHANGELOG.md has no section ## {__version__} – YYYY-MM-DD with a text", file=sys.stderr)
        return 1
    print(notes)
    return 0


def find_section(changelog: str, version: str) -> str:
    """Return what stands below the heading of a version."""
    heading = rf"^## {re.escape(version)} – \d{{4}}-\d\d-\d\d\n"
    found = re.search(heading + r"(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
