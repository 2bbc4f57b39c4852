"""Whether the words of a statement have a place in the sentences that are said to support it.

A statement may repeat the sentences in their order, or each of its clauses one of theirs; it may leave out what turns nothing and
add a few characters. A word in the place of another one, a name that they do not have, or words in another order are not left
to a model: one that was won over would say that it is all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from core.checks.near_words import are_near
from core.checks.value_places import is_other_value, is_value
from core.comparison import DROPPED, EqualRun, PassageClause, Word, Words, align

_MOST_ADDED = 4
"""The number of characters that a statement may add within a clause."""
_MOST_ADDED_BEFORE = 2
"""The same before a clause, where its subject stands: one more if the passage has them somewhere."""
_MAY_BE_SKIPPED = frozenset({"quantifier", "time", "cause"})
"""The kinds of turning words of the passage, between words of one clause, that may be left out."""
_SENTENCE_END, _CLAUSE_END = Word("。", 0, 1, "end"), Word("，", 0, 1, "end")
_SURNAMES = frozenset(
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章苏潘葛奚范彭郎鲁韦昌马苗凤花方俞任袁柳鲍史唐费廉岑"
    "薛雷贺倪汤滕殷罗毕郝邬安常乐于时傅皮卞齐康伍余元顾孟黄穆萧尹姚邵汪祁毛狄贝戴宋庞熊纪舒屈项祝董梁杜阮蓝闵季贾江童颜郭梅林钟徐邱骆"
    "高夏蔡田胡凌霍万柯卢莫房丁邓洪包左石崔龚程裴陆翁段侯谷刘叶白赖卓池乔温庄柴阎习向古易戈廖耿欧聂曾关荆游"
)
_TRANSCRIBING = frozenset(
    "阿埃艾安奥巴贝比波博布查达德迪蒂杜多尔法菲费芬弗福盖戈格古哈海亨霍基吉加杰卡凯科克肯库拉莱兰朗勒雷里利林隆卢鲁伦罗洛马迈曼梅蒙米"
    "莫姆纳奈尼涅努诺帕佩皮普奇乔琼萨塞森沙施什史斯丝索塔泰坦特汀图托瓦威韦维温沃乌西希夏辛休亚扬耶伊英尤约泽扎珍茨"
)
"""Characters by which foreign names are written."""
_ENDS_OF_NAMES = frozenset("国省市县区州镇乡村岛山江河湖港湾路街队厂校院局部会司行社党军盟寺峡桥站")

Pairs = frozenset[tuple[str, str]]


def find_misplaced_words(stated: Sequence[Words], passage: Sequence[PassageClause]) -> str:
    """Return the first words of the statement that have no place in the passage; empty if all have one."""
    whole = _whole(passage)
    known = frozenset(pairwise(word.key for word in whole if not word.is_harmless))
    misplaced = _find_misfit(stated, whole, known)
    if misplaced is None or _is_said_by_clauses(stated, passage, known):
        return ""
    return "".join(word.text for word in misplaced)


def _whole(passage: Sequence[PassageClause]) -> list[Word]:
    """Return the words of the passage, with marks between its clauses and sentences."""
    words: list[Word] = []
    for clause, following in zip_longest(passage, passage[1:]):
        is_last = following is None or following.sentence != clause.sentence
        words += [*clause.words, _SENTENCE_END if is_last else _CLAUSE_END]
    return words


def _is_said_by_clauses(stated: Sequence[Words], passage: Sequence[PassageClause], known: Pairs) -> bool:
    """Return whether each clause has a place in one of the passage: behind that of the clause before it, or in one that
    opens with the same subject."""
    after = 0
    for clause in stated:
        if all(word.is_harmless or word.is_turning for word in clause):  # compared elsewhere
            continue
        places = [place for place, other in enumerate(passage) if _fits(clause, other.words, known)]
        if not (places := [place for place in places if place >= after or _has_subject(clause, passage[place].words)]):
            return False
        after = min(places)
    return True


def _fits(clause: Words, other: Words, known: Pairs) -> bool:
    """Return whether a clause of the passage has a place for all words of this one, also if one of them is turned."""
    orders = (clause, other), *_turned(clause, other)
    return any(_find_misfit([one], two, known, is_strict=True) is None for one, two in orders)


def _has_subject(stated: Words, found: Words) -> bool:
    """Return whether a clause has a subject of its own: its first word, or one that the passage's clause opens with."""
    if not (stated[0].is_harmless or stated[0].is_turning):
        return True
    opening = next((word.key for word in found if not word.is_harmless and not word.kind), "")
    return any(word.key == opening for word in stated)


def _turned(stated: Words, found: Words) -> Iterator[tuple[Words, Words]]:
    """Yield two clauses in one another's order: 甲是乙 and 乙是甲, 甲由乙写成 and 乙写成甲."""
    (is_one, by_one), (is_other, by_other) = ([_place(words, text) for text in "是由"] for words in (stated, found))
    if is_one and is_other:
        yield stated, [*found[is_other:], *found[:is_other]]
    if by_other and not by_one:
        yield stated, [*found[by_other:], *found[:by_other]]
    if by_one and not by_other:
        yield [*stated[by_one:], *stated[:by_one]], found


def _place(words: Words, text: str) -> int:
    """Return where a word stands that has others before it; 0 if it does not."""
    return next((place for place, word in enumerate(words) if word.text == text), 0)


class _Gap(NamedTuple):
    """The words between two that correspond, on both sides."""

    stated: Words
    skipped: Words
    beside: str
    """The skipped words in the clauses of the two, without turning words and values: in their place stands what is stated."""
    clause: Words
    """The clause of the statement in which the gap is; empty at its beginning or end."""
    is_end: bool
    """True if the clause ends with what is stated."""


def _find_misfit(clauses: Sequence[Words], found: Words, known: Pairs, *, is_strict: bool = False) -> Words | None:
    """Return the first words without a place; None if all have one. `known`: the neighbours in the whole passage;
    `is_strict`: turning words need a place too."""
    placed = [(word, clause) for clause in clauses for word in clause if not word.is_harmless]
    found = [word for word in found if not word.is_harmless]
    runs = align([word for word, _ in placed], found)
    gaps = list(_gaps(placed, found, runs))
    # 某人是经理 beside 经理是别人: who is named before the clause stands for the one that is named at its end.
    is_identity = bool(gaps[-1].beside) and any(word.text in {"是", "为"} for word in clauses[-1])
    for gap in gaps:
        if _is_torn(gap):
            return gap.clause
        added = [word for word in gap.stated if is_strict or not word.is_turning]
        may_be_added = not _has_moved(added, found) and (bool(gap.clause) or not is_identity)
        if not _has_place(added, gap, may_be_added, known):
            return added
    return None


def _gaps(placed: Sequence[tuple[Word, Words]], found: Words, runs: Sequence[EqualRun]) -> Iterator[_Gap]:
    edges = [EqualRun(0, 0, 0), *runs, EqualRun(len(placed), len(found), 0)]
    for number, (left, right) in enumerate(pairwise(edges)):
        stated = [word for word, _ in placed[left.stated_end : right.stated]]
        skipped = found[left.found_end : right.found]
        is_first, is_last = number == 0, number == len(runs)
        is_inside = not (is_first or is_last) and placed[left.stated_end - 1][1] is placed[right.stated][1]
        beside = _plain_text(_neighbours(skipped, behind=not is_first, before=not is_last))
        is_end = bool(stated) and (is_last or placed[left.stated_end][1] is not placed[right.stated][1])
        yield _Gap(stated, skipped, beside, placed[right.stated][1] if is_inside else (), is_end)


def _neighbours(skipped: Words, *, behind: bool, before: bool) -> Words:
    """Return the skipped words that stand in the clause of the word before them, or of the word behind them."""
    ends = [place for place, word in enumerate(skipped) if word.kind == "end"]
    if not ends:
        return skipped
    return [*(skipped[: ends[0]] if behind else ()), *(skipped[ends[-1] + 1 :] if before else ())]


def _plain_text(words: Words) -> str:
    return "".join(word.text for word in words if word.kind in {"", "latin"})


def _is_torn(gap: _Gap) -> bool:
    """Return whether what stands between two words of one clause there makes them speak of different things: a turning
    word, another value, the end of a sentence, or the beginning of a clause of its own."""
    values = [word for word in gap.clause if is_value(word)]
    skipped = [word for word in gap.skipped if not word.is_aside]
    end = max((place for place, word in enumerate(skipped) if word is _CLAUSE_END), default=len(skipped))
    return bool(gap.clause) and (
        any(not word.kind for word in skipped[end:])
        or any(
            word is _SENTENCE_END
            or (word.is_turning and word.kind != "end" and word.key not in DROPPED and word.kind not in _MAY_BE_SKIPPED)
            or any(is_other_value(value, word) for value in values)
            for word in skipped
        )
    )


def _has_place(added: Words, gap: _Gap, may_add: bool, known: Pairs) -> bool:
    """Return whether words of the statement say nearly what the passage says there, or nothing of their own. Numbers and
    dates may stand anywhere: they are compared elsewhere."""
    words = [word for word in added if not _is_compared_elsewhere(word)]
    text = "".join(word.text for word in words)
    if not words or any(word.kind for word in words):
        return not words
    if gap.beside:
        return are_near(text, gap.beside)
    if not may_add or gap.is_end or _may_be_name(text):
        return False
    if gap.clause:
        return len(text) <= _MOST_ADDED
    is_known = any(pair in known for pair in pairwise(word.key for word in words))
    return len(text) <= _MOST_ADDED_BEFORE + is_known


def _has_moved(added: Words, found: Words) -> bool:
    """Return whether the words stand elsewhere in what they are compared with."""
    words = [word for word in added if not word.kind]
    listed, neighbours = {word.key for word in found if not word.is_single}, set(pairwise(word.key for word in found))
    return any(word.key in listed for word in words) or any(
        pair in neighbours for pair in pairwise(word.key for word in words)
    )


def _is_compared_elsewhere(word: Word) -> bool:
    return word.kind in {"number", "date"} and is_value(word)


def _may_be_name(text: str) -> bool:
    """Return whether a word has the shape of a name: a surname, a transcription, or what places and bodies end with."""
    return len(text) > 1 and (
        text[0] in _SURNAMES or text[-1] in _ENDS_OF_NAMES or sum(one in _TRANSCRIBING for one in text) > 1
    )
