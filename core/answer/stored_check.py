"""A check as it is stored: each result once, and the places of passages instead of their words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from itertools import accumulate, chain, pairwise
from typing import Any

from core.answer.check_results import AnswerCheck, SourceCheck, StatementCheck, UncitedStatement
from core.base.text import clean

Numbers = list[int]


_BRACKETS = re.compile(r"\[\d+\]")


def words_at(text: str, start: int, end: int) -> str:
    """Return a part of the answer as the text of a statement mostly is: without brackets."""
    return _BRACKETS.sub("", text[start:end]).strip()


def encode_check(check: AnswerCheck, text: str) -> dict[str, Any]:
    """Return the check of this text as lists for JSON. `expand_check` says what stands where."""
    results: dict[SourceCheck, int] = {}

    def words(one: StatementCheck | UncitedStatement) -> str | None:
        return None if clean(one.text) == words_at(text, one.start, one.end) else one.text

    def place(result: SourceCheck) -> int:
        return results.setdefault(result, len(results))

    def statement(one: StatementCheck) -> list[Any]:
        citations = [[cited.number, cited.start, cited.end, place(cited.check)] for cited in one.citations]
        return [one.start, one.end, words(one), place(one.check), citations, int(one.shares_citation)]

    def uncited(one: UncitedStatement) -> list[Any]:
        numbers = [] if one.invented is None else [one.invented]
        check = place(one.check) if one.check else None
        return [one.start, one.end, words(one), check, int(one.is_conclusion), *numbers]

    return {
        "version": check.version,
        "statements": [statement(one) for one in check.statements],
        "uncited": [uncited(one) for one in check.uncited],
        "results": [_encode_result(result) for result in results],
        "digests": {str(one.source): one.digest for one in check.digests},
        "opinion": asdict(check.opinion) if check.opinion else None,
        **({"invented": [asdict(one) for one in check.invented]} if check.invented else {}),
    }


def _encode_result(result: SourceCheck) -> list[Any]:
    passages = list(chain.from_iterable((one.source, one.start, one.end) for one in result.evidence))
    differences = [[one.kind, one.stated, one.found] for one in result.differences]
    stated = _steps(list(chain.from_iterable((one.start, one.end) for one in result.alignment)))
    found = _steps(list(chain.from_iterable((one.found_start, one.found_end) for one in result.alignment)))
    return [result.verdict, result.score, result.reason, result.by, passages, differences, stated, found]


def _steps(places: Numbers) -> Numbers:
    """Return each place as its distance from the one before: small numbers, often the same, compress well."""
    return [second - first for first, second in pairwise([0, *places])]


def expand_check(stored: dict[str, Any], text: str) -> dict[str, Any]:
    """Return what `encode_check` wrote with the names of the fields. Passages have no words yet."""
    results = [_expand_result(*result) for result in stored["results"]]

    def part(start: int, end: int, words: str | None) -> dict[str, Any]:
        return {"start": start, "end": end, "text": words_at(text, start, end) if words is None else words}

    def citation(number: int, start: int, end: int, place: int) -> dict[str, Any]:
        return {"number": number, "start": start, "end": end, "check": results[place]}

    def statement(*stored: Any) -> dict[str, Any]:
        *where, place, citations, shares = stored
        cited = [citation(*one) for one in citations]
        return part(*where) | {"check": results[place], "citations": cited, "shares_citation": bool(shares)}

    def uncited(
        start: int,
        end: int,
        words: str | None,
        place: int | None = None,
        is_conclusion: int = 0,
        invented: Numbers | None = None,
    ) -> dict[str, Any]:
        check = None if place is None else results[place]
        return part(start, end, words) | {"check": check, "is_conclusion": bool(is_conclusion), "invented": invented}

    return {
        "version": stored["version"],
        "statements": [statement(*one) for one in stored["statements"]],
        "uncited": [uncited(*one) for one in stored["uncited"]],
        "digests": [{"source": int(number), "digest": digest} for number, digest in stored["digests"].items()],
        "opinion": stored["opinion"],
        "invented": stored.get("invented", []),
    }


def _expand_result(
    verdict: str,
    score: float,
    reason: str,
    by: str,
    passages: Numbers,
    differences: list[list[str]],
    stated: Numbers,
    found: Numbers,
) -> dict[str, Any]:
    places = zip(_in_groups(list(accumulate(stated)), 2), _in_groups(list(accumulate(found)), 2), strict=True)
    evidence = (dict(zip(("source", "start", "end"), one, strict=True)) for one in _in_groups(passages, 3))
    return {
        "verdict": verdict,
        "score": score,
        "reason": reason,
        "by": by,
        "evidence": [{**one, "text": ""} for one in evidence],
        "differences": [dict(zip(("kind", "stated", "found"), one, strict=True)) for one in differences],
        "alignment": [
            {"start": start, "end": end, "found_start": found_start, "found_end": found_end}
            for (start, end), (found_start, found_end) in places
        ],
    }


def _in_groups(numbers: Numbers, size: int) -> Sequence[Numbers]:
    return [numbers[place : place + size] for place in range(0, len(numbers), size)]
