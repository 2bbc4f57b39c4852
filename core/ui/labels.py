"""Words of the page for what the program has names for."""

from __future__ import annotations

from core.legal.types import LIBRARIES
from core.search import registry


def label_of(name: str) -> str:
    """An engine, or what was imported."""
    return LIBRARIES.get(name) or registry.label_of(name)


MODES: dict[str, str] = {"chat": "Chat", "agent": "Agent"}
ORIGINS = {"default": "默认", "settings.yaml": "settings.yaml", "page": "页面", "environment": "环境变量"}
"""Where a setting's value comes from."""
