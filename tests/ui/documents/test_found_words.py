"""Which words of a passage are marked."""

from __future__ import annotations

import pytest

from core.ui.documents.found_words import best_part, mark_words, query_words


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("违约金怎么算？", "逾期的，支付违约金。", "逾期的，支付<mark>违约金</mark>。"),
        (
            "annual leave",
            "Annual leave: 22 days; leaves fall.",
            "<mark>Annual</mark> <mark>leave</mark>: 22 days; leaves fall.",
        ),
        ("違約", "违约和違約", "<mark>违约</mark>和<mark>違約</mark>"),
        ("哈哈哈", "哈哈哈哈", "<mark>哈哈哈哈</mark>"),
        ("", "什么都不找", "什么都不找"),
        ("租金", "<b>租金</b>", "&lt;b&gt;<mark>租金</mark>&lt;/b&gt;"),
    ],
)
def test_the_words_of_the_query_are_marked_and_nothing_else(query: str, text: str, marked: str) -> None:
    assert str(mark_words(text, query_words(query))) == marked


def test_the_sentence_with_the_words_is_shown() -> None:
    text = "本合同一式两份。" * 30 + "逾期付款的，每日支付万分之五的违约金。" + "其他事项另行约定。" * 30
    assert "违约金" in best_part(text, query_words("违约金是多少"))
