"""Fragments: no green mark for words of the article that say nothing."""

from __future__ import annotations

import pytest

from core.legal.text.article_comparison import compare_with_article
from core.legal.text.rule_comparison import RuleMatch
from core.legal.text.rule_fragments import is_fragment

SHARES = (
    "发行类别股的公司，有本法第一百一十六条第三款规定的事项等可能影响类别股股东权利的，除应当依照第一百一十六条第三款的规定经股东会决议外，"
    "还应当经出席类别股股东会议的股东所持表决权的三分之二以上通过。"
)
STAFF = "用人单位的工作人员因执行工作任务造成他人损害的，由用人单位承担侵权责任。"
SECONDED = (
    "劳务派遣期间，被派遣的工作人员因执行工作任务造成他人损害的，由接受劳务派遣的用工单位承担侵权责任；"
    "劳务派遣单位有过错的，承担相应的责任。"
)


@pytest.mark.parametrize(
    ("claim", "article"),
    [
        ("发行类别股的公司", SHARES),
        ("出席类别股股东会议的股东", SHARES),
        ("用人单位的工作人员因执行工作任务造成他人损害的", STAFF),
        ("因执行工作任务造成他人损害的，用人单位的工作人员", STAFF),
    ],
)
def test_a_party_or_a_case_alone_is_no_rule(claim: str, article: str) -> None:
    assert is_fragment(claim, article)
    assert compare_with_article(claim, article).match is not RuleMatch.AGREES


@pytest.mark.parametrize(
    ("claim", "article"),
    [
        (STAFF, STAFF),
        ("国家实行九年义务教育制度", "国家实行九年义务教育制度。\n实施义务教育，不收学费、杂费。"),
        ("国家建立义务教育的经费保障机制", "国家建立义务教育的经费保障机制。"),
        ("农村村民一户只能拥有一处宅基地", "农村村民一户只能拥有一处宅基地，其宅基地的面积不得超过规定的标准。"),
    ],
)
def test_a_rule_is_no_fragment(claim: str, article: str) -> None:
    assert not is_fragment(claim, article)
    assert compare_with_article(claim, article).match is RuleMatch.AGREES


def test_a_party_made_of_the_rest_of_another_is_not_that_party() -> None:
    seconded = "劳务派遣期间，被派遣的工作人员因执行工作任务造成他人损害的，由{}承担侵权责任"
    assert compare_with_article(seconded.format("劳务派遣单位"), SECONDED).match is not RuleMatch.AGREES
    assert compare_with_article(seconded.format("接受劳务派遣的用工单位"), SECONDED).match is RuleMatch.AGREES
