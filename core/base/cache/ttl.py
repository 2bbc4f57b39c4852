"""The interface of a cache with an expiry time."""

from __future__ import annotations

from typing import Protocol


class TtlCache(Protocol):
    """Text under a key for a limited time. It never raises: an entry that cannot be read is missing."""

    @property
    def warning(self) -> str:
        """A sentence for the settings page when something is wrong; otherwise empty."""

    def get(self, key: str) -> str | None: ...

    def set(self, key: str, text: str, seconds: float) -> None: ...

    def close(self) -> None: ...
