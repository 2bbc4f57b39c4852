"""The quotation beside the law: what was changed is marked, and nothing else is."""

from __future__ import annotations

from core.legal.text.text_diff import DiffSegment, diff_quotation

ARTICLE = "守塔人应当在日落前点灯。\n大雾期间，守塔人应当鸣笛。"


def test_a_changed_word_stands_beside_the_real_one() -> None:
    assert diff_quotation("守塔人可以在日落前点灯", ARTICLE) == (
        DiffSegment("守塔人"),
        DiffSegment("可以", "应当"),
        DiffSegment("在日落前点灯"),
    )


def test_words_left_out_and_words_added() -> None:
    assert DiffSegment("", "应当") in diff_quotation("守塔人在日落前点灯", ARTICLE)
    assert DiffSegment("立即", "") in diff_quotation("守塔人应当在日落前立即点灯", ARTICLE)


def test_what_stands_before_and_after_the_quotation_is_not_missing_from_it() -> None:
    assert diff_quotation("大雾期间，守塔人应当鸣笛", ARTICLE) == (DiffSegment("大雾期间，守塔人应当鸣笛"),)


def test_punctuation_and_ellipses_are_no_difference() -> None:
    pieces = diff_quotation("守塔人应当……点灯；大雾期间,守塔人应当鸣笛", ARTICLE)
    assert [piece for piece in pieces if piece.new is not None] == []
    assert "".join(piece.old for piece in pieces) == "守塔人应当……点灯；大雾期间,守塔人应当鸣笛"
