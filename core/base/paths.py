"""The folders that files are in.

A checkout, or an image made from one, has all files in one folder. After `pip install`, the program's own files are
inside the package and the user's files are in their home folder.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "files"
"""Folder that only the wheel has (pyproject.toml)."""

PROGRAM_DIR = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
"""Folder of the files that come with the program: docs/manual, deploy/searxng, requirements-law.txt."""

USER_DIR = Path.home() / ".wenyuan" if _INSTALLED.is_dir() else _PACKAGE.parent
"""Folder of the user's files: settings.yaml, and all paths in the settings that are relative."""
