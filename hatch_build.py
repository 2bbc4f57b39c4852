"""What the package depends on: the pins that are tested with, each as the lower end of a range, and the extras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

NARROW = {"langchain-openai", "limits", "lxml", "python-docx", "requests", "streamlit", "urllib3"}
"""Packages of whose private parts something is used (tests/test_private_names.py): another minor version may lack it."""

ANY_VERSION = ("pip",)  # downloads the texts of the law; only environments that uv makes lack it

EXTRAS = {
    "google": ["playwright"],
    "postgres": ["psycopg"],
    "redis": ["redis"],
    "ocr": "requirements-ocr.txt",
    "embedding": "requirements-embedding.txt",
}
"""What most installations do without: packages of requirements.txt, or a file. core/base/extras.py tells what is missing."""


class Dependencies(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        pins = {pin.name: pin for pin in self._pins("requirements.txt")}
        extras = {
            name: [to_range(pin) for pin in (self._pins(wanted) if isinstance(wanted, str) else map(pins.pop, wanted))]
            for name, wanted in EXTRAS.items()
        }
        metadata["dependencies"] = [*map(to_range, pins.values()), *ANY_VERSION]
        metadata["optional-dependencies"] = {**extras, "all": sorted({one for some in extras.values() for one in some})}

    def _pins(self, file: str) -> Iterator[Requirement]:
        lines = (Path(self.root) / file).read_text("utf-8").splitlines()
        return (Requirement(line) for line in lines if line and not line.startswith(("#", "-")))


def to_range(pin: Requirement) -> str:
    """Return `name>=pinned,<next`: the next major version, or the next minor one where that may change anything."""
    (exact,) = pin.specifier
    major, minor, *_ = Version(exact.version).release
    changes_at_minor = major == 0 or pin.name in NARROW
    after = f"{major}.{minor + 1}" if changes_at_minor else f"{major + 1}"
    pin.specifier = SpecifierSet(f">={exact.version},<{after}")
    return str(pin)
