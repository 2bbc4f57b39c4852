"""Rules for sales."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from core.legal.contracts.contract_text import Contract, ContractKind
from core.legal.contracts.contract_values import durations, hours_of, quantities
from core.legal.contracts.general_rules import CONSUMER_TERMS, UNFAIR_TERMS, civil_code
from core.legal.contracts.rule import Accusation, Basis, ContractRule, Severity, phrase_rule
from core.legal.contracts.wording import ABSOLUTE, NO_LIABILITY

_SALE = (ContractKind.SALE,)
_CONSUMER = (ContractKind.SALE, ContractKind.SERVICE)
_SHORT_INSPECTION = civil_code(622, "当事人约定的检验期限过短")
_SHORTEST_INSPECTION = 3.0
"""Days; an inspection within them is worth a look. What the goods need is not in the draft."""
_INSPECTION = "检验|验收|异议|查验|验货|质量问题|签收|合格"
_AT_ONCE = "(?:收货|签收|到货|交付|提货|送达)当[日天时场]|(?:签收|收货|交付|提货)(?:后)?(?:即|当场|当日|立即)?(?:视为|即为)[^,。]{0,12}(?:验收|合格|符合|认可)|当场(?:验收|检验|验货|提出)|(?:签收|收货)时(?:当场|立即)?[^,。]{0,6}(?:验收|检验|提出)"


def _short_inspection(contract: Contract, day: date) -> Iterator[Accusation]:
    for sentence in contract.matching(_INSPECTION, "外观|付款|支付|开票|整改|修复|答复|回复|派员|到场"):
        text = sentence.text
        days = [months * 30.4375 for one, months in durations(text) if _is_deadline(text, one.start, one.end)]
        days += [
            hours / 24
            for one in quantities(text)
            if (hours := hours_of(one)) is not None and _is_deadline(text, one.start, one.end)
        ]
        at_once = re.search(_AT_ONCE, text)
        if not at_once and not (days and min(days) <= _SHORTEST_INSPECTION + 0.01):
            continue
        said = "收货时当场" if at_once else f"约 {min(days):.1f} 日"
        note = f"文稿的检验期限{said}；条文：约定的检验期限过短，难以完成全面检验的，仅视为对外观瑕疵提出异议的期限。请核对货物需要的检验时间。"
        yield Accusation(sentence, Severity.CHECK, note, (_SHORT_INSPECTION,))


def _is_deadline(text: str, start: int, end: int) -> bool:
    """Return whether a duration is the time in which the buyer inspects or objects."""
    around = text[max(0, start - 30) : end + 30]
    return bool(re.search(_INSPECTION, around)) and bool(
        re.match("内|以内|之内|完成|为|,|。|$", text[end:]) or text[start:end].endswith("内")
    )


_DEFECTS = civil_code(618, "因出卖人故意或者重大过失不告知买受人标的物瑕疵的，出卖人无权主张减轻或者免除责任")
_RETURNS = Basis("中华人民共和国消费者权益保护法", 24, "经营者提供的商品或者服务不符合质量要求的")
_FALSE_PRICE = civil_code(146, "行为人与相对人以虚假的意思表示实施的民事法律行为无效")

SALE_RULES: tuple[ContractRule, ...] = (
    ContractRule("inspection", "检验期限", _SALE, (_SHORT_INSPECTION,), _short_inspection),
    phrase_rule(
        "no-returns",
        "概不退换",
        _CONSUMER,
        (UNFAIR_TERMS, CONSUMER_TERMS, _RETURNS),
        (
            "不(?:予|得|再|能|可|作|做|支持|接受)*(?:要求)?(?:退|换)",
            f"{ABSOLUTE}|不退不换|余额|售出|恕不|离店|拆封|特价|打折",
        ),
        "文稿排除退货、换货或退款；条文：提供格式条款一方不合理地免除其责任、限制对方主要权利的，该条款无效；货物不符合质量要求的仍可以退换。请核对并写明例外。",
        severity=Severity.CHECK,
        unless="定金|(?:质量|瑕疵)[^,。]{0,8}(?:除外|可退|包退)|除质量|非质量|人为损坏",
    ),
    phrase_rule(
        "defects-exempt",
        "免除瑕疵责任",
        _SALE,
        (_DEFECTS,),
        ("质量|瑕疵|缺陷|故障|隐患|毛病|车况|现状", NO_LIABILITY),
        "文稿免除出卖人的瑕疵责任；条文：因出卖人故意或者重大过失不告知瑕疵的，出卖人无权主张减轻或者免除责任。请写明已告知的瑕疵和例外。",
        severity=Severity.CHECK,
        unless="因?(?:SECOND)[^。]{0,16}(?:使用不当|保管不善|原因|过错|人为|擅自|操作)|人为|不可抗力|质保期(?:外|满|届满)|保修期(?:外|满)|已告知|如实告知|正常磨损|伤|亡|FIRST(?:应|须)?(?:承担|负责|赔偿|免费)|不免除",
    ),
    phrase_rule(
        "two-prices",
        "两份价格",
        _SALE,
        (_FALSE_PRICE,),
        (
            "网签|备案|过户|申报|报税|税",
            "价|合同|金额",
            "低于|做低|另(?:签|行)|仅(?:用于|供)|避税|少(?:缴|交)|逃税|阴阳",
        ),
        "文稿用另一个价格备案或报税；条文：以虚假的意思表示实施的民事法律行为无效。请以真实价格签约。",
        severity=Severity.CHECK,
        unless="不得|一致|按(?:国家|税法)",
    ),
)
