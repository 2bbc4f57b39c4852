"""Passages of a source: neighbouring clauses, each with what the clauses around it make of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, zip_longest

from core.comparison.lexicon import EVIDENCE, SPEECH
from core.comparison.words import VALUES, Word, split_clauses

_CONDITION_KEYS = frozenset(
    [
        "condition:如果",
        "condition:一旦",
        "condition:只要",
        "condition:除非",
        "condition:凡",
        "condition:仅在",
        "condition:除",
    ]
)
_CHINESE = re.compile("[\u4e00-\u9fff]")
_ALLEGATIONS = frozenset({"modality:指控", "modality:号称"})
"""Words by which the whole sentence is what somebody alleges."""
_CONDITION = re.compile("^只有|(?:的话|情况下|前提下|条件下)$|^当.+[时候]$")
_CASE = re.compile("^[^是]{3,}的$")
_WHEN = re.compile("(?<![同临及届小])时$")
"""The end of a clause that names a case, if no value stands in it: 下午1时 is a time."""
_DUTY = re.compile("应当|不得|可以|必须|禁止|有权|不予|处.{0,12}(?:罚款|拘留|徒刑)")
_OWN_SUBJECT = re.compile("^(?![其该此这那他她它也还都就并但而则不只仅更又既]|同时)[^是]{2,14}是")
PRONOUNS = frozenset(["他", "她", "它", "其", "该", "此", "这", "他们", "她们", "它们", "他的"])
_LONGEST_CASE = 40
"""Characters of a clause that names a case. More is a page's heading or menu."""
_HEADING = re.compile("第.{1,12}[条款项章节](?:之.)?|违反本.{2,20}规定")
_PROVISO = re.compile("除外|但是|不适用|例外|不在此限|另有")
_RULE = re.compile("应当|不得|有权|视为|不予|有期徒刑|罚款|可以.{0,20}(?:解除|请求|要求|申请|撤销|追偿|延长|决定)")
_SCOPE = re.compile(
    "^(?:在|对|按|依照|根据|依据|据|经(?![济常营理])|凭|以(?![及色往])|从(?![而事])|就(?!业)|关于|针对|每逢|每当|每到|除)"
    "|(?:(?<![日目当])前|后|间|中|(?<!如)下|里|内|上|看|看来|来说|而言|来看|计算|[春夏秋冬]季|年代|说法|眼中|计划|过去|从前|当时|以往|早年|最初|初|分析|暗示)$"
)
"""How an opening begins or ends that says for whom, when, where or according to whom the rest holds."""
_NO_SCOPE = re.compile(
    "^据.{0,12}(?:报道|讯|电|介绍|了解|悉)$|^(?:根据|按照|依照|依据)(?!.*[旧原]).*(?:规定|法|条例|办法|统计|报告|调查|结果)$"
)
_ASKED = re.compile(
    r"[?？]|[（(]\s*[)）]|\[\s*\]|(?:单|多)选题|(?<![a-z])a[.、．]?[^a-z\n]{1,20}b[.、．]?[^a-z\n]{1,20}c"
)
_ANY_ITEM = re.compile("有下列[^,，。;；:：]{0,6}之一")
_ITEM_NUMBER = re.compile(r"\W{0,2}[一二三四五六七八九十\d]{1,3}[)、.]")
_IS_IT_TRUE = re.compile("(?:真|属实|可信|靠谱|对|是)的?吗|真的假的|是真是假|是否属实")


@dataclass(frozen=True)
class PassageClause:
    words: Sequence[Word]
    sentence: int
    """The number of its sentence."""
    part: int
    """The number of its part between two semicolons."""
    offset: int
    """What must be added to the places of its words to find them in the source."""
    text: str
    end_mark: str = ""
    """What stands between this clause and the next one."""
    is_quoted: bool = False

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words)

    @cached_property
    def is_condition(self) -> bool:
        """True if the rest of the sentence holds only under what this clause says."""
        own = [word for word in self.words if not word.is_harmless or word.kind]
        if any(word.key in _CONDITION_KEYS for word in own[:2]) or _CONDITION.search(self.text):
            return True
        is_when = _WHEN.search(self.text) and not any(word.kind in VALUES - {"latin"} for word in own)
        return len(own) > 2 and bool(is_when or self.names_case)

    @cached_property
    def names_case(self) -> bool:
        """True for a case as statutes name it: 逾期不缴纳的."""
        return _CASE.search(self.text) is not None

    @cached_property
    def is_attribution(self) -> bool:
        """True if the rest of the sentence is what somebody says."""
        own = [word for word in self.words if not word.is_particle]
        if any(word.key in _ALLEGATIONS for word in own):
            return True
        if not own or own[-1].key not in SPEECH | EVIDENCE:
            return False
        return own[-1].key in SPEECH or any(word.kind in {"negation", "modality"} for word in own)

    @cached_property
    def is_scope(self) -> bool:
        """True for what, at the beginning of a sentence, says for whom, when or where the rest holds: 对于儿童, 过去."""
        if all(word.is_harmless for word in self.words) or _NO_SCOPE.search(self.text):
            return False
        return _SCOPE.search(self.text) is not None

    @cached_property
    def is_duty(self) -> bool:
        """True for what somebody must, may or must not do."""
        return _DUTY.search(self.text) is not None

    @property
    def is_asked(self) -> bool:
        """True for a question, and for answers to choose from."""
        return bool(_ASKED.search(self.text + self.end_mark))

    @property
    def has_pronoun(self) -> bool:
        """True if it begins with a word for what was named before."""
        return any(word.key in PRONOUNS for word in self.words[:2])

    @property
    def is_predicate(self) -> bool:
        """True if it begins with what is done, and names nobody: 禁止高消费."""
        return self.words[0].kind in {"modality", "negation", "time", "voice"}

    @cached_property
    def has_subject(self) -> bool:
        """True if it surely has a subject of its own: 土星是第二大行星."""
        return _OWN_SUBJECT.search(self.text) is not None

    @property
    def is_numbered(self) -> bool:
        """True for the first clause of an item: (一) or 1."""
        return _ITEM_NUMBER.match(self.text) is not None

    @property
    def is_latin(self) -> bool:
        return not _CHINESE.search(self.text)

    @cached_property
    def is_exception(self) -> bool:
        return re.search("除外|不在此[限列]|例外|另有(?:规定|约定)", self.text) is not None


@dataclass(frozen=True)
class ClauseSequence:
    """Neighbouring clauses of a source, in the order of its text."""

    clauses: Sequence[PassageClause]

    def follows(self, place: int) -> bool:
        """Return whether the clause follows the one before it in the source's text."""
        return place > 0 and self.clauses[place].part - self.clauses[place - 1].part <= 1

    @cached_property
    def _rules(self) -> frozenset[int]:
        """The parts of sentences that are rules."""
        return frozenset(one.part for one in self.clauses if one.names_case or _RULE.search(one.text))

    def is_rule(self, place: int) -> bool:
        """Return whether the clause is part of a rule, of which every word counts: what must, may and must not be done."""
        return self.clauses[place].part in self._rules

    def is_case_of_rule(self, place: int) -> bool:
        """Return whether the clause stands before the first duty of a rule: the rule holds only with it."""
        clause = self.clauses[place]
        if len(clause.text) > _LONGEST_CASE or _HEADING.fullmatch(clause.text) or not self.is_rule(place):
            return False
        return not any(one.is_duty for one in self.clauses[: place + 1] if one.part == clause.part)

    def has_cases(self, place: int) -> bool:
        """Return whether the clause names one of several cases, or has exceptions: another case is no contradiction."""
        return self.clauses[place].is_condition or any(_PROVISO.search(clause.text) for clause in self.clauses)

    @cached_property
    def _provisos(self) -> list[int]:
        return [
            place for place, one in enumerate(self.clauses) if one.text.startswith("但") or one.text.endswith("除外")
        ]

    def proviso_after(self, place: int) -> int | None:
        """Return the place of a clause, later in the sentence or opening the next one, that takes a part of a rule back."""
        sentence = self.clauses[place].sentence
        for later in self._provisos:
            clause = self.clauses[later]
            is_next = clause.sentence == sentence or (clause.sentence == sentence + 1 and self.opens_sentence(later))
            if later <= place or not is_next:
                continue
            if clause.text.endswith("除外") or self.is_rule(place) or self.is_rule(later):
                return later
        return None

    def opens_sentence(self, place: int) -> bool:
        return place == 0 or self.clauses[place - 1].sentence != self.clauses[place].sentence

    def is_asked(self, place: int) -> bool:
        """Return whether the clause asks, or the clause behind it asks whether it is true."""
        behind = self.clauses[place + 1 : place + 2]
        return self.clauses[place].is_asked or any(_IS_IT_TRUE.search(clause.text) for clause in behind)

    def clauses_around(self, place: int) -> Iterator[tuple[int, PassageClause]]:
        """Yield the clauses of the same part of the sentence, and of the part before if that has a condition for both."""
        part = self.clauses[place].part
        own = [(number, clause) for number, clause in enumerate(self.clauses) if clause.part == part]
        yield from own
        if not any(clause.is_condition for _, clause in own):
            sentence = self.clauses[place].sentence
            yield from (
                (number, clause)
                for number, clause in enumerate(self.clauses)
                if clause.part == part - 1 and clause.sentence == sentence
            )

    def statement_around(self, place: int) -> range:
        """Return the places of the clauses between two full stops or semicolons."""
        first, last = place, place
        while first and self._goes_on(first - 1):
            first -= 1
        while last + 1 < len(self.clauses) and self._goes_on(last):
            last += 1
        return range(first, last + 1)

    def _goes_on(self, place: int) -> bool:
        one, following = self.clauses[place : place + 2]
        return one.sentence == following.sentence and ";" not in one.end_mark

    def may_share_subject(self, earlier: int, place: int) -> bool:
        """Return whether a clause may be about what an earlier one is about: none in between has a subject of its own, as far
        as that can be seen. What opens a sentence stands for itself."""
        for between in range(earlier + 1, place):
            clause = self.clauses[between]
            opens = clause.part != self.clauses[between - 1].part
            if (opens and not clause.has_pronoun and not clause.is_predicate) or clause.has_subject:
                return False
        return True

    def with_items_in_place(self) -> ClauseSequence:
        """Return the passage with one more sentence for each item of a list of cases of which any is enough: the opening,
        with the item in the place of 有下列情形之一."""
        added: list[PassageClause] = []
        for place, clause in enumerate(self.clauses):
            if "有下列" in clause.text and (marker := _ANY_ITEM.search(clause.text)):
                opening = [one for one in self.clauses if one.part == clause.part]
                here = opening.index(clause)
                for item in _items_after(place, self.clauses):
                    number = self.clauses[-1].part + 2 + len(added)  # follows nothing
                    lines = [*opening[:here], *_put_in_place(item, clause, marker), *opening[here + 1 :]]
                    added += (replace(one, part=number, sentence=number) for one in lines)
        return ClauseSequence([*self.clauses, *added]) if added else self

    def clauses_before(self, place: int, most: int, sentences: int = 1) -> Iterator[PassageClause]:
        """Yield the clauses before this one, nearest first, not further than so many sentences back."""
        sentence = self.clauses[place].sentence
        for back in range(place - 1, max(-1, place - 1 - most), -1):
            if self.clauses[back].sentence < sentence - sentences or not self.follows(back + 1):
                return
            yield self.clauses[back]


def _items_after(place: int, clauses: Sequence[PassageClause]) -> Iterator[list[PassageClause]]:
    for _, group in groupby(clauses[place + 1 :], key=lambda clause: clause.part):
        item = list(group)
        if item[0].part == clauses[place].part:
            continue
        if not item[0].is_numbered:
            return
        yield item


def _put_in_place(item: Sequence[PassageClause], listed: PassageClause, marker: re.Match[str]) -> list[PassageClause]:
    """Return the clauses of an item, the first one behind what the opening says before its list."""
    start = listed.words[0].start
    before = [word for word in listed.words if word.end - start <= marker.start()]
    own = [word for word in item[0].words if not word.is_aside]
    shift = item[0].offset - listed.offset
    words = [*before, *(replace(word, start=word.start + shift, end=word.end + shift) for word in own)]
    text = listed.text[: marker.start()] + _ITEM_NUMBER.sub("", item[0].text, count=1)
    lines = [replace(listed, words=words, text=text), *item[1:]]
    return [*lines[:-1], replace(lines[-1], text=lines[-1].text.rstrip("的") + "的")]


def is_opening_word(words: Sequence[Word]) -> bool:
    """Return whether a clause is only a date or an adverb, which belongs to the clause behind it."""
    return all(
        word.kind == "date" or word.is_harmless or (word.is_turning and word.key not in SPEECH) for word in words
    )


def merge_openings(clauses: Sequence[list[Word]]) -> list[list[Word]]:
    """Return the clauses, each with the date or the adverb that stands before its comma."""
    merged: list[list[Word]] = []
    pending: list[Word] = []
    for place, words in enumerate(clauses):
        pending = [*pending, *words]
        if place + 1 == len(clauses) or not is_opening_word(words):
            merged.append(pending)
            pending = []
    return merged


def read_clauses(
    text: str, sentence: int, part: int, offset: int, published: str | None = None, quotes: Sequence[range] = ()
) -> Iterator[PassageClause]:
    """Yield the clauses of one part of a sentence. `quotes`: where the source quotes somebody."""
    clauses = merge_openings(split_clauses(text, published))
    for words, later in zip_longest(clauses, clauses[1:]):
        following = later[0].start if later else len(text)
        start, end = words[0].start, words[-1].end
        is_quoted = any(start + offset in quote for quote in quotes)
        yield PassageClause(words, sentence, part, offset, text[start:end], text[end:following], is_quoted)
