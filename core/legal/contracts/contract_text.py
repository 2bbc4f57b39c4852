"""A contract as the rules read it: its kind, its sentences, the words for its two parties, and the day of its signing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import lru_cache

from core.base.chinese.calendar import WrittenDate, dates_in
from core.base.chinese.script import comparison_form

MAX_LENGTH = 200_000
"""Length up to which a draft is reviewed, as long as what can be pasted."""
_MAX_SENTENCE = 500
_MAX_SECTION = 1_500
_BEGINNING = 2_000
_TITLE_LINES = 8
_MAX_TITLE = 40
_ENDING = 400
_LEAST_SCORE = 3


class ContractKind(StrEnum):
    LABOUR = "劳动合同"
    LEASE = "租赁合同"
    LOAN = "借款合同"
    SALE = "买卖合同"
    SERVICE = "消费服务合同"


_TITLES = {
    ContractKind.LABOUR: "劳动|聘用|雇佣|雇用|用工|竞业|服务期|专项培训|员工|保密|商业秘密|入职|试用|劳务用工|招工|上岗",
    ContractKind.LEASE: "租赁|出租|承租|租房|租约|转租|续租|入住|合租|房租|租用|公寓",
    ContractKind.LOAN: "借款|借条|借据|借贷|贷款|欠条|借钱|借用|资金拆借|还款",
    ContractKind.SALE: "买卖|购销|采购|销售|订购|定购|供货|购房|认购|转让|二手|购买|供应|订货|出售|购车|定制",
    ContractKind.SERVICE: "会员|入会|健身|美容|预付|充值|培训班|课程|婚庆|摄影|家政|养老服务|旅游|装修",
}
_CONTENT = {
    ContractKind.LABOUR: (
        "用人单位",
        "劳动者",
        "试用期",
        "劳动合同",
        "社会保险",
        "加班",
        "竞业限制",
        "工资",
        "上班",
        "社保",
        "离职",
    ),
    ContractKind.LEASE: (
        "出租人",
        "承租人",
        "出租方",
        "承租方",
        "租金",
        "租赁期",
        "押金",
        "转租",
        "租赁",
        "房东",
        "租客",
        "房租",
    ),
    ContractKind.LOAN: ("出借人", "借款人", "贷款人", "借款", "利息", "利率", "还款", "本金", "出借", "借钱"),
    ContractKind.SALE: (
        "出卖人",
        "买受人",
        "卖方",
        "买方",
        "供方",
        "需方",
        "货款",
        "货物",
        "定金",
        "标的物",
        "验收",
        "过户",
        "总价",
    ),
    ContractKind.SERVICE: ("会员", "会员卡", "会费", "课时", "消费者", "门店", "充值", "退费"),
}
FIRST, SECOND = "FIRST", "SECOND"
"""Stand in a pattern for the words for either party. FIRST is the employer, landlord, lender or seller."""
_PARTIES = {
    ContractKind.LABOUR: (
        "用人单位|用工单位|用工方|本单位|本公司|公司|单位|企业|聘用方|雇主|店里|本店|店方|门店|厂里|厂方|工厂|老板|园方|校方|院方",
        "劳动者|员工|职工|受聘方|受聘人|雇员|工人|本人",
    ),
    ContractKind.LEASE: ("出租人|出租方|房东|业主|运营方|公寓方|管家", "承租人|承租方|租客|租户|房客|入住人|住户"),
    ContractKind.LOAN: ("出借人|出借方|贷款人|贷款方|债权人", "借款人|借款方|债务人|借入方|借用人|本人|我"),
    ContractKind.SALE: (
        "出卖人|卖方|出卖方|供方|供货方|供货人|销售方|出让方|售房方|售车方|商家|商户|本店|卖家|转让方|厂家|开发商",
        "买受人|买方|购买方|需方|购房人|购货方|采购方|采购人|受让方|消费者|客户|顾客|买家|订购人|业主",
    ),
    ContractKind.SERVICE: (
        "商家|商户|本店|俱乐部|门店|公司|机构|服务方|经营者|会所|学校|旅行社",
        "会员|消费者|客户|顾客|学员|家长|用户",
    ),
}
_CAPITALS = str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟圆", "一二三四五六七八九十百千元")
_NOISE = re.compile(r"[\s*_#|`~　]+|<[^<>\n]{1,60}>|(?<=\d),(?=\d{3})")
_END = re.compile(r"[。!?;\n]+[”」』)]*")
_FULL_LINE = 24
_GOES_ON = re.compile(
    r"(?!(?:甲方|乙方|丙方|附|第[一二三四五六七八九十百\d]{1,4}[条章项])|[一二三四五六七八九十]{1,3}、)[一-龥][^\n:]{0,40}[,。;]"
)
"""Beginning of a line that goes on with the sentence of the line before: no number, no name of a party, no label."""
_COMMA = re.compile("[,、]")
_TITLE = re.compile(r"(?:合同|协议|协议书|合同书|合约|契约|借条|借据|欠条|确认书|承诺书|条款)(?:[(].{0,20}[)])?$")
_NO_TITLE = re.compile(
    "纠纷|争议|一案|起诉|上诉|答辩|判决|裁定|意见|分析|解读|指南|说明|如何|什么|常见|办法$|规定$|通知|[?。;]"
)
_NO_CONTRACT = re.compile(
    r"本院认为|经审理查明|审判长|诉讼请求[::]|(?:原告|被告|上诉人|被上诉人|申请人|被申请人)[::(]|起诉状|答辩状|律师函"
)
_PARTY_LINE = re.compile(
    r"(?:^|\n)[ \t*#　]{0,8}(?:(?:甲|乙)方|出租[人方]|承租[人方]|房东|租客|出借[人方]|借款[人方]|卖方|买方|供方|需方|商家|会员|顾客|用人单位|劳动者)[^\n]{0,12}[::]"
)
_SECTION = re.compile(
    r"(?:^|\n)[ \t*#　]{0,8}(?:第[〇零一二三四五六七八九十百\d]{1,4}条|[一二三四五六七八九十]{1,3}、)"
)
_SIGNED = re.compile(r"签订|签署|签约|订立|立约|立据|出具|签字|盖章|日期")
_SIGNED_NEAR = 24


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or a part of one up to a semicolon."""

    start: int
    end: int
    """`start` and `end` in the draft."""
    text: str
    """The words for the rules: simplified, half-width, without blanks and marks, 壹 as 一."""
    section: str
    """The numbered article of the contract (第三条 …) in which the sentence stands, in the same form."""


class Contract:
    """A draft that is a contract of a known kind."""

    def __init__(self, draft: str, kind: ContractKind) -> None:
        plain = _plain(draft)
        self.kind = kind
        self.title = next((_NOISE.sub("", line) for line in plain.split("\n") if line.strip()), "")
        self.sentences = list(_sentences(plain))
        self.text = "\n".join(sentence.text for sentence in self.sentences)
        self.signed = _signing_day(plain)
        self._amounts: dict[Callable[[Contract], float | None], float | None] = {}
        self._words = _party_words(re.sub(r"[^\S\n]{2,}", "\n", plain[:_BEGINNING]), kind, self.title)

    def amount(self, read: Callable[[Contract], float | None]) -> float | None:
        """Return an amount that `read` finds in the whole contract, such as the price. It is looked for once."""
        if read not in self._amounts:
            self._amounts[read] = read(self)
        return self._amounts[read]

    def pattern(self, pattern: str) -> re.Pattern[str]:
        """Return a compiled pattern, with FIRST and SECOND replaced by this contract's words for its parties."""
        return _compiled(pattern, self._words)

    def search(self, pattern: str, text: str) -> re.Match[str] | None:
        return self.pattern(pattern).search(text)

    def matching(self, pattern: str, unless: str = "") -> Iterator[Sentence]:
        """Yield the sentences in which `pattern` is found and `unless` is not."""
        for sentence in self.sentences:
            if self.search(pattern, sentence.text) and not (unless and self.search(unless, sentence.text)):
                yield sentence

    def mentions(self, pattern: str) -> bool:
        return self.search(pattern, self.text) is not None


def looks_like_contract(draft: str) -> bool:
    """Return whether a draft has the form of a contract, by its title or by the lines that name its parties."""
    plain = _plain(draft)
    if _NO_CONTRACT.search(plain):
        return False
    return bool(_titles(plain)) or len(_PARTY_LINE.findall(plain[:_BEGINNING])) >= 2


def contract_kind(draft: str) -> ContractKind | None:
    """Return the kind of a contract, by its title, else by its words. None for other kinds and for other texts."""
    plain = _plain(draft)
    if _NO_CONTRACT.search(plain):
        return None
    for title in _titles(plain):
        named = {kind: found.start() for kind, words in _TITLES.items() if (found := re.search(words, title))}
        if named:
            return min(named, key=named.__getitem__)
    if not _titles(plain) and not _PARTY_LINE.search(plain[:_BEGINNING]) and not ("甲方" in plain and "乙方" in plain):
        return None
    scores = {kind: sum(word in plain for word in words) for kind, words in _CONTENT.items()}
    best = max(scores, key=scores.__getitem__)
    rivals = [kind for kind, score in scores.items() if score == scores[best]]
    return best if scores[best] >= _LEAST_SCORE and len(rivals) == 1 else None


def _plain(draft: str) -> str:
    """Return the draft in the form for comparing. Every character keeps its position."""
    return comparison_form(draft[:MAX_LENGTH]).translate(_CAPITALS)


def _titles(plain: str) -> list[str]:
    lines = [_NOISE.sub("", line) for line in plain[:_BEGINNING].split("\n") if line.strip()][:_TITLE_LINES]
    short = [line for line in lines if len(line) <= _MAX_TITLE]
    return [line for line in short if _TITLE.search(line) and not _NO_TITLE.search(line)]


def _sentences(plain: str) -> Iterator[Sentence]:
    starts = [found.start() for found in _SECTION.finditer(plain)]
    for first, last in zip([0, *starts], [*starts, len(plain)], strict=True):
        section = _NOISE.sub("", plain[first:last][:_MAX_SECTION])
        for start, end in _spans(plain, first, last):
            if text := _NOISE.sub("", plain[start:end]):
                yield Sentence(start, end, text, section)


def _spans(plain: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends, without the blanks around it. Very long ones are cut at commas."""
    start = first
    ends = (found.end() for found in _END.finditer(plain, first, last) if not _is_wrapped(plain, found))
    for end in [*ends, last]:
        while end - start > _MAX_SENTENCE:
            commas = [found.end() for found in _COMMA.finditer(plain, start, start + _MAX_SENTENCE)]
            cut = commas[-1] if commas else start + _MAX_SENTENCE
            yield _stripped(plain, start, cut)
            start = cut
        yield _stripped(plain, start, end)
        start = end


def _is_wrapped(plain: str, end: re.Match[str]) -> bool:
    """Return whether a line ends only because it was full: the sentence goes on in the next one."""
    line = plain[plain.rfind("\n", 0, end.start()) + 1 : end.start()].rstrip()
    return end[0] == "\n" and len(line) >= _FULL_LINE and bool(_GOES_ON.match(plain, end.end()))


def _stripped(plain: str, start: int, end: int) -> tuple[int, int]:
    words = plain[start:end]
    return start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())


def _party_words(beginning: str, kind: ContractKind, title: str) -> tuple[str, ...]:
    first, second = _PARTIES[kind]
    first_names, second_names = (f"{first}|卖", f"{second}|买") if kind is ContractKind.SALE else (first, second)
    is_first_called = _is_called(beginning, "甲方", first_names)
    letters = ("甲方", "乙方")
    if (
        _is_called(beginning, "乙方", first_names)
        or _is_called(beginning, "甲方", second_names)
        or (kind is ContractKind.SALE and "采购" in title and not is_first_called)
    ):
        letters = ("乙方", "甲方")
    return tuple(
        f"(?:{'|'.join((letter, *_names(beginning, f'{letter}|{words}'), words))})"
        for letter, words in zip(letters, (first, second), strict=True)
    )


def _names(beginning: str, words: str) -> list[str]:
    """Return the names that the contract gives to a party: 张三 in 出借人:张三."""
    return [
        re.escape(name)
        for name in re.findall(rf"(?:{words})(?:[(][^()]{{0,12}}[)])?:([一-龥]{{2,4}})(?![一-龥])", beginning)
    ]


def _is_called(beginning: str, letter: str, words: str) -> bool:
    return bool(
        re.search(
            rf"{letter}[(::,、]{{0,2}}(?:{words})[)::,]|(?:{words})[(::,]{{0,2}}(?:以下简称)?[“\"]?{letter}", beginning
        )
    )


@lru_cache(maxsize=2_000)
def _compiled(pattern: str, words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(pattern.replace(FIRST, words[0]).replace(SECOND, words[1]))


def _signing_day(plain: str) -> date | None:
    """Return the day on which the contract was signed: a date beside 签订 and the like, else the last line's."""
    days = [(one, one.iso) for one in dates_in(plain) if one.iso]
    signed = [iso for one, iso in days if _stands_at_signing(plain, one)]
    if not signed:
        tail = plain.rstrip()
        signed = [iso for one, iso in days[-2:] if one.end >= len(tail) - _ENDING and _is_alone(plain, one)]
    return date.fromisoformat(signed[-1]) if signed else None


def _stands_at_signing(plain: str, one: WrittenDate) -> bool:
    line_start = plain.rfind("\n", 0, one.start) + 1
    before = plain[max(line_start, one.start - _SIGNED_NEAR) : one.start]
    after = plain[one.end : one.end + 8]
    if re.match(r"[\s,]*(?:起|至|到|之?前)", after):
        return False
    named = list(_SIGNED.finditer(before))
    return bool(named and not re.search("[。;]|还款|交付|到期|起租|交货", before[named[-1].end() :])) or bool(
        re.match(r"[\s,]*(?:在|于)?[^\n。;]{0,6}(?:签订|签署|订立)", after)
    )


def _is_alone(plain: str, one: WrittenDate) -> bool:
    start, end = plain.rfind("\n", 0, one.start) + 1, plain.find("\n", one.end)
    line = plain[start : end if end >= 0 else None]
    return len(line.strip()) <= len(one.text) + 12
