"""Where things are, and settings as a fresh clone has them."""

from __future__ import annotations

import os
from pathlib import Path

from core.base.settings import LoadedSettings, load_settings

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"


def loaded(**environ: str) -> LoadedSettings:
    """Settings as a fresh clone has them, plus the given environment."""
    return load_settings(ROOT / "settings.yaml", {"DATA_DIR": os.environ["DATA_DIR"], **environ})
