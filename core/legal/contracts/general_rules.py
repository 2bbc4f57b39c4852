"""Rules for several kinds of contracts: 定金, 违约金, exemption clauses, standard terms, courts and arbitration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from core.legal.contracts.contract_text import Contract, ContractKind, Sentence
from core.legal.contracts.contract_values import (
    TOLERANCE,
    amount_after,
    amounts,
    number_in,
    per_cent,
    quantities,
    rates,
    shares,
    value_of,
)
from core.legal.contracts.rule import Accusation, Basis, ContractRule, Severity, phrase_rule
from core.legal.contracts.wording import AND, NO_LIABILITY

_CIVIL_CODE = "中华人民共和国民法典"
_PROCEDURE_LAW = "中华人民共和国民事诉讼法"
_ARBITRATION_LAW = "中华人民共和国仲裁法"
_CONSUMER_LAW = "中华人民共和国消费者权益保护法"
_PROCEDURE_INTERPRETATION = "最高人民法院关于适用《中华人民共和国民事诉讼法》的解释"
_ARBITRATION_INTERPRETATION = "最高人民法院关于适用《中华人民共和国仲裁法》若干问题的解释"
_CONTRACT_INTERPRETATION = "最高人民法院关于适用《中华人民共和国民法典》合同编通则若干问题的解释"
_CIVIL = (ContractKind.LEASE, ContractKind.LOAN, ContractKind.SALE, ContractKind.SERVICE)
_TRADE = (ContractKind.LEASE, ContractKind.SALE, ContractKind.SERVICE)


def civil_code(number: int, anchor: str) -> Basis:
    return Basis(_CIVIL_CODE, number, anchor)


UNFAIR_TERMS = civil_code(497, "提供格式条款一方不合理地免除或者减轻其责任、加重对方责任、限制对方主要权利")
RIGHTS_EXCLUDED = civil_code(497, "提供格式条款一方排除对方主要权利")
PENALTY = civil_code(585, "约定的违约金过分高于造成的损失的，人民法院或者仲裁机构可以根据当事人的请求予以适当减少")
PENALTY_OVER_LOSS = Basis(_CONTRACT_INTERPRETATION, 65, "约定的违约金超过造成损失的百分之三十的")
CONSUMER_TERMS = Basis(
    _CONSUMER_LAW,
    26,
    "作出排除或者限制消费者权利、减轻或者免除经营者责任、加重消费者责任等对消费者不公平、不合理的规定",
)

# ── 定金 ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_EARNEST = civil_code(586, "不得超过主合同标的额的百分之二十，超过部分不产生定金的效力")
_EARNEST_OR_PENALTY = civil_code(
    588, "当事人既约定违约金，又约定定金的，一方违约时，对方可以选择适用违约金或者定金条款"
)
_TOTAL = re.compile(
    "(?:合同)?总(?:价款?|金额|货款|房款|额|计)|合同(?:金额|价款|价格|标的额|总额)|(?:成交|转让|房屋|车辆|货物|购房|买卖)(?:总)?(?:价款?|价格|款)(?:总额)?|货款(?:总额|总计|共计|合计)|价税合计|合计(?:金额)?|总租金|租金总额|价款(?:总额|共计|总计|合计|为)|标的额|价格为|价钱|售价|作价|车价|房价|一口价|总费用|会费|学费|全款"
)
_EARNEST_WORD = re.compile("定金(?:数额|金额)?")


def total_price(contract: Contract) -> float | None:
    """Return the price that a contract names, or that follows from its quantity and unit price; else the sum of all its
    amounts, which is hardly less than the price."""
    named = [amount for one in contract.sentences if (amount := amount_after(_TOTAL, one.text))]
    others = [value_of(money) for one in contract.sentences for money in amounts(one.text)]
    return max(named) if named else _price_of_goods(contract) or sum(others) or None


_UNITS = "公斤|千克|kg|吨|斤|台|件|套|箱|个|只|辆|平方米|平米|㎡|亩|双|张|把|头|棵|株|支|瓶|桶|袋|部|组|副"
_WEIGHTS = {"吨": 1000.0, "公斤": 1.0, "千克": 1.0, "kg": 1.0, "斤": 0.5}
"""Units of weight in kilograms; each other unit is counted by itself."""
_PER_UNIT = re.compile(f"每({_UNITS})")
_BY_UNIT = re.compile(rf"(\d+(?:\.\d+)?万?)[元块]/({_UNITS})")
_COUNT = re.compile(
    rf"(?<![每第\d.重])(\d+(?:\.\d+)?万?|[一二两三四五六七八九十百千万]{{1,8}})({_UNITS})(?![一-龥]{{0,2}}月)"
)


def _price_of_goods(contract: Contract) -> float | None:
    """Return quantity times unit price, where the contract names one unit price."""
    prices = {
        (found[1], price)
        for one in contract.sentences
        for found in _PER_UNIT.finditer(one.text)
        if (price := amount_after(re.compile(found[0]), one.text, 8))
    } | {(found[2], _read(found[1])) for one in contract.sentences for found in _BY_UNIT.finditer(one.text)}
    if len(prices) != 1:
        return None
    unit, price = prices.pop()
    counts = [
        _read(found[1]) * _WEIGHTS.get(found[2], 1.0)
        for one in contract.sentences
        for found in _COUNT.finditer(one.text)
        if found[2] == unit or (found[2] in _WEIGHTS and unit in _WEIGHTS)
    ]
    return max(counts) * price / _WEIGHTS.get(unit, 1.0) if counts else None


def _read(number: str) -> float:
    """Return the value of a number in digits or characters."""
    found = quantities(f"{number}元")
    return value_of(found[0]) if found else 0.0


def _large_earnest(contract: Contract, day: date) -> Iterator[Accusation]:
    most = number_in(_EARNEST.anchor.split("，")[0])
    rest = next((found for one in contract.sentences if (found := amount_after(_REST, one.text))), 0.0)
    total = contract.amount(total_price)
    for sentence in contract.matching("定金"):
        share = _earnest_share(sentence.text, total, rest)
        if share is not None and most + TOLERANCE < share < _WHOLE:
            note = f"文稿的定金约为标的额的 {share:.1f}%；条文：{_EARNEST.anchor}。请降到 {most:.0f}% 以内，或把超过部分写明为预付款。"
            yield Accusation(sentence, Severity.VIOLATES, note, (_EARNEST,))


_WHOLE = 100.0
_REST = re.compile("余款|尾款|余下|剩余|剩下")


def _earnest_share(text: str, total: float | None, rest: float) -> float | None:
    """Return the earnest money as a share of the price: by a percentage beside the word, else by the amounts."""
    for phrase in re.split("[,;](?!该|此|上述|前述|为|即|金额|数额)|(?<!首)余款|剩余", text):
        place = phrase.find("定金")
        if place < 0 or re.search("双倍|加倍|罚则|违约金", phrase):
            continue
        for one in shares(phrase):
            before, after = phrase[one.end : place], phrase[place + 2 : one.start]
            is_beside = len(before) <= _NEAR if one.end <= place else len(after) <= _NEAR
            if one.unit == "%" and is_beside and not re.search("后|内", before + after):
                return per_cent(one)
        money = amount_after(_EARNEST_WORD, phrase, 16) or _amount_before(phrase)
        if money and total and not re.search("定金(?:交付|支付|到账)?后", phrase):
            return 100 * money / max(total, money + rest)
    return None


_NEAR = 16


def _amount_before(phrase: str, word: str = "定金") -> float | None:
    found = re.search(f"(?:作为|为|的|(?<=元))(?:购房|购车|本合同|本次|一次性|惩罚性)?{word}", phrase)
    money = amounts(phrase[: found.start()]) if found else []
    return value_of(money[-1]) if money else None


# ── 违约金 ────────────────────────────────────────────────────────────────────────────────────────────────────────

_HIGH_PER_DAY = 0.1
"""Share of the amount per day, in per cent, above which a penalty is usually reduced: 36.5 % a year."""
_HIGH_SHARE = 30.0
"""Share of the whole price, in per cent, from which a penalty is worth a look. The loss itself is not in the draft."""
_HIGH_RENTS = 3.0
"""Penalty in months of rent above which it is worth a look."""
_HIGH_DAILY_RENT = 1.0
"""Fixed penalty per day in per cent of the monthly rent above which it is worth a look."""
_EACH_DAY = "(?:每|按)[^,。]{0,6}?(?:一|1)?[日天]|(?:逾期|迟延|拖延|拖|晚|迟)(?:支付|交|付|缴|还)?(?:一|1)[日天]"
_RENT = re.compile("月租金?|租金(?:标准)?(?:为|:)?(?:每月|每个月)|每月租金")


def _high_penalty(contract: Contract, day: date) -> Iterator[Accusation]:
    for sentence in contract.matching("违约|滞纳|赔|罚|逾期|迟|晚交|拖欠|加收"):
        if said := _penalty_said(contract, sentence):
            note = f"文稿的违约金{said}；条文：约定的违约金过分高于造成的损失的，可以请求予以适当减少。请核对可能的损失，酌情降低。"
            yield Accusation(sentence, Severity.CHECK, note, (PENALTY, PENALTY_OVER_LOSS))


def _penalty_said(contract: Contract, sentence: Sentence) -> str:
    text = sentence.text
    daily = max((rate.annual / 365 for rate in rates(text) if rate.period == "日"), default=0.0)
    if daily > _HIGH_PER_DAY + 1e-6:
        return f"按日 {daily:g}%，相当于每年约 {daily * 365:.0f}%"
    if not re.search("违约金|赔|滞纳金|罚|加收|另付", text):
        return ""
    if times := _times_of_arrears(text):
        return f"为欠款的 {times:g} 倍"
    if contract.kind is ContractKind.LEASE:
        return _lease_penalty(contract, text)
    if not re.search("定金", text):
        of_price = [one for one in shares(text) if re.search("(?:价|款|额|金额|合同)[^,]{0,8}$", text[: one.start])]
        if of_price and (share := max(map(per_cent, of_price))) >= _HIGH_SHARE and not any(rates(text)):
            return f"为价款的 {share:.0f}%"
    if re.search(
        "(?:全部|全额|等额|同等)[^,。]{0,4}(?:价款|货款|房款|车款|合同总?[额价金])[^。]{0,12}违约金|违约金[^。]{0,12}(?:全部|全额)(?:价款|货款|房款)",
        text,
    ):
        return "相当于全部价款"
    return _amount_over_price(contract, text)


def _times_of_arrears(text: str) -> float:
    """Return how many times the unpaid amount a penalty is, 0 where the sentence does not say it so."""
    times = [
        one
        for one in shares(text)
        if one.unit == "倍" and re.search("(?:欠|未付|未支付|应付|逾期)[^,]{0,10}的?$", text[: one.start])
    ]
    return max(map(value_of, times), default=0.0)


def _monthly_rent(contract: Contract) -> float | None:
    return next((found for one in contract.sentences if (found := amount_after(_RENT, one.text))), None)


_PENALTY_WORD = re.compile("违约金|赔偿金?|赔付|罚款?|罚金|加收")


def _lease_penalty(contract: Contract, text: str) -> str:
    """Return what is high about a penalty in a lease, measured in months of rent."""
    if months := _months_of_rent(text):
        return f"相当于 {months:g} 个月的租金" if months > _HIGH_RENTS else ""
    if re.search(f"(?:{_WHOLE_RENT})[^。]{{0,30}}(?:违约金|赔偿)|(?:违约金|赔偿)[^。]{{0,30}}(?:{_WHOLE_RENT})", text):
        return "按剩余或全年的租金计算"
    rent = contract.amount(_monthly_rent)
    each_day = re.search(_EACH_DAY, text)
    if rent and each_day and (per_day := amounts(text[each_day.end() :][:30])):
        share = 100 * value_of(per_day[0]) / rent
        return f"每日 {value_of(per_day[0]):,.0f} 元，相当于月租金的 {share:.1f}%" if share > _HIGH_DAILY_RENT else ""
    money = amount_after(_PENALTY_WORD, text) or _amount_before(text, "违约金")
    if rent and money and money > _HIGH_RENTS * rent and not any(rates(text)):
        return f"{money:,.0f} 元，相当于 {money / rent:.1f} 个月的租金"
    return ""


_WHOLE_RENT = "(?:剩余|全部|全年|整个|未到期|未履行|未满|余下)[^,。]{0,10}租|年租金|年度租金|总租金|租金总额"


def _months_of_rent(text: str) -> float:
    """Return the months of rent that a penalty amounts to, 0 where the sentence does not say it so."""
    if found := re.search(r"(\d{1,2}|[一二两三四五六七八九十]{1,3})个?月(?:的)?(?:房屋|房)?租金?", text):
        return value_of(quantities(f"{found[1]}个月")[0])
    if found := re.search("月租金?(?:标准)?的?[^,。]{0,6}$", text.split("倍")[0] if "倍" in text else ""):
        times = [one for one in shares(text) if one.unit == "倍"]
        return value_of(times[0]) if times else 0.0
    share = [one for one in shares(text) if one.unit == "%" and re.search("月租金?的?$", text[: one.start])]
    return per_cent(share[0]) / 100 if share else 0.0


def _amount_over_price(contract: Contract, text: str) -> str:
    total = contract.amount(total_price)
    money = amount_after(_PENALTY_WORD, text) or _amount_before(text, "违约金")
    per_day = re.search(_EACH_DAY, text)
    if not total or not money:
        return ""
    if per_day and money / total * 100 > _HIGH_PER_DAY + 1e-6:
        return f"每日 {money:,.0f} 元，相当于价款的 {money / total:.2%}"
    if not per_day and money / total * 100 >= _HIGH_SHARE:
        return f"{money:,.0f} 元，相当于价款的 {money / total:.0%}"
    return ""


# ── Courts and arbitration ────────────────────────────────────────────────────────────────────────────────────────

_AGREED_COURT = Basis(_PROCEDURE_LAW, 35, "与争议有实际联系的地点的人民法院管辖", is_procedural=True)
_EXCLUSIVE = Basis(_PROCEDURE_LAW, 34, "因不动产纠纷提起的诉讼，由不动产所在地人民法院管辖", is_procedural=True)
_HOUSE_LEASE = Basis(_PROCEDURE_INTERPRETATION, 28, "房屋租赁合同纠纷", is_procedural=True)
_POLICY_HOUSE = Basis(_PROCEDURE_INTERPRETATION, 28, "政策性房屋买卖合同纠纷", is_procedural=True)
_POLICY = "经济适用(?:住)?房|政策性(?:住房|房屋)|共有产权(?:住)?房|限价(?:商品)?房|两限房|保障性?住房|安居房"
_LEVELS = Basis(_PROCEDURE_LAW, 35, "不得违反本法对级别管辖和专属管辖的规定", is_procedural=True)
_LINKED = (
    "甲方|乙方|丙方|双方|签署地|签字地|订立地|合同|交付地|施工地|经营地|货物|收货|到货|送货|店|居住|住地|户口|各方|被告|原告|签订地|履行地|所在|住所地|有关|相关|有权|对方|主管|合适|哪|本[市区县]|这边|那边|居住地|户籍|标的物|守约方|有管辖权|当地|出租|承租|买方|卖方|出卖|买受|供方|需方"
    "|FIRST|SECOND|住的|家里|老家|出借|借款人|贷款人|房屋|房子|登记地|注册地|管辖的|任何|债权人|违约方|交货地|签约地|安装地|就近|本地"
)
_HOUSE = "房屋|商铺|住宅|厂房|公寓|办公(?:室|楼|用房|场所|场地)|店面|门面|写字楼|仓库|房产|房子|卧室|主卧|次卧|单间|库房|铺面"
_REGION = "(?:壮族|回族|维吾尔)?自治区|特别行政区|省|市|自治州|新区|开发区|区|县|旗|州"
_PLACE = re.compile(f"[一-龥]{{2,6}}?(?:{_REGION})")


_PARTY = "^[^,。]{0,4}(?:FIRST|SECOND)(?:[(][^()]{0,14}[)])?:|住所|住址|身份证|联系(?:地址|电话)|签字|盖章"


_TOO_HIGH = "最高人民法院|高级人民法院"
_NO_COURT = "诉讼费|判决|裁判|裁定|认定|传票|调解书|执行|费|支持|确定|公告"


def _agreed_court(text: str) -> str | None:
    """Return the words that name the court of an agreed jurisdiction, or None."""
    found = re.search(
        f"(?:由|向|提交|提请|约定|诉至|选择|选定|指定|去|到|归|在)(?!收|经|判)([一-龥]{{2,30}}?(?:人民)?法院)(?!{_NO_COURT})",
        text,
    )
    if not found or not (_places(found[1]) or re.match(_TOO_HIGH, found[1])):
        return None
    return found[1] if re.search("管辖|起诉|诉讼|裁决|解决|审理|诉至|受理|官司|告|判", text) else None


def _places(court: str) -> list[str]:
    """Return the names of the places in a court's name: 杭州, 西湖 for 杭州市西湖区人民法院."""
    name = re.sub(
        "(?:基层|中级|高级|最高|互联网|铁路运输|知识产权|海事|金融)?(?:人民)?法院.*$|^(?:统一|依法|均|只能|应)*(?:向|由|到|在|至|去)?",
        "",
        court,
    )
    return [part for part in re.split(_REGION, name) if len(part) >= 2]


def _remote_court(contract: Contract, day: date) -> Iterator[Accusation]:
    for sentence in contract.matching("法院", "不服|仲裁裁决|强制执行|申请执行"):
        court = _agreed_court(sentence.text)
        if court is None:
            continue
        if re.search(_TOO_HIGH, court):
            note = f"文稿约定由{court}管辖；条文：{_LEVELS.anchor}。请核对级别管辖。"
            yield Accusation(sentence, Severity.CHECK, note, (_LEVELS,))
        elif special := _kind_of_house(contract):
            yield from _court_of_house(contract, sentence, court, special)
        elif not contract.search(_LINKED, court) and (places := _places(court)):
            others = contract.text.replace(sentence.text, "")
            if _PLACE.search(others) and not any(place in others for place in places[-2:]):
                note = f"文稿约定由{court}管辖，但文稿里没有别的地点与它有关；条文：可以选择{_AGREED_COURT.anchor}。请核对这个法院与争议的联系。"
                yield Accusation(sentence, Severity.CHECK, note, (_AGREED_COURT,))


def _kind_of_house(contract: Contract) -> Basis | None:
    """Return the article by which disputes about the contract belong to the court where the house stands, if any."""
    if contract.kind is ContractKind.LEASE:
        is_house = re.search(f"{_HOUSE}|房", contract.title) or len(re.findall(_HOUSE, contract.text)) >= _OFTEN
        return _HOUSE_LEASE if is_house else None
    is_policy = re.search(_POLICY, contract.title) or contract.mentions(f"性质(?:为|是|:|系)[^,。]{{0,4}}(?:{_POLICY})")
    return _POLICY_HOUSE if contract.kind is ContractKind.SALE and is_policy else None


_OFTEN = 3


def _court_of_house(contract: Contract, sentence: Sentence, court: str, special: Basis) -> Iterator[Accusation]:
    """Accuse a court that is not the one where the house stands."""
    of_party = contract.search("FIRST|SECOND|公司|原告|被告|守约|违约|户籍|注册|经营地", court)
    if re.search("有管辖权|管辖权的|依法|当地|管辖的|有关|相关", court) or (
        re.search("所在|坐落", court) and not of_party
    ):
        return
    places = _places(re.sub("^.*(?:所在地|住所地|居住地|注册地|经营地)的?", "", court))
    others = [one for one in contract.sentences if one != sentence and not contract.search(_PARTY, one.text)]
    houses = [
        one.text
        for one in others
        if re.search(f"坐落|座落|位于|地址|位置|{_HOUSE}", one.text) and _PLACE.search(one.text)
    ]
    known = "".join(one.text for one in others) if houses else contract.text.replace(sentence.text, "")
    if not of_party and any(place in known for place in places[-1:]):
        return
    what = f"文稿约定由{court}管辖"
    note = f"{what}；条文：{special.anchor}按照不动产纠纷确定管辖，由不动产所在地人民法院专属管辖。请改为房屋所在地人民法院。"
    other = f"{what}；条文：{_EXCLUSIVE.anchor}。这类房屋纠纷按不动产纠纷管辖的司法解释库中没有，请核对。"
    yield Accusation(
        sentence,
        Severity.VIOLATES if houses and places and not of_party else Severity.CHECK,
        note,
        (special, _EXCLUSIVE),
        otherwise=Accusation(sentence, Severity.CHECK, other, (_EXCLUSIVE,)),
    )


_EITHER = Basis(
    _ARBITRATION_INTERPRETATION, 7, "当事人约定争议可以向仲裁机构申请仲裁也可以向人民法院起诉的，仲裁协议无效"
)
_ARBITRATION_EXCLUDES = Basis(_ARBITRATION_LAW, 5, "当事人达成仲裁协议，一方向人民法院", is_procedural=True)
_NAMED_BODY = Basis(_ARBITRATION_LAW, 27, "选定的仲裁机构", earlier=Basis(_ARBITRATION_LAW, 16, "选定的仲裁委员会"))
_ALTERNATIVE = "或|也可|亦可|可以?也|任选|愿意|均可|都可|都行|选择|又|既|同时|不服|再"
_ONE_WAY = "下列第|以下第|第[()]?种|择一填|□|劳动|撤销|强制执行|申请执行|保全|终局|不(?:得|再|向|能)[^,。]{0,8}(?:法院|起诉|诉讼)|消费者协会|未约定仲裁|不(?:采用|选择|约定)仲裁|没有仲裁"


def _arbitration_or_court(contract: Contract, day: date) -> Iterator[Accusation]:
    for sentence in contract.matching("仲裁", _ONE_WAY):
        if not re.search("法院|起诉|诉讼|官司", sentence.text) or not re.search(_ALTERNATIVE, sentence.text):
            continue
        note = f"文稿约定既可以仲裁也可以起诉；条文：{_EITHER.anchor}。请只选一种。"
        other = "文稿约定既可以仲裁也可以起诉；条文：达成仲裁协议后一方起诉的，人民法院不予受理。仲裁法的司法解释库中没有，请核对约定是否有效，只选一种。"
        fallback = Accusation(sentence, Severity.CHECK, other, (_ARBITRATION_EXCLUDES,))
        yield Accusation(sentence, Severity.VIOLATES, note, (_EITHER, _ARBITRATION_EXCLUDES), otherwise=fallback)


def _unnamed_arbitration(contract: Contract, day: date) -> Iterator[Accusation]:
    body = "仲裁委员会|仲裁院|仲裁中心|贸仲|国际仲裁|仲裁委"
    for sentence in contract.matching(
        "(?:提交|提请|申请|通过|由|向)[^,。]{0,16}仲裁", "法院|诉讼|起诉|劳动|不(?:申请|提交)"
    ):
        named = re.search(r"([一-龥]{2,12}?)(?:仲裁委员会|仲裁院|国际仲裁中心|仲裁委)", sentence.text)
        if named and not re.search(
            "(?:当地|所在地|有关|相关|住所地|任何|任一|任意|履行地|签订地|有管辖权的)$", named[1]
        ):
            continue
        if (
            not named
            and re.search(body, sentence.text)
            and not re.search("当地|所在地|有关|相关|任何|任一", sentence.text)
        ):
            continue
        note = "文稿的仲裁条款没有写明仲裁机构；条文：仲裁协议应当具有选定的仲裁机构。请写明机构的全称。"
        yield Accusation(sentence, Severity.CHECK, note, (_NAMED_BODY,))


# ── Exemptions, standard terms, rights ────────────────────────────────────────────────────────────────────────────

_INJURY = civil_code(506, "造成对方人身损害的")
_INTENT = civil_code(506, "因故意或者重大过失造成对方财产损失的")
_LIMITATION = civil_code(197, "诉讼时效的期间、计算方法以及中止、中断的事由由法律规定，当事人约定无效")
_LIMITATION_WAIVED = civil_code(197, "当事人对诉讼时效利益的预先放弃无效")

GENERAL_RULES: tuple[ContractRule, ...] = (
    ContractRule("earnest", "定金的数额", _TRADE, (_EARNEST,), _large_earnest),
    phrase_rule(
        "earnest-and-penalty",
        "定金与违约金并用",
        _TRADE,
        (_EARNEST_OR_PENALTY,),
        ("定金", "违约金|罚金|赔偿金", AND, "没收|不(?:予|再)?(?:退|返)|双倍|加倍|罚则|不还|归"),
        "文稿让违约方同时承担定金和违约金；条文：当事人既约定违约金，又约定定金的，对方可以选择适用违约金或者定金条款。请改为择一适用。",
        unless="(?<!不得主张)(?<!不得)择一|选择(?:适用|其一|主张)|任选|二者(?:只|不)|不(?:得|能|再)?(?:同时|并用|一并)(?!.{0,4}主张择)|或(?:者)?(?:适用|主张|要求|支付)",
    ),
    ContractRule("penalty-high", "违约金的数额", _TRADE, (PENALTY,), _high_penalty),
    phrase_rule(
        "penalty-fixed",
        "不得请求调整违约金",
        _CIVIL,
        (
            PENALTY,
            Basis(
                _CONTRACT_INTERPRETATION,
                64,
                "当事人仅以合同约定不得对违约金进行调整为由主张不予调整违约金的，人民法院不予支持",
            ),
        ),
        ("违约金", "(?:放弃|不得|不能|无权|不予|不可|不)[^,。]{0,16}(?:调整|减少|降低|调低|酌减)"),
        "文稿排除对违约金的调整；条文：约定的违约金过分高于造成的损失的，可以根据当事人的请求予以适当减少。请删去。",
        severity=Severity.CHECK,
    ),
    phrase_rule(
        "injury-exempt",
        "免除人身损害责任",
        _CIVIL,
        (_INJURY,),
        (
            "人身|伤亡|受伤|伤害|死亡|伤残|猝死|摔|触电|烫伤|砸伤|扭伤|安全事故|安全问题|安全责任|生命|中毒|伤病|意外|骨折|灼伤|烧伤|毁容|红肿|过敏|感染|致[残死]|不良反应|溺水|伤痛|磕碰|坠落|(?:运动|身体|健康|肌肉)损[伤害]",
            NO_LIABILITY,
        ),
        "文稿免除人身损害的责任；条文：合同中造成对方人身损害的免责条款无效。请删去。",
        unless="因?(?:SECOND|FIRST)(?:自身|本人|自己|单方|的)?(?:的)?(?:原因|过错|过失|故意|违规|使用不当|违法|擅自|操作不当|改造|装修|违反)|因自身|自身(?:原因|过错|疾病)|(?:不可抗力|第三人|第三方)(?!.{0,40}(?:任何|一切|所有|均|概))|不免除|不得(?:免除|排除)|FIRST(?:应|须)?(?:承担|赔偿|负责)",
    ),
    phrase_rule(
        "intent-exempt",
        "免除故意或重大过失的责任",
        _CIVIL,
        (_INTENT,),
        ("故意|重大过失|任何原因|任何情[形况]|何种原因|何种过错|是否有过错|有无过错", NO_LIABILITY),
        "文稿不论故意或重大过失都免除责任；条文：因故意或者重大过失造成对方财产损失的免责条款无效。请写明例外。",
        unless="除外|(?:SECOND|FIRST)(?:故意|重大过失|恶意)|(?:非|并非|不是|没有|除)[^,。]{0,6}(?:故意|重大过失)|但[^。]{0,10}(?:故意|重大过失)|不可抗力|人身|伤|不免除",
    ),
    phrase_rule(
        "interpretation",
        "最终解释权",
        _CIVIL,
        (UNFAIR_TERMS, CONSUMER_TERMS),
        (
            "(?:最终|最后|唯一)[^,。]{0,8}(?:解释|说明权)|解释权|解释[^,。]{0,10}(?:为准|最终|说了算)|怎么解释|以(?:FIRST)[^,。]{0,10}(?:解释|理解|说明|说法|说的|意见)|由(?:FIRST)(?:负责|单方|全权|行使|进行)*解释(?!说明|清楚|给)|解释[^,。]{0,8}由(?:FIRST)(?:单方|自行|全权)?(?:决定|负责)|由(?:FIRST)说了算|听(?:FIRST)的",
        ),
        "文稿约定由一方解释合同；条文：提供格式条款一方不合理地限制对方主要权利的，该条款无效。如是格式条款，请删去。",
        severity=Severity.CHECK,
        unless="双方共同|不利于提供|司法解释",
    ),
    phrase_rule(
        "no-suit",
        "放弃诉讼权利",
        _CIVIL,
        (RIGHTS_EXCLUDED,),
        (
            "起诉|诉讼|诉权|法院|诉诸|投诉|仲裁|官司|报警",
            "放弃|不得(?!违反)|不能|无权|不可|不许|不准|只能(?:私下|协商|由FIRST)",
        ),
        "文稿让一方放弃诉讼等权利；条文：提供格式条款一方排除对方主要权利的，该格式条款无效。请核对并删去。",
        severity=Severity.CHECK,
        unless="终局|撤回|除[^,。]{0,10}外|别的法院|其他(?:法院|地)|不得以|协商不成|不能(?:解决|达成|协商)|仲裁委员会",
    ),
    phrase_rule(
        "limitation",
        "约定诉讼时效",
        _CIVIL,
        (_LIMITATION, _LIMITATION_WAIVED),
        ("时效", "(?:为|延长|缩短|约定)[^,。]{0,8}(?:年|月|日|永久)|不受|放弃|不适用|永久|终身"),
        "文稿约定或预先放弃诉讼时效；条文：诉讼时效由法律规定，当事人约定无效；预先放弃也无效。请删去。",
        unless="中断|重新计算|法律规定|依法|时效性",
    ),
    ContractRule("court", "约定管辖", _CIVIL, (_AGREED_COURT, _LEVELS, _EXCLUSIVE, _HOUSE_LEASE), _remote_court),
    ContractRule("arbitration-or-court", "或裁或诉", _CIVIL, (_EITHER,), _arbitration_or_court),
    ContractRule("arbitration-body", "仲裁机构", _CIVIL, (_NAMED_BODY,), _unnamed_arbitration),
)
