"""Restatements of articles, right and wrong, made by rules from the imported laws.

The rules know nothing of the checker: its tables of synonyms and opposites are its own. A seed makes the set the same each
time; laws are dealt out to two halves, so that nothing the checker was tuned on is in the half that is reported.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

from core.base.chinese.numerals import to_chinese, to_int
from core.legal.entities import LawStatus
from core.legal.library.article_index import StoredArticle
from core.legal.library.index import LegalIndex
from core.legal.library.law_index import LawVersion

Half = Literal["development", "report"]
Rule = Callable[[str, str, random.Random], str | None]
"""A sentence of an article, the whole article, chance; None where the rule cannot be used."""

PER_KIND = 40
"""Of each kind in each half."""
_SHORTEST, _LONGEST = 14, 130

_AROUND = (
    "根据《{law}》{article}，{claim}。",
    "《{law}》{article}规定，{claim}。",
    "《{law}》{article}明确：{claim}。",
    "{claim}（《{law}》{article}）。",
    "您好，下面是相关规定：\n\n- **《{law}》{article}**：{claim}。\n- 以上供参考。",
    "| 依据 | 内容 |\n|---|---|\n| 《{law}》{article} | {claim} |\n",
)
_SYNONYMS = (
    ("应当", "应"), ("应当", "必须"), ("应当", "需要"), ("不得", "不能"), ("不得", "不可以"), ("可以", "能够"), ("可以", "有权"),
    ("或者", "或"), ("以及", "和"), ("依照", "按照"), ("依照", "依据"), ("人民法院", "法院"), ("人民政府", "政府"),
    ("予以", "给予"), ("之日", "当天"), ("并处", "同时处"), ("未经", "没有经过"), ("向", "对"), ("情形", "情况"), ("进行", "开展"),
    ("及时", "尽快"), ("但是", "但"), ("劳动者", "员工"), ("用人单位", "单位"), ("规定的", "所规定的"), ("具有", "有"),
    ("主管部门", "主管机关"), ("申请人", "申请者"), ("责令", "要求"), ("处以", "处"), ("造成", "导致"), ("其他", "别的"),
)  # fmt: skip
_OPPOSITES = (
    ("故意", "过失"), ("债权人", "债务人"), ("出租人", "承租人"), ("用人单位", "劳动者"), ("书面", "口头"), ("申请人", "被申请人"),
    ("原告", "被告"), ("以上", "以下"), ("有权", "无权"), ("国家", "社会"), ("国务院", "省级人民政府"), ("县级", "省级"),
    ("经营者", "消费者"), ("成年人", "未成年人"), ("买受人", "出卖人"), ("上级", "下级"), ("公民", "法人"), ("中央", "地方"),
    ("或者", "并且"), ("全部", "部分"), ("未经", "经"), ("以前", "以后"), ("境内", "境外"), ("直接", "间接"), ("重大", "一般"),
    ("严重", "轻微"), ("委托人", "受托人"), ("公开", "不公开"), ("投标人", "招标人"), ("有效", "无效"), ("承包人", "发包人"),
)  # fmt: skip
_PARTIES = (
    ("用人单位", "劳动者"), ("债权人", "债务人"), ("出租人", "承租人"), ("申请人", "人民法院"), ("当事人", "人民法院"), ("保险人", "投保人"),
    ("经营者", "消费者"), ("委托人", "受托人"), ("买受人", "出卖人"), ("发包人", "承包人"), ("招标人", "投标人"), ("公司", "股东"),
    ("公安机关", "人民检察院"), ("主管部门", "人民政府"), ("承运人", "托运人"), ("旅游者", "旅行社"), ("机关", "单位"),
)  # fmt: skip
_TURNED = (
    ("应当", "可以"), ("应当", "不得"), ("应当", "无需"), ("可以", "应当"), ("可以", "不得"), ("不得", "可以"), ("不得", "应当"),
    ("必须", "可以"), ("必须", "无需"), ("禁止", "允许"), ("不承担", "承担"), ("有权", "无权"), ("不予", "予以"), ("不属于", "属于"),
    ("无权", "有权"), ("不适用", "适用"),
)  # fmt: skip
_ADDED = (
    "经主管部门批准的，",
    "情节严重的，",
    "涉及国家秘密的，",
    "金额超过十万元的，",
    "在夜间，",
    "未满十八周岁的，",
)
_QUANTITY = re.compile(
    r"(?<![第之〇零一二两三四五六七八九十百千万])([一二两三四五六七八九十百千万]{1,6})(?=个月|日|年(?!度)|万元|元|倍|人以|小时|周岁|个工作日)"
)


@dataclass(frozen=True, slots=True)
class Restatement:
    kind: str
    right: bool
    law: str
    article: str
    claim: str
    text: str
    """The claim as an answer would have it."""


def restatements(index: LegalIndex, half: Half) -> list[Restatement]:
    chance = random.Random(f"statutes-{half}")
    laws = [law for law in index.laws() if law.article_count > 12 and index.status(law) is LawStatus.IN_FORCE]
    laws = [law for law in laws if (crc32(law.name.encode()) % 2 == 0) is (half == "development")]
    return [one for kind in (*RIGHT, *WRONG, "swapped article") for one in _of_kind(kind, index, laws, chance)]


def _of_kind(kind: str, index: LegalIndex, laws: Sequence[LawVersion], chance: random.Random) -> Iterator[Restatement]:
    made, tried = 0, 0
    while made < PER_KIND and tried < 20_000:
        tried += 1
        law = chance.choice(laws)
        articles = [article for article in index.articles(law.id) if article.number.number]
        cited = chance.choice(articles)
        claim = _swapped(cited, articles, chance) if kind == "swapped article" else _claim(kind, cited.text, chance)
        if claim:
            made += 1
            around = chance.choice(_AROUND).format(law=law.name, article=cited.number, claim=claim)
            yield Restatement(kind, kind in RIGHT, law.name, str(cited.number), claim, around)


def _claim(kind: str, article: str, chance: random.Random) -> str | None:
    stated = _sentence(article, chance)
    claim = stated and (RIGHT | WRONG)[kind](stated, article, chance)
    if claim and kind in WRONG and chance.random() < 0.4:  # nobody alters one word and leaves the rest as it is
        claim = _with_synonyms(claim, article, chance) or claim
    return claim


def _sentences(article: str) -> list[str]:
    """What can be said by itself: whole sentences of one line, no items, nothing that needs what stands before."""
    pieces = re.split(r"[。；\n]", article)
    return [
        piece
        for piece in pieces
        if _SHORTEST <= len(piece) <= _LONGEST
        and not re.match(r"[（(]|前款|但是?|其中|其他|该|第", piece)
        and not re.search(r"[：“”《》]$|下列|[“”]|本法自|本条例自|施行", piece)
    ]


def _sentence(article: str, chance: random.Random) -> str | None:
    found = _sentences(article)
    return chance.choice(found) if found else None


def _unchanged(stated: str, article: str, chance: random.Random) -> str | None:
    return stated


def _with_synonyms(stated: str, article: str, chance: random.Random) -> str | None:
    fitting = [pair for pair in _SYNONYMS if pair[0] in stated]
    for old, new in chance.sample(fitting, min(3, len(fitting))):
        stated = stated.replace(old, new)
    return stated if fitting else None


def _with_digits(stated: str, article: str, chance: random.Random) -> str | None:
    def digits(found: re.Match[str]) -> str:
        try:
            number = to_int(found[1])
        except ValueError:
            return found[1]
        return f"{number // 10_000}万" if number >= 10_000 and number % 10_000 == 0 else str(number)

    written = _QUANTITY.sub(digits, stated)
    return written.replace("日内", "天内") if written != stated else None


def _without_subject(stated: str, article: str, chance: random.Random) -> str | None:
    found = re.fullmatch(r"[^，、的不未无非]{2,12}?((?:应当|可以|不得|有权|依法)[^，].{10,})", stated)
    return found[1] if found else None


def _condition_last(stated: str, article: str, chance: random.Random) -> str | None:
    """Of 有前款情形的，应当赔偿: 应当赔偿，适用于…的情形."""
    found = re.fullmatch(r"([^，]{6,60})的，(.{6,})", stated)
    return f"{found[2]}，前提是{found[1]}" if found else None


def _reordered(stated: str, article: str, chance: random.Random) -> str | None:
    found = _sentences(article)
    if len(found) < 2:
        return None
    first, second = chance.sample(range(len(found)), 2)
    return f"{found[max(first, second)]}；{found[min(first, second)]}"


def _item(stated: str, article: str, chance: random.Random) -> str | None:
    """用人单位有下列情形之一的，应当赔偿：（一）拖欠工资的: 用人单位拖欠工资的，应当赔偿."""
    opening, *lines = article.splitlines()
    found = re.fullmatch(r"([^，]{2,30})有下列(?:情形|行为|情况)之一的，([^：]{4,60})：", opening)
    items = [line for line in lines if re.match(r"[（(][一二三四五六七八九十]+[）)][^，；。]{4,40}[；。]$", line)]
    if not found or not items:
        return None
    item = re.sub(r"^[（(].+?[）)]|的?[；。]$", "", chance.choice(items))
    return f"{found[1]}{item}的，{found[2]}"


def _spoken(stated: str, article: str, chance: random.Random) -> str | None:
    """With the words around it that models like."""
    lead = chance.choice(("", "一般来说，", "简单来说，", "需要注意的是，", "在这种情况下，"))
    return (
        lead + (_with_synonyms(stated, article, chance) or stated) + chance.choice(("，请您注意", "，这是法定要求", ""))
    )


def _other_number(stated: str, article: str, chance: random.Random) -> str | None:
    found = [match for match in _QUANTITY.finditer(stated) if _readable(match[1])]
    if not found:
        return None
    match = chance.choice(found)
    number = to_int(match[1])
    unit = stated[match.end() : match.end() + 2]
    near = [
        to_int(one[1])
        for one in _QUANTITY.finditer(article)
        if _readable(one[1]) and article[one.end() :].startswith(unit)
    ]
    likely = [value for value in near if value != number]  # a number of the same article deceives best
    common = [value for value in (1, 2, 3, 5, 6, 7, 10, 15, 20, 30, 60, number * 2) if value != number]
    other = chance.choice(likely if likely and chance.random() < 0.6 else common)
    written = to_chinese(other) if chance.random() < 0.6 else str(other)
    return stated[: match.start()] + written + stated[match.end() :]


def _readable(numeral: str) -> bool:
    try:
        return to_int(numeral) > 0
    except ValueError:
        return False


def _other_condition(stated: str, article: str, chance: random.Random) -> str | None:
    pairs = [(a, b) for one, other in _OPPOSITES for a, b in ((one, other), (other, one)) if a in stated]
    pairs = [(old, new) for old, new in pairs if new not in stated]
    if not pairs:
        return None
    old, new = chance.choice(pairs)
    return stated.replace(old, new, 1)


def _condition_of_another(stated: str, article: str, chance: random.Random) -> str | None:
    """The condition of one sentence with the consequence of another."""
    split = [
        found for sentence in _sentences(article) if (found := re.fullmatch(r"([^，]{4,60}的)，(.{6,})", sentence))
    ]
    if len(split) < 2:
        return None
    one, other = chance.sample(split, 2)
    return f"{one[1]}，{other[2]}" if one[2] not in other[2] and other[2] not in one[2] else None


def _without_condition(stated: str, article: str, chance: random.Random) -> str | None:
    found = re.fullmatch(r"[^，]{6,60}的，((?:[^，]{2,12}(?:应当|可以|不得)|处|由).{8,})", stated)
    return found[1] if found else None


def _exchanged(stated: str, article: str, chance: random.Random) -> str | None:
    """Who does what to whom, the other way round."""
    pairs = [pair for pair in _PARTIES if pair[0] in stated.replace(pair[1], "") and pair[1] in stated]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    pieces = re.split(f"({other}|{one})", stated)
    return "".join(one if piece == other else other if piece == one else piece for piece in pieces)


def _more_conditions(stated: str, article: str, chance: random.Random) -> str | None:
    return chance.choice(_ADDED) + stated


def _turned(stated: str, article: str, chance: random.Random) -> str | None:
    fitting = [pair for pair in _TURNED if pair[0] in stated]
    return stated.replace(*chance.choice(fitting), 1) if fitting else None


def _swapped(cited: StoredArticle, articles: Sequence[StoredArticle], chance: random.Random) -> str | None:
    """A sentence of another article of the same law, which the cited one does not say too."""
    stated = _sentence(chance.choice(articles).text, chance)
    if not stated or len(stated) < 18:
        return None
    pairs = [stated[place : place + 2] for place in range(len(stated) - 1)]
    if sum(pair in cited.text for pair in pairs) > 0.4 * len(pairs):
        return None
    return _with_synonyms(stated, "", chance) or stated if chance.random() < 0.5 else stated


RIGHT: dict[str, Rule] = {
    "one sentence of it": _unchanged,
    "synonyms": _with_synonyms,
    "digits": _with_digits,
    "subject dropped": _without_subject,
    "condition last": _condition_last,
    "clauses reordered": _reordered,
    "item of a list": _item,
    "spoken": _spoken,
}
WRONG: dict[str, Rule] = {
    "number altered": _other_number,
    "condition altered": _other_condition,
    "condition added": _more_conditions,
    "condition dropped": _without_condition,
    "condition of another sentence": _condition_of_another,
    "parties exchanged": _exchanged,
    "modal or negation turned": _turned,
}
