"""Words that turn a sentence round, and words that were quoted."""

from __future__ import annotations

import pytest

from core.checks.wording import (
    compact,
    find_conflicts,
    find_quotations,
    find_titles,
    is_question,
    is_refutation,
    nearest_wording,
)


@pytest.mark.parametrize(
    ("stated", "source", "axis"),
    [
        ("用人单位可以解除劳动合同", "用人单位不得解除劳动合同", "情态"),
        ("用人单位无需支付赔偿金", "用人单位应当支付赔偿金", "情态"),
        ("公司收入同比增长两成", "公司收入同比下降两成", "增减"),
        ("公司收入同比增长两成", "公司收入环比增长两成", "同比环比"),
        ("失业率高于预期水平", "失业率低于预期水平", "高低"),
        ("这是全国最高的大楼", "这是全国最低的大楼", "最"),
        ("该药物能治疗感冒", "该药物不能治疗感冒", "否定"),
        ("收费标准不由管理局负责", "收费标准由管理局负责", "否定"),
        ("合同有效且应履行", "合同无效且应履行", "效力"),
        ("经理或者董事签字", "经理并且董事签字", "或且"),
    ],
)
def test_the_opposite_is_seen(stated: str, source: str, axis: str) -> None:
    assert [conflict.axis for conflict in find_conflicts(stated, source)][:1] == [axis]


@pytest.mark.parametrize(
    ("stated", "source"),
    [
        ("用人单位不得解除劳动合同", "用人单位禁止解除劳动合同"),
        ("公司收入上升两成", "公司收入增长两成"),
        ("公司收入增长，利润下降", "公司利润下降，收入增长"),
        ("不仅能治疗感冒", "能治疗感冒"),
        ("天气很好", "股市下跌"),
    ],
)
def test_other_words_for_the_same_are_none(stated: str, source: str) -> None:
    assert find_conflicts(compact(stated), compact(source)) == []


def test_may_and_shall_differ_in_a_law_only() -> None:
    (conflict,) = find_conflicts("当事人可以提交证据", "当事人应当提交证据")
    assert not conflict.is_opposite


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
