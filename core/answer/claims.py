"""依据核对 as readers are told of it: each number behind a statement with its verdict, and all of them counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.answer.checked import AnswerCheck, CitationCheck, Difference, StatementCheck, Verdict

MARKS = {Verdict.SUPPORTED: "✓", Verdict.CONTRADICTED: "✗", Verdict.ABSENT: "○", Verdict.UNCHECKED: "·"}
"""Shape first, colour second."""
OF_A_MODEL = "◇"
"""Before the mark of what a model has judged: its tick is not ours."""
BAD_FIRST = (Verdict.CONTRADICTED, Verdict.ABSENT, Verdict.UNCHECKED, Verdict.SUPPORTED)
PROBLEMS = {Verdict.CONTRADICTED, Verdict.ABSENT}
UNCITED = "无出处"
NOTHING_LOOKED_UP = "没有查找资料：这个回答没有来源，内容没有核对过。"


@dataclass(frozen=True, slots=True)
class Claim:
    """One number behind one statement."""

    number: int
    end: int
    """Of the bracket, in the cleaned answer."""
    verdict: Verdict
    reason: str
    statement: str
    passage: str = ""
    """What the source says about it."""
    differences: tuple[Difference, ...] = ()
    label: str = ""
    """The verdict in words, and whose it is where a model has judged."""
    by_model: bool = False

    @property
    def is_decided(self) -> bool:
        return self.verdict is not Verdict.UNCHECKED

    @property
    def mark(self) -> str:
        return f"{OF_A_MODEL if self.by_model else ''}{MARKS[self.verdict]}"

    @property
    def kind(self) -> str:
        """For the style sheet: what a model says has no colour."""
        return "model" if self.by_model else self.verdict.value

    @property
    def badness(self) -> tuple[int, bool]:
        """The smaller, the more a reader should look at it."""
        return BAD_FIRST.index(self.verdict), not self.by_model

    @classmethod
    def of(cls, statement: StatementCheck, citation: CitationCheck) -> Claim:
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


def claims(check: AnswerCheck) -> Iterator[Claim]:
    """In the order of the text."""
    return (Claim.of(statement, citation) for statement in check.statements for citation in statement.citations)


def worst(of: Sequence[Claim]) -> Claim:
    """A bracket may stand for several statements: what is said of it is what is said of the worst of them."""
    return min(of, key=lambda claim: claim.badness)


def tally(check: AnswerCheck) -> str:
    """12 处引用：9 处有据 · 1 处不符 · 2 处未核"""
    cited = [check.summary] if check.statements else []
    uncited = [f"{len(check.uncited)} 句{UNCITED}"] if check.uncited else []
    return " · ".join(cited + uncited)
