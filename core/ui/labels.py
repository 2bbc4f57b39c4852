"""Who answered, as readers know it."""

from __future__ import annotations

from core.legal.types import LIBRARIES
from core.search import registry


def label_of(name: str) -> str:
    """An engine, or what was imported."""
    return LIBRARIES.get(name) or registry.label_of(name)
