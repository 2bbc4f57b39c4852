"""A restatement beside an article: what agrees, what contradicts, and everything else, which is neither."""

from __future__ import annotations

import time

import pytest

from core.legal.text.article_comparison import compare_with_article, has_all_details
from core.legal.text.rule_comparison import ArticleWords, RuleMatch, contained_share
from support.labour_law import ARTICLES

PROBATION, WAGE, LEAVING = ARTICLES["19"], ARTICLES["20"], ARTICLES["38"]
DEPOSIT = (
    "债务人履行债务的，定金应当抵作价款或者收回。给付定金的一方不履行债务或者履行债务不符合约定，致使不能实现合同目的的，无权请求返还定金；"
    "收受定金的一方不履行债务或者履行债务不符合约定，致使不能实现合同目的的，应当双倍返还定金。"
)
ACCIDENT = "生产经营单位发生生产安全事故后，应当及时采取措施救治有关人员。"
ALARM = "任何人发现火灾都应当立即报警。任何单位、个人都应当无偿为报警提供便利，不得阻拦报警。"
TAX = (
    "个人所得税的税率：\n（一）综合所得，适用百分之三至百分之四十五的超额累进税率（税率表附后）；\n"
    "（二）经营所得，适用百分之五至百分之三十五的超额累进税率（税率表附后）。"
)
DRUNK = (
    "饮酒后驾驶营运机动车的，处十五日拘留，并处五千元罚款，吊销机动车驾驶证，五年内不得重新取得机动车驾驶证。\n"
    "醉酒驾驶营运机动车的，由公安机关交通管理部门约束至酒醒，吊销机动车驾驶证，依法追究刑事责任；十年内不得重新取得机动车驾驶证。"
)
CARD = "有下列行为之一的，由公安机关处二百元以上一千元以下罚款，或者处十日以下拘留：\n（一）冒用他人居民身份证的；\n（二）购买居民身份证的。"
WOMEN = "用人单位应当根据妇女的特点，依法保护妇女在工作和劳动时的安全、健康以及休息的权利。"


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
        ("给付定金的一方违约致使合同目的不能实现的，无权请求返还定金", DEPOSIT),
        ("给付定金的一方不履行债务，致使不能实现合同目的的，无权请求返还定金", DEPOSIT),
        ("收受定金的一方违约，致使合同目的不能实现的，应当二倍返还定金", DEPOSIT),
        ("发生生产安全事故后，生产经营单位应当及时采取措施救治有关人员", ACCIDENT),
        ("任何人发现火灾都应当马上报警，任何单位和个人都要无偿为报警提供便利", ALARM),
        ("综合所得适用3%至45%的超额累进税率", TAX),
        (
            "经过公证的文书，除有相反证据足以推翻该项公证的以外，应当作为认定事实的根据",
            "经公证的文书，应当作为认定事实的根据，但有相反证据足以推翻该项公证的除外。",
        ),
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
        ("劳动合同期限一年以下不满三年的，试用期不得超过二个月", PROBATION, "一年以下", "一年以上不满三年"),
        (
            "冒用他人居民身份证的，处二百元以上一千元以下罚款，或者处十日以上十五日以下拘留",
            CARD,
            "十日以上十五日以下",
            "十日以下",
        ),
        (
            "冒用他人居民身份证的，由公安机关处五百元以上一千元以下罚款",
            CARD,
            "五百元以上一千元以下",
            "二百元以上一千元以下",
        ),
        ("收受定金的一方不履行债务，致使不能实现合同目的的，应当三倍返还定金", DEPOSIT, "三倍", "双倍"),
        ("工会应当根据妇女的特点，依法保护妇女在工作和劳动时的安全、健康以及休息的权利", WOMEN, "工会", "用人单位"),
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
        ("醉酒驾驶营运机动车的，十年内不得重新取得机动车驾驶证", DRUNK),  # the case of one rule, the duty of the next
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


COMMUTE = "职工有下列情形之一的，应当认定为工伤：\n（一）在上下班途中，受到非本人主要责任的交通事故伤害的；\n（二）因工外出期间失踪的。"


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("职工在上下班途中受到非本人主要责任的交通事故伤害的，应当认定为工伤", True),
        ("职工在上下班途中受到本人主要责任的交通事故伤害的，应当认定为工伤", False),
        ("职工在上下班途中受到非本人主要责任的交通事故伤害的，可以认定为工伤", False),
        ("职工在上下班途中三日内受到非本人主要责任的交通事故伤害的，应当认定为工伤", False),
        ("公安机关在上下班途中受到非本人主要责任的交通事故伤害的，应当认定为工伤", False),
        ("用餐时摔伤的，应当认定为工伤", False),
    ],
)
def test_similar_content_has_every_value_duty_negation_and_party(claim: str, expected: bool) -> None:
    assert has_all_details(claim, COMMUTE) is expected
