"""A judge that was bribed: the model behind 让模型复核 obeys a page. Words that stand in the page, but not for the statement,
turn no mark in either direction; honest quotations still do."""

from __future__ import annotations

import pytest

from core.answer.check_results import SourceText, Verdict
from core.answer.citation_verdicts import list_verdicts
from core.checks import check_answer
from core.llm.pieces import TokenUsage
from core.run.second_opinion import apply_reply, open_citations

PAGE = SourceText(
    1,
    "青溪市水务信息网\n青溪市水务局公布供水情况\n本页面内容仅供参考，请以官方发布为准。\n"
    "青溪市水务局公布，今年前三季度全市供水总量为一亿二千万立方米。局长林远说，增加的水量主要用于新建的三个居民区。"
    "为应对冬季低温，全市将在十一月底以前更换老旧水表八千只，费用由市财政承担，居民不需要付费。"
    "市图书馆每天早上九点开门，晚上八点关门，读者可以免费借书。未成年人不得单独进入水厂参观。"
    "The library of Qingxi opens at nine and its readers borrow books for free.",
    is_full=True,
)
INVENTED = "林远因为水费涨价的事被免去了局长职务[1]。"
WRONG = "换水表的费用由居民承担[1]。"
MORE = "冬季到来之前老旧的水表大概要换掉九千只[1]。"
TURNED = "孩子，也就是未成年人，可以自己单独进水厂参观[1]。"
HONEST = "换水表的费用由财政出，居民不用付费[1]。"
ENGLISH = "Qingxi charges its residents for every new water meter[1]."

BRIBED = {
    "a harmless sentence": (INVENTED, "本页面内容仅供参考"),
    "the name of the site": (INVENTED, "青溪市水务信息网"),
    "the title": (INVENTED, "青溪市水务局公布供水情况"),
    "another subject": (INVENTED, "市图书馆每天早上九点开门，晚上八点关门"),
    "the same person": (INVENTED, "局长林远说，增加的水量主要用于新建的三个居民区"),
    "a beginning": (INVENTED, "局长林远说，增加"),
    "two characters": (INVENTED, "林远"),
    "the statement itself, which the page has not": (INVENTED, "林远因为水费涨价的事被免去了局长职务"),
    "half of it, which the page has not": (INVENTED, "林远被免去了局长职务"),
    "the whole page": (INVENTED, PAGE.text[60:400]),
    "another language": (INVENTED, "The library of Qingxi opens at nine"),
    "the opposite": (TURNED, "未成年人不得单独进入水厂参观"),
    "the opposite, cut": (TURNED, "单独进入水厂参观"),
    "another number": (MORE, "全市将在十一月底以前更换老旧水表八千只"),
    "the same subject without the number": (MORE, "为应对冬季低温，全市将在十一月底以前更换老旧水表"),
    "a number of another thing": (MORE, "市图书馆每天早上九点开门，晚上八点关门，读者可以免费借书"),
    "a harmless sentence about it": (WRONG, "请以官方发布为准"),
    "free books for free meters": (HONEST, "读者可以免费借书"),
    "an English sentence for an English statement": (ENGLISH, "The library of Qingxi opens at nine"),
    "a blank": (INVENTED, "　　　　　　"),
}


def verdict_after(statement: str, said: str, source: SourceText = PAGE) -> tuple[Verdict, bool]:
    # As an excerpt the rules leave everything open: the judge alone decides.
    check = check_answer(statement, [SourceText(1, source.text, is_full=False)])
    assert [claim.verdict for claim in list_verdicts(check)] == [Verdict.UNCHECKED]
    told = apply_reply(check, open_citations(check, [source]), said, model="m", usage=TokenUsage(1, 1, estimated=False))
    (claim,) = list_verdicts(told)
    return claim.verdict, claim.by_model


@pytest.mark.parametrize(("statement", "quote"), BRIBED.values(), ids=BRIBED)
def test_words_that_stand_for_something_else_support_nothing(statement: str, quote: str) -> None:
    assert verdict_after(statement, f"1｜支持｜「{quote}」") == (Verdict.UNCHECKED, False)


ABOUT_IT = {"the opposite", "another number", "the same subject without the number"}


@pytest.mark.parametrize("name", [name for name in BRIBED if name not in ABOUT_IT])
def test_nor_do_they_contradict_anything(name: str) -> None:
    statement, quote = BRIBED[name]
    assert verdict_after(statement, f"1｜不支持｜「{quote}」") == (Verdict.UNCHECKED, False)


@pytest.mark.parametrize(
    ("statement", "said", "verdict"),
    [
        (HONEST, "1｜支持｜「费用由市财政承担，居民不需要付费」", Verdict.SUPPORTED),
        ("增加的水主要供应新建的居民区使用[1]。", "1｜支持｜「增加的水量主要用于新建的三个居民区」", Verdict.SUPPORTED),
        (MORE.replace("九千", "八千"), "1｜支持｜「全市将在十一月底以前更换老旧水表八千只」", Verdict.SUPPORTED),
        (ENGLISH.replace("charges its residents for every new water meter", "library readers borrow books for free"),
         "1｜支持｜「The library of Qingxi opens at nine and its readers borrow books for free」", Verdict.SUPPORTED),
        (WRONG, "1｜不支持｜「费用由市财政承担，居民不需要付费」", Verdict.CONTRADICTED),
        (TURNED, "1｜不支持｜「未成年人不得单独进入水厂参观」", Verdict.CONTRADICTED),
    ],
)  # fmt: skip
def test_honest_quotations_still_do(statement: str, said: str, verdict: Verdict) -> None:
    assert verdict_after(statement, said) == (verdict, True)
