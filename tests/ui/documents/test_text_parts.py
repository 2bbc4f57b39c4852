"""How a reader leafs through the text of a file."""

from __future__ import annotations

from core.reading import TextSection
from core.ui.documents.text_parts import PART_LENGTH, part_with, split_parts


def test_pages_are_parts_with_their_numbers() -> None:
    text = "封面\n\n正文的第一页\n\n正文的第二页"
    starts = [0, text.index("正文的第一页"), text.index("正文的第二页")]
    sections = [TextSection(start, "page", number) for number, start in enumerate(starts, 1)]
    parts = split_parts(
        text, [*sections[:2], TextSection(starts[1] + 2, "heading", title="标题", level=1), sections[2]]
    )
    assert [(part.page, part.label) for part in parts] == [(1, "第 1 页"), (2, "第 2 页"), (3, "第 3 页")]
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert [part_with(parts, at) for at in (0, starts[1], starts[2] - 1, starts[2], len(text) + 9)] == [0, 1, 1, 2, 2]


def test_a_long_text_without_pages_is_cut_at_the_ends_of_lines() -> None:
    text = "\n".join(f"第 {number} 行，有一些字" for number in range(2_000))
    parts = split_parts(text, ())
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert all(part.page is None and part.end - part.start <= PART_LENGTH for part in parts)
    assert all(text[part.end - 1] == "\n" for part in parts[:-1])


def test_a_line_that_does_not_end_is_cut_and_an_empty_text_is_one_part() -> None:
    assert [part.start for part in split_parts("字" * (PART_LENGTH * 2 + 1), ())] == [0, PART_LENGTH, PART_LENGTH * 2]
    assert [(part.start, part.end) for part in split_parts("", ())] == [(0, 0)]
