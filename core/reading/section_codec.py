"""Sections of a text as a short string for databases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

from core.base.compression import compress_text, decompress_text
from core.reading.sections import SectionKind, TextSection

_KINDS: tuple[SectionKind, ...] = get_args(SectionKind)
_DEFAULTS: tuple[Any, ...] = (0, "", 0, 1, 0)

Spans = tuple[tuple[int, int], ...]


def encode_sections(sections: Sequence[TextSection], uncertain: Sequence[tuple[int, int]] = ()) -> str:
    """Return the sections and the uncertain places of a text as one string; empty without any."""
    if not (sections or uncertain):
        return ""
    rows = [_row(section) for section in sections]
    return compress_text(json.dumps([rows, list(uncertain)], ensure_ascii=False, separators=(",", ":")))


def _row(section: TextSection) -> list[Any]:
    """Return the fields, without the last ones that have their defaults."""
    one = section
    values = [one.number, one.title, one.level, one.first_line, int(one.is_recognized)]
    while values and values[-1] == _DEFAULTS[len(values) - 1]:
        values.pop()
    return [one.start, _KINDS.index(one.kind), *values]


def decode_sections(stored: str) -> tuple[tuple[TextSection, ...], Spans]:
    """Return what `encode_sections` was given. Raise ValueError for anything else."""
    if not stored:
        return (), ()
    try:
        rows, uncertain = json.loads(decompress_text(stored))
        return tuple(_section(*row) for row in rows), tuple((int(start), int(end)) for start, end in uncertain)
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise ValueError("no sections") from error


def _section(start: int, kind: int, *values: Any) -> TextSection:
    number, title, level, first_line, is_recognized = (*values, *_DEFAULTS[len(values) :])
    numbers = int(number), str(title), int(level), int(first_line), bool(is_recognized)
    return TextSection(int(start), _KINDS[kind], *numbers)
