"""Rules for leases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from core.legal.contracts.contract_text import Contract, ContractKind
from core.legal.contracts.contract_values import TOLERANCE, durations, months_between_dates
from core.legal.contracts.general_rules import PENALTY, PENALTY_OVER_LOSS, UNFAIR_TERMS, civil_code
from core.legal.contracts.rule import Accusation, Basis, ContractRule, Severity, phrase_rule
from core.legal.contracts.wording import ABSOLUTE, CAN, NOT_RETURNED

_LEASE = (ContractKind.LEASE,)
_LONGEST_LEASE = civil_code(705, "租赁期限不得超过二十年。超过二十年的，超过部分无效")
_TERM_WORDS = r"租赁期|租期|使用期|期限|起租|承租|租用|起至|续租|续订|租给|出租"


def _long_lease(contract: Contract, day: date) -> Iterator[Accusation]:
    most = durations(_LONGEST_LEASE.anchor)[0][1]
    for sentence in contract.matching(_TERM_WORDS, "使用权|土地|产权|承包期"):
        found = re.search(_TERM_WORDS, sentence.text)
        rest = sentence.text[found.start() if found else 0 :]
        terms = [months for _, months in durations(rest)]
        is_renewed = re.search("自动(?:续|延|顺)", rest)
        term = months_between_dates(sentence.text) or (sum(terms) if is_renewed else max(terms, default=0.0))
        if term > most + TOLERANCE:
            note = (
                f"文稿的租赁期限约 {term / 12:.1f} 年；条文：{_LONGEST_LEASE.anchor}。请缩短到二十年以内，到期再续订。"
            )
            yield Accusation(sentence, Severity.VIOLATES, note, (_LONGEST_LEASE,))


_DEPOSIT_RETURNED = Basis("住房租赁条例", 10, "无正当理由不得扣减押金")
_REPAIRS = civil_code(712, "出租人应当履行租赁物的维修义务，但是当事人另有约定的除外")
_REPAIRS_PAID = civil_code(713, "出租人未履行维修义务的，承租人可以自行维修，维修费用由出租人负担")
_SALE = civil_code(725, "租赁物在承租人按照租赁合同占有期限内发生所有权变动的，不影响租赁合同的效力")
_PREEMPTION = civil_code(726, "承租人享有以同等条件优先购买的权利")
_RENEWAL = civil_code(734, "房屋承租人享有以同等条件优先承租的权利")
_WRITTEN = civil_code(707, "租赁期限六个月以上的，应当采用书面形式")
_ENDING = civil_code(563, "有下列情形之一的，当事人可以解除合同")
_AGREED_ENDING = civil_code(562, "当事人可以约定一方解除合同的事由")
_WEAR = civil_code(710, "致使租赁物受到损耗的，不承担赔偿责任")
_DANGER = civil_code(731, "承租人仍然可以随时解除合同")
_USE = civil_code(708, "在租赁期限内保持租赁物符合约定的用途")
_CHANGE = civil_code(543, "当事人协商一致，可以变更合同")
_DEPOSIT = "押金|保证金|损耗金"

LEASE_RULES: tuple[ContractRule, ...] = (
    ContractRule("lease-term", "租赁期限", _LEASE, (_LONGEST_LEASE,), _long_lease),
    phrase_rule(
        "deposit-kept",
        "押金一律不退",
        _LEASE,
        (UNFAIR_TERMS, PENALTY, _DEPOSIT_RETURNED),
        (_DEPOSIT, NOT_RETURNED, ABSOLUTE),
        "文稿约定押金一律不退；条文：提供格式条款一方不合理地加重对方责任、限制对方主要权利的，该条款无效；违约金过高的可以请求减少。请写明退还的时间和扣减的情形。",
        severity=Severity.CHECK,
        unless="(?:FIRST)(?:应当?|须|需)[^,。]{0,24}(?:退还|返还)|不得(?:没收|扣|以)|双倍",
    ),
    phrase_rule(
        "deposit-forfeited",
        "没收押金",
        _LEASE,
        (PENALTY, UNFAIR_TERMS, PENALTY_OVER_LOSS),
        (_DEPOSIT, NOT_RETURNED),
        "文稿以押金作为违约金；条文：约定的违约金过分高于造成的损失的，可以请求适当减少。请核对押金的数额与可能的损失是否相当。",
        severity=Severity.CHECK,
        unless=f"{ABSOLUTE}|FIRST(?:不得|无权|应)|不得(?:没收|扣|以)|双倍|逾期(?:不|未)(?:退|返)",
    ),
    phrase_rule(
        "repairs",
        "维修义务",
        _LEASE,
        (_REPAIRS, _REPAIRS_PAID),
        (
            "修(?!改|订|正|约)|维护|渗漏|漏水|坏了",
            "(?:SECOND)[^。]{0,20}(?:负责|承担|自理|出钱|出资|自费|自己|自行|解决|掏|修)|(?:FIRST)(?:概|一律|均|都)?不(?:再)?(?:承担|负责|管|负|履行|修)",
            "一切|所有|全部|任何|均|一律|概|都|不管|不论|无论|主体|屋[顶面]|承重|管道|管线|防水|外墙|老化|自然|FIRST不",
        ),
        "文稿把维修义务交给承租人；条文：出租人应当履行租赁物的维修义务，但是当事人另有约定的除外。请核对是否确实这样商定，尤其是主体结构和自然损耗。",
        severity=Severity.CHECK,
        unless="因(?:SECOND)|人为|弄坏|使用不当|保管不善|SECOND(?:原因|过错|损坏|造成)|(?<!不)由(?:FIRST)(?:负责|承担|修)|(?:FIRST)(?:负责|承担|维修|来修|修|及时|在)|自有设备|日常|小修|易耗|低值|元以下|元以内|自行(?:添置|装修|购置|加装)|装饰|装修(?:期|须|应|前)",
    ),
    phrase_rule(
        "sale-ends-lease",
        "买卖不破租赁",
        _LEASE,
        (_SALE,),
        (
            "卖|出售|转让|过户|抵债|拍卖|所有权|产权|易主|换(?:了)?(?:房东|业主)",
            "搬|腾|终止|解除|作废|失效|收回|不认|退租|走人|清退|结束|迁出|到期",
        ),
        "文稿约定房屋出售后租赁终止；条文：租赁物在承租人按照租赁合同占有期限内发生所有权变动的，不影响租赁合同的效力。请删去，或核对承租人是否确实放弃这项保护。",
        severity=Severity.CHECK,
        unless="不影响|继续(?:有效|履行|承租至|租用至)|约束力|(?:FIRST|受让人|新[^,。]{0,6})(?:不得|无权)|仍(?:然)?有效|不因|SECOND[^,。]{0,12}(?:转让|出售|变卖|抵)|擅自|私自|转租|证明|证书|产权证|所有权人(?:同意|身份)|享有[^,。]{0,8}(?:所有权|产权)",
    ),
    phrase_rule(
        "preemption",
        "放弃优先购买权",
        _LEASE,
        (_PREEMPTION,),
        (
            "优先(?:购买|受让|买)|(?:出售|出卖|卖|转让)[^。]{0,30}(?:无需|无须|不必|不需|不用)[^,。]{0,6}(?:通知|告知|征得|问)",
            "放弃|不享有|不享受|不具有|没有|丧失|排除|不得主张|无权|不得要求|不适用|无需|无须|不必|不需|不用|无优先",
        ),
        "文稿让承租人放弃优先购买权；条文：出租人出卖租赁房屋的，应当通知承租人，承租人享有以同等条件优先购买的权利。请核对承租人是否确实同意。",
        severity=Severity.CHECK,
        unless="十五日|15日|未明确表示|逾期(?:未|不)|视为放弃|未(?:在|作|书面)",
    ),
    phrase_rule(
        "renewal",
        "放弃优先承租权",
        _LEASE,
        (_RENEWAL,),
        ("优先(?:承租|续租)", "放弃|不享有|不享受|不具有|没有|丧失|排除|不得主张|无权"),
        "文稿让承租人放弃优先承租权；条文：租赁期限届满，房屋承租人享有以同等条件优先承租的权利。请核对承租人是否确实同意。",
        severity=Severity.CHECK,
        unless="视为放弃|逾期",
    ),
    phrase_rule(
        "landlord-ends",
        "出租人随时收回",
        _LEASE,
        (_ENDING, UNFAIR_TERMS, _AGREED_ENDING),
        (
            "FIRST",
            "随时|什么时候|任何时候|任意|无条件|单方|(?:不需|无需|无须|不用|不必|不)[^,。]{0,8}(?:理由|同意|赔|补偿|违约|责任)|想[^,。]{0,6}就|说一声|提前(?:收回|终止|解除)[^。]{0,24}(?:不|无需|无须)",
            "收回|收房|解除|终止|搬|腾|退租|清退|解约",
        ),
        "文稿允许出租人随时收回或解除；定期租赁的解除要有约定或法定的事由，条文列举了法定的情形。请写明事由、提前通知的时间和补偿。",
        severity=Severity.CHECK,
        unless="不定期|逾期|拖欠|欠付|欠租|违反|违约的|违约时|FIRST(?:不得|无权)|SECOND(?:可以?|有权)随时",
    ),
    phrase_rule(
        "landlord-enters",
        "出租人随时进入",
        _LEASE,
        (_USE,),
        (
            "进入|入室|入内|开门|进房|进屋|入户|进门|开锁",
            "随时|不经|无需|无须|不另行|任意|自行|不必|不用|不论|备用钥匙",
        ),
        "文稿允许出租人随时进入；条文：出租人应当在租赁期限内保持租赁物符合约定的用途。请改为提前通知并经承租人同意。",
        severity=Severity.CHECK,
        unless="紧急|火灾|险情|提前[^,。]{0,10}(?:通知|告知|约)(?![^。]{0,10}不)|(?<!不)(?<!未)经SECOND同意|FIRST不得|SECOND可",
    ),
    phrase_rule(
        "self-help",
        "断水断电和处置物品",
        _LEASE,
        (_USE,),
        (
            "停水|断水|停电|断电|断网|换锁|锁门|封门|(?:清理|清空|处置|处理|变卖|扔)[^,。]{0,10}(?:物品|东西|家具|财物)|(?:物品|东西|家具|行李)[^,。]{0,6}(?:扔|清|处理|处置|变卖)",
            f"FIRST[^。]{{0,14}}(?:{CAN})",
        ),
        "文稿允许出租人断水断电、换锁或自行处置物品；条文：出租人应当在租赁期限内保持租赁物符合约定的用途。请改为依法请求支付或解除合同。",
        severity=Severity.CHECK,
        unless="FIRST不得|检修|故障|供电局|市政",
    ),
    phrase_rule(
        "rent-raised",
        "单方涨租",
        _LEASE,
        (_CHANGE, UNFAIR_TERMS),
        ("租金|房租|涨租|加租", "随时|单方|自行|任意|FIRST(?:有权|可以?)", "上调|上涨|涨|调整|提高|加租"),
        "文稿允许出租人单方涨租；条文：当事人协商一致，可以变更合同。请写明涨幅和时间，或改为协商。",
        severity=Severity.CHECK,
        unless="协商|FIRST不得|双方|续租|续签|届满|百分之|%",
    ),
    phrase_rule(
        "oral-lease",
        "租赁合同的形式",
        _LEASE,
        (_WRITTEN,),
        ("口头", "续租|租赁|合同|约定|协议|有效|为准"),
        "文稿以口头形式约定租赁；条文：租赁期限六个月以上的，应当采用书面形式。请改为书面。",
        severity=Severity.CHECK,
        unless="无效|不(?:得|能|予|作|以)|书面(?:确认|为准)|通知",
    ),
    phrase_rule(
        "wear",
        "自然损耗",
        _LEASE,
        (_WEAR,),
        (
            "(?:自然|正常|合理)(?:使用)?[^,。]{0,6}(?:损耗|磨损|老化|折旧|损坏)",
            "SECOND[^。]{0,14}(?:赔|承担|负责|恢复|照价)",
        ),
        "文稿让承租人赔偿正常使用的损耗；条文：按照约定的方法使用租赁物，致使租赁物受到损耗的，不承担赔偿责任。请删去。",
        severity=Severity.CHECK,
        unless="除外|除(?:自然|正常|合理)|不承担|无需|无须|不赔|不(?:用|必|属)|由FIRST|FIRST(?:负责|承担|修)|SECOND(?:弄|造成|原因)|人为",
    ),
    phrase_rule(
        "unsafe-house",
        "危及安全时的解除",
        _LEASE,
        (_DANGER,),
        ("安全|健康|甲醛|质量|危房|隐患", "不得|不能|无权|不可", "解除|退租|终止|退房"),
        "文稿排除危及安全或健康时的解除权；条文：租赁物危及承租人的安全或者健康的，承租人仍然可以随时解除合同。请删去。",
        severity=Severity.CHECK,
        unless="FIRST(?:不得|不能|无权)",
    ),
)
