"""A restatement beside an article: what agrees, what contradicts, and everything else, which is neither."""

from __future__ import annotations

import time

import pytest

from core.legal.text.article_comparison import compare_with_article
from core.legal.text.rule_comparison import ArticleWords, RuleMatch, contained_share
from support.labour_law import ARTICLES

PROBATION, WAGE, LEAVING = ARTICLES["19"], ARTICLES["20"], ARTICLES["38"]


@pytest.mark.parametrize(
    ("claim", "article"),
    [
        ("劳动合同期限一年以上不满三年的，试用期不得超过二个月", PROBATION),
        ("劳动合同期限1年以上不满3年的，试用期最长2个月", PROBATION),
        ("试用期不能超过二个月，前提是劳动合同期限一年以上不满三年", PROBATION),
        ("同一用人单位与同一劳动者只能约定一次试用期", PROBATION),
        ("试用期包含在劳动合同期限内；同一用人单位与同一劳动者只能约定一次试用期", PROBATION),
        ("用人单位未及时足额支付劳动报酬的，劳动者可以解除劳动合同", LEAVING),
        ("用人单位未依法为劳动者缴纳社会保险费的，员工有权解除劳动合同", LEAVING),
    ],
)
def test_agrees(claim: str, article: str) -> None:
    assert compare_with_article(claim, article).match is RuleMatch.AGREES


@pytest.mark.parametrize(
    ("claim", "article", "said", "stands"),
    [
        (
            "劳动合同期限一年以上不满三年的，试用期不得超过六个月",
            PROBATION,
            "不得超过六个月",
            "不得超过二个月",
        ),
        ("劳动者在试用期的工资不得低于劳动合同约定工资的百分之五十", WAGE, "百分之五十", "百分之八十"),
        ("劳动合同期限一年以下不满三年的，试用期不得超过二个月", PROBATION, "一年以下", "一年以上"),
        ("用人单位未及时足额支付劳动报酬的，劳动者不得解除劳动合同", LEAVING, "不得", "可以"),
        ("劳动合同仅约定试用期的，试用期成立", PROBATION, "", "不"),
    ],
)
def test_contradicts(claim: str, article: str, said: str, stands: str) -> None:
    found = compare_with_article(claim, article)
    assert (found.match, found.claimed, found.actual) == (RuleMatch.CONTRADICTS, said, stands)


@pytest.mark.parametrize(
    ("claim", "article"),
    [
        ("两年期合同的试用期最长不超过2个月", PROBATION),
        ("你的合同期限为两年，因此试用期最长为两个月", PROBATION),  # two years are a case of 一年以上不满三年
        ("今天是个好天气", PROBATION),
        ("劳动合同期限内", PROBATION),  # too little to be a rule
        ("", PROBATION),
        ("的" * 900, PROBATION),
    ],
)
def test_neither(claim: str, article: str) -> None:
    assert compare_with_article(claim, article).match is RuleMatch.UNSURE


def test_the_item_that_was_cited() -> None:
    claim = "用人单位未及时足额支付劳动报酬的，劳动者可以解除劳动合同"
    assert compare_with_article(claim, LEAVING, 1, 2).match is RuleMatch.AGREES
    assert compare_with_article(claim, LEAVING, 1, 3).match is RuleMatch.UNSURE
    assert compare_with_article(claim, LEAVING, 2).match is RuleMatch.UNSURE


def test_the_article_that_holds_most_of_a_claim() -> None:
    texts = list(ARTICLES.values())
    law = ArticleWords(texts)
    claim = "劳动者在试用期的工资不得低于劳动合同约定工资的80%"
    assert law.best_article(claim, excluded=())[0] == texts.index(WAGE)
    assert law.best_article(claim, excluded={texts.index(WAGE)})[0] != texts.index(WAGE)
    assert law.best_article("ABC", excluded=()) == (-1, 0.0)
    assert contained_share(claim, WAGE) > 0.8 > 0.5 > contained_share(claim, LEAVING)


@pytest.mark.parametrize("claim", ["劳动，" * 400, "试用期" * 400, "一年以上" * 300, "不" * 1_200])
def test_hostile_claims_are_compared_at_once(claim: str) -> None:
    compare_with_article("试用期", PROBATION)  # what is loaded once is not counted
    started = time.thread_time()
    compare_with_article(claim, PROBATION)
    assert time.thread_time() - started < 2
