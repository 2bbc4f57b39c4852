"""The folders that files are in.

A checkout, or an image made from one, has all files in one folder. After `pip install`, the program's own files are
inside the package and the user's files are in their home folder.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_FILES = _PACKAGE / "files"

IS_INSTALLED = _FILES.is_dir()
"""Whether this is not a checkout: only the wheel has that folder (pyproject.toml)."""

PROGRAM_DIR = _FILES if IS_INSTALLED else _PACKAGE.parent
"""Folder of the files that come with the program: asgi.py, Home.py, pages, .streamlit/config.toml, docs/manual …"""

USER_DIR = Path.home() / ".wenyuan" if IS_INSTALLED else _PACKAGE.parent
"""Folder of the user's files: settings.yaml, .streamlit/secrets.toml, and all paths in the settings that are relative."""

COMMAND = "wenyuan" if IS_INSTALLED else "./wenyuan"
"""The command line as a reader calls it: installed, or the script of the checkout, in its folder."""
