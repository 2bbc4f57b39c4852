"""依据核验 as readers see it: the verdict on each number behind a statement, and the totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.answer.check_results import (
    AlignedWords,
    AnswerCheck,
    CitationCheck,
    Difference,
    QuotedPassage,
    SourceCheck,
    StatementCheck,
    StatuteVerdict,
    UncitedStatement,
    Verdict,
    invented_sentence,
)
from core.answer.place_labels import join_places
from core.reading import Place
from core.search.types import Source

if TYPE_CHECKING:
    from core.legal import CaseFinding, StatuteCheck, StatuteFinding

MARKS = {Verdict.SUPPORTED: "✓", Verdict.CONTRADICTED: "✗", Verdict.ABSENT: "○", Verdict.UNCHECKED: "·"}
"""The sign of each verdict. Readers who see no colours tell them apart by shape."""
MODEL_MARK = "◇"
"""The sign of a model's verdict: alone if it supports, so that it is not taken for our tick, else before the verdict's own."""
VERDICTS_WORST_FIRST = (Verdict.CONTRADICTED, Verdict.ABSENT, Verdict.UNCHECKED, Verdict.SUPPORTED)
COMPARED_VERDICTS = {Verdict.SUPPORTED, Verdict.CONTRADICTED}
"""The verdicts that rest on a passage. Of the others it is only the nearest one."""
PROBLEM_VERDICTS = {Verdict.CONTRADICTED, Verdict.ABSENT}
UNCITED = "无出处"
AGREEING = "未标注，与来源相符"
CONCLUSION = "结论，未核"
AGREEING_SOURCES = "与回答相符的来源（模型没有标注）"
HOW_MADE_NOTE = "标记怎么来的、错多少，见 docs/trust.md。"
NO_SOURCES_NOTE = "这个回答没有查资料，没有来源，未经核验。"


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """The verdict on one number behind one statement."""

    number: int
    end: int
    """The end of the bracket in the cleaned answer."""
    verdict: Verdict
    reason: str
    statement: str
    evidence: tuple[QuotedPassage, ...] = ()
    """The passages of the source to show, in its order."""
    alignment: tuple[AlignedWords, ...] = ()
    differences: tuple[Difference, ...] = ()
    label: str = ""
    """The verdict in words; it says so if a model gave it."""
    by_model: bool = False
    is_citation: bool = True
    """False if the model wrote no number, and the program found the source that says so."""

    @property
    def passage(self) -> str:
        """The text of the first passage; empty if there is none."""
        return self.evidence[0].text if self.evidence else ""

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of the passages."""
        return tuple(dict.fromkeys(passage.place for passage in self.evidence if passage.place))

    @property
    def place_label(self) -> str:
        """The places that the verdict rests on, in words; empty if it rests on none."""
        return join_places(self.places) if self.verdict in COMPARED_VERDICTS else ""

    @property
    def is_decided(self) -> bool:
        return self.verdict is not Verdict.UNCHECKED

    @property
    def mark(self) -> str:
        if not self.is_citation:
            return ""
        if self.by_model and self.verdict is Verdict.SUPPORTED:
            return MODEL_MARK
        return f"{MODEL_MARK if self.by_model else ''}{MARKS[self.verdict]}"

    @property
    def css_class(self) -> str:
        """The class for the style sheet. Neither a model's verdict nor what is no citation has a colour; what a model denies is
        written out on paper."""
        if not self.is_citation:
            return "agreeing"
        if self.by_model:
            return "model denied" if self.verdict is Verdict.CONTRADICTED else "model"
        return self.verdict.value

    @property
    def heading(self) -> str:
        """The line above the compared passage."""
        if not self.is_citation:
            return f"模型没有标注来源；原文与 [{self.number}] 相符。"
        return f"{self.mark} {self.label} [{self.number}]：{self.reason}"

    @property
    def severity_key(self) -> tuple[int, bool]:
        """The key for sorting: the smaller, the more urgently a reader should look at it."""
        return VERDICTS_WORST_FIRST.index(self.verdict), not self.by_model

    @classmethod
    def from_citation(cls, statement: StatementCheck, citation: CitationCheck) -> CitationVerdict:
        """Build the verdict from a checked statement and one of its citations."""
        check = citation.check
        return cls(
            citation.number,
            citation.end,
            check.verdict,
            check.reason,
            statement.text,
            _shown_evidence(check, citation.number),
            check.alignment,
            check.differences,
            check.label,
            by_model=check.by == "model",
        )

    @classmethod
    def from_agreement(cls, statement: UncitedStatement, check: SourceCheck) -> CitationVerdict:
        """Build the verdict on a statement without a number that a source says."""
        number = check.evidence[0].source
        return cls(
            number,
            statement.end,
            check.verdict,
            check.reason,
            statement.text,
            _shown_evidence(check, number),
            check.alignment,
            label=AGREEING,
            is_citation=False,
        )

    def __str__(self) -> str:
        if not self.is_citation:
            return f"{agreement_label(self.number)}：{self.statement}"
        differences = "".join(f"（回答：{one.stated}；来源：{one.found or '没有'}）" for one in self.differences)
        place = f" {self.place_label}" if self.place_label else ""
        return f"{self.mark} {self.label} [{self.number}]{place} {self.statement}{differences}"


def _shown_evidence(check: SourceCheck, number: int) -> tuple[QuotedPassage, ...]:
    """Return the passages of one source with the words that agree; without such words, the best passage."""
    own = [passage for passage in check.evidence if passage.source == number]
    left, holding = set(check.alignment), []
    for passage in own:
        if held := {words for words in left if passage.start <= words.found_start and words.found_end <= passage.end}:
            holding.append(passage)
            left -= held
    return tuple(sorted(holding, key=lambda passage: passage.start)) or tuple(own[:1])


def list_verdicts(check: AnswerCheck) -> Iterator[CitationVerdict]:
    """Yield the verdicts on all citations, in the order of the text."""
    return (
        CitationVerdict.from_citation(statement, citation)
        for statement in check.statements
        for citation in statement.citations
    )


def list_agreements(check: AnswerCheck) -> Iterator[CitationVerdict]:
    """Yield the verdicts on the statements without a number that a source says, in the order of the text."""
    return (CitationVerdict.from_agreement(one, one.check) for one in check.agreeing if one.check)


def places_by_source(check: AnswerCheck | None) -> dict[int, tuple[Place, ...]]:
    """Return the places that the answer rests on, by the number of the source and in its order."""
    found: dict[int, dict[Place, int]] = {}
    for verdict in (*list_verdicts(check), *list_agreements(check)) if check else ():
        for passage in verdict.evidence if verdict.verdict in COMPARED_VERDICTS else ():
            if passage.place:
                starts = found.setdefault(verdict.number, {})
                starts[passage.place] = min(passage.start, starts.get(passage.place, passage.start))
    return {number: tuple(sorted(starts, key=starts.__getitem__)) for number, starts in found.items()}


def uncited_label(statement: UncitedStatement) -> str:
    """Return what is known of a statement without a number, in words."""
    if statement.check:
        return AGREEING
    if statement.statute:
        return str(statement.statute)
    return CONCLUSION if statement.is_conclusion and statement.invented is None else UNCITED


def uncited_line(statement: UncitedStatement) -> str:
    """Return a statement without a number as one line: what is known of it, and its words."""
    remark = "" if statement.invented is None else f"（{invented_sentence(statement.invented)}）"
    return f"{uncited_label(statement)}：{statement.text}{remark}"


def other_uncited(check: AnswerCheck) -> list[UncitedStatement]:
    """Return the statements without a number that no source says."""
    return [statement for statement in check.uncited if statement.check is None]


def with_statutes(check: AnswerCheck | None, statutes: StatuteCheck | None) -> AnswerCheck | None:
    """Return the check in which each statement without a number has the verdict on the articles and cases that it names,
    and each that a source was found for has it if the law is against it: else the verdict on the source stands alone."""
    if check is None or statutes is None:
        return check
    cited = (replace(one, statute=_problem(_worst_statute(one, statutes))) for one in check.statements)
    uncited = (replace(one, statute=_statute_of(one, statutes)) for one in check.uncited)
    return replace(check, statements=tuple(cited), uncited=tuple(uncited))


def _statute_of(one: UncitedStatement, statutes: StatuteCheck) -> StatuteVerdict | None:
    worst = _worst_statute(one, statutes)
    return _problem(worst) if one.check else worst


def _problem(statute: StatuteVerdict | None) -> StatuteVerdict | None:
    return statute if statute and statute.is_problem else None


def _worst_statute(one: StatementCheck | UncitedStatement, statutes: StatuteCheck) -> StatuteVerdict | None:
    found: list[tuple[str, StatuteFinding | CaseFinding]] = []
    found += (("法条核验", article) for article in statutes.by_place if _is_about(article, one))
    found += (("案号核验", case) for case in statutes.cases if case.cited in one.text)  # found once in a text
    if not found:
        return None
    name, worst = min(found, key=lambda pair: pair[1].severity)
    return StatuteVerdict(worst.mark.value, worst.meaning, worst.cited, worst.note, name)


def _is_about(found: StatuteFinding, one: StatementCheck | UncitedStatement) -> bool:
    """Return whether the article is cited in the statement, or was compared with its words."""
    words = one.text.strip().rstrip("。；;，,")
    return one.start <= found.start < one.end or bool(words and found.claim and words in found.claim)


def against_law_lines(check: AnswerCheck) -> Iterator[str]:
    """Yield what 法条核验 has against statements that have a source, each as one line."""
    return (f"{one.statute} {one.statute.cited}：{one.text}" for one in check.against_law if one.statute)


def agreement_label(number: int) -> str:
    return f"未标注，与 [{number}] 相符"


def agreeing_sources(
    check: AnswerCheck | None, sources: Sequence[Source], cited: Collection[Source]
) -> tuple[Source, ...]:
    """Return the sources that say statements without a number, as far as the model cites them nowhere."""
    numbers = {one.agreeing_source for one in check.uncited} if check else set()
    known = {source.number for source in cited}
    return tuple(source for source in sources if source.number in numbers - known)


_PROBLEMS_FIRST = (Verdict.CONTRADICTED, Verdict.ABSENT, Verdict.SUPPORTED, Verdict.UNCHECKED, None)


def counted_results(check: AnswerCheck) -> list[tuple[Verdict | None, str]]:
    """Return in words how often each result was found, what is wrong first, each with its verdict; None for sentences
    without a number. Sentences with a verdict of 法条核验 alone are not among them."""
    claims = sorted(list_verdicts(check), key=lambda claim: (_PROBLEMS_FIRST.index(claim.verdict), claim.by_model))
    counts = Counter((claim.verdict, claim.label) for claim in claims)
    uncited = sorted(check.uncited, key=lambda one: one.check is not None)
    others = Counter(uncited_label(one) for one in uncited if one.statute is None)
    cited = [(verdict, f"{count} 处{label}") for (verdict, label), count in counts.items()]
    return [*cited, *((None, f"{count} 句{label}") for label, count in others.items())]


def tally(check: AnswerCheck) -> str:
    """Return the totals, what is wrong first: 1 处不符 · 9 处有据 · 2 处未核 · 1 句无出处"""
    statutes = [one.statute for one in (*check.against_law, *other_uncited(check)) if one.statute]
    named = Counter((Verdict.CONTRADICTED if one.is_problem else None, one.meaning) for one in statutes)
    results = [*((verdict, f"{count} 句{label}") for (verdict, label), count in named.items()), *counted_results(check)]
    return " · ".join(words for _, words in sorted(results, key=lambda one: _PROBLEMS_FIRST.index(one[0])))
