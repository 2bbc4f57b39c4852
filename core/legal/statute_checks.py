"""The check of statutes and cases that a text cites (法条核验, 案号核验), once for each text, library and day."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from core.legal.case_check import CaseChecker, CaseFinding, with_sources
from core.legal.library.index import LegalLibrary
from core.legal.text.case_numbers import may_name_case
from core.legal.text.periods import Period, parse_period, single_past_period
from core.legal.text.statute_citations import find_citations
from core.legal.verify import Author, StatuteFinding, StatuteMark, Verifier

CHECK_CACHE_SIZE = 512
JUDGMENT_CACHE_SIZE = 32


@dataclass(frozen=True, slots=True)
class StatuteCheck:
    """Result of the statute check (法条核验) and the case check (案号核验) of one text."""

    findings: tuple[StatuteFinding, ...]
    """The different findings, as readers see them below a text."""
    by_place: tuple[StatuteFinding, ...] = ()
    """One finding per citation."""
    has_index: bool = True
    """False if the text cites statutes and no law was imported, so nothing could be looked up."""
    cases: tuple[CaseFinding, ...] = ()


class StatuteChecks:
    """Checks texts with one library."""

    def __init__(self, library: LegalLibrary) -> None:
        self.verifier = Verifier(library)
        self._library = library
        self._case_checker = CaseChecker(library)

    def check(
        self, text: str, question: str = "", load_source_texts: Callable[[], Mapping[int, str]] = dict
    ) -> StatuteCheck | None:
        """Check the statutes and cases that a text cites; None for a text that cites none. Cached per text, index and
        day. A time in the question that the text answers decides which version of a law counts. `load_source_texts`
        returns the texts of the answer's sources, by number, in which case numbers are looked for."""
        today = date.today()
        check = _check(self.verifier, text, single_past_period(question, today), self._library.version, today)
        cases = self.check_cases(text)
        if not cases:
            return check
        return replace(check or StatuteCheck(()), cases=with_sources(cases, load_source_texts()))

    def check_cases(self, text: str) -> tuple[CaseFinding, ...]:
        """Return the findings for the cases that a text names. Cached like `check`."""
        return _check_cases(self._case_checker, text, self._library.version, date.today())

    def findings_in_judgment(self, judgment: str, decided: str | None) -> tuple[StatuteFinding, ...]:
        """Return the findings for the articles that a judgment cites, as they were when it was decided. Cached like
        `check`."""
        return _cited_in(self.verifier, judgment, parse_period(decided or ""), self._library.version, date.today())


# What follows holds for one version of the library, `version`, on one day.


@lru_cache(maxsize=CHECK_CACHE_SIZE)
def _check(verifier: Verifier, text: str, asked: Period | None, version: str | None, day: date) -> StatuteCheck | None:
    if version is None:
        cites = any(citation.law for citation in find_citations(text))
        return StatuteCheck((), has_index=False) if cites else None
    found = tuple(verifier.verify(text, Author.MODEL, asked_period=asked))
    return StatuteCheck(_without_duplicates(found), found) if found else None


@lru_cache(maxsize=CHECK_CACHE_SIZE)
def _check_cases(checker: CaseChecker, text: str, version: str | None, day: date) -> tuple[CaseFinding, ...]:
    return checker.check(text, day) if may_name_case(text) else ()


@lru_cache(maxsize=JUDGMENT_CACHE_SIZE)
def _cited_in(
    verifier: Verifier, judgment: str, decided: Period | None, version: str | None, day: date
) -> tuple[StatuteFinding, ...]:
    return _without_duplicates(verifier.verify(judgment, Author.PERSON, decided)) if version else ()


def _without_duplicates(findings: Sequence[StatuteFinding]) -> tuple[StatuteFinding, ...]:
    """Remove repeated findings, and a bare "exists" about an article for which there is another finding."""
    bare = {one for one in findings if one.mark is StatuteMark.EXISTS and not one.note}
    known = {one.cited for one in findings if one not in bare}
    shown = [one for one in findings if one not in bare or one.cited not in known]
    return tuple({(one.mark, one.cited, one.quote, one.note): one for one in shown}.values())
