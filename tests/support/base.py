"""Where things are, and settings as a fresh clone has them."""

from __future__ import annotations

import os
from pathlib import Path

from core.app import extra_sections
from core.base.settings import LoadedSettings, load_settings

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"


NOWHERE = Path("/nonexistent/settings.yaml")
VARIABLES = frozenset(load_settings(NOWHERE, {}, sections=extra_sections()).origins)
"""The environment variables of all settings."""


def loaded(**environ: str) -> LoadedSettings:
    """Settings as a fresh clone has them, plus the given environment."""
    if "DATA_DIR" not in environ:
        environ["DATA_DIR"] = os.environ["DATA_DIR"]
    environ.setdefault("READING_PAGES", "0")  # a test that reads pages brings a web of its own
    environ.setdefault("LEGAL_BUILT_IN", "0")  # a test that wants the law inside says so
    environ.setdefault("CHECKS_JUDGE", "ask")  # a test in which the model is asked about its answer says so
    return load_settings(ROOT / "settings.yaml", environ, sections=extra_sections())
