"""Rules for labour contracts, and for agreements on confidentiality, competition and training that belong to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

from core.base.chinese.quantities import Quantity
from core.legal.contracts.contract_text import Contract, ContractKind, Sentence
from core.legal.contracts.contract_values import (
    TOLERANCE,
    amount_after,
    amounts,
    durations,
    hours_of,
    months_between_dates,
    number_in,
    per_cent,
    quantities,
    shares,
    value_of,
)
from core.legal.contracts.rule import Accusation, Basis, ContractRule, Severity, phrase_rule
from core.legal.contracts.wording import NO_LIABILITY, NOT_PAID

_LABOUR = (ContractKind.LABOUR,)
_CONTRACT_LAW = "中华人民共和国劳动合同法"
_LABOUR_LAW = "中华人民共和国劳动法"
_INSURANCE_LAW = "中华人民共和国社会保险法"
_WOMEN_LAW = "中华人民共和国妇女权益保障法"
_DISPUTES_LAW = "中华人民共和国劳动争议调解仲裁法"


def _article(number: int, anchor: str) -> Basis:
    return Basis(_CONTRACT_LAW, number, anchor)


_VOID = _article(26, "用人单位免除自己的法定责任、排除劳动者权利的")

# ── Probation ─────────────────────────────────────────────────────────────────────────────────────────────────────

_UNDER_A_YEAR = _article(19, "劳动合同期限三个月以上不满一年的，试用期不得超过一个月")
_UNDER_THREE_YEARS = _article(19, "劳动合同期限一年以上不满三年的，试用期不得超过二个月")
_THREE_YEARS = _article(19, "三年以上固定期限和无固定期限的劳动合同，试用期不得超过六个月")
_NO_PROBATION = _article(19, "以完成一定工作任务为期限的劳动合同或者劳动合同期限不满三个月的，不得约定试用期")
_ONCE = _article(19, "同一用人单位与同一劳动者只能约定一次试用期")
_ONLY_PROBATION = _article(19, "劳动合同仅约定试用期的，试用期不成立，该期限为劳动合同期限")
_PART_TIME_PROBATION = _article(70, "非全日制用工双方当事人不得约定试用期")
_PART_TIME = "(?<!不是)(?<!不属于)(?<!不适用)(?<!不采用)非全日制|(?:系|为|是|按|做)小时工|以小时计酬"
_OPEN_ENDED = "无固定期限"
_TASK = "完成一定(?:的)?(?:工作)?任务|以(?:完成)?[^,。]{0,20}(?:任务|工程|项目|工作)[^,。]{0,8}为(?:合同)?期限|(?:项目|工程)(?:结束|完工|竣工|完成)[^,。]{0,4}止"
_FILLER = r"(?:期限|时间|时长|共计?|约定|另?定|设|暂|双方|甲乙|甲方|乙方|为|是|:|,|自|从|起|至|到|止|\(|\)|即|有|长|满|本合同|合同|生效|签订|之日|上岗|入职|□|的|不超过|最长|期间|后|,)"
_PROBATION_BEFORE = re.compile(
    "(?:内|的?时间|以内)?(?:为|是|作为|算|作|当作|系|属于|均为|都是|的|里)?(?:新人|新员工|乙方|其|考察|入职)?试(?:用|岗|工)"
)
_TERM_WORDS = (
    r"期限|合同期|有效期|起至|期间为|合同签|签订?[一二两三四五\d]|为期|聘期|聘用期|用工期|合同为|(?:到|至|—|-)\d{4}"
)
_PROBATION = "试(?:用|岗|工)(?:期限?|阶段|时间)?|考察期|见习期"
_OTHER_TERM = re.compile(
    "竞业|保密|服务期|医疗期|培训|脱密|通知|支付|原合同|以内|日内|年内|月内|工资|报酬|离职|辞|补偿"
)


def _probation(text: str) -> float | None:
    """Return the months of a probation that a sentence sets."""
    for place in re.finditer(_PROBATION, text):
        rest = text[place.end() : place.end() + 60].replace("一季度", "三个月")
        for quantity, months in durations(rest)[:1]:
            gap = re.sub(r"\d{4}年\d{1,2}月\d{1,2}[日号]", "□", rest[: quantity.start])
            if re.fullmatch(f"{_FILLER}{{0,16}}", gap) and not re.match(
                "内?(?:的)?(?:工资|通知|告知|讲|说)", rest[quantity.end :]
            ):
                return months
        if re.match(rf"{_FILLER}{{0,6}}\d{{4}}[年./-]", rest) and (between := months_between_dates(rest)):
            return between
    for quantity, months in durations(text):
        if _PROBATION_BEFORE.match(text, quantity.end):
            return months
    return None


def _term(contract: Contract) -> float | None:
    """Return the months for which a labour contract runs: infinity for an open end, 0 for one task."""
    for sentence in contract.sentences:
        phrases = [
            one for one in sentence.text.split(",") if not re.search(_PROBATION, one) and not _OTHER_TERM.search(one)
        ]
        chosen = re.sub("不(?:采用|适用|是|属于)[^,]{0,10}", "", ",".join(phrases))
        if not re.search(_TERM_WORDS, chosen):
            continue
        if _OPEN_ENDED in chosen and "固定期限、" not in chosen:
            return float("inf")
        if re.search(_TASK, chosen) and not re.search("(?<!无)固定期限", chosen):
            return 0.0
        if (months := months_between_dates(chosen)) is not None:
            return months
        if found := durations(chosen):
            return found[0][1]
    return None


def _limit(term: float) -> Basis:
    """Return the sentence of the article for a term. Its borders are the durations that the sentence names."""
    for basis in (_UNDER_A_YEAR, _UNDER_THREE_YEARS):
        at_least, below = (months for _, months in durations(basis.anchor)[:2])
        if term < at_least - TOLERANCE:
            return _NO_PROBATION
        if term < below - TOLERANCE:
            return basis
    return _THREE_YEARS


def _long_probation(contract: Contract, day: date) -> Iterator[Accusation]:
    term = _term(contract)
    for sentence in contract.matching(_PROBATION, "延长|重新|再次|原合同|已通过"):
        probation = _probation(sentence.text)
        if probation is None or not probation:
            continue
        if contract.mentions(_PART_TIME):
            note = f"文稿是非全日制用工，又约定了试用期；条文：{_PART_TIME_PROBATION.anchor}。请删去试用期。"
            yield Accusation(sentence, Severity.VIOLATES, note, (_PART_TIME_PROBATION,))
            continue
        basis = _THREE_YEARS if term is None else _limit(term)
        allowed = 0.0 if basis is _NO_PROBATION else durations(basis.anchor)[-1][1]
        if probation > allowed + TOLERANCE:
            yield Accusation(sentence, Severity.VIOLATES, _probation_note(term, probation, basis), (basis,))


def _probation_note(term: float | None, probation: float, basis: Basis) -> str:
    length = {None: "没有写明", float("inf"): "无固定", 0.0: "为完成一定工作任务"}.get(term) or f"约 {term:.1f} 个月"
    return f"文稿的合同期限{length}，试用期约 {probation:.1f} 个月；条文：{basis.anchor}。请缩短或者删去试用期。"


def _second_probation(contract: Contract, day: date) -> Iterator[Accusation]:
    """Accuse a probation after the first one: in a renewed contract, or after another start or post."""
    is_renewal = re.search("续签|续订", contract.title)
    for sentence in contract.matching(_PROBATION, "不再|不另|不设|不约定|不得|只能|无试用|免|原合同|已通过"):
        again = re.search(
            "续签|续订|晋升|升职|再(?:经过|试用)|转岗|调岗|换岗|调到|调至|重新|再次|另行约定|二次|第二次|再入职|返岗",
            sentence.text,
        )
        if again or (is_renewal and _probation(sentence.text)):
            note = f"文稿再次约定试用期；条文：{_ONCE.anchor}。请删去。"
            yield Accusation(sentence, Severity.VIOLATES, note, (_ONCE,))


_PROBATION_RULES = (
    ContractRule(
        "probation-term",
        "试用期与合同期限",
        _LABOUR,
        (_UNDER_A_YEAR, _UNDER_THREE_YEARS, _THREE_YEARS, _NO_PROBATION, _PART_TIME_PROBATION),
        _long_probation,
    ),
    ContractRule("probation-again", "再次约定试用期", _LABOUR, (_ONCE,), _second_probation),
    phrase_rule(
        "probation-extended",
        "延长试用期",
        _LABOUR,
        (_ONCE,),
        ("试用", "延长|顺延|续试|再试"),
        "文稿允许延长试用期；条文：同一用人单位与同一劳动者只能约定一次试用期，延长后也不得超过法定上限。请删去，或核对延长后的总长度。",
        severity=Severity.CHECK,
        unless="不(?:得|能|予|可|再)?[^,。]{0,4}(?:延长|顺延)",
    ),
    phrase_rule(
        "probation-only",
        "只约定试用期",
        _LABOUR,
        (_ONLY_PROBATION,),
        (
            "试用|试岗|试工",
            "(?:再|才|方可|方|另|另行|再行)(?:与[^,。]{0,6})?(?:签|订立)|签订?正式|(?:仅|只|单独)(?:为|是|签|约定|订立)(?!一次)[^,。]{0,4}试用|不(?:予|再)?(?:签|订立)[^,。]{0,8}合同",
        ),
        "文稿只约定试用期，合格后才订立劳动合同；条文：劳动合同仅约定试用期的，试用期不成立，该期限为劳动合同期限。请订立包含试用期的劳动合同。",
        unless="不再(?:另)?签|无需",
    ),
)

# ── Wages, hours ──────────────────────────────────────────────────────────────────────────────────────────────────

_PROBATION_WAGE = _article(20, "劳动合同约定工资的百分之八十")
_WAGE = "(?:工资|薪资|薪酬|报酬|月薪|底薪|薪水|待遇)"
_NO_WAGE = "奖|补贴|津贴|押金|培训|罚|违约|补偿"
_REGULAR = "转正|正式|试用(?:期)?(?:届)?满|试用(?:期)?(?:结束|后|合格|通过)"
_DISCOUNT = re.compile(r"([一二三四五六七八九]|\d(?:\.\d)?)(五)?折")


def _low_probation_wage(contract: Contract, day: date) -> Iterator[Accusation]:
    least = number_in(_PROBATION_WAGE.anchor)
    for sentence in contract.matching("试用|试岗"):
        share = _probation_share(contract, sentence)
        if share is not None and share < least - TOLERANCE:
            note = f"文稿的试用期工资约为约定工资的 {share:.0f}%；条文：不得低于{_PROBATION_WAGE.anchor}，也不得低于当地最低工资标准。请提高。"
            yield Accusation(sentence, Severity.VIOLATES, note, (_PROBATION_WAGE,))


def _probation_share(contract: Contract, sentence: Sentence) -> float | None:
    """Return the wage on probation in per cent of the wage after it."""
    phrases = sentence.text.split(",")
    first = next(
        (place for place, one in enumerate(phrases) if "试用" in one and not re.search(f"{_REGULAR}|{_NO_WAGE}", one)),
        None,
    )
    if first is None:
        return _mixed_share(sentence.text)
    phrase = phrases[first]
    if first + 1 < len(phrases) and (
        re.match("期间|其间|此间", phrases[first + 1]) or not re.search(_REGULAR, phrases[first + 1])
    ):
        phrase = f"{phrase},{phrases[first + 1]}"
    phrase = phrase[phrase.find("试用") :]
    if not re.search(rf"{_WAGE}|元|块|折|\d{{4}}", phrase):
        return None
    if found := shares(phrase):
        return per_cent(found[0])
    if discount := _DISCOUNT.search(phrase):
        number = quantities(f"{discount[1]}天")
        return value_of(number[0]) * 10 + (5 if discount[2] else 0) if number else None
    money = _wages(phrase)
    regular = _regular_wage([sentence.text]) or contract.amount(_wage_of)
    return 100 * value_of(money[0]) / regular if money and regular and not re.search(_NO_WAGE, phrase) else None


def _mixed_share(text: str) -> float | None:
    """Return the share where one phrase speaks of both wages: 试用期工资为转正后工资的 60%."""
    found = re.search(rf"试用(?:期|阶段)?[^,。]{{0,10}}{_WAGE}?[^,。]{{0,8}}(?:{_REGULAR})[^,。]{{0,12}}", text)
    share = shares(text[found.start() : found.end() + 10]) if found else []
    return per_cent(share[0]) if share else None


def _wages(phrase: str) -> list[Quantity]:
    """Return the amounts that may be a monthly wage, also those without 元."""
    return [one for one in quantities(phrase) if one.unit in {"元", ""} and value_of(one) > _LEAST_WAGE]


def _wage_of(contract: Contract) -> float | None:
    return _regular_wage(one.text for one in contract.sentences)


def _regular_wage(texts: Iterable[str]) -> float | None:
    for text in texts:
        for phrase in re.split("[,(]", text):
            if re.search(rf"{_WAGE}|{_REGULAR}", phrase) and not re.search(_NO_WAGE, phrase):
                if "试用" in phrase and not re.search(_REGULAR, phrase):
                    continue
                if money := _wages(phrase):
                    return value_of(money[0])
    return None


_LEAST_WAGE = 500
"""Smallest amount that is read as a monthly wage, in yuan. Smaller ones are paid by the hour, by the day, or as extras."""
_OVERTIME_DAY = Basis(_LABOUR_LAW, 41, "延长工作时间每日不得超过三小时")
_OVERTIME_MONTH = Basis(_LABOUR_LAW, 41, "每月不得超过三十六小时")
_HOURS = Basis(_LABOUR_LAW, 36, "每日工作时间不超过八小时、平均每周工作时间不超过四十四小时")
_REST = Basis(_LABOUR_LAW, 38, "每周至少休息一日")
_SPECIAL_HOURS = "综合计算工时|不定时"
_EACH_DAY, _EACH_WEEK, _EACH_MONTH = (
    "(?:每日|每天|日均|一天|当日|日)",
    "(?:每周|周|每星期)",
    "(?:每月|当月|月均|月度|全月|月)",
)
_EXTRA = "加班|延长工作|延时|加点|多做|多干|加到"
_AND_A_HALF = re.compile(r"([一二两三四五六七八九\d])个半(?=小时|钟头)")


def _hours_after(label: str, text: str) -> float | None:
    """Return the hours that stand after 每日 and the like, before the next comma."""
    text = _AND_A_HALF.sub(lambda half: f"{value_of(quantities(half[1] + '天')[0]) + 0.5}", text)
    for found in re.finditer(label, text):
        for one in quantities(text[found.end() : found.end() + 24].split(",")[0]):
            if (hours := hours_of(one)) is not None:
                return hours
    return None


def _overtime_hours(contract: Contract, day: date) -> Iterator[Accusation]:
    for sentence in contract.matching(_EXTRA):
        yield from _overtime_in(sentence)


def _overtime_in(sentence: Sentence) -> Iterator[Accusation]:
    for label, basis, period in ((_EACH_MONTH, _OVERTIME_MONTH, "每月"), (_EACH_DAY, _OVERTIME_DAY, "每日")):
        hours, most = _hours_after(label, sentence.text), number_in(basis.anchor) / 3600
        if hours is not None and hours > most and not re.search("工作时间为|工时制", sentence.text):
            note = f"文稿的加班时间{period}达 {hours:g} 小时；条文：{basis.anchor}。请改到上限以内。"
            yield Accusation(sentence, Severity.VIOLATES, note, (basis,))


def _long_hours(contract: Contract, day: date) -> Iterator[Accusation]:
    if contract.mentions(_SPECIAL_HOURS):
        return
    daily, weekly = (value_of(one) / 3600 for one in quantities(_HOURS.anchor) if one.unit == "秒")
    for sentence in contract.matching("工作|上班|每班", f"{_EXTRA}|竞业|休息[^,]{{0,4}}小时"):
        hours = _hours_after(f"{_EACH_DAY}(?:标准)?(?:工作|上班|干活|出勤)(?:时间)?", sentence.text)
        days = re.search(
            r"(?:每周|一周)(?:工作|上班|干)(?:不超过)?([一二三四五六七\d])(?:天|日)|(?:做|上|干)([六6])休[一1]",
            sentence.text,
        )
        per_week = _hours_after(f"{_EACH_WEEK}(?:总共|合计)?(?:工作|上班)", sentence.text) or 0.0
        if hours and days:
            per_week = max(per_week, hours * value_of(quantities(f"{days[1] or days[2]}天")[0]))
        if (hours and hours > daily) or per_week > weekly:
            said = "，".join(
                filter(None, (f"每日 {hours:g} 小时" if hours else "", f"每周 {per_week:g} 小时" if per_week else ""))
            )
            note = f"文稿的工作时间{said}；条文：{_HOURS.anchor}。请缩短，或者写明经批准的特殊工时制。"
            yield Accusation(sentence, Severity.VIOLATES, note, (_HOURS, _OVERTIME_DAY))


_PAY_ON_WORKDAY = Basis(_LABOUR_LAW, 44, "安排劳动者延长工作时间的，支付不低于工资的百分之一百五十的工资报酬")
_PAY_ON_REST_DAY = Basis(_LABOUR_LAW, 44, "支付不低于工资的百分之二百的工资报酬")
_PAY_ON_HOLIDAY = Basis(_LABOUR_LAW, 44, "法定休假日安排劳动者工作的，支付不低于工资的百分之三百的工资报酬")
_OVERTIME_PAY = _article(31, "用人单位安排加班的，应当按照国家有关规定向劳动者支付加班费")
_KINDS_OF_OVERTIME = (
    ("法定(?:节|休)?假日|节假日|法定节日|国庆|春节", _PAY_ON_HOLIDAY),
    ("休息日|周末|双休日|公休", _PAY_ON_REST_DAY),
    ("工作日|平日|平时|延长工作时间|延时|正常工作日|加班", _PAY_ON_WORKDAY),
)


def _low_overtime_pay(contract: Contract, day: date) -> Iterator[Accusation]:
    for sentence in contract.matching(f"{_EXTRA}|节假日|休息日", "竞业"):
        if low := _low_pay(sentence.text) or _low_pay_by_hour(contract, sentence.text):
            share, basis = low
            note = f"文稿的加班工资只有 {share:.0f}%；条文：{basis.anchor}。请提高到法定标准。"
            yield Accusation(sentence, Severity.VIOLATES, note, (basis,))


def _low_pay(text: str) -> tuple[float, Basis] | None:
    """Return the share of the wage that is paid for overtime, where it is less than the article demands. Each share
    belongs to the kind of day named last before it; without one, to ordinary overtime."""
    if not re.search("加班|延长工作|延时|节假日|休息日", text):
        return None
    for one in shares(text):
        if re.match("以上|的?(?:绩效|奖金|提成)", text[one.end :]) and per_cent(one) < 100:
            continue
        before = text[: one.start]
        named = [(found.start(), basis) for words, basis in _KINDS_OF_OVERTIME for found in re.finditer(words, before)]
        if not named:
            continue
        basis = max(named, key=lambda pair: pair[0])[1]
        if "加班" in before[max(pair[0] for pair in named) :] and basis is _PAY_ON_WORKDAY:
            earlier = [pair for pair in named if pair[1] is not _PAY_ON_WORKDAY and before[pair[0] :].find(",") < 0]
            basis = max(earlier, key=lambda pair: pair[0])[1] if earlier else basis
        if per_cent(one) < number_in(basis.anchor) - TOLERANCE:
            return per_cent(one), basis
    return None


_HOURS_PER_MONTH = 174
"""Paid hours of a month: 21.75 days of eight hours."""


def _low_pay_by_hour(contract: Contract, text: str) -> tuple[float, Basis] | None:
    """Return the share that a fixed amount for an hour of overtime is of the hourly wage, where it is too low."""
    found = re.search(
        r"每个?小时[^,。]{0,6}?(\d{1,4}(?:\.\d)?)(?:元|块)|(\d{1,4}(?:\.\d)?)(?:元|块)(?:/|每|一)个?小时", text
    )
    wage = contract.amount(_wage_of)
    if not found or not wage or "加班" not in text:
        return None
    share = 100 * float(found[1] or found[2]) / (wage / _HOURS_PER_MONTH)
    return (share, _PAY_ON_WORKDAY) if share < number_in(_PAY_ON_WORKDAY.anchor) - TOLERANCE else None


_MONTHLY = Basis(_LABOUR_LAW, 50, "工资应当以货币形式按月支付给劳动者本人")
_NO_DEDUCTION = Basis(_LABOUR_LAW, 50, "不得克扣或者无故拖欠劳动者的工资")
_PAID_IN_FULL = _article(30, "向劳动者及时足额支付劳动报酬")

_WAGE_RULES = (
    phrase_rule(
        "probation-unpaid",
        "试用期工资",
        _LABOUR,
        (_PROBATION_WAGE, _VOID),
        (
            "试用|试岗|试工",
            "(?:无|没有|不(?:发|付|支付|计|给|计发|予)|不享受)[^,。]{0,6}(?:工资|薪|报酬|底薪)|免费试|无薪|只(?:管|包|发)(?:吃|住|饭|生活费|餐)",
        ),
        "文稿在试用期不付工资；条文：不得低于劳动合同约定工资的百分之八十，也不得低于当地最低工资标准。请写明试用期工资。",
        unless="不得|加班|年终|奖金|绩效",
    ),
    ContractRule("probation-wage", "试用期工资", _LABOUR, (_PROBATION_WAGE,), _low_probation_wage),
    ContractRule("overtime-hours", "加班时间", _LABOUR, (_OVERTIME_DAY, _OVERTIME_MONTH), _overtime_hours),
    ContractRule("working-hours", "工作时间", _LABOUR, (_HOURS,), _long_hours),
    phrase_rule(
        "rest-day",
        "每周休息",
        _LABOUR,
        (_REST,),
        (
            "(?:每月|一个月)(?:只|仅|轮)?(?:休息|休|轮休)(?:[一二两三123])(?:天|日)|(?:无|没有|不安排|不享受)(?:周末|双休|休息日|公休)|全[年月]无休",
        ),
        "文稿的休息少于每周一日；条文：用人单位应当保证劳动者每周至少休息一日。请增加休息日。",
        unless=_SPECIAL_HOURS,
    ),
    ContractRule(
        "overtime-pay", "加班工资标准", _LABOUR, (_PAY_ON_WORKDAY, _PAY_ON_REST_DAY, _PAY_ON_HOLIDAY), _low_overtime_pay
    ),
    phrase_rule(
        "overtime-unpaid",
        "不付加班工资",
        _LABOUR,
        (_PAY_ON_WORKDAY, _OVERTIME_PAY, _VOID),
        (
            "加班|超时|加点|延时|八小时(?:以外|之外)|超[出过]八小时|延长工作|值班",
            f"{NOT_PAID}",
        ),
        "文稿不按标准支付加班工资；条文要求支付不低于工资 150%（休息日不能补休的 200%，法定休假日 300%）的报酬。请改为依法支付。",
        unless="未经[^。]{0,14}(?:批准|审批|同意|安排)|不(?:视为|属于|认定为|算)加班|(?<!不)(?:安排|可以?|应|给予|享受|优先)(?:同等时间)?的?(?:补休|调休)|不定时|审批|不得(?:强迫|强制|变相)|依法|按(?:国家|法律|劳动法)|不安排|没有安排|不(?:强制|强迫|鼓励|提倡)",
    ),
    phrase_rule(
        "wage-period",
        "工资按月支付",
        _LABOUR,
        (_MONTHLY,),
        (
            "工资|薪资|薪酬|报酬|月薪",
            "(?:按季|每季|每个?季度|按年|每半年|半年|年底|年终|年末|每(?:两|二|三|2|3)个?月|项目结束|工程结束|完工|春节前)[^。]{0,14}(?:付|发|结|算|给)"
            "|(?:以|用|拿|按|折)[^,。]{0,10}(?:实物|产品|购物卡|代金券|消费券|商品|货物|库存)|(?:实物|产品|购物卡|代金券|消费券|商品|货物|库存)[^,。]{0,10}(?:抵|折|充|代替|冲)",
        ),
        "文稿不按月或不以货币支付工资；条文：工资应当以货币形式按月支付给劳动者本人。请改为按月支付。",
        unless="年终奖|绩效|奖金|提成|分红|年薪余额|福利|奖|调整|调薪|社保|竞业|补偿",
    ),
    phrase_rule(
        "wage-forfeit",
        "扣发工资",
        _LABOUR,
        (_NO_DEDUCTION, _PAID_IN_FULL),
        (
            "(?:当月|剩余|未发|全部|最后|未结|上月|所有|一个月|半个?月)(?:的)?(?:工资|薪资|薪酬|报酬)|(?:扣留|暂扣|扣押|压|押)[^,。]{0,8}(?:工资|薪资|薪酬)",
            "不(?:予|再|发|结|付|支付|给)|作为|视为放弃|抵作|充作|充抵|扣除|扣发|扣留|暂扣|扣押|没收|压|押",
        ),
        "文稿扣留或者不付劳动者已得的工资；条文：不得克扣或者无故拖欠劳动者的工资。请删去。",
        unless="不得[^,。]{0,6}(?:扣|克扣|拖欠)|个人所得税|代扣代缴|不扣|结清|补偿|竞业|作为违约金|作为计算|计算基数|不超过|依法",
    ),
    phrase_rule(
        "annual-leave",
        "放弃年休假",
        _LABOUR,
        (Basis(_LABOUR_LAW, 45, "国家实行带薪年休假制度"), _VOID),
        (
            "年(?:休)?假",
            "(?:不享受|不享有|放弃|无|没有|不安排|不给|不设|不休)[^,。]{0,12}年(?:休)?假|年(?:休)?假[^,。]{0,10}(?:作废|放弃|不享受|不安排|没有)",
        ),
        "文稿排除带薪年休假；条文：国家实行带薪年休假制度，劳动者连续工作一年以上的，享受带薪年休假。请删去。",
        unless="不满一年|未满一年|不足一年|法律规定不|不影响",
    ),
)

# ── Penalties, deposits, competition ──────────────────────────────────────────────────────────────────────────────

_NO_PENALTY = _article(25, "除本法第二十二条和第二十三条规定的情形外，用人单位不得与劳动者约定由劳动者承担违约金")
_TRAINING_COST = _article(22, "违约金的数额不得超过用人单位提供的培训费用")
_TRAINING_SHARE = _article(22, "不得超过服务期尚未履行部分所应分摊的培训费用")
_COMPETITION = "竞业|竞争|对手|同类(?:业务|产品|行业|企业)|同行|相同工作|相同岗位|类似(?:业务|产品)"
_LEFT = "未到期|不满|单方|离职|辞职|辞工|离开|不干|(?:未|没)(?:做|干|服务|工作|履行)?满|中途|提前(?:走|离|解除)|擅自离|跳槽|自离|走人|解除"
_PAYS = (
    "(?:赔偿|赔付|赔|缴纳|交纳|缴|交|支付|付|补|承担|扣除?|罚)[^,。]{0,24}"
    "(?:元|块|违约金|赔偿金|补偿金|招聘费|损失费|罚金|罚款|个?月[^,。]{0,6}(?:工资|薪)|[一二两三四五六七八九\\d][千万])"
)
_FIRST_PAYS = "(?<![向给对由])(?<!赔偿)(?<!支付)(?:FIRST)(?:应当?|须|需|要|按|将|另|额外|依法|每月|再)*(?:向SECOND)?(?:支付|给付|给|付|补偿|赔偿|承担|发)"


def _penalties(contract: Contract, day: date) -> Iterator[Accusation]:
    """Accuse penalties of the worker that are neither for a term of service after training nor for competition."""
    harmless = f"{_FIRST_PAYS}|^[^,]{{0,10}}FIRST(?!.{{0,100}}SECOND(?:应|须|需|要|承担|支付|赔|向|缴|交))|未约定|没有约定|不存在|(?:不|无须|无需)(?:得|应|需|用|再)?[^,。]{{0,6}}(?:约定|支付|承担|缴纳|收取|付)[^。]{{0,10}}(?:违约金|赔偿金|费用)|{_COMPETITION}|实际损失|依法|经济补偿|押金|保证金|丢失|遗失|损坏|交接(?:不清|的?资料|的?物品)|借款|预支|欠款|宿舍|钥匙|结清|结算|工资(?:照|按|结|发)"
    for sentence in contract.matching(f"违约金|(?:{_LEFT})[^。]{{0,60}}{_PAYS}", harmless):
        heading = sentence.section[:30]
        is_trained = re.search("服务期|培训", heading + _words_before(sentence) + sentence.text) and contract.mentions(
            "培训(?:费|协议)|专项培训|出资[^,。]{0,6}培训|外派"
        )
        if re.search(_COMPETITION, heading) or is_trained or _is_for_competition(contract, sentence):
            continue
        if re.search("上述|该(?:项)?义务|本条|前款", sentence.text) and re.search(_COMPETITION, sentence.section):
            continue
        severity, extra = Severity.VIOLATES, "请删去，劳动者造成的损失可以依法赔偿"
        if re.search("保密|商业秘密|秘密", sentence.text + heading):
            severity, extra = Severity.CHECK, "违反保密义务的，可以约定赔偿损失；请核对违约金是否只针对竞业限制"
        note = f"文稿约定由劳动者承担违约金；条文：除服务期和竞业限制外，用人单位不得与劳动者约定由劳动者承担违约金。{extra}。"
        yield Accusation(sentence, severity, note, (_NO_PENALTY,))


def _words_before(sentence: Sentence) -> str:
    """Return the words of the section shortly before a sentence."""
    place = max(0, sentence.section.find(sentence.text))
    return sentence.section[max(0, place - _SHORTLY) : place]


_SHORTLY = 60


def _is_for_competition(contract: Contract, sentence: Sentence) -> bool:
    """Return whether a sentence speaks of the breach of another article of the contract that is a ban on competition."""
    named = re.search(r"违反(?:本合同|本协议)?(第[一二三四五六七八九十\d]{1,4}条)", sentence.text)
    return bool(named) and any(
        one.section.startswith(named[1]) and re.search(_COMPETITION, one.section[:30])
        for one in contract.sentences
        if named
    )


_TRAINING = "培训|进修|学习|外派"
_TWICE = "双倍|两倍|二倍|加倍|翻倍|翻番"


def _training_penalty(contract: Contract, day: date) -> Iterator[Accusation]:
    """Accuse a penalty for leaving after training that is higher than the training's cost."""
    costs = [
        value_of(money)
        for one in contract.matching(_TRAINING, "违约金|赔偿|赔付|工资|补贴|奖")
        if re.search("费|出资|支出|承担|投入|花", one.text)
        for money in amounts(one.text)
    ]
    cost = max(costs, default=None)
    for sentence in contract.matching("违约金|赔|返还|退还|偿还", _COMPETITION):
        text = sentence.text
        if not re.search(f"服务期|{_TRAINING}", text) and not re.search(f"服务期|{_TRAINING}", sentence.section[:60]):
            continue
        money = [value_of(one) for one in amounts(text)]
        cost_here = amount_after(re.compile("培训费用?"), text) or cost
        times = max((per_cent(one) for one in shares(text)), default=200.0 if re.search(_TWICE, text) else 0.0)
        if cost_here and money and max(money) > cost_here and re.search("违约金|赔|支付", text):
            said = f"文稿的违约金 {max(money):,.0f} 元高于培训费用 {cost_here:,.0f} 元"
        elif times > 100 and re.search("培训", text):
            said = f"文稿的违约金是培训费用的 {times:.0f}%"
        else:
            continue
        note = f"{said}；条文：{_TRAINING_COST.anchor}，并且只能分摊尚未履行的部分。请降低。"
        yield Accusation(sentence, Severity.VIOLATES, note, (_TRAINING_COST,))


_NO_DEPOSIT = _article(9, "不得要求劳动者提供担保或者以其他名义向劳动者收取财物")
_NO_PAPERS = _article(9, "不得扣押劳动者的居民身份证和其他证件")
_LONGEST_BAN = _article(24, "竞业限制期限，不得超过二年")
_BANNED_PERSONS = _article(24, "竞业限制的人员限于用人单位的高级管理人员、高级技术人员和其他负有保密义务的人员")
_BAN_PAID = _article(23, "在竞业限制期限内按月给予劳动者经济补偿")
_BAN_PAID_30 = Basis("最高人民法院关于审理劳动争议案件适用法律问题的解释（一）", 36, "平均工资的30%按月支付经济补偿")


_FORBIDS = "方可|才能|才可|不得|不能(?!胜任|从事原|适应|完成)|不准|(?<!竞业)(?<!同业)禁止|不许|不可|不去|不到|不从事|不参与|竞业"
_AFTER_LEAVING = "离职|离开|(?:关系|合同|聘用)结束|(?:解除|终止)[^,。]{0,8}(?:后|之日|起|时|内)|终身|终生|永远|永久|离岗|辞职|走(?:后|了)|竞业"


def _is_ban(contract: Contract, sentence: Sentence) -> bool:
    """Return whether a sentence forbids competition after the end of the contract, or speaks of such a ban."""
    if re.search("竞业", sentence.text + sentence.section[:40]):
        return True
    if re.search("秘密|保密|泄露|披露|资料|交接|带走|文件|手续", sentence.text) and not re.search(
        _COMPETITION, sentence.text
    ):
        return False
    work = f"{_COMPETITION}|任职|就业|开办|自营|工作|入股|上班|干活|打工|受雇|加入|供职|从事|经营|开[^,。]{{0,6}}[店厂]|做事"
    return bool(
        re.search(_FORBIDS, sentence.text)
        and re.search(_AFTER_LEAVING, sentence.text)
        and re.search(work, sentence.text)
    )


def _long_ban(contract: Contract, day: date) -> Iterator[Accusation]:
    most = durations(_LONGEST_BAN.anchor)[-1][1]
    for sentence in contract.matching(
        r"[\d一二两三四五六七八九十百千](?:年|个?月|周年|载|天|日|周)|终身|终生|永久|永远|无限期"
    ):
        if not _is_ban(contract, sentence):
            continue
        found = [months for one, months in durations(sentence.text) if _is_ban_term(sentence.text, one.start, one.end)]
        if found and (more := _extension(sentence.text)):
            found.append(found[0] + more)
        if "竞业" in sentence.text and (between := months_between_dates(sentence.text)):
            found.append(between)
        if re.search("终身|终生|永久|永远|无限期", sentence.text) and re.search("竞业|任职|从事|经营", sentence.text):
            found.append(float("inf"))
        if found and max(found) > most + TOLERANCE:
            length = "没有止期" if max(found) == float("inf") else f"约 {max(found):.0f} 个月"
            note = f"文稿的竞业限制期限{length}；条文：{_LONGEST_BAN.anchor}。请缩短到二年以内。"
            yield Accusation(sentence, Severity.VIOLATES, note, (_LONGEST_BAN,))


def _extension(text: str) -> float:
    """Return the months by which a term may be extended."""
    return next(
        (
            months
            for one, months in durations(text)
            if re.search("(?<!不得)(?<!不能)(?:延长|顺延|延续|续展)[^,。]{0,4}$", text[: one.start])
        ),
        0.0,
    )


_UNTIL_AN_EVENT = (
    "(?:届满|公开|失效|过期|停产|停业|解散|注销|上市)(?:之|以)?前|(?:直至|直到)[^,。]{0,24}(?:为止|之日|时止)"
    "|只要[^,。]{0,24}(?:仍|还|继续|存续|存在)|不设(?:期限|止期)|不受(?:时间|期限)限制|长期不得"
)


def _ban_without_end(contract: Contract, day: date) -> Iterator[Accusation]:
    """Accuse a ban on competition that lasts until something happens, and for no stated time."""
    for sentence in contract.matching(_UNTIL_AN_EVENT, "(?:竞业|限制)[^,。]{0,6}期限?(?:届)?满|秘密|保密"):
        if _is_ban(contract, sentence) and re.search(_COMPETITION, sentence.text) and not durations(sentence.text):
            note = f"文稿的竞业限制没有写明二年以内的止期；条文：{_LONGEST_BAN.anchor}。请写明期限，不超过二年。"
            yield Accusation(sentence, Severity.CHECK, note, (_LONGEST_BAN,))


def _is_ban_term(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 40) : start], text[end : end + 16]
    if re.match("(?:的)?(?:平均)?(?:工资|薪|培训|劳动合同|补偿)", after) or re.search(
        "(?:支付|前|相当于|违约金|赔偿|工作满|任职满)[^,。]{0,4}$", before
    ):
        return False
    return bool(
        re.search("期限|期间|期[为是:]?$|时间|时长|离职|终止|解除|之日起|之后|后|离开", before)
        or re.match("内|以内|之内|期|的竞业|里|中|不得|不能|不许", after)
    )


_COMPENSATED = "补偿|补助|津贴|对价|补贴|竞业(?:限制)?费"


def _unpaid_ban(contract: Contract, day: date) -> Iterator[Accusation]:
    """Accuse a ban on competition after leaving for which the draft names no compensation at all."""
    harmless = "违反|违约|不(?:承担|负有|约定|受)[^,。]{0,6}竞业|在职期间(?!.{0,12}(?:及|和|、|或).{0,4}离)|无竞业"
    duty = f"{_FORBIDS.removesuffix('|竞业')}|负有|承担|履行|遵守"
    bans = [
        one
        for one in contract.matching(duty, harmless)
        if re.search(_AFTER_LEAVING, one.text) and _is_ban(contract, one)
    ]
    paid = f"{_COMPENSATED}|(?:按月|每月)[^,。]{{0,16}}(?:支付|给付|发放|付|发)"
    if not bans or any(
        re.search("竞业|离职(?:之|以)?后|离开|限制期|同行", one.section) for one in contract.matching(paid)
    ):
        return
    note = f"文稿约定了竞业限制，没有写经济补偿；条文：{_BAN_PAID.anchor}。请写明离职后按月支付的数额。"
    yield Accusation(bans[0], Severity.VIOLATES, note, (_BAN_PAID, _LONGEST_BAN, _BAN_PAID_30))


_PENALTY_RULES = (
    ContractRule("penalty", "劳动者违约金", _LABOUR, (_NO_PENALTY,), _penalties),
    ContractRule("training-penalty", "服务期违约金", _LABOUR, (_TRAINING_COST,), _training_penalty),
    phrase_rule(
        "training-share",
        "服务期违约金的分摊",
        _LABOUR,
        (_TRAINING_SHARE,),
        (
            "(?:不管|无论|不论)[^,。]{0,24}(?:多长|多久|多少|长短|是否|几年|何时)|不(?:做|作|予|再|按|得|因)*[^,。]{0,8}(?:递减|折算|分摊|扣减|比例|折减)|全额|全部",
            "赔|支付|返还|违约金|退还|承担|偿还",
            "服务|培训",
        ),
        "文稿的违约金不随已服务的时间减少；条文：不得超过服务期尚未履行部分所应分摊的培训费用。请改为按比例分摊。",
        section="服务期|培训",
        unless="FIRST(?:承担|支付|负担)[^,。]{0,6}(?:全部|全额)|按(?:未|尚未|剩余)|逐[年月]|免费|全部由FIRST|由FIRST",
    ),
    phrase_rule(
        "deposit",
        "向劳动者收取财物或担保",
        _LABOUR,
        (_NO_DEPOSIT,),
        (
            "押金|保证金|风险金|风险抵押|抵押金|担保金|质押金|保证款|置装费|服装费|工装费|制服费|工牌费|担保人|保证人|作担保|提供担保|作保|保人|担保书|担保函|财产担保|经济担保",
            "交|缴|收|扣|付|押|留|提供|找|出具|须|需|应|签|担保",
        ),
        "文稿要求劳动者交押金、保证金或提供担保；条文：不得要求劳动者提供担保或者以其他名义向劳动者收取财物。请删去。",
        unless="不(?:得|收|交|用|需|要|向|会|再)[^。]{0,16}(?:押金|保证金|费|担保|财物)|无需|无须|免(?:收|费|交|押)|竞业|社会保险|公积金|采购|供应商|投标|FIRST(?:承担|免费|负担)|由FIRST(?:承担|负担|支付|出)",
    ),
    phrase_rule(
        "papers",
        "扣押证件",
        _LABOUR,
        (_NO_PAPERS,),
        (
            "身份证|毕业证|学历证|学位证|资格证|职称证|驾驶证|驾照|护照|户口本|证件|证书|执业证|健康证",
            "扣押|扣留|保管|质押|抵押|收存|代管|押在|押着|存放|放在|放店|放厂|放公司|留在|交由|交给|交到|交至|交存|上交|交公司|交甲方|交店|收走|暂扣|统一收|压在|留存|暂存|拿走|封存|存于|收取",
        ),
        "文稿让用人单位扣押或保管劳动者的证件；条文：不得扣押劳动者的居民身份证和其他证件。请删去，需要时只留复印件。",
        unless="复印件|复制件|扫描件|影印件|当场|印章|证照|营业执照|交还|FIRST不得|不(?:扣|收|押|留|保管)|自行保管|本人保管|交还公司|归还公司",
    ),
    ContractRule("ban-term", "竞业限制期限", _LABOUR, (_LONGEST_BAN,), _long_ban),
    ContractRule("ban-without-end", "竞业限制期限", _LABOUR, (_LONGEST_BAN,), _ban_without_end),
    ContractRule("ban-unpaid", "竞业限制补偿", _LABOUR, (_BAN_PAID,), _unpaid_ban),
    phrase_rule(
        "ban-without-pay",
        "竞业限制补偿",
        _LABOUR,
        (_BAN_PAID, _LONGEST_BAN, _BAN_PAID_30),
        (
            f"{_COMPENSATED}|费|钱|报酬",
            f"{NOT_PAID}|在职期间(?:已|发放|支付|[^,。]{{0,8}}(?:工资|薪))|(?:已|均)[^,。]{{0,6}}(?:体现|支付|发放)|为(?:零|0)(?![.\\d])",
        ),
        "文稿在离职后不另付竞业限制补偿；条文：在竞业限制期限内按月给予劳动者经济补偿。请写明离职后按月支付的数额。",
        unless="不(?:再)?履行|免除[^,。]{0,6}(?:竞业|义务)|豁免|违反竞业|解除竞业|未(?:按|支付|足额)|不(?:包含|包括|含|计入)|额外支付|不支付的|逾期|拖欠|停止支付|不受",
        section="竞业|同类(?:业务|产品|行业|企业)|竞争(?:对手|关系)",
    ),
    phrase_rule(
        "ban-lump-sum",
        "竞业限制补偿按月支付",
        _LABOUR,
        (_BAN_PAID,),
        (_COMPENSATED, "一次性|按年|按季|期满后|届满后|年底|每半年|每季|每年"),
        "文稿不按月支付竞业限制补偿；条文：在竞业限制期限内按月给予劳动者经济补偿。请改为按月支付。",
        severity=Severity.CHECK,
        unless="按月|每月|违约金|额外",
        section="竞业",
    ),
    phrase_rule(
        "ban-persons",
        "竞业限制的人员",
        _LABOUR,
        (_BANNED_PERSONS,),
        (
            "竞业|同类|竞争",
            "全体|所有(?:员工|职工|人员|岗位)|任何(?:员工|职工|人员|岗位)|不论(?:岗位|职务|级别)|保洁|保安|前台|司机|清洁|普通工人|流水线|收银|服务员|操作工|搬运",
        ),
        "文稿的竞业限制不限于特定人员；条文：竞业限制的人员限于用人单位的高级管理人员、高级技术人员和其他负有保密义务的人员。请核对该岗位是否负有保密义务。",
        severity=Severity.CHECK,
        unless="不(?:适用|约定|承担|受)[^,。]{0,4}竞业",
    ),
)

# ── Insurance, injury, leaving, women, disputes ───────────────────────────────────────────────────────────────────

_INSURANCE_PAID = Basis(
    _INSURANCE_LAW, 60, "用人单位应当自行申报、按时足额缴纳社会保险费，非因不可抗力等法定事由不得缓缴、减免"
)
_INSURED_SOON = Basis(
    _INSURANCE_LAW, 58, "用人单位应当自用工之日起三十日内为其职工向社会保险经办机构申请办理社会保险登记"
)
_MUST_INSURE = Basis(_LABOUR_LAW, 72, "用人单位和劳动者必须依法参加社会保险，缴纳社会保险费")
_INSURANCE = "(?:社会保险|社保|五险|养老保险|工伤保险|医疗保险)"
_NOTICE = _article(37, "劳动者提前三十日以书面形式通知用人单位，可以解除劳动合同")
_NOTICE_ON_PROBATION = _article(37, "劳动者在试用期内提前三日通知用人单位，可以解除劳动合同")
_LEAVING = "(?:辞职|离职|辞工|辞去|不想干|不干|走人|离岗|离开|[想要]走|解除(?:本|劳动)?合同|解除劳动关系|解约|终止(?:本|劳动)?合同)"


def _long_notice(contract: Contract, day: date) -> Iterator[Accusation]:
    for sentence in contract.matching("提前", "竞业|续签|续订|期满|届满"):
        found = re.search("提前", sentence.text)
        if not found or contract.search(
            r"(?<![向给])(?:FIRST)(?:应|须|需|可|要|解除|裁|因)[^,。]{0,24}提前", sentence.text[: found.end()]
        ):
            continue
        on_probation = re.search("试用期(?!满)", sentence.text[: found.start()])
        basis = _NOTICE_ON_PROBATION if on_probation else _NOTICE
        most = durations(basis.anchor)[-1][1]
        given = [months for one, months in durations(sentence.text[found.end() : found.end() + 14]) if one.start <= 4]
        if given and given[0] > most + TOLERANCE and re.search(_LEAVING, sentence.text):
            note = f"文稿要求劳动者提前约 {given[0] * 30.4:.0f} 日；条文：{basis.anchor}。请改为法定的期限。"
            yield Accusation(sentence, Severity.VIOLATES, note, (basis,))


_NO_FIRING = _article(39, "劳动者有下列情形之一的，用人单位可以解除劳动合同")
_COMPENSATION = _article(46, "有下列情形之一的，用人单位应当向劳动者支付经济补偿")
_AGREED_CHANGE = _article(35, "用人单位与劳动者协商一致，可以变更劳动合同约定的内容")
_NO_LIMIT_ON_WOMEN = Basis(
    _WOMEN_LAW, 44, "不得规定限制女职工结婚、生育", earlier=Basis(_WOMEN_LAW, 23, "不得规定限制女职工结婚、生育")
)
_NO_FIRING_OF_WOMEN = Basis(
    _WOMEN_LAW,
    48,
    "不得因结婚、怀孕、产假、哺乳等情形",
    earlier=Basis(_WOMEN_LAW, 27, "不得因结婚、怀孕、产假、哺乳等情形"),
)
_ARBITRATION = Basis(_DISPUTES_LAW, 5, "可以向劳动争议仲裁委员会申请仲裁", is_procedural=True)

_OTHER_RULES = (
    phrase_rule(
        "insurance",
        "社会保险",
        _LABOUR,
        (_INSURANCE_PAID, _INSURED_SOON, _MUST_INSURE, _VOID),
        (
            "社会保险|社保|五险|三险|养老保险|工伤保险|医疗保险|参保|保险费?(?!柜|箱|丝|单|公司)",
            "放弃|不(?:予|再|为其|为SECOND|给SECOND|用|必|想|愿意?|肯|要)*(?:缴|交|办理|办|参加|购买|买|上|承担|享受|参)|无需|无须|免(?:缴|交)|折(?:现|算|合|成)|现金|随(?:同)?(?:每?月)?工资|打入工资|(?:社保|险)(?:费用?|金|部分)?的?(?:现金)?补贴|[改折换][^。]{0,12}补贴|不(?:负责|管)[^,。]{0,4}(?:社保|社会保险|五险)|补贴[^。]{0,10}(?:作为|充当|顶|抵)|满[^,。]{0,6}(?:后|再|才|方)[^,。]{0,6}(?:缴|交|办|买|上|参)|自行[^,。]{0,6}参保|自行(?:缴|交|承担|负担|解决|办|处理|参保|购买)|(?:SECOND|个人)[^,。]{0,4}(?:全额|全部)(?:负担|承担|缴)|自己(?:交|缴|买|办|承担|去|解决|参)|自理|(?<!不)包含在|(?:折|算|打|加|含|并|计)(?:在|进|入)[^,。]{0,4}(?:工资|薪)|不(?:需|要|需要|用)[^,。]{0,8}(?:缴|交|办|买|上)|全额由SECOND|SECOND(?:全额|全部)承担|全部由SECOND|均由SECOND|待(?!遇)[^,。]{0,14}后|转正(?:之|以)?后|(?:试用|工作|入职|干)[^,。]{0,6}满[^,。]{0,10}(?:后|方|才|再|起)|试用期(?:内|间)?[^,。]{0,10}不|暂不|代替|替代|取代|不(?:再)?(?:另行)?(?:为|给|替)[^,。]{0,6}(?:缴|交|办|买|上|参|投)",
        ),
        "文稿免除、推迟缴纳社会保险费，或以现金代替；条文：用人单位应当自用工之日起三十日内办理登记，按时足额缴纳，非因不可抗力等法定事由不得缓缴、减免。请删去，依法参保。",
        unless="个人(?:应)?(?:承担|缴纳|负担|缴)?的?部分|个人应缴|代扣代缴|补充(?:医疗)?保险|(?:另|还|再|额外)[^,。]{0,8}商业|FIRST不得|不得(?:缓|减|少缴|拖|漏)|不得(?:要求)?(?:FIRST)?以[^,。]{0,8}(?:代替|替代|折)|不因|公积金(?:自愿|另)",
    ),
    phrase_rule(
        "injury",
        "免除工伤责任",
        _LABOUR,
        (_VOID,),
        ("伤|亡|事故|意外|职业病|生病|疾病|猝死|人身|生老病死|安全问题", NO_LIABILITY),
        "文稿免除用人单位对工伤或人身伤害的责任；条文：用人单位免除自己的法定责任、排除劳动者权利的，劳动合同无效或者部分无效。请删去。",
        unless="犯罪|醉酒|吸毒|自残|自杀|申报工伤|依法|按(?:国家|规定|法律|工伤)|FIRST(?:承担|负责|赔偿|支付)|由FIRST(?:承担|负责)|伤害(?:公司|甲方)(?:利益|名誉)|感情",
    ),
    ContractRule("notice", "劳动者辞职的通知期", _LABOUR, (_NOTICE, _NOTICE_ON_PROBATION), _long_notice),
    phrase_rule(
        "leave-consent",
        "限制辞职",
        _LABOUR,
        (_NOTICE, _VOID),
        (
            _LEAVING,
            "(?:批准|签批|审批|同意|许可|准许|签字)[^,。]{0,8}(?:方可|方能|才能|才可|才准|才算|始得|后可|后方)|(?:不得|不能|不许|不准|无权)(?:单方|擅自|提前|提出|以任何理由|主动|中途|自行)*(?:提出)?(?:辞|离|解除|走|不干)|须(?:经|取得|征得)[^,。]{0,12}(?:批准|同意)",
        ),
        "文稿限制劳动者辞职；条文：劳动者提前三十日以书面形式通知用人单位，可以解除劳动合同。请删去批准等条件。",
        unless="(?<![经得])(?:FIRST)(?:不得|不能|无权)|竞业|保密|无需|无须|不需",
    ),
    phrase_rule(
        "women",
        "限制结婚生育",
        _LABOUR,
        (_NO_LIMIT_ON_WOMEN, _NO_FIRING_OF_WOMEN, _article(42, "女职工在孕期、产期、哺乳期的")),
        (
            "结婚|怀孕|生育|婚育|恋爱|生孩子|生小孩|要孩子|妊娠|二胎|产假|哺乳|孕期|婚假",
            "不得|不能|禁止|不准|不许|不可|承诺|保证|申请|批准|排队|推迟|延迟|解除|辞退|离职|辞职|终止|降|劝退|违约|自动|赔|调岗|待岗|不予|不享受|停发|取消|暂不|走人|不要",
        ),
        "文稿限制结婚、生育，或因此降低待遇、解除合同；条文：劳动合同中不得规定限制女职工结婚、生育等内容，不得因结婚、怀孕、产假、哺乳等情形辞退女职工。请删去。",
        unless="FIRST不得|不得因|不因|依法|国家规定|不得以|不得解除|不得降低|不得限制|不限制|按规定|按照(?:国家|法律|规定)|不会因|第四十二条|续延|顺延|不得规定|不得安排|不降低|保障",
    ),
    phrase_rule(
        "transfer",
        "单方调岗",
        _LABOUR,
        (_AGREED_CHANGE,),
        (
            "(?<!经)(?<!与)(?:FIRST)[^。]{0,10}(?:有权|可以?|可随时|随时|得)[^。]{0,40}(?:调整|变更|调动|调换|改变|调岗|降薪|调到|安排到)|(?:SECOND)[^。]{0,10}(?:无条件|必须|应当?|须|应予|不得)(?:无条件|拒绝)?(?:服从|接受|同意|拒绝)",
            "岗位|职务|工作地点|工作内容|工种|薪酬|工资|报酬|部门|调动|调岗|调整|分店|外地",
        ),
        "文稿允许用人单位单方变更岗位、地点或报酬；条文：协商一致，可以变更劳动合同约定的内容，并应当采用书面形式。请核对变更的条件是否合理，或改为协商一致。",
        severity=Severity.CHECK,
        unless="协商|双方同意|书面(?:同意|协议|变更)|经SECOND同意|征得SECOND|不能胜任|医疗期|依法|法律规定|加班|考勤|制度",
    ),
    phrase_rule(
        "dismissal",
        "单方解除",
        _LABOUR,
        (_NO_FIRING, _COMPENSATION),
        (
            "解除|辞退|终止|解聘|开除|淘汰|走人|炒|自动离职|不要(?:乙方|员工)",
            "随时|无条件|任意|(?:不需|无需|无须|不用)[^,。]{0,6}理由|无理由|(?:完不成|未完成|没完成|达不到)[^,。]{0,10}(?:业绩|销售|任务|指标|目标)|末位|排名(?:最后|末)|(?:业绩|销售|任务|指标|考核|目标)[^。]{0,24}(?:未|不|没|末|低于)|不(?:予|支付|给)?[^,。]{0,4}补偿",
        ),
        "文稿的解除条件超出法律列举的情形；条文：劳动者有所列情形之一的，用人单位才可以解除劳动合同，其他情形还要提前通知并支付经济补偿。请核对并改为法定条件。",
        severity=Severity.CHECK,
        unless="第三十九条|第四十条|依法|法律规定|劳动合同法|严重|不符合录用条件|经?培训|试用期|不能胜任|期满|不同意续订|退休|SECOND[^,。]{0,6}随时|SECOND(?:自己|个人|本人)?辞|竞业|SECOND(?:主动|提出|自行)|FIRST不得|不得(?:以|因|随意|任意)|怀孕|结婚",
        never_in=_PART_TIME,
    ),
    phrase_rule(
        "compensation-waived",
        "不付经济补偿",
        _LABOUR,
        (_COMPENSATION, _VOID),
        (
            "经济补偿|补偿金|遣散费|离职补偿",
            "(?:不|无需|无须|不再|不予|不必|没有|放弃|不得(?:要求|主张|索要|索取))(?:另行|再|向SECOND|承担|支付|给付|给予|给|付|发放|任何|享有|享受|一切|主张)*(?:任何|经济|离职|其他|其它|一切|形式的)*(?:补偿|遣散)|补偿[^,。]{0,10}(?:不(?:予|再)?(?:支付|给|发)|放弃)",
        ),
        "文稿排除经济补偿；条文列举了用人单位应当向劳动者支付经济补偿的情形。请删去，或限于法律允许的情形。",
        unless="第三十九条|严重|不符合录用条件|SECOND(?:主动|自行|提出|个人|自己|本人|辞)|竞业|保密|依法|法律|工伤|刑事|营私舞弊|欺诈|虚假|随时|不得低于|限制期",
        never_in=_PART_TIME,
    ),
    phrase_rule(
        "labour-arbitration",
        "排除劳动仲裁",
        _LABOUR,
        (_ARBITRATION, _VOID),
        (
            "仲裁|诉讼|起诉|法院|打官司|投诉|劳动监察|举报",
            "放弃|不得(?!违反)|不能|不许|不准|无权|不去|不找|不再|只能|不经|(?:直接|应|由|向)[^,。]{0,20}法院(?:起诉|提起|管辖|诉讼)|(?<!争议)(?<!劳动)仲裁委员会",
        ),
        "文稿排除或绕开劳动争议仲裁；条文：发生劳动争议，可以向劳动争议仲裁委员会申请仲裁；对仲裁裁决不服的，可以向人民法院提起诉讼。请改为法定的程序。",
        unless="不服|劳动(?:人事)?争议仲裁(?!.{0,20}放弃)(?<!放弃劳动争议仲裁)(?<!放弃申请劳动争议仲裁)|先(?:申请|经)[^,。]{0,8}仲裁",
    ),
)

LABOUR_RULES: tuple[ContractRule, ...] = (*_PROBATION_RULES, *_WAGE_RULES, *_PENALTY_RULES, *_OTHER_RULES)
