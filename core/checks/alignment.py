"""The alignment of a statement with a passage, word by word: whether the passage says the same, or only speaks of the same.

A clause of the statement is laid over a clause of the passage, in order. What is left over of the statement, and what the
passage says in between, decides: a word that turns the meaning round is an objection on either side. The subject may stand
in the clause before, if the clause itself begins with what is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.base.chinese.script import comparison_form
from core.checks.features import FUNCTION_CHARACTERS, ParsedStatement

MOST_CONTENT = 0.5
"""The share of the statement's content words that a quotation must have. A Chinese character counts as a word."""
SOME_PAIRS = 0.2
"""The share of the statement's pairs of neighbouring characters: a long quotation has many single characters by chance."""
CLAUSES_BACK = 1
"""The number of clauses before the aligned one in which the subject may stand."""
CLAUSES_AHEAD = 2
"""The number of clauses that the passage may say between two that the statement joins."""
CLAUSES_JOINED = 2
"""The number of clauses of the statement that one clause of the passage may say."""
MIN_SHARED = 0.5
"""The share of a clause's words that a clause of the passage must have to be compared with it."""
LONGEST_STATEMENT, LONGEST_PASSAGE = 400, 1_200
"""Characters that are compared. What is longer says more than one thing."""
MAX_CLAUSES = 20
"""The number of clauses that a statement may have."""

_WORD = re.compile(r"[a-z]+|[^\W\d_a-z]")
_FUNCTION_WORDS = FUNCTION_CHARACTERS | {
    *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is", "it", "its", "of"),
    *("on", "or", "that", "the", "this", "to", "was", "were", "will", "with"),
}
_UNIT = re.compile(r"\d+(?:[.,]\d+)*%?|[a-z]+(?:['’-][a-z]+)*|[^\W_]")
"""A unit of comparison: a number, a Latin word, a Chinese character."""
_CLAUSE_END = re.compile(
    r"[，；：。！？!?\n…]+|(?<!\d)[,;:—]+|[,;:—]+(?!\d)|(?<=[a-z])\.(?=\s|$)|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])"
)
"""The end of a clause. Pages put a space between Chinese characters where a heading or a table's cell ends."""
_ASIDE = re.compile(r"[（(【\[][^（）()【】\[\]\n]{0,60}[）)】\]]")
"""What stands in brackets: a year of birth, a short name, another language."""
_HARMLESS = re.compile(
    "[的了是在和与及等也就而则之其这该此并着地所以为于个自]|the|an?|of|and|in|on|at|is|are|was|were|to|that"
)
"""Units that may stand on one side only."""
_LINK = re.compile(
    "(?:但是?|不过|因为|由于|所以|因此|从而|然而|而且?|并且?|此外|另外|同时|其中|那么|即|也就是说?|例如|比如|首先|其次|最后|[一二三四五]是|就|还|也|同样|才)+"
)
"""Words at the beginning of a clause that only tie it to the one before."""
_TURNING = re.compile(
    "不(?![过仅但断同久少管论])|没|未(?!来)|无(?!论|线|人机)|非(?!常|洲)|否|勿|莫(?!斯)|难[以于]|很难|拒绝|撤|驳回|取消|禁|避免|防止|停止|终止|失败"
    "|可能|或|也许|大概|似乎|疑似|传言|传闻|网传|(?<![数根依证占单凭收])据|声称|自称|所谓|号称|谣|误(?!差)"
    "|计划|拟|打算|准备|预计|有望|希望|即将|考虑|试图|企图|目标|建议|呼吁|要求|(?<![反效供适相响呼感回])应(?![用对急收付])|必须|需要|可以|能够"
    "|(?<![社协大员事运动布机工议国晚聚宴商学教开])会(?![议员计谈长场见晤展])"
    "|如果|假如|若|假设|倘|一旦|只|除|仅|至少|至多|最多|以上|以下|以内|以外"
    "|部分|一些|有的|大多|多数|少数|个别|几乎|全部|所有|每|任何|(?<!平)均|都(?!市)|通常|一般|往往|有时|偶尔|主要"
    "|(?<![名简职对])称|表示|认为|指出|透露|(?<![小传学来])说(?!明)|坦言|曾|原(?![因则料理始来告油])|前(?![往来进景提线])|后(?![果续来卫者勤])"
    "|(?<![原基起病成])因(?![此素])|由于|导致|高于|低于|多于|少于|大于|小于|超(?![市级声])|不足|比(?![赛例较重如利分])|近(?![年期日代平海])|约(?![束定])|逾"
    "|达(?![成标])|至(?![今于])|(?<![感收遇受])到(?![底处来])|左右|但|却|然而|虽|尽管|反而|当地时间|北京时间|[增减升降涨跌]|旧"
    r"|\b(?:no|not|never|none|nor|cannot|without|fail\w*|den(?:y|ied|ies)|refus\w*|may|might|could|would|should|must|can|plans?|planned|if"
    r"|unless|only|alleged\w*|reported\w*|said|says|claim\w*|before|after|than|more|less|most|least|some|all|every|any|few"
    r"|almost|about|over|under|because|but|although)\b"
)
"""Words that turn the meaning of what they stand with: negation, possibility, plan, condition, amount, speaker, cause,
comparison. They stand on both sides, or on none."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Units that are the same on both sides, one after the other."""

    stated: int
    found: int
    length: int


def is_about(quotation: str, statement: str) -> bool:
    """Return whether the quotation has most of what the statement speaks of. Numbers are compared elsewhere."""
    wanted, pairs = _content_words(statement), ParsedStatement(statement).pairs
    if not wanted or not pairs:
        return False
    there = comparison_form(quotation)
    return len(wanted & _content_words(quotation)) >= MOST_CONTENT * len(wanted) and sum(
        pair in there for pair in pairs
    ) >= SOME_PAIRS * len(pairs)


def _content_words(text: str) -> set[str]:
    return set(_WORD.findall(comparison_form(text))) - _FUNCTION_WORDS


def says_the_same(passage: str, statement: str) -> bool:
    """Return whether the passage says what the statement says, word by word."""
    stated = [_units(clause) for clause in _clauses(statement[: LONGEST_STATEMENT + 1])]
    found = [_units(clause) for clause in _clauses(_ASIDE.sub("", passage[:LONGEST_PASSAGE]))]
    if len(statement) > LONGEST_STATEMENT or len(stated) > MAX_CLAUSES:
        return False
    # After so many clauses of the statement: the clauses of the passage that said the last of them.
    said: list[set[int]] = [set() for _ in range(len(stated) + 1)]
    for first in range(len(stated)):
        after = {place + step for place in said[first] for step in range(CLAUSES_AHEAD + 1)}
        places = range(len(found)) if first == 0 else sorted(after & set(range(len(found))))
        for last in range(first + 1, min(first + CLAUSES_JOINED, len(stated)) + 1):
            clause = [unit for one in stated[first:last] for unit in one]
            said[last].update(place for place in places if _is_said(clause, found, place))
    return bool(stated and said[-1])


def _clauses(text: str) -> list[str]:
    return [clause for clause in _CLAUSE_END.split(comparison_form(text)) if _UNIT.search(clause)]


def _units(clause: str) -> list[str]:
    return [unit.replace(",", "") for unit in _UNIT.findall(clause)]


def _is_said(stated: Sequence[str], there: Sequence[Sequence[str]], main: int) -> bool:
    """Return whether this clause of the passage says what was stated, alone or with the subject of the clause before."""
    for back in range(min(CLAUSES_BACK, main) + 1):
        before = [unit for clause in there[main - back : main] for unit in clause]
        found = [*before, *there[main]]
        words = set(stated)
        if len(words & set(found)) >= MIN_SHARED * len(words) and _is_same(stated, found, len(before)):
            return True
    return False


def _is_same(stated: Sequence[str], found: Sequence[str], main: int) -> bool:
    """Return whether nothing differs but harmless words. `main`: where the aligned clause begins."""
    runs = _find_runs(stated, found)
    if not runs or runs[-1].found + runs[-1].length <= main or not _continues(runs, found, main):
        return False
    edges = [_Run(0, 0, 0), *runs, _Run(len(stated), len(found), 0)]
    for left, right in pairwise(edges):
        extra = stated[left.stated + left.length : right.stated]
        skipped = found[left.found + left.length : right.found]
        if left.length == 0:
            skipped = _without_link(skipped)
        elif _names_another(skipped):
            return False
        if not _is_harmless(extra) or _turns_meaning(skipped):
            return False
    return True


def _continues(runs: Sequence[_Run], found: Sequence[str], main: int) -> bool:
    """Return whether the clause begins with what is aligned, if the subject stands before it. Else it has a subject, time
    or place of its own."""
    first = next((run.found for run in runs if run.found >= main), main)
    return runs[0].found >= main or _is_harmless(_without_link(found[main:first]))


def _names_another(skipped: Sequence[str]) -> bool:
    """Return whether a name goes on in the passage: iPhone 13 mini is not iPhone 13."""
    return bool(skipped) and skipped[0].isascii() and skipped[0][0].isalpha()


def _turns_meaning(units: Sequence[str]) -> bool:
    return _TURNING.search(_joined(units)) is not None


def _without_link(units: Sequence[str]) -> Sequence[str]:
    link = _LINK.match("".join(units))
    return units[link.end() :] if link and all(len(unit) == 1 for unit in units[: link.end()]) else units


def _is_harmless(units: Sequence[str]) -> bool:
    return all(_HARMLESS.fullmatch(unit) for unit in units)


def _joined(units: Sequence[str]) -> str:
    return re.sub(r"(?<![a-z]) | (?![a-z])", "", " ".join(units))


def _find_runs(stated: Sequence[str], found: Sequence[str]) -> list[_Run]:
    """Return the longest alignment in order, where long runs are worth more than scattered characters. A single character
    that stands alone between others is part of another word, and no run."""
    runs = _runs_of(_align(stated, found))
    return [run for run in runs if run.length > 1 or len(stated) == 1 or _is_word(stated[run.stated])]


def _is_word(unit: str) -> bool:
    return unit.isascii() or _HARMLESS.fullmatch(unit) is not None


def _runs_of(pairs: Sequence[tuple[int, int]]) -> Iterator[_Run]:
    run: _Run | None = None
    for stated, found in pairs:
        if run and (run.stated + run.length, run.found + run.length) == (stated, found):
            run = _Run(run.stated, run.found, run.length + 1)
            continue
        if run:
            yield run
        run = _Run(stated, found, 1)
    if run:
        yield run


_NEW_RUN = 0.6
"""What beginning another run costs, compared with one character more."""


def _align(stated: Sequence[str], found: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of places of equal units in the best alignment in order."""
    rows, columns = len(stated) + 1, len(found) + 1
    best = [[0.0] * columns for _ in range(rows)]
    ending = [[0.0] * columns for _ in range(rows)]  # the best that ends with this pair
    for row in range(1, rows):
        for column in range(1, columns):
            if stated[row - 1] == found[column - 1]:
                worth = min(len(stated[row - 1]), 3)
                fresh = best[row - 1][column - 1] + worth - _NEW_RUN
                ending[row][column] = max(
                    fresh, ending[row - 1][column - 1] + worth if ending[row - 1][column - 1] else 0
                )
            best[row][column] = max(best[row - 1][column], best[row][column - 1], ending[row][column])
    return _trace(best, ending, stated)


def _trace(best: list[list[float]], ending: list[list[float]], stated: Sequence[str]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    row, column = len(best) - 1, len(best[0]) - 1
    in_run = False
    while row and column:
        if ending[row][column] and (in_run or best[row][column] == ending[row][column]):
            pairs.append((row - 1, column - 1))
            worth = min(len(stated[row - 1]), 3)
            before = ending[row - 1][column - 1]
            in_run = bool(before) and abs(before + worth - ending[row][column]) < 1e-9
            row, column = row - 1, column - 1
        elif best[row][column] == best[row - 1][column]:
            row, in_run = row - 1, False
        else:
            column, in_run = column - 1, False
    return pairs[::-1]
