"""Where files are. A checkout, and an image made from one, has them all in one folder; `pip install` keeps the program's
own inside of the package and everybody's in their home."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "files"
"""Made by the wheel (pyproject.toml)."""

FILES = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
"""What comes with the program: docs/manual, deploy/searxng."""

HOME = Path.home() / ".wenyuan" if _INSTALLED.is_dir() else _PACKAGE.parent
"""What belongs to whoever runs it: settings.yaml, and whatever a setting names by a relative path."""
