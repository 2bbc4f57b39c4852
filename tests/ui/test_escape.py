from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.text import one_line
from core.ui.escape import label

WORD_JOINER = "\u2060"


def read(markdown: str) -> str:
    """What remains when Markdown has resolved its escapes."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace(WORD_JOINER, "")


@settings(deadline=None)
@given(st.text())
def test_the_reader_sees_what_was_written(text: str) -> None:
    assert read(label(text)) == one_line(text)
    assert "\n" not in label(text)


@settings(deadline=None)
@given(st.text(alphabet="![]()`*_~$:<>#-.1a\\|&@/ "))
def test_no_mark_is_left_unescaped(text: str) -> None:
    assert re.fullmatch(r"(?:\\[!-/:-@\[-`{-~]|[^!-/:-@\[-`{-~])*", label(text))


# What Streamlit 1.67 replaces in the finished text.
REPLACED = re.compile(
    r"https?://|www\.|[-.\w+]@[-\w]|:[\w+/-]+:|(?:^|\s)(?:<->|->|<-|--|>=|<=|~=)(?:\s|$)", re.IGNORECASE
)


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/a",
        "HTTP://evil.example WWW.evil.example",
        "me@evil.example",
        ":smile: :+1: :streamlit: :material/home:",
        "a -> b <- c <-> d -- e >= f <= g ~= h",
        "--",
    ],
)
def test_what_streamlit_replaces_later_is_broken_up(text: str) -> None:
    assert REPLACED.search(text)
    assert not REPLACED.search(label(text).replace("\\", ""))


def test_ordinary_text_stays_as_it_is() -> None:
    assert label("离婚冷静期 是多久？\n2024 年") == "离婚冷静期 是多久？ 2024 年"
    assert WORD_JOINER not in label("12:30 C:\\path a-b <3")
