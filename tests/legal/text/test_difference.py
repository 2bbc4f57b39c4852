"""The quotation beside the law: what was changed is marked, and nothing else is."""

from __future__ import annotations

from core.legal.text.difference import Stretch, difference

ARTICLE = "守塔人应当在日落前点灯。\n大雾期间，守塔人应当鸣笛。"


def test_a_changed_word_stands_beside_the_real_one() -> None:
    assert difference("守塔人可以在日落前点灯", ARTICLE) == (
        Stretch("守塔人"),
        Stretch("可以", "应当"),
        Stretch("在日落前点灯"),
    )


def test_words_left_out_and_words_added() -> None:
    assert Stretch("", "应当") in difference("守塔人在日落前点灯", ARTICLE)
    assert Stretch("立即", "") in difference("守塔人应当在日落前立即点灯", ARTICLE)


def test_what_stands_before_and_after_the_quotation_is_not_missing_from_it() -> None:
    assert difference("大雾期间，守塔人应当鸣笛", ARTICLE) == (Stretch("大雾期间，守塔人应当鸣笛"),)


def test_punctuation_and_ellipses_are_no_difference() -> None:
    pieces = difference("守塔人应当……点灯；大雾期间,守塔人应当鸣笛", ARTICLE)
    assert [piece for piece in pieces if piece.real is not None] == []
    assert "".join(piece.quoted for piece in pieces) == "守塔人应当……点灯；大雾期间,守塔人应当鸣笛"
