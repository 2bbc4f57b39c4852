"""依据核验 for other programs: every cited sentence of a text against the sources that came with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from core.answer import tally, with_statutes
from core.answer.check_results import SourceCheck, SourceText
from core.base.http import Deadline
from core.base.text import clean
from core.checks import CheckInputError, check_statement
from core.run import MAX_ADDRESSES, PastedSource, check_pasted_text, refuse_long_sources, validate_pasted_text
from core.serve.access import Caller, Scope
from core.serve.coverage import law_coverage
from core.serve.web import wait_for_reader

if TYPE_CHECKING:
    from core.app import App


def check_claims(
    app: App,
    caller: Caller,
    text: str,
    sources: Iterable[Mapping[str, Any]],
    report: Callable[[str], None] = lambda stage: None,
) -> dict[str, Any]:
    """Return a verdict on every cited sentence. A source has `text`, or `url`, which is then read; its number is its
    place, or `number`. `report` is called with each stage of the work."""
    caller.require(Scope.CHECK)
    text, pasted = validate_pasted_text(text), _pasted(sources)
    if addresses := sum(one.needs_reading for one in pasted):
        report(f"正在阅读 {addresses} 个网址，然后逐句核验")
        wait_for_reader(app, Deadline(inf))
    else:
        report("正在逐句核验")
    found = check_pasted_text(text, pasted, app.reader, app.checks.meaning)
    report("正在核验文字里的法条和案号")
    checked = found.check and (with_statutes(found.check, app.check_statutes(text)) or found.check)
    return {
        **(checked.to_json() if checked else {"version": None, "statements": [], "uncited": []}),
        "summary": (tally(checked) if checked else "") or "没有可以核验的引用。",
        "sources": [source.to_json() for source in found.sources],
        "coverage": law_coverage(app, *found.problems),
    }


def check_pairs(app: App, caller: Caller, pairs: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return a verdict on every `statement` with its `source`, which counts as read in full."""
    caller.require(Scope.CHECK)
    validate_pasted_text("\n".join(pair["statement"] for pair in pairs))
    refuse_long_sources(sum(len(pair["source"]) for pair in pairs))
    checks = (check_statement(pair["statement"], SourceText(1, pair["source"]), app.checks.meaning) for pair in pairs)
    return {"results": [pair_json(check) for check in checks]}


def pair_json(check: SourceCheck) -> dict[str, Any]:
    """Return the verdict on a statement with one source, as `check --pairs` prints it."""
    evidence = " … ".join(evidence.text for evidence in check.evidence)
    return {"verdict": check.verdict.value, "score": round(check.score, 4), "evidence": evidence}


def _pasted(sources: Iterable[Mapping[str, Any]]) -> list[PastedSource]:
    pasted = [
        PastedSource(
            int(one.get("number") or place), clean(str(one.get("text") or "")).strip(), str(one.get("url") or "")
        )
        for place, one in enumerate(sources, 1)
    ]
    if not pasted:
        raise CheckInputError("没有给出来源。", cure="请给出每份来源的 text 或 url。")
    if len({one.number for one in pasted}) < len(pasted):
        raise CheckInputError("来源里有相同的编号。", cure="每个编号只用一次。")
    if sum(one.needs_reading for one in pasted) > MAX_ADDRESSES:
        raise CheckInputError(f"一次最多阅读 {MAX_ADDRESSES} 个网址。", cure="请分几次核验，或给出原文。")
    refuse_long_sources(sum(len(one.text) for one in pasted))
    return pasted
