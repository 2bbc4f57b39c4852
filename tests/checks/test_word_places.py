"""The words of a statement have a place in the sentences that are said to support it, or stand for something else."""

from __future__ import annotations

import pytest

from core.answer.check_results import SourceText
from core.checks import find_objection
from core.checks.features import ParsedStatement
from core.checks.near_words import are_near
from core.checks.source_index import IndexedSource
from core.checks.value_places import find_misplaced_value
from core.checks.word_places import find_misplaced_words
from core.comparison import PassageClause, Words

PASSAGE = (
    "476年，雇佣兵领袖奥多亚克废黜皇帝罗慕路斯，销量增长42%，费用由市财政承担，客机从巴塞罗那飞往杜塞尔多夫。工会主席陶静提出了方案。"
    "2019年，副厂长孟跃辞职。"
)


def clauses_of(statement: str) -> list[Words]:
    return ParsedStatement(statement).clauses_by_part.clauses


def passage_of(text: str) -> list[PassageClause]:
    return list(IndexedSource(SourceText(1, text)).whole_passage().clauses)


@pytest.mark.parametrize(
    "statement",
    [
        "客机从马德里飞往杜塞尔多夫。",
        "皇帝罗慕路斯废黜雇佣兵领袖奥多亚克。",
        "费用由省财政承担。",
        "客机从杜塞尔多夫飞往巴塞罗那。",
        "大客机从巴塞罗那飞往杜塞尔多夫和里昂。",
        "工会主席陶静辞职。",  # words of two sentences
        "工会主席陶静提出了方案，厂长周岩批准。",
        "王海的费用由市财政承担。",  # a name where there was none
        "市财政由费用承担。",
    ],
)
def test_a_name_a_party_or_an_order(statement: str) -> None:
    assert find_misplaced_words(clauses_of(statement), passage_of(PASSAGE))


@pytest.mark.parametrize(
    "statement",
    [
        "雇佣兵领袖奥多亚克废黜皇帝罗慕路斯。",
        "费用由市财政来承担。",
        "费用由市财政出。",  # near words
        "换表的费用由市财政承担。",
        "副厂长孟跃2019年辞职。",  # a date may move
        "客机从巴塞罗那飞往杜塞尔多夫，费用由市财政承担。",  # so may a clause that has its subject
        "",
    ],
)
def test_the_same_words_or_nearly(statement: str) -> None:
    assert find_misplaced_words(clauses_of(statement), passage_of(PASSAGE)) == ""


@pytest.mark.parametrize(
    ("statement", "passage", "is_same"),
    [
        ("船长是韩锋。", "韩锋是船长。", True),
        ("船长是韩锋的弟弟。", "韩锋是船长的弟弟。", False),
        ("方案由陶静写成。", "陶静写成方案。", True),
        ("陶静写成方案。", "方案由陶静写成。", True),
        ("陶静由方案写成。", "方案由陶静写成。", False),
        ("大副是李青。", "大副是韩锋。", False),
        ("小满是大副。", "大副是韩锋。", False),
        ("小明给小红送书。", "小红给小明送书。", False),
    ],
)
def test_a_turned_clause(statement: str, passage: str, is_same: bool) -> None:
    assert (find_misplaced_words(clauses_of(statement), passage_of(passage)) == "") is is_same


@pytest.mark.parametrize(
    ("statement", "passage", "wrong"),
    [
        ("一号线长30公里。", "一号线长20公里，二号线长30公里。", "30公里"),
        ("二号线长30公里。", "一号线长20公里，二号线长30公里。", ""),
        ("支出90万元。", "收入90万元、支出70万元。", "90万元"),
        ("支出90万元。", "去年收入90万元而支出70万元。", "90万元"),
        ("大桥于2003年通车。", "大桥于2001年动工，2003年合龙，2005年通车。", "2003年"),
        ("大桥于2005年通车。", "大桥于2001年动工，2003年合龙，2005年通车。", ""),  # 大桥 is the subject of all of them
        ("70万元用于修路。", "90万元用于修路、70万元用于植树。", "70万元"),
        ("今年6月签约。", "去年6月签约，今年9月开工。", "今年6月"),
        ("旧桥2014年10月拆除。", "新桥2014年10月通车，旧桥于2013年拆除。", "2014年10月"),
        ("9时开门。", "上午9时开门。", ""),  # nothing else that it could belong to
    ],
)
def test_a_value_belongs_to_what_stands_beside_it(statement: str, passage: str, wrong: str) -> None:
    assert find_misplaced_value(clauses_of(statement), passage_of(passage)) == wrong


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("今年9月新厂开工。", "去年9月新厂开工。"),
        ("新厂当年开工。", "新厂开工。"),
        ("新厂全部开工。", "新厂开工。"),
        ("因为缺水，新厂停工。", "缺水，新厂停工。"),
    ],
)
def test_a_day_a_quantity_or_a_cause_that_was_added(statement: str, passage: str) -> None:
    source = SourceText(1, passage)
    assert find_objection(statement, source, source).startswith("回答有")


def test_near_words_are_not_opposites() -> None:
    assert are_near("承担", "出")
    assert not are_near("增加", "减少")
    assert not are_near("张三", "李四")


@pytest.mark.parametrize("text", ["甲" * 900, "甲乙" * 450, "甲乙丙，" * 300, "1、" * 400])
def test_repetitions_are_not_compared(text: str) -> None:
    source = SourceText(1, text)
    assert find_objection(text[:400], source, source) == "句子过长或重复，没有比较。"
