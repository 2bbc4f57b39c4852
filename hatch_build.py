"""What the package depends on: the same exact pins that `make run` installs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Pins(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        lines = [
            line
            for name in ("requirements.txt", "constraints.txt")
            for line in (root / name).read_text("utf-8").splitlines()
        ]
        metadata["dependencies"] = [line for line in lines if line and not line.startswith(("#", "-"))]
