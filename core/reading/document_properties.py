"""What an Office file says of itself: its title and the day of its last change. This runs only in a worker."""

from __future__ import annotations

from typing import NamedTuple

from core.base.chinese.calendar import iso_day
from core.base.text import one_line
from core.reading.extraction_types import NotReadable
from core.reading.packed_files import PackedFile

_PART = "docProps/core.xml"
_TEMPLATE_DAYS = frozenset({"2013-12-23", "2013-01-27"})
"""Days of the templates of python-docx and python-pptx, which stand in the files that programs make with them."""


class Properties(NamedTuple):
    title: str = ""
    modified: str | None = None
    """ISO day."""


def read_properties(packed: PackedFile) -> Properties:
    """Return the properties; none where they are missing or broken, which is no reason not to read the file."""
    if _PART not in packed.names:
        return Properties()
    try:
        root = packed.parse(_PART)
    except NotReadable:
        return Properties()
    found = {name: one_line(root.findtext(f"{{*}}{name}") or "") for name in ("title", "modified", "created")}
    days = (iso_day(found[name][:10]) for name in ("modified", "created"))
    return Properties(found["title"], next((day for day in days if day and day not in _TEMPLATE_DAYS), None))
