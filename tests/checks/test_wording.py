"""Words that turn a sentence round, and words that were quoted."""

from __future__ import annotations

from core.checks.wording import (
    compact,
    find_quotations,
    find_titles,
    is_question,
    is_refutation,
    nearest_wording,
)


def test_quotations_are_split_where_they_leave_something_out() -> None:
    assert find_quotations("他说“我们今天一定要出发……明天就来不及了”。") == ["我们今天一定要出发", "明天就来不及了"]
    assert find_quotations("所谓“民族之战”和「甲」") == []
    assert find_titles("《茶馆》和《骆驼祥子》") == ["茶馆", "骆驼祥子"]


def test_one_altered_character_in_a_long_quotation_is_found() -> None:
    passage = compact("会议指出，发展是解决一切问题的基础和关键，必须坚持。")
    assert nearest_wording("发展是解决所有问题的基础和关键", passage) is None
    assert nearest_wording("发展是解决一些问题的基础和关键", passage) == "发展是解决一切问题的基础和关键"
    assert nearest_wording("发展是解决一切问题的基础和关链", passage) == "发展是解决一切问题的基础和关键"


def test_spellings_are_folded() -> None:
    assert compact("「臺灣」，Ａ－１ ") == "台湾a1"


def test_refutations_and_questions() -> None:
    assert is_refutation("网传该市将停水一周，官方回应：消息不实。")
    assert not is_refutation("该市将停水一周。")
    assert is_question("种子的主要部分是（ ） A种皮 B胚 C子叶")
    assert is_question("谁能胜出？")
    assert not is_question("种子的主要部分是胚。")
