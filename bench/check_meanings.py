"""What the comparison in meaning changes in the checks, and what it costs: only with a model named by LEGAL_EMBEDDING.

Few faithful statements are called 未见 by words. So the threshold was chosen on all that are far from the words of their source, as
if each of them had been.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from bench.claim_sets import Judged
from bench.rows import Row
from bench.shares import share_row
from core.answer.check_results import SourceText, Verdict
from core.base.embedding import Embedder
from core.checks import MeaningComparison, check_answer
from core.checks.check import MIN_ALIGNED_SHARE, compare
from core.checks.features import ParsedStatement
from core.checks.meaning import NEAR_MEANING
from core.checks.source_index import IndexedSource

SETTING = "LEGAL_EMBEDDING"
NEAR_SHARE = 0.9
"""The share of the far faithful statements that the threshold must call near."""


def configured() -> MeaningComparison | None:
    name = os.environ.get(SETTING, "")
    return MeaningComparison(Embedder(name)) if name else None


class Likeness(NamedTuple):
    """How near the nearest sentence of its source is to a statement."""

    is_true: bool
    value: float
    half: int


def rows(pairs: Sequence[Judged], citecheck: Sequence[Judged], meaning: MeaningComparison) -> Iterator[Row]:
    faithful = [one for one in review(pairs, meaning) if one.claim.is_true]
    yield share_row("In meaning too: faithful accused", sum(one.is_accused for one in faithful), len(faithful), 3)
    accused = [one for one in review(citecheck, meaning) if one.is_accused]
    right = sum(not one.claim.is_true for one in accused)
    yield share_row("In meaning too: CiteCheck, 不符 and 未见 right", right, len(accused), 96, at_least=True)
    measured = list(likenesses([*pairs, *citecheck], meaning))
    yield from shares("In meaning too", measured, NEAR_MEANING)
    for half in (0, 1):
        chosen = choose([one for one in measured if one.half != half])
        there = [one for one in measured if one.half == half]
        yield from shares(f"In meaning too, half {half + 1} with the other's threshold {chosen:.2f}", there, chosen)


def review(found: Iterable[Judged], meaning: MeaningComparison) -> Iterator[Judged]:
    """Yield the same statements as they are judged with a model."""
    for claim, check in found:
        source = IndexedSource(SourceText(1, claim.source))
        yield Judged(claim, meaning.review_absent(check, ParsedStatement(claim.statement), source))


def likenesses(found: Iterable[Judged], meaning: MeaningComparison) -> Iterator[Likeness]:
    """Yield those of unfounded statements that are 未见 by words, and of faithful ones that are far from the words."""
    for one in found:
        if one.is_absent if not one.claim.is_true else is_far(one):
            statement, source = ParsedStatement(one.claim.statement), IndexedSource(SourceText(1, one.claim.source))
            if nearest := meaning.nearest(statement, source):
                yield Likeness(one.claim.is_true, nearest.likeness, crc32(one.claim.source.encode()) % 2)


def is_far(one: Judged) -> bool:
    return compare(one.claim.statement, [SourceText(1, one.claim.source)]).coverage <= MIN_ALIGNED_SHARE


def choose(measured: Iterable[Likeness]) -> float:
    """Return the highest threshold in hundredths that calls enough of the faithful statements near."""
    values = sorted((one.value for one in measured if one.is_true), reverse=True)
    return int(values[int(NEAR_SHARE * len(values))] * 100) / 100


def shares(name: str, measured: Sequence[Likeness], threshold: float) -> Iterator[Row]:
    unfounded, faithful = ([one for one in measured if one.is_true is is_true] for is_true in (False, True))
    kept, near = sum(one.value < threshold for one in unfounded), sum(one.value >= threshold for one in faithful)
    yield share_row(f"{name}: unfounded that stay 未见", kept, len(unfounded))
    yield share_row(f"{name}: faithful far from the words that are near", near, len(faithful))


UNFOUNDED = (
    "海鸥每年春天飞越赤道。",
    "玉米面馒头蒸熟以后松软香甜。",
    "古琴七弦，徽位十三。",
    "冰川退缩露出裸岩。",
    "橄榄榨油须趁青果。",
    "陨铁锻刀纹若流云。",
    "蚕食桑叶吐丝结茧。",
    "珊瑚白化源自海温骤升。",
    "驼队夜宿绿洲泉畔。",
    "梯田蓄水映照晚霞。",
)
"""Sentences of which no page of the manual says anything, in words or in meaning."""


def cost(pages: Sequence[SourceText], meaning: MeaningComparison) -> Row:
    """Return the time of an answer that cites each page once, wrongly. The model is loaded before."""
    meaning.warm_up()
    answer = "\n\n".join(f"{said.rstrip('。')}[{page.number}]。" for said, page in zip(UNFOUNDED, pages, strict=True))
    words, both = _processor_time(answer, pages), _processor_time(answer, pages, meaning)
    name = f"In meaning too: an answer with an unfounded citation of each of {len(pages)} pages, added processor time"
    return Row(name, (both - words) * 1e3, "ms", 900)


def _processor_time(answer: str, pages: Sequence[SourceText], meaning: MeaningComparison | None = None) -> float:
    started = time.process_time()
    checked = check_answer(answer, pages, meaning=meaning)
    spent = time.process_time() - started
    assert {one.check.verdict for one in checked.statements} == {Verdict.ABSENT}, "each was compared to the end"
    return spent
