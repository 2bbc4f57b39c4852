"""The types that extraction passes between the worker and the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from core.reading.errors import Reason
from core.reading.page import PageKind


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """The text of a page or file, with its title and day."""

    kind: PageKind
    text: str
    title: str = ""
    published: str | None = None
    instructions: int = 0
    is_cut: bool = False


class DocumentComment(NamedTuple):
    """A comment on a part of a document's text, from `start` to `end`."""

    start: int
    end: int
    text: str


class NotReadable(Exception):
    """The bytes cannot be read. The caller, who knows the host, turns it into a sentence."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
