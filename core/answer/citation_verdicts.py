"""依据核对 as readers see it: the verdict on each number behind a statement, and the totals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.answer.check_results import AnswerCheck, CitationCheck, Difference, StatementCheck, Verdict

MARKS = {Verdict.SUPPORTED: "✓", Verdict.CONTRADICTED: "✗", Verdict.ABSENT: "○", Verdict.UNCHECKED: "·"}
"""The sign of each verdict. Readers who see no colours tell them apart by shape."""
MODEL_MARK = "◇"
"""The sign of a model's verdict: alone if it supports, so that it is not taken for our tick, else before the verdict's own."""
VERDICTS_WORST_FIRST = (Verdict.CONTRADICTED, Verdict.ABSENT, Verdict.UNCHECKED, Verdict.SUPPORTED)
PROBLEM_VERDICTS = {Verdict.CONTRADICTED, Verdict.ABSENT}
UNCITED = "无出处"
NO_SOURCES_NOTE = "没有查找资料：这个回答没有来源，内容没有核对过。"


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """The verdict on one number behind one statement."""

    number: int
    end: int
    """The end of the bracket in the cleaned answer."""
    verdict: Verdict
    reason: str
    statement: str
    passage: str = ""
    """The passage of the source that was compared."""
    differences: tuple[Difference, ...] = ()
    label: str = ""
    """The verdict in words; it says so if a model gave it."""
    by_model: bool = False

    @property
    def is_decided(self) -> bool:
        return self.verdict is not Verdict.UNCHECKED

    @property
    def mark(self) -> str:
        if self.by_model and self.verdict is Verdict.SUPPORTED:
            return MODEL_MARK
        return f"{MODEL_MARK if self.by_model else ''}{MARKS[self.verdict]}"

    @property
    def css_class(self) -> str:
        """The class for the style sheet. A model's verdict has no colour."""
        return "model" if self.by_model else self.verdict.value

    @property
    def severity_key(self) -> tuple[int, bool]:
        """The key for sorting: the smaller, the more urgently a reader should look at it."""
        return VERDICTS_WORST_FIRST.index(self.verdict), not self.by_model

    @classmethod
    def from_citation(cls, statement: StatementCheck, citation: CitationCheck) -> CitationVerdict:
        """Build the verdict from a checked statement and one of its citations."""
        check = citation.check
        passage = next((evidence.text for evidence in check.evidence if evidence.source == citation.number), "")
        return cls(
            citation.number,
            citation.end,
            check.verdict,
            check.reason,
            statement.text,
            passage,
            check.differences,
            check.label,
            by_model=check.by == "model",
        )

    def __str__(self) -> str:
        differences = "".join(f"（回答：{one.stated}；来源：{one.found or '没有'}）" for one in self.differences)
        return f"{self.mark} {self.label} [{self.number}] {self.statement}{differences}"


def list_verdicts(check: AnswerCheck) -> Iterator[CitationVerdict]:
    """Yield the verdicts on all citations, in the order of the text."""
    return (
        CitationVerdict.from_citation(statement, citation)
        for statement in check.statements
        for citation in statement.citations
    )


def tally(check: AnswerCheck) -> str:
    """Return the totals: 12 处引用：9 处有据 · 1 处不符 · 2 处未核"""
    cited = [check.summary] if check.statements else []
    uncited = [f"{len(check.uncited)} 句{UNCITED}"] if check.uncited else []
    return " · ".join(cited + uncited)
