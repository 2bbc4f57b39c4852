"""Names of laws: one key for all spellings, the short names people use, and guesses for misspelt names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from core.base.chinese.script import to_simplified

_BRACKETS = re.compile(r"[《》〈〉<>「」“”\"'\s·]")
_YEAR = re.compile(r"\((?:\d{4})年?(?:第?[一二三四五六]次)?(?:修正|修订|修改|版|文本|公布|施行)*\)$")
CODE_PARTS = "(?:总则|物权|合同|人格权|婚姻家庭|继承|侵权责任|分则)"
"""Names of the parts of 民法典 and 刑法."""
_PART = re.compile(f"{CODE_PARTS}[编篇]$")

# Short names that no rule on letters finds: 消法 is not 消防法, and an interpretation is called after its subject. A name that
# an older law had (执业医师法) is not a short name of the newer one: its articles are numbered differently.
_SHORT_NAMES = {
    "消费者权益保护法": "消法 消保法 消费者保护法 消费者法",
    "道路交通安全法": "道交法 交通法 交通安全法 交规",
    "道路交通安全法实施条例": "道交法实施条例",
    "治安管理处罚法": "治安法 治安处罚法 治安管理法",
    "个人信息保护法": "个保法 个信法",
    "网络安全法": "网安法",
    "数据安全法": "数安法",
    "反电信网络诈骗法": "反电诈法 反诈法",
    "民事诉讼法": "民诉法",
    "刑事诉讼法": "刑诉法",
    "行政诉讼法": "行诉法",
    "进出口商品检验法": "商检法",
    "海事诉讼特别程序法": "海诉法 海事诉讼法",
    "劳动争议调解仲裁法": "劳仲法 劳动仲裁法 调解仲裁法",
    "劳动合同法": "劳合法",
    "工伤保险条例": "工伤条例",
    "社会保险法": "社保法",
    "未成年人保护法": "未保法 未成年保护法",
    "预防未成年人犯罪法": "预防未成年犯罪法",
    "妇女权益保障法": "妇女法 妇女权益法 妇女保护法",
    "老年人权益保障法": "老年人权益法 老年人保护法",
    "残疾人保障法": "残保法 残疾人保护法",
    "反家庭暴力法": "反家暴法 家暴法",
    "反不正当竞争法": "反不当竞争法 反法",
    "个人所得税法": "个税法",
    "企业所得税法": "企税法 企业税法",
    "税收征收管理法": "税收征管法 征管法",
    "商业银行法": "商行法",
    "银行业监督管理法": "银监法",
    "中国人民银行法": "人行法",
    "证券投资基金法": "基金法",
    "期货和衍生品法": "期货法",
    "企业破产法": "破产法",
    "合伙企业法": "合伙法",
    "个人独资企业法": "独资企业法",
    "农民专业合作社法": "农合法 合作社法",
    "招标投标法": "招投标法 招标法",
    "政府采购法": "政采法",
    "土地管理法": "土地法",
    "农村土地承包法": "土地承包法",
    "城市房地产管理法": "房地产法 房地产管理法 房产法",
    "城乡规划法": "规划法",
    "国有土地上房屋征收与补偿条例": "征收条例 房屋征收条例",
    "物业管理条例": "物业条例",
    "环境保护法": "环保法",
    "环境影响评价法": "环评法",
    "固体废物污染环境防治法": "固废法",
    "大气污染防治法": "大气法",
    "水污染防治法": "水污染法",
    "噪声污染防治法": "噪声法",
    "野生动物保护法": "野保法",
    "职业病防治法": "职防法 职业病法",
    "食品安全法": "食安法 食品法",
    "药品管理法": "药品法 药管法",
    "传染病防治法": "传染病法",
    "人口与计划生育法": "计生法 计划生育法",
    "义务教育法": "义教法",
    "民办教育促进法": "民促法",
    "民营经济促进法": "民营经济法",
    "学前教育法": "学前法",
    "电子商务法": "电商法",
    "电子签名法": "电签法",
    "著作权法": "著作法 版权法",
    "产品质量法": "产质法 质量法",
    "外商投资法": "外商法",
    "出境入境管理法": "出入境法 出入境管理法",
    "居民身份证法": "身份证法",
    "户口登记条例": "户口条例 户籍条例",
    "村民委员会组织法": "村委会法 村委会组织法",
    "城市居民委员会组织法": "居委会组织法 居委会法",
    "国家赔偿法": "国赔法",
    "行政复议法": "复议法",
    "行政处罚法": "处罚法 行处法",
    "行政许可法": "许可法",
    "行政强制法": "强制法",
    "法律援助法": "法援法",
    "社区矫正法": "社矫法",
    "反恐怖主义法": "反恐法",
    "反有组织犯罪法": "扫黑法",
    "涉外民事关系法律适用法": "涉外法律适用法 法律适用法",
    "香港特别行政区基本法": "香港基本法",
    "澳门特别行政区基本法": "澳门基本法",
    "香港特别行政区维护国家安全法": "香港国安法",
    "国家安全法": "国安法",
    "职工带薪年休假条例": "带薪年休假条例 年休假条例",
    "女职工劳动保护特别规定": "女职工特别规定 女职工保护规定",
    "住房公积金管理条例": "公积金条例",
    "政府信息公开条例": "信息公开条例",
    "机动车交通事故责任强制保险条例": "机动车交强险条例 交强险条例",
    "医疗纠纷预防和处理条例": "医疗纠纷条例",
    "保障农民工工资支付条例": "农民工工资条例",
    "最高人民法院关于适用民事诉讼法的解释": "民诉法解释 民诉解释 民事诉讼法解释",
    "最高人民法院关于适用刑事诉讼法的解释": "刑诉法解释 刑诉解释",
    "最高人民法院关于适用行政诉讼法的解释": "行诉法解释 行诉解释",
    "最高人民法院关于审理民间借贷案件适用法律若干问题的规定": "民间借贷解释 民间借贷规定",
    "最高人民法院关于审理人身损害赔偿案件适用法律若干问题的解释": "人身损害赔偿解释 人损解释",
    "最高人民法院关于确定民事侵权精神损害赔偿责任若干问题的解释": "精神损害赔偿解释",
    "最高人民法院关于审理道路交通事故损害赔偿案件适用法律若干问题的解释": "交通事故解释 道路交通事故解释",
    "最高人民法院关于审理劳动争议案件适用法律问题的解释(一)": "劳动争议解释",
    "最高人民法院关于适用民法典有关担保制度的解释": "担保解释 担保制度解释 民法典担保制度解释 民法典担保解释",
    "最高人民法院关于审理买卖合同纠纷案件适用法律问题的解释": "买卖合同解释",
    "最高人民法院关于审理商品房买卖合同纠纷案件适用法律若干问题的解释": "商品房买卖合同解释 商品房买卖解释 商品房解释",
    "最高人民法院关于审理建设工程施工合同纠纷案件适用法律问题的解释(一)": "建设工程解释 建工解释",
    "最高人民法院关于民事诉讼证据的若干规定": "证据规定 民事证据规定 民诉证据规定",
    "最高人民法院关于适用民法典婚姻家庭编的解释(一)": "婚姻家庭编解释",
    "最高人民法院关于适用民法典继承编的解释(一)": "继承编解释",
    "最高人民法院关于适用民法典物权编的解释(一)": "物权编解释",
    "最高人民法院关于适用民法典总则编若干问题的解释": "总则编解释",
    "最高人民法院关于适用民法典合同编通则若干问题的解释": "合同编通则解释",
    "最高人民法院关于适用民法典侵权责任编的解释(一)": "侵权责任编解释",
    "最高人民法院关于适用民法典时间效力的若干规定": "时间效力规定",
    "最高人民法院关于审理旅游纠纷案件适用法律若干问题的规定": "旅游纠纷规定",
    "最高人民法院关于审理物业服务纠纷案件适用法律若干问题的解释": "物业解释",
    "最高人民法院关于审理民事案件适用诉讼时效制度若干问题的规定": "诉讼时效解释",
    "最高人民法院关于审理城镇房屋租赁合同纠纷案件具体应用法律若干问题的解释": "城镇房屋租赁合同解释 租赁合同解释",
}
ALIASES = {short: name for name, shorts in _SHORT_NAMES.items() for short in shorts.split()}


@lru_cache(maxsize=8192)
def law_key(name: str) -> str:
    """Return one key for all spellings of a name: 《中华人民共和国劳动合同法》, 劳动合同法, 勞動合同法."""
    key = _BRACKETS.sub("", to_simplified(unicodedata.normalize("NFKC", name)))
    return key.replace("中华人民共和国", "") or key


@lru_cache(maxsize=8192)
def candidate_keys(name: str) -> tuple[str, ...]:
    """Return the keys under which a written name may be known, best first."""
    key = law_key(name)
    bare = _YEAR.sub("", key)
    whole = _PART.sub("", bare)  # 民法典侵权责任编 is a part of 民法典
    found = [key, bare, whole]
    for spelling in (bare, bare.replace("司法解释", "解释")):
        found.append(ALIASES.get(spelling, spelling))
        # 公司法解释三, 公司法司法解释（三）
        found.append(re.sub(r"([一二三四五六七八九十])$", r"(\1)", spelling))
        short = re.sub(r"^最高人民法院(?:关于)?|^民法典(?=.+编)|\(?[一二]\)?$", "", spelling)
        found.append(ALIASES.get(short, key))
        found.extend(_interpretations(spelling))
    found.append(re.sub(r"^(?:我国|中国|现行|新)的?", "", bare))  # 新公司法
    found.append(f"最高人民法院{bare}")  # the court's name may stand before 《关于…》 or be missing
    return tuple(dict.fromkeys(found))


def _interpretations(name: str) -> Iterator[str]:
    """Yield the titles that a numbered interpretation may have: 公司法解释三."""
    if called := re.fullmatch(r"(?P<law>.+法)解释\(?(?P<number>[一二三四五六七])?\)?", name):
        number = f"({called['number']})" if called["number"] else ""
        for kind in ("若干问题的规定", "若干问题的解释", "的解释"):
            yield f"最高人民法院关于适用{called['law']}{kind}{number}"


_MISSPELT_ENDINGS = (("法法", "法"), ("法点", "法典"), ("条列", "条例"), ("发", "法"))
_ALIKE = 0.64
_NEXT_BEST = 0.08
_SHORTEST_GUESS = 4
"""Fewest letters of a name to guess: 矿业法 and 渔业法 are two laws, not one misspelt."""


def corrected_ending(name: str) -> str:
    """Return the name with a misspelt ending corrected: 劳动合同发, 民法点. Other names are returned unchanged."""
    return next((name.removesuffix(slip) + meant for slip, meant in _MISSPELT_ENDINGS if name.endswith(slip)), name)


def closest_name(name: str, keys: Iterable[str]) -> str | None:
    """Return the one known name that a misspelt name may mean, or None if no name or several are similar."""
    wanted = _without_particles(corrected_ending(law_key(name)))
    pairs, best = _bordered_pairs(wanted), [(0.0, ""), (0.0, "")]
    for key in keys:
        loose = _without_particles(key)
        if loose == wanted:
            return key
        if loose[-1:] == wanted[-1:] and abs(len(loose) - len(wanted)) <= len(wanted):
            others = _bordered_pairs(loose)
            best = sorted([*best, (2 * len(pairs & others) / (len(pairs) + len(others)), key)], reverse=True)[:2]
    clear = best[0][0] >= _ALIKE and best[0][0] - best[1][0] >= _NEXT_BEST
    return best[0][1] if clear and len(wanted) >= _SHORTEST_GUESS else None


def _bordered_pairs(name: str) -> set[str]:
    return {one + other for one, other in pairwise(f"^{name}$")}


def rank_names(query: str, keys: Iterable[tuple[str, float]], limit: int = 10) -> list[str]:
    """Return the names that hold the letters of the query in order, most likely first. `keys` are names and weights."""
    scored: list[tuple[float, str]] = []
    wanted = list(dict.fromkeys(_without_particles(spelling) for spelling in _query_variants(query)))
    for key, weight in keys:
        name = _without_particles(key)
        cost = min((cost for text in wanted if (cost := _match_cost(text, name)) is not None), default=None)
        if cost is not None:
            scored.append((cost - 3 * weight + len(name) / 40, key))
    return [key for _, key in sorted(scored)[:limit]]


def _query_variants(query: str) -> list[str]:
    """Return variants of a query: people write 司法解释 or 解释 whatever the title says."""
    key = law_key(query)
    readings = [key, *(ALIASES[part] + key[len(part) :] for part in (key[:2], key[:3], key[:4]) if part in ALIASES)]
    for word in ("司法解释", "解释"):
        readings += [key.replace(word, other) for other in ("解释", "规定") if word in key]
    return readings


def _without_particles(key: str) -> str:
    return re.sub(r"[()的、,]", "", key)


def _match_cost(query: str, name: str) -> float | None:
    """Return a cost for the gaps between the query's letters in the name, or None if they are not there in order."""
    if len(query) < 2 or query[-1] != name[-1]:
        return None
    runs, at = 0, len(name)
    for letter in reversed(query):
        found = name.rfind(letter, 0, at)
        if found < 0:
            return None
        runs += found != at - 1
        at = found
    gaps = len(name) - at - len(query)
    return gaps * 0.5 + runs + (at > 0)
