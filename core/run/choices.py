"""The choices of one reader. They travel with each question; the App never changes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from core.base.settings import Settings
from core.search.types import TimeRange

_SECTIONS = {
    "result_count": ("search",),
    "language": ("search",),
    "snippet_length": ("search",),
    "standalone_queries": ("chat",),
    "model": ("llm",),
    "temperature": ("llm",),
    "max_iterations": ("agent",),
    "max_execution_time": ("agent",),
    "prompt": ("chat", "agent"),
}
"""The sections of the settings that have the same key. The time range is not a setting: by default there is none."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The reader's choices. None: the administrator's setting holds."""

    result_count: int | None = None
    language: str | None = None
    time_range: TimeRange | None = None
    snippet_length: int | None = None
    standalone_queries: bool | None = None
    model: str | None = None
    temperature: float | None = None
    max_iterations: int | None = None
    max_execution_time: float | None = None
    prompt: str | None = None

    def apply_to(self, settings: Settings) -> Settings:
        """Return the settings for one question of this reader."""
        changes: dict[str, dict[str, Any]] = defaultdict(dict)
        for key, sections in _SECTIONS.items():
            value = getattr(self, key)
            for section in sections if value is not None else ():
                changes[section][key] = value
        return settings.model_copy(
            update={name: getattr(settings, name).model_copy(update=values) for name, values in changes.items()}
        )


NO_CHOICES = Choices()
