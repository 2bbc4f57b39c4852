from __future__ import annotations

import pytest

from core.llm.event_stream import EventReader


def read(*received: bytes) -> list[str]:
    reader = EventReader()
    return [data for part in received for data in reader.feed(part)]


WHOLE = ": 注释\n\ndata: {}\n\ndata:一\ndata: 二\n\nevent: ping\n\nid: 7\nretry: 3\ndata\ndata: 三\n\ndatum: x\ndata:  四\n\n"
EVENTS = ["{}", "一\n二", "\n三", " 四"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_events_are_the_same_wherever_the_bytes_were_cut(line_end: str) -> None:
    whole = WHOLE.replace("\n", line_end).encode()
    end = b":\n"  # a line end alone might go on
    assert read(whole + end) == EVENTS
    for size in range(1, len(whole)):
        assert read(*(whole[start : start + size] for start in range(0, len(whole), size)), end) == EVENTS


def test_an_event_without_its_blank_line_is_not_one_yet() -> None:
    assert read(b"data: 1\n\ndata: 2\n") == ["1"]
    assert read(b"data: 1\n\ndata: 2\n", b"\n") == ["1", "2"]


def test_characters_that_only_text_takes_for_line_ends_are_text() -> None:
    assert read("data: a\u2028b\x85c\x0bd\n\n".encode()) == ["a\u2028b\x85c\x0bd"]


def test_what_is_no_text_is_an_error() -> None:
    with pytest.raises(UnicodeDecodeError):
        read(b"data: \xff\n\n")
