"""The day that an Office file gives as that of its last change."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO

import docx

from core.reading.document_properties import read_properties
from core.reading.packed_files import PackedFile


def word_file_of(changed: datetime | None) -> PackedFile:
    document, body = docx.Document(), BytesIO()
    if changed:
        document.core_properties.modified = changed
    document.save(body)
    return PackedFile(body.getvalue())


def test_the_day_of_the_last_change_is_the_files_own() -> None:
    assert read_properties(word_file_of(datetime(2026, 3, 2, 8, tzinfo=UTC))).modified == "2026-03-02"


def test_the_day_of_a_librarys_template_says_nothing_of_the_file() -> None:
    assert read_properties(word_file_of(None)).modified is None
