"""Sections of a text as they are stored."""

from __future__ import annotations

import pytest

from core.base.compression import compress_text
from core.reading import TextSection, decode_sections, encode_sections

SECTIONS = (
    TextSection(0, "page", 1),
    TextSection(40, "page", 2, is_recognized=True),
    TextSection(41, "heading", title="付款\ud800方式"[:2], level=2),
    TextSection(90, "sheet", 1, "价目", first_line=3),
)


def test_what_was_stored_comes_back_and_is_short() -> None:
    assert decode_sections(encode_sections(SECTIONS, [(3, 5)])) == (SECTIONS, ((3, 5),))
    assert (encode_sections(()), decode_sections("")) == ("", ((), ()))
    book = [TextSection(number * 1_500, "page", number + 1) for number in range(1_000)]
    assert len(encode_sections(book)) < 8 * len(book)


@pytest.mark.parametrize(
    "document", ["[]", "[[[0]],[]]", "[[[0,99]],[]]", "[[[0,0,1e999]],[]]", "[[[0,0]],[[1]]]", "[" * 9_000]
)
def test_what_is_damaged_is_said_so(document: str) -> None:
    for stored in (compress_text(document), document):
        with pytest.raises(ValueError, match="no sections"):
            decode_sections(stored)
