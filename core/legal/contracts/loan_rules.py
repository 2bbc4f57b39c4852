"""Rules for loans: interest, its deduction in advance, compound interest, mortgages and guarantees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from core.legal.contracts import lpr
from core.legal.contracts.contract_text import Contract, ContractKind, Sentence
from core.legal.contracts.contract_values import (
    amount_after,
    amounts,
    durations,
    months_between_dates,
    quantities,
    rates,
    value_of,
)
from core.legal.contracts.general_rules import civil_code
from core.legal.contracts.rule import Accusation, Basis, ContractRule, Severity, is_negated, phrase_rule

_LOAN = (ContractKind.LOAN,)
_LENDING = "最高人民法院关于审理民间借贷案件适用法律若干问题的规定"
_CAP = Basis(_LENDING, 25, "双方约定的利率超过合同成立时一年期贷款市场报价利率四倍的除外")
_LATE_CAP = Basis(_LENDING, 28, "不超过合同成立时一年期贷款市场报价利率四倍为限")
_TOTAL_CAP = Basis(_LENDING, 29, "总计超过合同成立时一年期贷款市场报价利率四倍的部分，人民法院不予支持")
_NO_USURY = civil_code(680, "禁止高利放贷，借款的利率不得违反国家有关规定")
_HIGH = 24.0
"""Rate per year, in per cent, that is worth a look where no published rate counts for the day."""
_INSTITUTION = r"(?:FIRST)(?:[(][^()\n]{0,12}[)])?:[^\n。;,]{0,24}(?:银行股份|银行有限|信用社|小额贷款|消费金融|信托|金融租赁|汽车金融|分行|支行)"
_LATE = "逾期|迟延|拖欠|到期(?:未|不)|未按(?:期|时|约)|违约金|罚息|滞纳金"
_PRINCIPAL = re.compile("借款(?:本金|金额|总额|数额)?|本金|借到|借给|出借|今借|借得|借人民币")
_STATED_LPR = re.compile(r"(?:lpr|贷款市场报价利率)[^,。;]{0,14}?(?:为|是|即|\(|:)?(\d{1,2}(?:\.\d{1,3})?)%")
_MULTIPLE = re.compile(
    r"(?:lpr|贷款市场报价利率|银行同期(?:贷款)?(?:基准)?利率)\)?[^,。;]{0,10}?(?:的)?(\d{1,2}(?:\.\d)?|[一二两三四五六七八九十])倍"
)


def _times() -> float:
    return value_of(quantities(re.sub("^.*报价利率", "", _CAP.anchor))[0])


def _lpr(contract: Contract, day: date) -> tuple[float, str, bool] | None:
    """Return the rate that counts for a contract, words on where it comes from, and whether it is certain."""
    if stated := _STATED_LPR.search(contract.text):
        return float(stated[1]), f"文稿写明的一年期 LPR {stated[1]}%，请核对", True
    known = lpr.rate_on(day)
    if known is None:
        return None
    since, rate = known
    if day <= lpr.KNOWN_UNTIL:
        return rate, f"{day} 适用 {since} 公布的一年期 LPR {rate:.2f}%", True
    return (
        rate,
        f"本程序所知最后一次变动是 {since} 的一年期 LPR {rate:.2f}%，之后的请到全国银行间同业拆借中心核对",
        False,
    )


def principal(contract: Contract) -> float | None:
    found = (amount_after(_PRINCIPAL, sentence.text, 30) for sentence in contract.sentences)
    return next((amount for amount in found if amount), None)


_PER_TEN_THOUSAND = re.compile(
    "(?:每|一|1)万(?:元|块)?(?:钱|本金)?(?:每|一|1|按)?个?(月|天|日|年)[^,。]{0,8}?(?=[\\d一二两三四五六七八九])"
)
_PERIODS_A_YEAR = {"年": 1, "月": 12, "日": 365, "天": 365}


def _annual_rates(contract: Contract, sentence: Sentence) -> list[float]:
    """Return the rates per year that a sentence sets, also those that follow from amounts per month or day."""
    text = _STATED_LPR.sub("", sentence.text)
    found = [rate.annual for rate in rates(text)]
    if by_ten_thousand := _PER_TEN_THOUSAND.search(text):
        money = amounts(text[by_ten_thousand.end() - 1 :][:16])
        found += [value_of(one) / 100 * _PERIODS_A_YEAR[by_ten_thousand[1]] for one in money[:1]]
    whole = contract.amount(principal)
    months = contract.amount(_loan_months)
    if whole and months and not found and (interest := _whole_interest(text)):
        return [100 * interest / whole * 12 / months]
    per = re.search(r"(?:每|按)(?P<late>逾期)?(?:一|1)?(?:个)?(?P<period>日|天|月)[^,。]{0,24}", text) or re.search(
        r"(?P<late>逾期)(?:一|1)(?P<period>日|天|月)[^,。]{0,24}", text
    )
    if per and whole and not found and re.search("利息|违约金|罚息|滞纳金", text):
        money = amounts(text[per.start() : per.end() + 12])
        if money and not re.search("还款|偿还本|归还本|本息", per[0]):
            found.append(100 * value_of(money[0]) / whole * (12 if per["period"] == "月" else 365))
    return found


def _loan_months(contract: Contract) -> float | None:
    """Return the months for which the money is lent."""
    for sentence in contract.matching("期限|借期|为期|借款期"):
        if months := months_between_dates(sentence.text) or next(
            (months for _, months in durations(sentence.text)), 0.0
        ):
            return months
    return None


def _whole_interest(text: str) -> float | None:
    """Return the interest for the whole time of a loan, where a sentence names it as one amount."""
    if re.search("[每按]个?[日天月年季]|扣", text):
        return None
    before = re.search("(?:为|作为|是|算)利息", text)
    money = amounts(text[: before.start()]) if before else []
    return value_of(money[-1]) if money else amount_after(re.compile("利息(?:共计?|总计|总额|合计|一共|为)"), text, 6)


def _over_cap(contract: Contract, day: date) -> Iterator[Accusation]:
    if contract.mentions(_INSTITUTION):
        return
    reference = _lpr(contract, day)
    normal = 0.0
    for sentence in contract.matching("利|息|违约金|滞纳金|罚|倍|手续费|服务费|管理费", "信用卡"):
        multiple = _MULTIPLE.search(sentence.text)
        if multiple and value_of(quantities(f"{multiple[1]}倍")[0]) > _times():
            note = f"文稿约定利率为贷款市场报价利率的 {multiple[1]} 倍；条文：{_CAP.anchor}。请降到四倍以内。"
            yield Accusation(sentence, Severity.VIOLATES, note, (_CAP,))
            continue
        found = _annual_rates(contract, sentence)
        if not found or re.search("不(?:得)?(?:高于|超过)[^,。]{0,20}(?:lpr|报价利率)", sentence.text):
            continue
        is_late = re.search(_LATE, sentence.text) is not None
        annual = (
            sum(found)
            if is_late and re.search("并|同时|另|加收|以及|和|除", sentence.text) and len(found) > 1
            else max(found)
        )
        yield from _accuse_rate(sentence, annual, reference, is_late=is_late, is_sum=is_late and len(found) > 1)
        normal = max(normal, 0.0 if is_late else annual)


def _accuse_rate(
    sentence: Sentence, annual: float, reference: tuple[float, str, bool] | None, *, is_late: bool, is_sum: bool
) -> Iterator[Accusation]:
    basis = _TOTAL_CAP if is_sum else _LATE_CAP if is_late else _CAP
    other = f"文稿的利率约合每年 {annual:.1f}%；条文：{_NO_USURY.anchor}。规定利率上限的司法解释库中没有，请核对当期一年期 LPR 的四倍。"
    otherwise = Accusation(sentence, Severity.CHECK, other, (_NO_USURY,))
    if reference is None:
        if annual > _HIGH:
            yield otherwise
        return
    rate, source, is_certain = reference
    most = rate * _times()
    if annual <= most + 0.01:
        return
    severity = Severity.VIOLATES if is_certain or annual > lpr.HIGHEST * _times() else Severity.CHECK
    what = "逾期利率、违约金等" if is_late else "利率"
    note = f"文稿的{what}约合每年 {annual:.1f}%，高于 {most:.2f}%（{source}，四倍）；条文：{basis.anchor}。请降低。"
    extra = (_LATE_CAP, _TOTAL_CAP) if is_late else (_NO_USURY,)
    yield Accusation(sentence, severity, note, (basis, *(one for one in extra if one is not basis)), otherwise)


_DEDUCTED = civil_code(
    670, "借款的利息不得预先在本金中扣除。利息预先在本金中扣除的，应当按照实际借款数额返还借款并计算利息"
)
_DEDUCTED_TOO = Basis(_LENDING, 26, "预先在本金中扣除利息的，人民法院应当将实际出借的金额认定为本金")
_TAKEN = "扣|留下|截留|预收|先收|坐支|预付|先付|先拿|抽走|抵掉|先行支付|提前支付|预先支付"
_FEE = "息|手续费|服务费|管理费|咨询费|砍头|中介费|保证金|费用"
_AT_PAYMENT = (
    "本金|放款|划款|转账|转款|打款|实际|实得|到手|先|首|头一?个?月|预|当场|实收|到账|出借时|交付时|付款时|发放|支付借款"
)
_RECEIVED = re.compile(
    "实际(?:到账|交付|支付|收到|出借|转账|得款|发放|放款|打款|到手)(?:金额|数额|款项)?|实付|实收|到账(?:金额)?"
)


def _less_received(contract: Contract, day: date) -> Iterator[Accusation]:
    whole = contract.amount(principal)
    for sentence in contract.matching(_RECEIVED.pattern):
        received = amount_after(_RECEIVED, sentence.text)
        if whole and received and received < whole and re.search("扣|利息|费", sentence.text + sentence.section[-200:]):
            note = f"文稿的本金 {whole:,.0f} 元，实际交付 {received:,.0f} 元；条文：{_DEDUCTED.anchor}。请按实际数额写本金。"
            yield Accusation(sentence, Severity.VIOLATES, note, (_DEDUCTED, _DEDUCTED_TOO))


_SILENT = civil_code(680, "借款合同对支付利息没有约定的，视为没有利息")
_UNCLEAR = civil_code(680, "借款合同对支付利息约定不明确")


def _silent_interest(contract: Contract, day: date) -> Iterator[Accusation]:
    if contract.mentions("息|利率|(?:月|年)利|无偿|资金占用费"):
        return
    for sentence in contract.matching(_PRINCIPAL.pattern):
        if amounts(sentence.text):
            note = f"文稿没有写利息；条文：{_SILENT.anchor}。要收利息的，请写明利率。"
            yield Accusation(sentence, Severity.CHECK, note, (_SILENT,))
            return


_MORTGAGE = civil_code(401, "与抵押人约定债务人不履行到期债务时抵押财产归债权人所有的，只能依法就抵押财产优先受偿")
_PLEDGE = civil_code(428, "与出质人约定债务人不履行到期债务时质押财产归债权人所有的，只能依法就质押财产优先受偿")
_OWNED = (
    "(?:归(?:FIRST|其)(?:所有|持有|了|(?=[,。;]))|转归|归到|(?:转|落|登记)(?:到|至|在)(?:FIRST)名下|顶账|抵账|抵给|作价(?:归|抵|给)|(?:所有权|产权)[^,。]{0,10}(?:归|转移|转归|属于|过户)[^,。]{0,6}(?:FIRST|其)|过户(?:给|至|到)[^,。]{0,6}(?:FIRST|其)|(?:抵偿|抵顶|折抵|冲抵)[^,。]{0,10}(?:债务|欠款|借款|本息|债)|抵债"
    "|(?:FIRST)(?:有权)?(?:直接|自动|即)?(?:取得|享有|拥有|占有)[^,。]{0,14}(?:所有权|产权|房屋|车辆)|自动转让|无条件(?:过户|转让)|归其所有)"
)
_UNPAID = "(?:逾期|到期|届期|还不上|还不了|不还|没还|期满|不能|无法|未能|未按|未(?:能)?(?:归还|偿还|还清|清偿)|不还|不履行|届满)"


def _forfeited_security(contract: Contract, day: date) -> Iterator[Accusation]:
    fair = "拍卖|变卖|折价|协商|评估|优先受偿|处置|价款|所得|依法|法院|不得|不(?:约定|作|会|能|使|导致)[^,。]{0,16}归|不因[^。]{0,60}归|并不[^,。]{0,10}归|不(?:直接|当然|自动)[^,。]{0,4}归|无权(?:直接)?(?:取得|要求)"
    for sentence in contract.matching(f"{_UNPAID}[^。]{{0,70}}{_OWNED}", fair):
        found = contract.search(f"{_UNPAID}[^。]{{0,70}}{_OWNED}", sentence.text)
        if not found or not re.search("房|车|抵押|质押|出质|质物|财产|股权|商铺|土地|设备|首饰|物品", sentence.text):
            continue
        pledge = re.search("质押|出质|质物|质权", sentence.text) or (
            not re.search("抵押", sentence.text)
            and contract.mentions("质押|出质|质物")
            and not contract.mentions("抵押")
        )
        basis = _PLEDGE if pledge else _MORTGAGE
        note = f"文稿约定到期不还时担保财产直接归债权人；条文：{basis.anchor}。请改为拍卖、变卖或协议折价后优先受偿。"
        yield Accusation(sentence, Severity.VIOLATES, note, (basis,))


_GENERAL_GUARANTEE = civil_code(686, "当事人在保证合同中对保证方式没有约定或者约定不明确的，按照一般保证承担保证责任")
_GUARANTEE_TERM = civil_code(692, "没有约定或者约定不明确的，保证期间为主债务履行期限届满之日起六个月")
_GUARANTEE_TOO_SHORT = civil_code(692, "约定的保证期间早于主债务履行期限或者与主债务履行期限同时届满的，视为没有约定")
_UNTIL_PAID = Basis(
    "最高人民法院关于适用《中华人民共和国民法典》有关担保制度的解释",
    32,
    "保证人承担保证责任直至主债务本息还清时为止等类似内容的，视为约定不明",
)
_GUARANTOR = "(?:保证人|担保人|丙方|连带保证人|担保方|保证方)"


def _guarantees(contract: Contract) -> list[Sentence]:
    """Return the sentences in which a third person promises to answer for the debt."""
    return [
        one
        for one in contract.matching(
            f"{_GUARANTOR}[^。]{{0,40}}(?:保证|担保|清偿|偿还|代为|承担)|由[^,。]{{0,16}}(?:提供|承担)[^,。]{{0,6}}(?:保证|担保)|愿意?(?:为|替|给)[^,。]{{0,16}}(?:作保|做保|担保|提供保证|承担保证)"
        )
        if not re.search("抵押|质押|^.{0,12}(?:签字|盖章|身份证|签名)|无担保|不提供|追偿|通知|住址|电话", one.text)
    ]


def _guarantee_kind(contract: Contract, day: date) -> Iterator[Accusation]:
    found = _guarantees(contract)
    if found and not contract.mentions("连带|一般保证|一般责任|一般担保"):
        note = f"文稿没有写明保证方式；条文：{_GENERAL_GUARANTEE.anchor}。请写明一般保证或者连带责任保证。"
        yield Accusation(found[0], Severity.CHECK, note, (_GENERAL_GUARANTEE,))


def _guarantee_term(contract: Contract, day: date) -> Iterator[Accusation]:
    found = _guarantees(contract)
    terms = list(
        contract.matching(
            "(?:保证|担保)(?:责任)?(?:期间|期限|期)|(?:保证|担保)[^。]{0,40}(?:年|月|日)(?:止|内|为止)|(?:保证|担保)[^。]{0,24}(?:直至|直到|至)[^。]{0,30}(?:还清|清偿|付清|归还|履行完毕)|(?:保证|担保)[^。]{0,6}(?:到|至)[^。]{0,12}后[^,。]{0,8}(?:年|月|日|天)"
        )
    )
    for sentence in terms:
        if re.search("(?:直至|直到|至|到)[^。]{0,30}(?:还清|清偿|付清|全部归还|偿还完毕|履行完毕|还完)", sentence.text):
            note = f"文稿的保证期间至债务还清为止，视为约定不明；条文：{_GUARANTEE_TERM.anchor}。请写明起止日期。"
            yield Accusation(sentence, Severity.CHECK, note, (_GUARANTEE_TERM, _UNTIL_PAID))
        elif re.search(
            "与?(?:主债务|借款|主合同)[^。]{0,14}(?:期限|到期)[^。]{0,8}(?:相同|一致|同时|届满之日止|之日止)|同时届满|(?:早于|先于)",
            sentence.text,
        ):
            note = f"文稿的保证期间不晚于还款期限；条文：{_GUARANTEE_TOO_SHORT.anchor}，保证期间为六个月。请改为还款期限届满之后的一段时间。"
            yield Accusation(sentence, Severity.CHECK, note, (_GUARANTEE_TOO_SHORT,))
    if found and not terms:
        note = f"文稿没有写明保证期间；条文：{_GUARANTEE_TERM.anchor}。请写明。"
        yield Accusation(found[0], Severity.CHECK, note, (_GUARANTEE_TERM,))


_COMPOUND = Basis(
    _LENDING,
    27,
    "超过以最初借款本金与以最初借款本金为基数、以合同成立时一年期贷款市场报价利率四倍计算的整个借款期间的利息之和的",
)
_VOID_LOAN = Basis(_LENDING, 13, "出借人事先知道或者应当知道借款人借款用于违法犯罪活动仍然提供借款的")
_RELENDING = Basis(_LENDING, 13, "套取金融机构贷款转贷的")
_PUBLIC_ORDER = civil_code(153, "违背公序良俗的民事法律行为无效")


def _illegal_purpose(contract: Contract, day: date) -> Iterator[Accusation]:
    bad = "赌博|赌资|赌场|赌债|博彩|毒品|贩毒|走私|诈骗|行贿|洗钱|传销"
    for sentence in contract.matching(bad):
        found = re.search(bad, sentence.text)
        if (
            not found
            or is_negated(sentence.text, found.start())
            or re.search("不得|禁止|严禁|不用于|非法活动的|违法", sentence.text)
        ):
            continue
        note = "文稿的借款用于违法犯罪活动；条文：出借人知道或者应当知道仍然提供借款的，民间借贷合同无效。请不要订立。"
        other = Accusation(
            sentence,
            Severity.VIOLATES,
            f"文稿的借款用于违法活动；条文：{_PUBLIC_ORDER.anchor}。请不要订立。",
            (_PUBLIC_ORDER,),
        )
        yield Accusation(sentence, Severity.VIOLATES, note, (_VOID_LOAN, _PUBLIC_ORDER), other)


LOAN_RULES: tuple[ContractRule, ...] = (
    ContractRule("rate-cap", "利率上限", _LOAN, (_CAP, _LATE_CAP, _TOTAL_CAP), _over_cap),
    phrase_rule(
        "interest-deducted",
        "预先扣除利息",
        _LOAN,
        (_DEDUCTED, _DEDUCTED_TOO),
        (_FEE, _TAKEN, _AT_PAYMENT),
        "文稿预先扣除利息或费用；条文：借款的利息不得预先在本金中扣除，预先扣除的，应当按照实际借款数额返还借款并计算利息。请按实际数额写本金。",
        unless="提前(?:还|归还|偿还|清偿)|不(?:得|予|会)?[^,。]{0,8}(?:扣|预收|预付|先收)|未(?:预先)?[^,。]{0,6}扣|无(?:任何)?[^,。]{0,6}扣|没有[^,。]{0,8}扣|扣划|划扣|代扣|先(?:还|付|偿还|冲抵|抵充)[^,。]{0,6}(?:利?息|费)|抵充|清偿顺序",
    ),
    ContractRule("less-received", "实际交付的数额", _LOAN, (_DEDUCTED,), _less_received),
    ContractRule("interest-silent", "没有约定利息", _LOAN, (_SILENT,), _silent_interest),
    phrase_rule(
        "interest-unclear",
        "利息约定不明",
        _LOAN,
        (_UNCLEAR,),
        (
            "(?:利息|利率)[^。]{0,20}(?:另议|看着给|面议|另行(?:协商|约定|商定)|适当|酌情|视情况|按市场|行情|到时|从优|随行就市|口头|参照市场|再(?:定|议|商))",
        ),
        "文稿对利息约定不明确；条文：自然人之间借款的，视为没有利息。请写明利率和计算方法。",
        severity=Severity.CHECK,
    ),
    phrase_rule(
        "compound",
        "复利",
        _LOAN,
        (_COMPOUND,),
        (
            "复利|利滚利|滚(?:入|进|到|为|存)|息(?:转|计入|并入|加入|变)[^,。]{0,6}本|息[^。]{0,20}(?:计入|转为|转入|并入|作为|加到|算进|算入)[^,。]{0,8}本金|本息[^,。]{0,8}(?:作为|转为)[^,。]{0,8}本金|以本息[^,。]{0,8}基数",
        ),
        "文稿计算复利；条文：本息之和超过以最初借款本金为基数、以一年期贷款市场报价利率四倍计算的利息之和的，人民法院不予支持。请核对总额。",
        severity=Severity.CHECK,
        fallback=(
            _NO_USURY,
            f"文稿计算复利；条文：{_NO_USURY.anchor}。规定复利上限的司法解释库中没有，请核对本息总额是否超过按一年期 LPR 四倍计算的数额。",
        ),
        unless="不(?:得|计|计算|收|按|再)?[^,。]{0,6}(?:复利|计入|滚|利滚利|转入)|不计收",
    ),
    ContractRule("forfeited-security", "流押流质", _LOAN, (_MORTGAGE, _PLEDGE), _forfeited_security),
    ContractRule("guarantee-kind", "保证方式", _LOAN, (_GENERAL_GUARANTEE,), _guarantee_kind),
    ContractRule("guarantee-term", "保证期间", _LOAN, (_GUARANTEE_TERM, _GUARANTEE_TOO_SHORT), _guarantee_term),
    ContractRule("illegal-purpose", "借款用途", _LOAN, (_VOID_LOAN,), _illegal_purpose),
    phrase_rule(
        "relending",
        "套取贷款转贷",
        _LOAN,
        (_RELENDING,),
        (
            "资金|款|钱",
            "来源于|来自|源于|系|从|用|是",
            "(?:银行|金融机构|信用卡|网贷|平台)[^,。]{0,12}(?:贷款|贷出|借出|套现|信贷|套取|贷来)",
        ),
        "文稿的出借资金来自金融机构的贷款；条文：套取金融机构贷款转贷的，民间借贷合同无效。请核对资金来源。",
        unless="非|不是|不属于|未|自有|不得(?!.{0,4}异议)|SECOND[^,。]{0,14}(?:偿还|归还|还)|逾期|同期|基准|报价利率",
    ),
)
