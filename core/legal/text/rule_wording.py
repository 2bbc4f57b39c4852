"""Wordings of a rule that say the same, brought into one form, and terms of law that exclude each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, permutations, product

_NUMBER = "[〇零一二三四五六七八九十百千0-9]{1,9}"
_SAME = (
    (re.compile("经过(?=[^，。；]{2})"), "经"),
    (re.compile("到期(?=[的，])"), "期满"),
    (re.compile("起算"), "起计算"),
    (re.compile("本法(?=第)"), ""),
    (re.compile("本法另有"), "法律另有"),
    (re.compile(f"依[据照](?:本法)?第{_NUMBER}条的?规定，?(?=仍)"), ""),
    (re.compile("以后"), "后"),
    (re.compile("不具有|不享有"), "没有"),
    (re.compile("到期(不|未)履行债务|(不|未)履行到期债务"), "不履行到期债务"),
    (re.compile("向(?:人民)?法院(?:提起诉讼|起诉)"), "向人民法院起诉"),
    (re.compile("因(?=[^，。；的]{2,20}(?:导致|造成|致使))"), ""),
    (re.compile("(?:应当|必须|须|应)由(?=[^，。；]{2})"), "由"),
    (re.compile("(应当[^。；]{2,60}?，并)应当"), r"\1"),
    (re.compile("((?:可以|有权)[^。；]{2,60}?，并)(?:可以|有权)"), r"\1"),
    (re.compile("的(?=是[^，。；否]{2,8}(?:[，。；]|$))"), "的，"),
    (re.compile("(?<=[续长宽])到(?=[^期])"), "至"),
    (re.compile("(?<=[都，但])要(?![求约么素件点是])(?=[^，。；]{2})"), "应当"),
    (re.compile("(?:没有?|未)做"), "未进行"),
    (re.compile("付款"), "支付价款"),
    (re.compile("对于"), "对"),
    (re.compile("每天"), "每日"),
    (re.compile("签(?=协议|合同|订协议|订合同)(?:订)?"), "订立"),
    (re.compile("(任何[^，。；]{1,16}?)[都均](?=不|应|可|必)"), r"\1"),
    (re.compile("((?!任何)[^，。；、]{2,8})[和与、]([^，。；、]{2,8})[均都](?=可以|有权|应当|不得)"), r"\1或者\2"),
    (re.compile("(任何[^，。；]{1,16}?)不(?:能|可以|准|允许)(?!够)"), r"\1不得"),
    (
        re.compile(
            "(?<![拒并决以得能])(?:仍|还|一直|始终)?(?:未|没有|不)"
            "(?=与[^，。；]{2,10}订立|按照|按期|按时|依法|及时|足额|如实|履行|支付|缴纳|办理|申报|答复)"
        ),
        "未",
    ),
    (re.compile("另一方|对方当事人"), "对方"),
    (re.compile("的一方(?!面)"), "方"),
    (re.compile("受损(?=[时之的])"), "受到损害"),
    (re.compile("向((?:人民)?法院|公安机关|人民检察院|仲裁机构)(请求|申请)"), r"\2\1"),
    (re.compile("的?(?:情况|情形)下，"), "的，"),
    (re.compile("的人(?=不得|应当|可以|必须)"), "的人员"),
    (re.compile("(?<=[，；])([^，。；的或和、]{2,12}(?:人|者|单位|机构|公司|企业|机关))应当(?=承担)"), r"由\1"),
    (re.compile("(?<=安排|支付|通知)劳动者(?:本人)?(?=[^，。；])"), ""),
    (re.compile("合同目的(不能|无法)实现"), r"\1实现合同目的"),
    (re.compile("(每[年月日天])(向[^，。；]{2,8}?)(?=支付|缴纳|发放)"), r"\2\1"),
    (
        re.compile("((?:^|[，。；\n]))除(?![^，。；]*下列)([^，。；]{3,40}?)的?(?:以外|之外|外)，([^。；\n]+)"),
        r"\1\3，但\2的除外",
    ),
    (re.compile("按(?=[^照期时份揭月日年季次件])"), "按照"),
    (re.compile("违反本(?:法|条例|办法|规定)的?规定"), "违法"),
    (re.compile(rf"(?<=[依按]照)(?:本条例)?第{_NUMBER}条(?:第{_NUMBER}款)?规定的"), ""),
    (re.compile("将(?=[^来要会军])"), "把"),
    (re.compile("(?:自|从)(?=[^，。；自从]{1,40}(?:之日|当日|当天)起)"), ""),
    (re.compile("届满(?:之?后|以后)(?=，)"), "届满"),
    (re.compile("(另有(?:规定|约定)的)，?(?:从其|依照其|按照其?|依照)(?:规定|约定)"), r"\1除外"),
    (re.compile(f"(?:前[一两二]?款|本条第{_NUMBER}款)所?规定的?(?!，)|上述|这一(?!点)"), "该"),
    (
        re.compile(
            f"(?<=的)(?=(?:按照|视为|应当|可以|不得|不需要|无需|不予|由|(?:支付|处){_NUMBER}|支付[半不])[^，。；]{{2}})"
        ),
        "，",
    ),
    (re.compile("(?:(?<=[，。；\n])|^)(?:如果|假如|倘若|若)([^，。；\n]{3,60}?)(?:的话|的)?(?=，)"), r"\1的"),
)
"""Spellings and what is put in their place, in this order."""
_NEXT_RULE = re.compile(
    "(的，[^，；。]{2,40}[^的时后前，]|(?:(?<!或者)应当(?!知道)|可以|不得|有权|无权|视为|包括|限于|属于|是指|由(?=[^，；。]{2,30}承担))[^，；。]{2,60}[^的时后前，])"
    "，(?=(?:但是?，?)?[^，。；]{3,40}的，|(?:但是?，?)?[^，。；]{0,8}另有(?:规定|约定)的除外"
    "|(?![自从并且但其该由处为按在以除也还])[^，。；]{2,16}?(?:应当|不得|必须|有权|可以)[^，。；]{4,60}$)"
)
"""A comma between what one rule provides and the condition, or the subject, of the next."""
_NAMES = {
    "劳务派遣单位": "劳务派遣公司 派遣公司",
    "用人单位": "公司 单位 企业 雇主",
    "劳动者": "员工 职工 雇员",
    "劳动合同": "合同",
    "从业人员": "员工 职工 工人",
    "电子商务": "电商",
    "机动车驾驶证": "驾驶证 驾照",
    "出租人": "房东",
    "承租人": "租客 租户",
    "出卖人": "卖方 卖家",
    "买受人": "买方 买家",
    "经营者": "商家",
    "人民法院": "法院",
    "人民检察院": "检察院",
    "人民政府": "政府",
    "工作人员": "员工",
    "职工": "员工",
    "社会保险": "社保",
    "环境保护": "环保",
    "居民身份证": "身份证",
    "劳动争议仲裁": "劳动仲裁",
    "仲裁委员会": "仲裁委",
    "只有一个股东的公司": "一人公司 一人有限责任公司 一人有限公司",
    "医疗机构": "医院",
    "电子商务平台经营者": "电商平台经营者 电商平台 平台经营者",
    "公安机关交通管理部门": "交警部门 交管部门 交警",
    "物业服务人": "物业公司 物业服务企业",
    "著作权": "版权",
}
"""Names of parties and contracts in the law, and the everyday names for each."""
_EXCLUSIVE = """
用人单位 劳动者 用工单位 劳务派遣单位|债权人 债务人 保证人 第三人|出租人 承租人 第三人|出卖人 买受人|委托人 受托人|发包人 承包人|招标人 投标人
原告 被告|申请人 被申请人 复议机关|投保人 保险人 被保险人 受益人|经营者 消费者 生产者 销售者|股东会 董事会 监事会|股东 董事 监事
人民法院 人民检察院 公安机关 仲裁委员会 仲裁机构 婚姻登记机关 人民政府|基层人民法院 中级人民法院 高级人民法院 最高人民法院
监护人 被监护人 学校 法定代理人 相对人|继承人 被继承人 受遗赠人|承运人 托运人 收货人 旅客|男方 女方 双方|被告人 自诉人 被害人|旅游者 旅行社
国务院 省级人民政府 县级人民政府 县级以上人民政府|县级 省级 市级|上级 下级|公民 法人|中央 地方|国家 社会|成年人 未成年人|动物饲养人 出售人
一般保证 连带责任保证|连带责任 按份责任 补充责任|有效 无效|同意 拒绝 放弃|许可 不许可|共同 个人|中止 中断|继续计算 重新计算|故意 过失
书面 口头|全部 部分|监视居住 取保候审|过半数 三分之二以上 全体|以上 以下|以前 以后|境内 境外|直接 间接|严重 轻微|重大 一般|有偿 无偿
公开 不公开|或者 并且|吊销 暂扣|从轻 减轻 免除|缺席判决 撤诉处理|知道 受到损害|多分 少分 均等|未经 经过|未经 经|收到 发出|申请 批准
"""
"""Groups of terms of which a rule means one and not another."""
_PARTIES = """
当事人 申请人 被申请人 原告 被告 第三人 被告人 自诉人 被害人 犯罪嫌疑人 辩护人 代理人 法定代理人 相对人 监护人 被监护人 权利人 义务人 利害关系人
债权人 债务人 保证人 担保人 抵押人 抵押权人 出质人 质权人 出租人 承租人 出卖人 买受人 委托人 受托人 发包人 承包人 招标人 投标人 中标人 承揽人 定作人
承运人 托运人 收货人 旅客 保管人 寄存人 赠与人 受赠人 继承人 被继承人 受遗赠人 投保人 保险人 被保险人 受益人 保险公司 信托公司 经营者 消费者 生产者 销售者
用人单位 用工单位 劳务派遣单位 劳动者 职工 工会 雇主 公司 股东 股东会 董事会 监事会 董事 监事 经理 合伙人 合伙企业 发行人 证券公司 投资者 管理人 破产管理人
人民法院 人民检察院 公安机关 人民政府 国务院 主管部门 主管机关 监督管理部门 行政机关 复议机关 税务机关 海关 纳税人 扣缴义务人 仲裁委员会 仲裁庭 登记机关
旅游者 旅行社 患者 医疗机构 医务人员 学校 学生 教师 父母 子女 男方 女方 侵权人 被侵权人 行为人 受害人 所有权人 占有人 用益物权人 业主 物业服务人
网络用户 网络服务提供者 平台经营者 个人信息处理者 著作权人 专利权人 许可人 被许可人 转让人 受让人 建设单位 施工单位 监理单位 设计单位 供应商 采购人 机关 单位 个人
"""
"""Names of those who have rights and duties."""
_GROUPS = [group.split() for line in _EXCLUSIVE.strip().splitlines() for group in line.split("|")]
_EXCLUSIONS = [pair for group in _GROUPS for pair in permutations(group, 2)]
_PARTY = re.compile("|".join(sorted(_PARTIES.split(), key=len, reverse=True)))
_TERMS = {term for group in _GROUPS for term in group}
_TERM = re.compile("|".join(sorted(_TERMS, key=len, reverse=True)))
_ANY_TERM = re.compile("|".join(sorted({*_TERMS, *_PARTIES.split()}, key=len, reverse=True)))
_ANYBODY = frozenset(
    [
        "当事人",
        "权利人",
        "义务人",
        "利害关系人",
        "行为人",
        "机关",
        "单位",
        "个人",
        "主管部门",
        "主管机关",
        "行政机关",
        "公司",
        "雇主",
        "职工",
    ]
)
"""Parties whom an article may call by another name."""


_CONSEQUENCES = ("无效", "视为", "连带", "自动", "一律", "消灭", "丧失")
"""What a rule provides in these words and no others."""


def has_terms_of(claim: str, article: str) -> bool:
    """Return whether the article names all parties, consequences and exclusive terms of a claim."""
    named = [*_PARTY.findall(claim), *_TERM.findall(claim), *(word for word in _CONSEQUENCES if word in claim)]
    return all(word in article for word in named)


def other_consequence(claim: str, article: str) -> str:
    """Return a word for what follows that the claim has and the article does not; empty if there is none."""
    return next((word for word in _CONSEQUENCES if word in claim and word not in article), "")


_ASIDE = re.compile("[（(](?![^（）()]*[除不含包]|[一二三四五六七八九十\\d]+[）)])[^（）()]{1,12}[）)]")
"""What an article says in brackets, unless it adds or excepts something."""
_BREACH = re.compile("[不未]履行(?:合同)?(?:债务|义务)或者履行(?:合同)?(?:债务|义务)不符合约定")

_ADDRESSED = re.compile("(?<!不得)向[^，。；]{2,14}?(?=申请|提出|报告|办理|提起|请求|备案|登记)")
"""To whom something is addressed."""


def with_terms_of(claim: str, article: str) -> str:
    """Return an article without brackets and without those who are addressed, if the claim has none, and with its term for
    what the law says at length: 违约."""
    if "（" not in claim and "(" not in claim:
        article = _ASIDE.sub("", article)
    if "向" not in claim:
        article = _ADDRESSED.sub("", article)
    return _BREACH.sub("违约", article) if "违约" in claim and "违约" not in article else article


def plain_wording(text: str) -> str:
    for spelling, plain in _SAME:
        text = spelling.sub(plain, text)
    return text


def split_rules_of_claim(sentence: str) -> list[str]:
    """Return the rules that a sentence tells one after the other: 满一年的，为五天，满十年的，为十天."""
    return _NEXT_RULE.sub(r"\1；", sentence).split("；")


def with_names_of(article: str, claim: str) -> str:
    """Return a claim with the article's names of the parties: 员工 is 劳动者 where the article only speaks of those."""
    for name, everyday in _NAMES.items():
        for other in everyday.split() if name in article else ():
            if other not in article.replace(name, ""):
                claim = re.sub(f"{name}|{other}", name, claim)
    return claim


def replace_terms(claim: str, article: str) -> Iterator[tuple[str, str, str]]:
    """Yield a term of the claim, another of the article that excludes it, and the claim with this in its place: once, and
    wherever the term stands."""
    present = set(_TERM.findall(article))
    pairs = [(term, other) for term, other in _EXCLUSIONS if other in present and term in claim]
    for term, other in dict.fromkeys([*pairs, *_strange_parties(claim, article)]):
        places = [found.start() for found in _ANY_TERM.finditer(claim) if found[0] == term]
        for at in places:
            yield term, other, claim[:at] + other + claim[at + len(term) :]
        if len(places) > 1:
            yield term, other, _substitute(_ANY_TERM, {term: other}, claim)


def _strange_parties(claim: str, article: str) -> list[tuple[str, str]]:
    """Return each party of a claim that the article does not name, with each party that it names."""
    strange = [party for party in _PARTY.findall(claim) if party not in article and party not in _ANYBODY]
    named = [party for party in _PARTY.findall(article) if party not in _ANYBODY and party not in claim]
    return list(product(strange, named))


def names_parties_of(claim: str, rule: str) -> bool:
    """Return whether a rule names each party of a claim: 接受劳务派遣的用工单位 is no 劳务派遣单位."""
    return all(party in rule or party in _ANYBODY for party in _PARTY.findall(claim))


def has_parties_in_order(claim: str, rule: str) -> bool:
    """Return whether the parties that both name come in the same order."""
    named = _PARTY.findall(rule)
    rest = iter(named)
    return all(party in rest for party in _PARTY.findall(claim) if party in named)


def exchange_parties(claim: str) -> Iterator[tuple[str, str, str]]:
    """Yield two parties of the claim, and the claim with each in the other's place."""
    for one, other in combinations(dict.fromkeys(_PARTY.findall(claim)), 2):
        if re.search(f"{one}(?:[、和与或及]|或者|以及){other}", claim):
            continue
        yield one, other, _substitute(_PARTY, {one: other, other: one}, claim)


def _substitute(term: re.Pattern[str], others: dict[str, str], claim: str) -> str:
    return term.sub(lambda found: others.get(found[0], found[0]), claim)
