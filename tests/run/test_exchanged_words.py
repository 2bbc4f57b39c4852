"""Words exchanged within nearly the same wording: found; a free paraphrase: left to the model."""

from __future__ import annotations

import time

import pytest

from core.run.exchanged_words import find_exchanged_words

PASSAGE = "476年，雇佣兵领袖奥多亚克废黜皇帝罗慕路斯，销量增长42%，费用由市财政承担，客机从巴塞罗那飞往杜塞尔多夫。"


@pytest.mark.parametrize(
    "statement",
    [
        "客机从马德里飞往杜塞尔多夫。",
        "皇帝罗慕路斯废黜雇佣兵领袖奥多亚克。",
        "476年，销量增长24%。",
        "销量增长20.8%。",
        "费用由省财政承担。",
        "客机从杜塞尔多夫飞往巴塞罗那。",
    ],
)
def test_a_name_a_number_or_an_order(statement: str) -> None:
    assert find_exchanged_words(statement, PASSAGE)


@pytest.mark.parametrize(
    "statement",
    ["雇佣兵领袖奥多亚克废黜皇帝罗慕路斯。", "费用财政出。", "费用由市财政来承担。", ""],
)
def test_the_same_words_or_a_wording_of_its_own(statement: str) -> None:
    assert find_exchanged_words(statement, PASSAGE) == ""


@pytest.mark.parametrize("text", ["甲" * 100_000, "甲乙" * 50_000, "甲乙丙丁" * 25_000, "a1" * 50_000])
def test_hostile_lengths_are_bounded(text: str) -> None:
    began = time.thread_time()
    find_exchanged_words(text, text[1:] + "甲")
    assert time.thread_time() - began < 2
