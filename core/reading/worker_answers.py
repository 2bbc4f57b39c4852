"""Checks of what a worker sends. A page may have taken it over: what is not exactly an answer is not believed."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from core.base.text import clean, one_line
from core.reading.errors import Reason
from core.reading.extraction_types import NotReadable
from core.reading.page import MAX_FILE_TEXT, MAX_TEXT, MAX_TITLE, PageKind
from core.reading.pictures import MAX_RECOGNIZED_SIDE
from core.reading.recognition_types import MAX_LINE_LENGTH, MAX_LINES
from core.reading.sections import MAX_NUMBER, MAX_SECTIONS, TextSection, check_positions, check_section

Answer = TypeVar("Answer")
MAX_HEAD = 24_000_000
"""Limit in bytes: the longest text, with four bytes for each character, and its sections."""
Coordinate = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]


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
    instructions: int = Field(ge=0, le=MAX_FILE_TEXT)
    is_cut: bool
    sections: tuple[Annotated[TextSection, AfterValidator(check_section)], ...] = Field((), max_length=MAX_SECTIONS)
    uncertain: tuple[tuple[int, int], ...] = Field((), max_length=MAX_SECTIONS)
    modified: Annotated[str, AfterValidator(_check_day)] | None = None
    pages: int = Field(0, ge=0, le=MAX_NUMBER)
    unread_pages: tuple[Annotated[int, Field(ge=1, le=MAX_NUMBER)], ...] = Field((), max_length=MAX_SECTIONS)

    @model_validator(mode="after")
    def _check_positions(self) -> Self:
        check_positions(self.text, self.sections, self.uncertain)
        return self


class FileTextAnswer(TextAnswer):
    """The fields of ExtractedText for a reader's own file, which may be longer than a page."""

    text: Annotated[str, Field(max_length=MAX_FILE_TEXT), AfterValidator(clean)]


class DocumentAnswer(_Answer):
    """The head of an answer whose body is a document. It says nothing."""


class PictureAnswer(_Answer):
    """The size of a picture in pixels, whose body is its pixels: three bytes for each."""

    width: int = Field(ge=1, le=MAX_RECOGNIZED_SIDE)
    height: int = Field(ge=1, le=MAX_RECOGNIZED_SIDE)


class LineAnswer(_Answer):
    """The fields of RecognizedLine."""

    text: Annotated[str, Field(max_length=MAX_LINE_LENGTH), AfterValidator(one_line)]
    confidences: tuple[Annotated[float, Field(ge=0, le=1)], ...]
    box: tuple[Coordinate, Coordinate, Coordinate, Coordinate]

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if len(self.text) != len(self.confidences):
            raise ValueError("a confidence for each character")
        return self


class LinesAnswer(_Answer):
    """The lines that were recognized in a picture."""

    lines: tuple[LineAnswer, ...] = Field(max_length=MAX_LINES)


class ReadyAnswer(_Answer):
    """The fields of Confinement."""

    missing: list[Annotated[str, Field(max_length=1_000), AfterValidator(one_line)]] = Field(max_length=100)
    landlock: int = Field(ge=0)


TEXT = TypeAdapter[TextAnswer | FailureAnswer](TextAnswer | FailureAnswer)
FILE_TEXT = TypeAdapter[FileTextAnswer | FailureAnswer](FileTextAnswer | FailureAnswer)
DOCUMENT = TypeAdapter[DocumentAnswer | FailureAnswer](DocumentAnswer | FailureAnswer)
PICTURE = TypeAdapter[PictureAnswer | FailureAnswer](PictureAnswer | FailureAnswer)
LINES = TypeAdapter[LinesAnswer | FailureAnswer](LinesAnswer | FailureAnswer)
READY = TypeAdapter[ReadyAnswer](ReadyAnswer)


def parse_answer(expected: TypeAdapter[Answer], head: bytes) -> Answer:
    """Return the answer in the head of a frame. Raise NotReadable if it is not what was expected."""
    try:
        if len(head) <= MAX_HEAD:
            return expected.validate_json(head)
    except ValueError:
        pass
    raise NotReadable("broken")
