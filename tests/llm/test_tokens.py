from __future__ import annotations

import pytest

from core.llm.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("word" * 10, 10), ("字" * 10, 7), ("字" * 10 + "word" * 2, 9), ("𠮷" * 10, 7)],
)
def test_han_and_other_characters_weigh_differently(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_a_very_long_text_is_cheap() -> None:
    assert estimate_tokens("问源 answers. " * 100_000) == pytest.approx(390_000)
