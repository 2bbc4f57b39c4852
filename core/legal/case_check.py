"""Case check (案号核验): look up every case that a text names by number, and compare what it quotes of its 裁判要旨.

A case that the library lacks may well exist. Only a number that no case can have is called wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

from core.base.text import one_line, shorten
from core.legal.entities import CourtCase
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.text.case_number_form import CaseReference, find_case_references
from core.legal.text.case_numbers import case_keys
from core.legal.text.quotations import closing_mark, is_quoted_from, quotation_before
from core.legal.verify import WORST_FIRST, FindingGroup, StatuteMark, group_of

AGREES, HELD, MENTIONED = "引述与裁判要旨一致", "库中有这个案件", "库中另一案例写到此案号"
DIFFERS, MALFORMED = "与裁判要旨不一致", "案号形式有误"
NOT_HELD = "库中没有这个案件，未能核验（不等于不存在）"
NO_CASES = "还没有导入案例，未能核验（不等于不存在）"
NO_LONGER_FOLLOWED = {
    f"指导性案例{number}号": "此案自 2021 年 1 月 1 日起不再参照（最高人民法院法〔2020〕343号）。" for number in (9, 20)
}

_SHORTEST = 8
"""Fewest characters of a quotation. Shorter words in quotation marks are a term."""
_REACH = 1_600
_LABEL = re.compile(r"[\s\S]{0,120}?裁判(?:要旨|要点|摘要)[^\n“「『\":：。]{0,12}[:：]?[\s*>]*")
_LINK = re.compile(
    r"[^\n。；“「『\"]{0,60}?(?:指出|认为|明确|确立|载明|强调|写道|写明|提出|规则|[:：])[^\n。；“「『\"]{0,12}(?=[“「『\"])"
)
_MARKUP = re.compile(r"\[\d+(?:\s*[,，、]\s*\d+)*\]|[*_`]+|(?m:^\s*(?:[>•-]|\d+[.、])\s*)")
"""Citations, emphasis and list marks inside a quotation."""
_GIST_LENGTH = 400
_MOST_SEARCHED = 50
"""Most numbers of one text that are searched for in the texts of other cases."""


@dataclass(frozen=True, slots=True)
class CaseFinding:
    """Result of checking one case number in a text."""

    mark: StatuteMark
    start: int
    end: int
    cited: str
    """The number as written in the text."""
    number: str
    """The number in one spelling."""
    meaning: str
    note: str = ""
    case: CourtCase | None = None
    """The case, if the library holds it or one that names it."""
    quote: str | None = None
    """The words of the text that were compared."""
    sources: tuple[int, ...] = ()
    """Numbers of the answer's sources that contain this case number."""

    @property
    def group(self) -> FindingGroup:
        return group_of(self.mark, has_note=bool(self.note))

    @property
    def severity(self) -> int:
        """Key for sorting: the smaller, the more urgently a reader should look at it."""
        return WORST_FIRST.index(self.mark)

    @property
    def source_note(self) -> str:
        return f"来源 {''.join(f'[{number}]' for number in self.sources)} 中有此案号。" if self.sources else ""

    @property
    def sentence(self) -> str:
        """Finding in words: 与裁判要旨不一致：原文是「…」."""
        gist = self.case.gist if self.case and self.meaning == DIFFERS else ""
        original = f"原文是「{shorten(one_line(gist), _GIST_LENGTH)}」" if gist else ""
        said = f"{original}{self.note}{self.source_note}"
        stop = "：" if said and self.mark in {StatuteMark.DIFFERS, StatuteMark.MISSING} else "。"
        return f"{self.meaning}{stop}{said}"

    def to_json(self) -> dict[str, Any]:
        return {
            "mark": self.mark.value,
            "meaning": self.meaning,
            "start": self.start,
            "end": self.end,
            "cited": self.cited,
            "caseNumber": self.number,
            "caseName": self.case.name if self.case else None,
            "gist": self.case.gist if self.case else None,
            "quote": self.quote,
            "note": self.note + self.source_note,
            "sources": list(self.sources),
        }


class CaseChecker:
    """Check of the cases that a text names."""

    def __init__(self, library: LegalLibrary) -> None:
        self._library = library

    def check(self, text: str, today: date) -> tuple[CaseFinding, ...]:
        """Return a finding for each case that the text names. Works without a library, too."""
        index = self._library.index()
        references = find_case_references(text, today)
        begins = [0, *(one.end for one in references)]
        ends = [*(one.start for one in references), len(text)][1:]
        beside = [
            (text[max(begin, one.start - _REACH) : one.start], text[one.end : min(end, one.end + _REACH)])
            for begin, one, end in zip(begins, references, ends, strict=False)
        ]
        return _without_duplicates(
            [
                _check(index, text, one, *words, searches_texts=place < _MOST_SEARCHED)
                for place, (one, words) in enumerate(zip(references, beside, strict=True))
            ]
        )


def with_sources(findings: Iterable[CaseFinding], texts: Mapping[int, str]) -> tuple[CaseFinding, ...]:
    """Return the findings with the sources, by number, whose texts contain the case number."""
    keys = {number: set(case_keys(text)) for number, text in texts.items()}
    return tuple(
        replace(one, sources=tuple(number for number in sorted(keys) if one.number in keys[number])) for one in findings
    )


def _check(
    index: LegalIndex | None, text: str, reference: CaseReference, before: str, after: str, *, searches_texts: bool
) -> CaseFinding:
    cited = one_line(text[reference.start : reference.end])

    def finding(mark: StatuteMark, meaning: str, note: str = "", **details: Any) -> CaseFinding:
        return CaseFinding(mark, reference.start, reference.end, cited, reference.key, meaning, note, **details)

    if reference.problem:
        return finding(StatuteMark.MISSING, MALFORMED, reference.problem)
    if index is None or not index.has_cases:
        return finding(StatuteMark.UNKNOWN, NO_CASES)
    quotation, note = _find_quotation(before, after), NO_LONGER_FOLLOWED.get(reference.key, "")
    if cases := index.cases_by_number(reference.key):
        if quotation is None:
            return finding(StatuteMark.EXISTS, HELD, note, case=cases[0])
        compared = _compare(quotation, cases)
        return finding(compared.mark, compared.meaning, compared.note + note, case=compared.case, quote=quotation.text)
    for case in index.cases_mentioning(reference.key)[:1] if searches_texts else ():
        where = f"见「{case.name}」{f'（{case.number}）' if case.number else ''}。"
        if quotation and _compare(quotation, [case]).mark is StatuteMark.AGREES:
            return finding(StatuteMark.AGREES, AGREES, where, case=case, quote=quotation.text)
        return finding(StatuteMark.EXISTS, MENTIONED, where, case=case)
    return finding(StatuteMark.UNKNOWN, NOT_HELD, note)


class _Quotation(NamedTuple):
    text: str
    is_marked: bool = True
    """False for the rest of a line after 裁判要旨：, which may go on in other words."""


def _find_quotation(before: str, after: str) -> _Quotation | None:
    """Return the words beside a case number that are said to be its 裁判要旨, or are quoted from it."""
    label = _LABEL.match(after)
    found = label or _LINK.match(after)
    quotation = _read_quotation(after, found.end(), is_labelled=label is not None) if found else None
    if quotation is None and (quoted := quotation_before(before)):
        quotation = _Quotation(quoted.text)
    if quotation is None:
        return None
    text = one_line(_MARKUP.sub("", quotation.text))
    return quotation._replace(text=text) if len(text) >= _SHORTEST else None


def _read_quotation(after: str, begin: int, *, is_labelled: bool) -> _Quotation | None:
    """Return the words in quotation marks at `begin`; behind a label also the rest of the line."""
    if after[begin : begin + 1] in {"“", "「", "『", '"'}:
        end = closing_mark(after, after[begin], begin + 1)
        is_term = end < 0 or after.startswith("的", end + 1)  # 认定“…”的情形: only spoken of
        return None if is_term else _Quotation(after[begin + 1 : end])
    is_label_closed = is_labelled and after[:begin].rstrip(" *>").endswith((":", "：", "\n"))
    return _Quotation(after[begin:].split("\n", 1)[0], is_marked=False) if is_label_closed else None


class _Comparison(NamedTuple):
    mark: StatuteMark
    meaning: str
    note: str
    case: CourtCase


def _compare(quotation: _Quotation, cases: Sequence[CourtCase]) -> _Comparison:
    """Return the best comparison with the cases of one number: two sources may have the same case."""
    best_first = [StatuteMark.AGREES, StatuteMark.EXISTS, StatuteMark.DIFFERS]
    return min((_compare_one(quotation, case) for case in cases), key=lambda one: best_first.index(one.mark))


def _compare_one(quotation: _Quotation, case: CourtCase) -> _Comparison:
    gist = case.gist or ""
    if gist and is_quoted_from(quotation.text, gist):
        return _Comparison(StatuteMark.AGREES, AGREES, "", case)
    if is_quoted_from(quotation.text, case.text):
        note = "引述的话在全文中，不在裁判要旨中。" if gist else "库中此案没有裁判要旨，引述的话在全文中。"
        return _Comparison(StatuteMark.EXISTS, HELD, note, case)
    if not quotation.is_marked and is_quoted_from(_first_sentence(quotation.text), gist or case.text):
        return _Comparison(StatuteMark.EXISTS, HELD, "引述的第一句与原文一致，其余不在裁判要旨中。", case)
    if not gist:
        return _Comparison(StatuteMark.DIFFERS, "与此案全文不一致", "库中此案的文字里没有这段话。", case)
    return _Comparison(StatuteMark.DIFFERS, DIFFERS, "", case)


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[。！？])", text, maxsplit=1)[0]


def _without_duplicates(findings: Sequence[CaseFinding]) -> tuple[CaseFinding, ...]:
    """Remove repeated findings, and a bare one about a case of which something was quoted elsewhere."""
    compared = {one.number for one in findings if one.quote}
    shown = [one for one in findings if one.quote or one.number not in compared]
    return tuple({(one.mark, one.number, one.quote): one for one in shown}.values())
