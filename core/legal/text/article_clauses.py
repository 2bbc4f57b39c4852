"""An article as clauses that a restatement is aligned with (`core.comparison`), and what makes aligned clauses a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.comparison import Chain, ClauseMatch, ClauseSequence, PassageClause, read_clauses
from core.legal.text.paragraphs import excerpt, split_paragraphs
from core.legal.text.rule_comparison import is_condition, item_words, rules_for_item

_SENTENCE_END = re.compile(r"(?<=[。！？])")
_SUBJECT_OF_LIST = re.compile(r"^[^，,：:。；]{1,30}?(?=有下列)")
_ALTERNATIVE_CLAUSES = re.compile(r"([^，。；：]{2,60}的)，或者([^，。；]{2,60}的)，")
_ALTERNATIVES = re.compile(r"^([^，。；：]{4,60})或者([^，。；：]{4,60}的)，")
_NEGATION = re.compile("[不未没无非]")
_LONGEST_OMISSION = 8
"""Largest number of letters that may be left out between two words, unless they are a condition."""
_LIGHT = frozenset(["已", "劳动者", "当事人", "本人", "履行", "义务", "有关", "相关", "依法"])
_ASIDE = "或与向对以在把为"
"""First letters of what a rule may be told without: a further case, or with whom, to whom and by what means."""
_OR = frozenset(["或", "或者"])
_AND = frozenset(["并", "且", "并且", "而且", "又", "同时"])


def article_clauses(text: str, paragraph: int | None, item: int | None) -> ClauseSequence:
    """Return the clauses of an article, or of one 款 or 项. Each item of a list stands in the place of the list, too."""
    clauses: list[PassageClause] = []
    sentence = part = 0
    for one in _rules(text, paragraph, item):
        for words in filter(str.strip, _SENTENCE_END.split(one)):
            for rule in re.split("[；;]", words):
                clauses += read_clauses(rule, sentence, part, 0)
                part += 1
            sentence += 1
        part += 1  # What follows is no continuation.
    return ClauseSequence(clauses)


_SUBJECT_OF_CASE = re.compile(
    r"^(?P<subject>[^，。；：的]{2,14}?(?:人|者|单位|公司|机关|部门|机构|组织|法院|政府|企业))"
    r"(?P<case>(?!承担|应当|可以|不得|有)[^，。；：]{4,60}(?:的|后|时))，(?P<duty>(?:应当|可以|不得|必须|有权)[^。；]+)"
)


_SUBJECT_BEFORE_TIME = re.compile(
    r"^(?P<subject>[^，。；：的]{2,14}?)(?P<time>(?:在|自)[^，。；：]{3,40}?(?:之?前|之?后|时|内|期间))"
    r"(?P<duty>(?:应当|可以|不得|必须|有权)[^。；]+)"
)
_DUTIES = re.compile(
    r"^(?P<subject>[^，。；：]{2,14}?)(?=应当|可以|不得|必须|有权)[^。；]+?，(?P<more>(?:应当|可以|不得|必须|有权).+)"
)
_LISTED = re.compile(
    r"^下列(?P<listed>[^，。；：]{2,10}?)，?(?P<duty>(?:应当|可以|不得|必须|禁止|无效|免征|不予|由)[^。；：]*)[：:]"
)


def _with_each_duty(line: str) -> Iterator[str]:
    """Yield a rule for each of several duties of one subject: 经营者不得侮辱消费者，不得搜查消费者的身体."""
    for rule in re.split("[。；;]", line):
        if found := _DUTIES.match(rule):
            for duty in re.split("，(?=应当|可以|不得|必须|有权)", found["more"]):
                yield f"{found['subject']}{duty}"


def _with_subject(line: str) -> Iterator[str]:
    """Yield a rule with its subject behind the case: 发生事故后，单位应当报告 for 单位发生事故后，应当报告."""
    for rule in re.split("[。；;]", line):
        if found := _SUBJECT_OF_CASE.match(rule):
            yield f"{found['case']}，{found['subject']}{found['duty']}"
        if found := _SUBJECT_BEFORE_TIME.match(rule):
            yield f"{found['time']}，{found['subject']}{found['duty']}"


def _rules(text: str, paragraph: int | None, item: int | None) -> Iterator[str]:
    for number, (opening, *items) in enumerate(split_paragraphs(text), 1):
        if paragraph not in (None, number):
            continue
        if not item:
            yield opening
            yield from _each_alternative(opening)
            yield from _with_subject(opening)
            yield from _with_each_duty(opening)
        for line in items:
            if not item or excerpt(line, None, item):
                yield from _item_in_place(opening, line)
                yield from _each_alternative(line)


def _item_in_place(opening: str, line: str) -> Iterator[str]:
    yield from rules_for_item(opening, line)
    if found := _LISTED.match(opening):
        yield f"{item_words(line).removesuffix('的')}的{found['listed']}{found['duty']}"
    if _SUBJECT_OF_LIST.search(opening):
        *_, without_subject = rules_for_item(_SUBJECT_OF_LIST.sub("", opening), line)
        yield without_subject


def _each_alternative(line: str) -> Iterator[str]:
    """Yield a rule for each of two conditions: 殴打他人的，或者伤害他人的，处拘留."""
    for rule in re.split("[。；;]", line):
        if found := _ALTERNATIVE_CLAUSES.search(rule):
            yield from (f"{rule[: found.start()]}{found[one]}，{rule[found.end() :]}" for one in (1, 2))
        # 未经批准或者备案的 is no rule about 备案的.
        found = _ALTERNATIVES.search(rule)
        if found and (_NEGATION.search(found[2]) or not _NEGATION.search(found[1])):
            yield rule[found.start(2) :]


def used_clauses(chain: Chain, passage: ClauseSequence) -> list[PassageClause]:
    return [passage.clauses[place] for place in _places(chain)]


def _places(chain: Chain) -> list[int]:
    return sorted({place for match in chain for place in match.places})


def is_whole_rule(chain: Chain, passage: ClauseSequence) -> bool:
    """Return whether the aligned clauses are of one rule, none of its conditions left out or narrowed."""
    used = used_clauses(chain, passage)
    is_one = not _joins_rules(used) and not _leaves_out_condition(_places(chain), passage.clauses)
    return is_one and not _narrows(chain, passage.clauses)


def _joins_rules(used: Sequence[PassageClause]) -> bool:
    """Return whether the clauses are of two sentences, or of two rules of one sentence, each with a condition."""
    first = used[0]
    later = [clause for clause in used if clause.part != first.part]
    return used[-1].sentence != first.sentence or any(is_condition(clause.text) for clause in later)


def _leaves_out_condition(used: Sequence[int], clauses: Sequence[PassageClause]) -> bool:
    first = clauses[used[0]]
    conditions = [place for place in range(used[-1]) if is_condition(clauses[place].text)]
    own = [place for place in conditions if clauses[place].part >= first.part]
    # Without a condition of its own, a rule has that of the one before it.
    inherited = [
        place
        for place in conditions
        if clauses[place].sentence == first.sentence and clauses[place].part == first.part - 1
    ]
    return not all(place in used for place in own or inherited)


def _narrows(chain: Chain, clauses: Sequence[PassageClause]) -> bool:
    """Return whether words left out may be what the rule is about: 造成重大损失的, 造成损失的."""
    return any(
        _skips_content(match, clauses) or _follows_and(match, clauses) or _has_half_condition(match, clauses)
        for match in chain
    )


def _skips_content(match: ClauseMatch, clauses: Sequence[PassageClause]) -> bool:
    used = [clauses[place] for place in match.places]
    longest = 0 if any(is_condition(clause.text) for clause in used) else _LONGEST_OMISSION
    for gap in match.gaps:
        text = "".join(word.text for word in gap.skipped)
        is_light = text in _LIGHT or text[:1] in _ASIDE or any(clause.text.count(text) > 1 for clause in used)
        if text in _OR or (gap.is_inside and len(text) > longest and not is_light):
            return True
    return False


def _follows_and(match: ClauseMatch, clauses: Sequence[PassageClause]) -> bool:
    """Return whether the words before the first aligned one are a condition, too: 确有过失并有前科的, 有前科的."""
    _, place, first = match.pairs[0]
    before = [word.text for word in clauses[place].words if word.end <= first.start]
    return bool(before) and before[-1] in _AND


def _has_half_condition(match: ClauseMatch, clauses: Sequence[PassageClause]) -> bool:
    """Return whether what was taken for a subject is a part of a condition: 确有过失 of 确有过失并有前科的."""
    aligned = {place for _, place, _ in match.pairs}
    stated = {word.text for gap in match.gaps for word in gap.extra}
    conditions = [clauses[place] for place in match.places - aligned if is_condition(clauses[place].text)]
    return any(word.text not in stated for one in conditions for word in one.words if not word.is_harmless)
