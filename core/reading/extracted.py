"""What extraction makes of bytes, on either side of the process boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from core.reading.errors import Reason
from core.reading.page import PageKind


@dataclass(frozen=True, slots=True)
class Extracted:
    kind: PageKind
    text: str
    title: str = ""
    published: str | None = None
    instructions: int = 0
    is_cut: bool = False


class Remark(NamedTuple):
    """What is to be said of a place in the text of a document."""

    start: int
    end: int
    words: str


class NotReadable(Exception):
    """Raised by what extracts. Whoever knows the host says it in a sentence."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
