"""Citations with what a check should say of them, made by hand-written templates from whatever laws a library holds.

The templates know nothing of the checker's rules. A seed makes the set the same each time.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from core.base.chinese.numerals import to_chinese
from core.legal.article_numbers import ArticleNumber
from core.legal.entities import LawKind, LawStatus
from core.legal.library.article_index import StoredArticle
from core.legal.library.index import LegalIndex
from core.legal.library.law_index import LawVersion
from core.legal.text.paragraphs import split_paragraphs
from core.legal.text.quotations import is_quoted_from
from core.legal.verify import ABROAD, DRAFT, OTHER_EDITION, Author, StatuteFinding, StatuteMark, Verifier

NOTHING, ASKED_BACK = "no verdict", "？是否指"
AGREES, EXISTS, DIFFERS, MISSING, UNKNOWN = (
    mark.value
    for mark in (StatuteMark.AGREES, StatuteMark.EXISTS, StatuteMark.DIFFERS, StatuteMark.MISSING, StatuteMark.UNKNOWN)
)
ALARMS = {DIFFERS, MISSING}


class Labelled(NamedTuple):
    kind: str
    text: str
    article: str
    """The citation that the label is of."""
    label: str
    law: str = ""
    """The law that must be found, where the kind is about that."""

    @property
    def wrong(self) -> bool:
        """Whoever is told that it agrees is misled."""
        return self.label not in (AGREES, EXISTS)


def said_of(verifier: Verifier, one: Labelled) -> str:
    """The label that the check gives."""
    found = [verdict for verdict in verifier.verify(one.text) if verdict.article_number == one.article]
    return label_of(found[-1], one.law) if found else NOTHING


def label_of(verdict: StatuteFinding, law: str = "") -> str:
    if verdict.unchecked_reason:
        return verdict.unchecked_reason
    if verdict.note.startswith("是否指"):
        return ASKED_BACK if law in verdict.note else "？是否指别的"
    if law and verdict.law_name != law:
        return "another law"
    return verdict.mark.value


class Quality(NamedTuple):
    precision: float
    recall: float
    deserving: int


def qualities(said: Sequence[tuple[Labelled, str]]) -> dict[str, Quality]:
    """Of each label: how many of those that got it deserve it, and how many of those that deserve it got it."""
    right = Counter(one.label for one, label in said if one.label == label)
    deserve, got = Counter(one.label for one, _ in said), Counter(label for _, label in said)
    return {
        label: Quality(right[label] / got[label] if got[label] else 0.0, right[label] / count, count)
        for label, count in deserve.items()
    }


def false_green(said: Sequence[tuple[Labelled, str]]) -> float:
    wrong = [label for one, label in said if one.wrong]
    return sum(label == AGREES for label in wrong) / len(wrong)


# ── The set ───────────────────────────────────────────────────────────────────────────────────────────────────────

_NAMED = (
    "依照{law}{article}的规定处理。",
    "本案应当适用{law}{article}。",
    "原告的主张见{law}{article}。",
    "上诉人援引{law}{article}，请求改判。",
    "请先读一读{law}{article}",
)
_QUOTED = (
    "{law}{article}规定：“{quote}”",
    "{law}{article}明确规定，“{quote}”",
    "“{quote}”（{law}{article}）",
    "{law}{article}规定：\n\n> {quote}\n\n以上是原文。",
    "按照{law}{article}，原文是：「{quote}」",
)
_ABROAD = ("德国", "法国", "日本", "英国", "意大利", "我国台湾地区", "韩国", "瑞士")
_CITIES = ("北京市", "广东省", "杭州市", "深圳经济特区", "内蒙古自治区")
_NO_LAWS = (
    "双方签订的合同{article}约定了交货地点。",
    "《房屋租赁合同》{article}写明押金不退。",
    "公司章程{article}把表决权分成两级。",
    "按劳动合同{article}，试用期为两个月。",
    "补充协议{article}与此不同。",
    "《小区管理规约》{article}不许养鸡。",
    "《灯具安全技术规范》{article}规定了间距。",
    "发包人认为，招标文件{article}没有提到工期。",
)
_CONTRACT_AFTER = (
    "根据{law}{first}，合同应当履行。合同{article}约定了交货地点。",
    "{law}{first}是依据。双方在协议中另有安排，{article}写明押金不退。",
    "{law}{first}是依据。\n{article}甲方应当付款。",
)
_SUBJECTS = ("月光", "风筝", "鼓楼", "竹编", "晚霞", "围棋", "河灯", "雪橇")
_MATTERS = ("促进法", "保护法", "管理条例", "登记办法", "纠纷处理条例")
_LETTERS = "丁丙乙甲春秋冬夏"
_TURNS = (("应当", "不应当"), ("可以", "不得"), ("不得", "可以"), ("应当", "可以"), ("必须", "不必"), ("禁止", "允许"))
_FIGURE = re.compile(r"[一二三四五六七八九十](?=[年月日个倍次人])")


def labelled(index: LegalIndex, *, of_each: int = 40, seed: int = 1) -> list[Labelled]:
    """As many of each kind as the library has the laws for."""
    made = _Maker(index, random.Random(seed))
    return [one for make in made.kinds() for one in islice(make(), of_each)]


class _Maker:
    def __init__(self, index: LegalIndex, chance: random.Random) -> None:
        self._index = index
        self._chance = chance
        self._numbered_of = cache(lambda id: [one for one in index.articles(id) if one.number.number])
        self._laws = [law for law in index.laws() if law.article_count and index.status(law) is LawStatus.IN_FORCE]

    def kinds(self) -> Sequence[Callable[[], Iterator[Labelled]]]:
        return (
            *(self.named, self.in_paragraph, self.quoted, self.carried, self.that_law),
            *(self.beyond, self.no_such_paragraph, self.letter, self.turned, self.figure, self.neighbour),
            *(self.abroad, self.of_a_city, self.invented, self.misspelt, self.draft, self.no_law, self.contract_after),
            *(self.older_version, self.not_in_older_version, self.version_not_held),
        )

    # What is right

    def named(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            text = self._chance.choice(_NAMED).format(law=self._written(law), article=self._numbered(article.number))
            yield Labelled("right, named", text, str(article.number), EXISTS, law.name)

    def in_paragraph(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            place = self._chance.randint(1, len(split_paragraphs(article.text)))
            text = f"应当依照{self._written(law)}{article.number}第{to_chinese(place)}款处理。"
            yield Labelled("right, with its 款", text, str(article.number), EXISTS, law.name)

    def quoted(self) -> Iterator[Labelled]:
        for law, article, quote in self._quotable():
            yield Labelled("right, quoted", self._quoting(law, article, quote), str(article.number), AGREES, law.name)

    def carried(self) -> Iterator[Labelled]:
        for law, article, quote in self._quotable():
            other = self._another(law, article)
            if other:
                text = f"{self._written(law)}{other.number}可以参考。{article.number}规定：“{quote}”"
                yield Labelled("right, the law named before", text, str(article.number), AGREES, law.name)

    def that_law(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            other = self._another(law, article)
            if other and law.key.endswith(("法", "法典")):
                text = f"{self._written(law)}{other.number}可以参考，该法{article.number}也是。"
                yield Labelled("right, 该法", text, str(article.number), EXISTS, law.name)

    # What is wrong

    def beyond(self) -> Iterator[Labelled]:
        for law, _ in self._articles():
            highest = max(self._index.highest(version.id) for version in self._index.versions(law.key))
            number = ArticleNumber(highest + self._chance.randint(1, 60))
            text = self._chance.choice(_NAMED).format(law=self._written(law), article=self._numbered(number))
            yield Labelled("wrong, beyond the last article", text, str(number), MISSING, law.name)

    def no_such_paragraph(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            place = 1 + max(map(len, map(split_paragraphs, self._all_versions(law, article))))
            text = f"应当依照{self._written(law)}{article.number}第{to_chinese(place)}款处理。"
            yield Labelled("wrong, no such 款", text, str(article.number), MISSING, law.name)

    def letter(self) -> Iterator[Labelled]:
        yield from self._altered("wrong, a letter of the quotation", self._other_letter)

    def turned(self) -> Iterator[Labelled]:
        yield from self._altered("wrong, the quotation turned", self._turned)

    def figure(self) -> Iterator[Labelled]:
        yield from self._altered("wrong, a figure of the quotation", self._other_figure)

    def neighbour(self) -> Iterator[Labelled]:
        for law, article, quote in self._quotable():
            other = self._another(law, article)
            if other and not any(is_quoted_from(quote, text) for text in self._all_versions(law, other)):
                text = self._quoting(law, other, quote)
                yield Labelled("wrong, another article quoted", text, str(other.number), DIFFERS, law.name)

    def _altered(self, kind: str, alter: Callable[[str], str]) -> Iterator[Labelled]:
        for law, article, quote in self._quotable():
            other = alter(quote)
            if not any(is_quoted_from(other, text) for text in self._all_versions(law, article)):
                yield Labelled(kind, self._quoting(law, article, other), str(article.number), DIFFERS, law.name)

    def _other_letter(self, quote: str) -> str:
        place = self._chance.choice([match.start() for match in re.finditer(r"[\u4e00-\u9fff]", quote)])
        return quote[:place] + self._chance.choice(_LETTERS) + quote[place + 1 :]

    def _turned(self, quote: str) -> str:
        return next((quote.replace(old, new, 1) for old, new in _TURNS if old in quote), quote)

    def _other_figure(self, quote: str) -> str:
        return _FIGURE.sub(lambda found: "七" if found[0] != "七" else "九", quote, count=1)

    # What is not ours, or no law

    def abroad(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            if law.kind is LawKind.STATUTE and law.key.endswith(("法", "法典")):
                name = f"{self._chance.choice(_ABROAD)}{law.key}"
                written = self._chance.choice((name, f"《{name}》"))
                yield Labelled("abroad", f"学者比较了{written}{article.number}。", str(article.number), ABROAD)

    def of_a_city(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            name = f"{self._chance.choice(_CITIES)}{law.key}"
            if law.kind is LawKind.REGULATION and law.key.endswith(("条例", "办法")) and not self._index.resolve(name):
                written = self._chance.choice((name, f"《{name}》"))
                yield Labelled("of a city", f"根据{written}{article.number}处理。", str(article.number), UNKNOWN)

    def invented(self) -> Iterator[Labelled]:
        for subject in _SUBJECTS:
            for matter in _MATTERS:
                number = ArticleNumber(self._chance.randint(1, 80))
                yield Labelled("an invented law", f"依照《{subject}{matter}》{number}处理。", str(number), UNKNOWN)

    def misspelt(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            wrong = law.key.replace("法典", "法点") if "法典" in law.key else f"{law.key[:-1]}发"
            doubled = f"{law.name}法"
            if law.kind is LawKind.STATUTE and law.key.endswith(("法", "法典")):
                written = self._chance.choice((f"《{wrong}》", wrong, f"《{doubled}》"))
                text = f"依据{written}{article.number}处理。"
                yield Labelled("a misspelt law", text, str(article.number), ASKED_BACK, law.name)

    def draft(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            words = self._chance.choice(("草案", "征求意见稿", "二次审议稿"))
            name = self._chance.choice((f"《{law.name}（{words}）》", f"《{law.name}》（{words}）"))
            yield Labelled("a draft", f"{name}{article.number}引起了讨论。", str(article.number), DRAFT)

    def no_law(self) -> Iterator[Labelled]:
        while True:
            number = ArticleNumber(self._chance.randint(1, 30))
            text = self._chance.choice(_NO_LAWS).format(article=self._numbered(number))
            yield Labelled("no law", text, str(number), NOTHING)

    def contract_after(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            if other := self._another(law, article):
                given = {"law": self._written(law), "first": other.number, "article": article.number}
                text = self._chance.choice(_CONTRACT_AFTER).format(**given)
                yield Labelled("no law, after a law", text, str(article.number), NOTHING)

    # Versions

    def older_version(self) -> Iterator[Labelled]:
        for law, older, article in self._older():
            for quote in self._sentences(article)[:1]:
                text = f"《{law.name}》（{_year(older)}年公布）{article.number}规定：“{quote}”"
                yield Labelled("an older version, named and quoted", text, str(article.number), AGREES, law.name)

    def not_in_older_version(self) -> Iterator[Labelled]:
        for law, older, article in self._older():
            today = self._index.article(law.id, article.number)
            quote = next(iter(self._sentences(today)), "") if today else ""
            if quote and not is_quoted_from(quote, article.text):
                text = f"《{law.name}》（{_year(older)}年公布）{article.number}规定：“{quote}”"
                yield Labelled("an older version, today's words", text, str(article.number), DIFFERS, law.name)

    def version_not_held(self) -> Iterator[Labelled]:
        for law, article in self._articles():
            text = f"《{law.name}》（1951年修正）{article.number}已经很旧了。"
            yield Labelled("a version that is not held", text, str(article.number), OTHER_EDITION)

    # What they are made of

    def _articles(self) -> Iterator[tuple[LawVersion, StoredArticle]]:
        """One of each law, in a random order, and again."""
        for law in (law for _ in range(30) for law in self._chance.sample(self._laws, len(self._laws))):
            yield law, self._chance.choice(self._numbered_of(law.id))

    def _quotable(self) -> Iterator[tuple[LawVersion, StoredArticle, str]]:
        for law, article in self._articles():
            if sentences := self._sentences(article):
                yield law, article, self._chance.choice(sentences)

    def _sentences(self, article: StoredArticle) -> list[str]:
        found = re.split(r"(?<=[。；])|\n", article.text)
        return [
            one for one in found if 10 <= len(re.sub(r"\W", "", one)) <= 90 and not re.search(r"[“”《》\d]|条", one)
        ]

    def _another(self, law: LawVersion, article: StoredArticle) -> StoredArticle | None:
        others = [one for one in self._numbered_of(law.id) if one.number != article.number]
        return self._chance.choice(others) if others else None

    def _all_versions(self, law: LawVersion, article: StoredArticle) -> list[str]:
        found = (self._index.article(version.id, article.number) for version in self._index.versions(law.key))
        return [one.text for one in found if one]

    def _older(self) -> Iterator[tuple[LawVersion, LawVersion, StoredArticle]]:
        for law, _ in self._articles():
            years = Counter(map(_year, self._index.versions(law.key)))
            for older in self._index.versions(law.key):
                if older.begins < law.begins and older.published and years[_year(older)] == 1:
                    yield law, older, self._chance.choice(self._numbered_of(older.id))

    def _written(self, law: LawVersion) -> str:
        forms = [f"《{law.name}》", f"《{law.key}》"]
        return self._chance.choice([*forms, law.key] if law.key.endswith(("法", "法典", "条例")) else forms)

    def _numbered(self, number: ArticleNumber) -> str:
        suffix = f"之{to_chinese(number.suffix)}" if number.suffix else ""
        return self._chance.choice((str(number), f"第{number.number}条{suffix}", f"第 {number.number} 条{suffix}"))

    def _quoting(self, law: LawVersion, article: StoredArticle, quote: str) -> str:
        given = {"law": self._written(law), "article": article.number, "quote": quote}
        return self._chance.choice(_QUOTED).format(**given)


def _year(version: LawVersion) -> str:
    return (version.published or "")[:4]


# ── Prose that nobody here wrote ──────────────────────────────────────────────────────────────────────────────────


def real_prose(verifier: Verifier, index: LegalIndex, by: Author) -> Iterator[tuple[str, StatuteFinding]]:
    """What courts say of laws that have not changed since: whatever is called wrong there is a false alarm."""
    for document in index.laws():
        if document.kind is not LawKind.INTERPRETATION or not document.published:
            continue
        for article in index.articles(document.id):
            for verdict in verifier.verify(article.text, by) if "条" in article.text else ():
                cited = index.resolve(verdict.law_name)
                if cited and cited.begins <= document.published:
                    yield article.text, verdict


def by_kind(said: Sequence[tuple[Labelled, str]]) -> dict[str, list[tuple[Labelled, str]]]:
    found = defaultdict(list)
    for one, label in said:
        found[one.kind].append((one, label))
    return dict(found)
