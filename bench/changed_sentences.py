"""Sentences made false by one change of a word, a number, a name or a clause: `python -m bench.changed_sentences` prints some.

The sentences are those of pages beside the project. Words and patterns are this file's own: the checker's lists are not used, so
that a word which is missing there shows. What is made is not read by anybody; a few are true by accident.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

SEED = 27
PER_SOURCE = 2
"""Sentences that are taken from one source, but for changes that few sentences allow."""
SHORTEST, LONGEST = 14, 90
VERBATIM = "verbatim"

_SENTENCE = re.compile(r"[^。！？!?\n]+[。！]")
_MARK = re.compile(r"\[\d+\]\s?")
_NO_STATEMENT = re.compile(r"[？?【】…|]|吗|是否|[ABCD][.、．:]")
"""A question, a choice or a heading: nothing is stated that could be changed."""

# ── Words ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _listed(words: str) -> list[str]:
    return words.split()


_DENIED = {
    "不是": "是",
    "并非": "是",
    "不会": "会",
    "不能": "能",
    "不可以": "可以",
    "不得": "可以",
    "不应": "应",
    "不需要": "需要",
    "无需": "需要",
    "不再": "",
    "不属于": "属于",
    "不包括": "包括",
    "没有": "有",
    "并未": "",
    "尚未": "已",
    "未能": "",
    "从未": "",
    "无法": "能够",
    "并不": "",
    "未经": "经",
    "禁止": "允许",
    "拒绝": "同意",
    "取消": "保留",
}
"""What is taken out or turned, to what stands there then."""
_AFFIRMED = {
    "是": ["不是", "并非", "未必是", "不再是"],
    "可以": ["不可以", "无法", "不得"],
    "能够": ["不能", "无法"],
    "应当": ["不应当", "不得"],
    "需要": ["不需要", "无需"],
    "属于": ["不属于"],
    "包括": ["不包括"],
    "获得": ["没有获得", "未能获得", "无缘获得"],
    "参加": ["没有参加", "拒绝参加", "未参加"],
    "举行": ["没有举行", "未能举行", "停止举行"],
    "成为": ["没有成为", "未能成为", "不再成为"],
    "完成": ["没有完成", "尚未完成", "未能完成"],
    "发布": ["没有发布", "尚未发布", "撤回"],
    "达到": ["没有达到", "尚未达到", "未能达到"],
    "进入": ["没有进入", "未能进入", "退出"],
    "采用": ["没有采用", "不再采用"],
    "位于": ["不位于"],
    "导致": ["没有导致", "不会导致"],
    "提供": ["不提供", "拒绝提供", "停止提供"],
    "具有": ["不具有", "缺乏"],
    "实现": ["没有实现", "未能实现"],
    "使用": ["不使用", "停止使用", "禁止使用"],
    "支持": ["不支持"],
    "接受": ["没有接受", "拒绝接受"],
    "推出": ["没有推出", "取消推出"],
    "影响": ["不影响"],
    "发现": ["没有发现"],
}
_VERBS = _listed(
    "获得 参加 举行 成为 完成 发布 达到 进入 采用 导致 提供 实现 使用 接受 推出 引起 造成 增加 减少 下降 上涨 增长 提高 改变 建立 成立 "
    "开展 选择 影响 发生 出现 产生 击败 担任 收购 投资 生产 销售 上市 开始 结束 停止 批准 通过"
)
_HEDGES = _listed("可能 或许 计划 拟 据说 有望 试图 本应 一度 疑似 只 几乎 差点 假装 号称 即将")
_DROPPED = _listed(
    "可能 或许 也许 预计 计划 有望 拟 据说 据传 网传 疑似 涉嫌 似乎 声称 自称 号称 试图 打算 希望 建议 将要 即将 曾经 一度 尚 "
    "一部分 大部分 多数 大多数 少数 某些 几乎 至少 最多 至多 超过 不到 不足 只有 仅有 通常 一般 往往 有时 偶尔 主要 基本 首次 再次 "
    "唯一 之一 以内 左右 每年 每天 每月 平均 累计 分别 同比 环比 原 前 时任 如果 一旦 只要 除非 除了"
)
_OPPOSITES = [
    pair.split("/")
    for pair in _listed(
        "增长/下降 上涨/下跌 增加/减少 提高/降低 上升/下降 支持/反对 高于/低于 超过/低于 成功/失败 最大/最小 最高/最低 有利/不利 容易/困难 "
        "可以/不能 应当/可以 必须/可以 允许/禁止 首次/再次 之前/之后 以上/以下 买入/卖出 进口/出口 扩大/缩小 加快/放缓 合法/违法 有效/无效 "
        "公开/秘密 国内/国外 男性/女性 东部/西部 南部/北部 开始/结束 接受/拒绝 同意/反对 击败/负于 全部/一部分 所有/一些 大部分/少部分 多数/少数 一定/可能 "
        "计划/已经 因为/尽管 上半年/下半年 上午/下午 早于/晚于 多于/少于 领先/落后 优点/缺点 盈利/亏损 收入/支出 安全/危险 强/弱 长期/短期 "
        "直接/间接 主动/被动 主场/客场 左侧/右侧 父亲/母亲 哥哥/弟弟 儿子/女儿 春季/秋季 冬季/夏季 白天/夜间 城市/农村 富含/缺乏 升高/降低 "
        "促进/抑制 增强/减弱 温和/剧烈 快速/缓慢 酸性/碱性 冠军/亚军 第一/第二 有助于/不利于 免费/收费 正式/非正式 较高/较低 较大/较小 较多/较少 "
        "更高/更低 更多/更少 更大/更小 很多/很少 热/冷 良好/恶劣 严格/宽松 自愿/强制 乐观/悲观 进攻/防守 毕业/入学 上任/卸任"
    )
]
_PLACES = _listed(
    "北京 上海 天津 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州 云南 陕西 甘肃 青海 台湾 "
    "广西 西藏 宁夏 新疆 香港 澳门 广州 深圳 杭州 南京 武汉 成都 西安 苏州 青岛 长沙 郑州 厦门 大连 美国 英国 法国 德国 日本 韩国 俄罗斯 印度 "
    "意大利 西班牙 加拿大 澳大利亚 巴西 阿根廷 荷兰 比利时 瑞士 瑞典 挪威 泰国 越南 新加坡 朝鲜 伊朗 土耳其 埃及 以色列 乌克兰 波兰 葡萄牙 希腊"
)
_SURNAMES = "王李张刘陈杨黄赵周吴徐孙马胡朱郭何林罗高梁郑谢宋唐许邓冯韩曹曾彭萧蔡潘田董袁于余叶蒋杜苏魏程吕丁沈任姚卢傅钟崔谭廖范汪陆石金贾韦夏付方邹熊白孟秦邱侯江尹薛闫段雷龙史陶贺毛郝顾龚邵万覃武钱戴严莫孔向汤"
_SAID = "表示|(?<![著名被])称|认为|指出|透露|(?<![来是再如的游得你小话传虽要里])说|坦言|宣称|声称|强调|回应称|介绍称"
_NAMES = {
    "latin": re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z]{2,}(?:[ -][A-Z][A-Za-z]+)*(?![A-Za-z])"),
    "title": re.compile(r"《[^《》]{2,20}》"),
    "foreign": re.compile(r"(?<![一-鿿])[一-鿿]{2,5}·[一-鿿]{2,5}(?=" + _SAID + "|[，、在的是于和与将曾])"),
    "person": re.compile(rf"(?<![一-鿿])[{_SURNAMES}][一-鿿]{{1,2}}(?=(?:{_SAID})|[在的是于和与将曾])"),
    "company": re.compile(
        r"(?<=[，。、；：“”\s在于由与和向对被从及])(?:(?![的了个该上非])[一-鿿]){2,8}?(?:公司|大学|集团|银行|法院|医院|学院|研究所)"
    ),
    "place": re.compile("|".join(_PLACES)),
}
_DATE = re.compile(r"\d{4}年(?:\d{1,2}月(?:\d{1,2}日)?)?|(?<!\d年)\d{1,2}月\d{1,2}日")
_NUMBER = re.compile(
    r"(?<![\d.A-Za-z第])(\d+(?:\.\d+)?)(%|万|亿|元|人|个|名|家|岁|米|公里|次|倍|吨|克|毫克|天|小时|分钟|度|℃)"
)
_BOUND = re.compile("(?<=[0-9%岁元人名个家年月天次米吨万亿])以[上下]")
_DIGITS = re.compile(r"(?<![\dA-Za-z.])\d+(?:\.\d+)?(?![\dA-Za-z.、）)])")
_CONDITION = re.compile(
    r"^(?:如果|若|假如|倘若|一旦|只要|除非|凡是).{3,}|^当(?![地日年天时初前]).{3,}时$|.{4,}(?:情况下|前提下|的话)$"
)
_SPEAKER = re.compile(rf"^.{{1,24}}(?:{_SAID})[：:]?$")
_SPEAKS = re.compile(rf"^([一-鿿A-Za-z·]{{1,16}}?)(?:{_SAID})[，：:](?=[^，。]{{5,}})")
_COMMA = re.compile("[，；]")
_PREDICATE = re.compile(
    r"^([一-鿿A-Za-z·《》]{2,10}?)((?:是|为|由|将|被|位于|拥有|获得|成为|达到|采用|属于|具有|担任|击败|下降|增长|上涨|提供|主要).{3,})$"
)
_NO_SUBJECT = re.compile(
    "^(?:尤其|反而|同样|由|恰恰|往往|下面|每天|然而|说|你|同时|其中|其|该|这|那|此|它|他|她|并|也|而|但|且|又|还|则|因|所|如|当|在|从|对|以|一|不|有|可|就|都|只|最|更|于|与|和|及|或|目前|如今|主要|如果|虽然|由于|为)"
)


class ChangedSentence(NamedTuple):
    kind: str
    statement: str
    original: str
    source: str


Change = Callable[[str, str, random.Random], str | None]


def make_sentences(sources: Sequence[str], seed: int = SEED) -> Iterator[ChangedSentence]:
    """Yield sentences of the sources as they are, and each changed in every way that its words allow."""
    for number, text in enumerate(sources):
        chance = random.Random(f"{seed} {number}")
        source = _MARK.sub("\n", text)
        sentences = _find_sentences(source)
        taken = chance.sample(sentences, min(PER_SOURCE, len(sentences)))
        yield from (ChangedSentence(VERBATIM, sentence, sentence, source) for sentence in taken)
        for kind, change in CHANGES.items():
            for sentence in sentences if kind in RARE else taken:
                made = change(sentence, source, chance)
                if made and (kind in LEFT_OUT or _is_new(made, source)):
                    yield ChangedSentence(kind, made, sentence, source)


def _find_sentences(source: str) -> list[str]:
    found = dict.fromkeys(one[0].strip() for one in _SENTENCE.finditer(source))
    return [one for one in found if SHORTEST <= len(one) <= LONGEST and not _NO_STATEMENT.search(one)]


def _is_new(sentence: str, source: str) -> bool:
    """Return False for what the source says, too."""
    return _compact(sentence) not in _compact(source)


def _compact(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


# ── Changes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _replace(sentence: str, place: int, old: str, new: str) -> str:
    return sentence[:place] + new + sentence[place + len(old) :]


def _any_place(sentence: str, words: Sequence[str], chance: random.Random) -> tuple[int, str] | None:
    """Return a place of one of the words. Of words that contain one another the longest counts."""
    pattern = re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))
    found = [(one.start(), one[0]) for one in pattern.finditer(sentence)]
    return chance.choice(found) if found else None


def take_negation(sentence: str, source: str, chance: random.Random) -> str | None:
    found = _any_place(sentence, list(_DENIED), chance)
    return _replace(sentence, *found, _DENIED[found[1]]) if found else None


def put_negation(sentence: str, source: str, chance: random.Random) -> str | None:
    free = [word for word in _AFFIRMED if not re.search(f"[不未没无非只总都或就还也但可]{word}|{word}否", sentence)]
    found = _any_place(sentence, free, chance) if free else None
    return _replace(sentence, *found, chance.choice(_AFFIRMED[found[1]])) if found else None


def put_hedge(sentence: str, source: str, chance: random.Random) -> str | None:
    found = _any_place(sentence, _VERBS, chance)
    return _replace(sentence, *found, chance.choice(_HEDGES) + found[1]) if found else None


def take_word(sentence: str, source: str, chance: random.Random) -> str | None:
    """Leave out a word that limits: a hedge, a plan, a quantifier, a condition."""
    if bound := _BOUND.search(sentence):
        return sentence[: bound.start()] + sentence[bound.end() :]
    known = [word for word in _DROPPED if len(word) > 1]
    found = _any_place(sentence, known, chance)
    return _replace(sentence, *found, "") if found else None


def put_quantifier(sentence: str, source: str, chance: random.Random) -> str | None:
    """Put 至少 and the like before a number that has nothing of the kind."""
    free = [
        one
        for one in _NUMBER.finditer(sentence)
        if not re.search("[约近超过少多达于到至足余有第-]$", sentence[: one.start()])
    ]
    if not free:
        return None
    one = chance.choice(free)
    return (
        sentence[: one.start()] + chance.choice(["至少", "最多", "超过", "不到", "近", "每"]) + sentence[one.start() :]
    )


def turn_word(sentence: str, source: str, chance: random.Random) -> str | None:
    """Exchange a word for its opposite."""
    pairs = {one: other for pair in _OPPOSITES for one, other in (pair, pair[::-1])}
    found = _any_place(sentence, [word for word in pairs if len(word) > 1], chance)
    return _replace(sentence, *found, pairs[found[1]]) if found else None


def change_digit(sentence: str, source: str, chance: random.Random) -> str | None:
    found = list(_DIGITS.finditer(sentence))
    if not found:
        return None
    number = chance.choice(found)
    place = chance.choice([place for place, character in enumerate(number[0]) if character.isdigit()])
    digits = [digit for digit in "123456789" if digit != number[0][place]]
    return _replace(sentence, number.start() + place, number[0][place], chance.choice(digits))


def replace_number(sentence: str, source: str, chance: random.Random) -> str | None:
    """Put another number of the same source with the same unit."""
    pairs = [
        (one, other[1])
        for one in _NUMBER.finditer(sentence)
        for other in _NUMBER.finditer(source)
        if one[2] == other[2]
    ]
    free = [
        (one, value) for one, value in pairs if value not in _DIGITS.findall(sentence) and float(value) != float(one[1])
    ]
    if not free:
        return None
    one, value = chance.choice(free)
    return _replace(sentence, one.start(1), one[1], value)


def replace_date(sentence: str, source: str, chance: random.Random) -> str | None:
    """Put another date of the same source in the same form."""
    dates = [(one, other) for one in _DATE.finditer(sentence) for other in dict.fromkeys(_DATE.findall(source))]
    free = [(one, other) for one, other in dates if other not in sentence and _form(other) == _form(one[0])]
    if not free:
        return None
    one, other = chance.choice(free)
    return _replace(sentence, one.start(), one[0], other)


def _form(date: str) -> str:
    return re.sub(r"\d+", "", date)


def exchange_names(sentence: str, source: str, chance: random.Random) -> str | None:
    """Exchange two names of the same kind that are not two of a list."""
    pairs = []
    for pattern in _NAMES.values():
        found = list(pattern.finditer(sentence))
        pairs += [
            (one, other)
            for one in found
            for other in found
            if one.end() < other.start() and _may_exchange(sentence, one, other)
        ]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    return sentence[: one.start()] + other[0] + sentence[one.end() : other.start()] + one[0] + sentence[other.end() :]


def _may_exchange(sentence: str, one: re.Match[str], other: re.Match[str]) -> bool:
    between = sentence[one.end() : other.start()]
    is_list = between[0] in "、和与及/跟《" or between[-1] in "、和与及/跟"
    return one[0] != other[0] and not is_list and sentence.count(one[0]) == sentence.count(other[0]) == 1


def replace_name(sentence: str, source: str, chance: random.Random) -> str | None:
    """Put another name of the same kind and the same source."""
    free = []
    for pattern in _NAMES.values():
        others = [name for name in dict.fromkeys(pattern.findall(source)) if name not in sentence]
        free += [(one, name) for one in pattern.finditer(sentence) for name in others if sentence.count(one[0]) == 1]
    free = [(one, name) for one, name in free if name not in one[0] and one[0] not in name]
    if not free:
        return None
    one, name = chance.choice(free)
    return _replace(sentence, one.start(), one[0], name)


def take_condition(sentence: str, source: str, chance: random.Random) -> str | None:
    return _without_clause(sentence, _CONDITION)


def take_speaker(sentence: str, source: str, chance: random.Random) -> str | None:
    if left := _without_clause(sentence, _SPEAKER):
        return left
    speaks = _SPEAKS.match(sentence)
    return sentence[speaks.end() :] if speaks else None


def _without_clause(sentence: str, pattern: re.Pattern[str]) -> str | None:
    clauses = _COMMA.split(sentence)
    place = next((place for place, clause in enumerate(clauses[:-1]) if pattern.search(clause)), None)
    if place is None:
        return None
    rest = "，".join([*clauses[:place], re.sub("^(?:那么|那|则|就)", "", clauses[place + 1]), *clauses[place + 2 :]])
    return rest if len(rest) >= SHORTEST else None


def cross_clauses(sentence: str, source: str, chance: random.Random) -> str | None:
    """Put the subject of one clause before the predicate of another."""
    parts = [found for clause in _COMMA.split(sentence.rstrip("。！")) if (found := _PREDICATE.match(clause))]
    parts = [part for part in parts if not _NO_SUBJECT.search(part[1])]
    pairs = [(one, other) for one in parts for other in parts if one[1] not in other[1] and other[1] not in one[1]]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    return f"{one[1]}{other[2]}。"


CHANGES: dict[str, Change] = {
    "negation put in": put_negation,
    "negation taken out": take_negation,
    "hedge or plan put in": put_hedge,
    "limiting word taken out": take_word,
    "limit of a number put in": put_quantifier,
    "opposite word": turn_word,
    "digit changed": change_digit,
    "other number of the source": replace_number,
    "other date of the source": replace_date,
    "names exchanged": exchange_names,
    "other name of the source": replace_name,
    "condition left out": take_condition,
    "speaker left out": take_speaker,
    "subject with another's predicate": cross_clauses,
}
RARE = frozenset(
    [
        "other number of the source",
        "other date of the source",
        "names exchanged",
        "condition left out",
        "speaker left out",
        "subject with another's predicate",
    ]
)
"""Changes that few sentences allow: all of them are taken."""
LEFT_OUT = frozenset(["limiting word taken out", "condition left out", "speaker left out"])
"""Changes after which the rest may well stand in the source, as a part of its sentence."""
