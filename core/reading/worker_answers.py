"""Checks of what a worker sends. A page may have taken it over: what is not exactly an answer is not believed."""

from __future__ import annotations

from datetime import date
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from core.base.text import clean, one_line
from core.reading.errors import Reason
from core.reading.extraction_types import NotReadable
from core.reading.page import MAX_TEXT, MAX_TITLE, PageKind
from core.reading.pictures import MAX_SIDE
from core.reading.sections import TextSection

Answer = TypeVar("Answer")
MAX_HEAD = 5_000_000
"""Limit in bytes: the longest text, with twelve bytes for each character, as JSON writes those beyond the basic plane."""

MAX_SECTIONS = 100_000
"""Limit of pages, sheets, headings and uncertain digits of one text."""


def _check_day(text: str) -> str:
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError("not an ISO day")
    return text


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class FailureAnswer(_Answer):
    """The reason why there is no other answer."""

    reason: Reason


class TextAnswer(_Answer):
    """The fields of ExtractedText."""

    kind: PageKind
    text: Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(clean)]
    title: Annotated[str, Field(max_length=MAX_TITLE), AfterValidator(one_line)]
    published: Annotated[str, AfterValidator(_check_day)] | None
    instructions: int = Field(ge=0, le=MAX_TEXT)
    is_cut: bool
    sections: tuple[TextSection, ...] = Field((), max_length=MAX_SECTIONS)
    uncertain: tuple[tuple[int, int], ...] = Field((), max_length=MAX_SECTIONS)


class DocumentAnswer(_Answer):
    """The head of an answer whose body is a document. It says nothing."""


class PictureAnswer(_Answer):
    """The size of a picture in pixels, whose body is its pixels: three bytes for each."""

    width: int = Field(ge=1, le=MAX_SIDE)
    height: int = Field(ge=1, le=MAX_SIDE)


class ReadyAnswer(_Answer):
    """The fields of Confinement."""

    missing: list[Annotated[str, Field(max_length=1_000), AfterValidator(one_line)]] = Field(max_length=100)
    landlock: int = Field(ge=0)


TEXT = TypeAdapter[TextAnswer | FailureAnswer](TextAnswer | FailureAnswer)
DOCUMENT = TypeAdapter[DocumentAnswer | FailureAnswer](DocumentAnswer | FailureAnswer)
PICTURE = TypeAdapter[PictureAnswer | FailureAnswer](PictureAnswer | FailureAnswer)
READY = TypeAdapter[ReadyAnswer](ReadyAnswer)


def parse_answer(expected: TypeAdapter[Answer], head: bytes) -> Answer:
    """Return the answer in the head of a frame. Raise NotReadable if it is not what was expected."""
    try:
        if len(head) <= MAX_HEAD:
            return expected.validate_json(head)
    except ValueError:
        pass
    raise NotReadable("broken")
