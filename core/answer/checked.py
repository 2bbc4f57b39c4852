"""What a check says. Plain and frozen, to be stored with the answer and drawn elsewhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from typing import Any, Literal

VERSION = 1
"""Of the checker. What was stored by another one is checked again."""


class Verdict(StrEnum):
    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    ABSENT = "absent"
    UNCHECKED = "unchecked"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Verdict.SUPPORTED: "有据",
    Verdict.CONTRADICTED: "不符",
    Verdict.ABSENT: "未见",
    Verdict.UNCHECKED: "未核",
}


BY_MODEL = "模型复核"


@dataclass(frozen=True, slots=True)
class SourceText:
    """What `[number]` points to, as far as it was read."""

    number: int
    text: str
    is_full: bool = True
    """False for an engine's few lines, and for a page that was cut: what is not there may stand further on."""
    published: str | None = None
    """The ISO day, for 去年 and 今年."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The passage that was compared: `source.text[start:end]`."""

    source: int
    start: int
    end: int
    text: str

    def to_json(self) -> dict[str, Any]:
        return {"source": self.source, "start": self.start, "end": self.end, "text": self.text}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the statement says otherwise; `found` is empty where the source has nothing of the kind."""

    kind: str
    """number, date, name, quote or wording."""
    stated: str
    found: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "stated": self.stated, "found": self.found}


@dataclass(frozen=True, slots=True)
class Check:
    """One statement against one source, or against several together."""

    verdict: Verdict
    score: float
    """0 to 1: how likely the source says so."""
    reason: str
    """For the reader, in a few words."""
    evidence: tuple[Evidence, ...] = ()
    """Best first."""
    differences: tuple[Difference, ...] = ()
    by: Literal["rules", "model"] = "rules"
    """Who says so. A model is believed only with words that stand in the source."""

    @property
    def label(self) -> str:
        """The verdict, and whose it is where it is a model's."""
        return self.verdict.label if self.by == "rules" else f"{self.verdict.label}（{BY_MODEL}）"

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict.value,
            "score": round(self.score, 4),
            "reason": self.reason,
            "evidence": [evidence.to_json() for evidence in self.evidence],
            "differences": [difference.to_json() for difference in self.differences],
        } | ({"by": "model"} if self.by == "model" else {})


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """One `[n]` behind one statement."""

    number: int
    start: int
    end: int
    """The bracket in the answer."""
    check: Check

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number, "start": self.start, "end": self.end, **self.check.to_json()}


@dataclass(frozen=True, slots=True)
class StatementCheck:
    start: int
    end: int
    """Into the cleaned answer (`core.base.text.clean`), brackets included."""
    text: str
    """As a reader sees it, without brackets and marks."""
    check: Check
    """Against all its sources together."""
    citations: tuple[CitationCheck, ...]
    shares_citation: bool = False
    """Whether its number stands behind a later sentence."""

    def to_json(self) -> dict[str, Any]:
        return {
            "start": self.start,
            "end": self.end,
            "text": self.text,
            **self.check.to_json(),
            "citations": [citation.to_json() for citation in self.citations],
            "sharesCitation": self.shares_citation,
        }


@dataclass(frozen=True, slots=True)
class Uncited:
    """A statement that one would want a source for, and that names none."""

    start: int
    end: int
    text: str

    def to_json(self) -> dict[str, Any]:
        return {"start": self.start, "end": self.end, "text": self.text}


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """A model was asked about what the rules left open: which one, of how many places, and what it cost."""

    model: str
    asked: int
    accepted: int
    """Of these, as its words really stand in the source."""
    input: int
    output: int
    """Tokens."""
    estimated: bool = False

    def __str__(self) -> str:
        spent = f"{self.input + self.output:,} tokens{'（估算）' if self.estimated else ''}"
        return f"{BY_MODEL}：{self.model} 看了 {self.asked} 处，采纳 {self.accepted} 处，用了 {spent}。"

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "asked": self.asked,
            "accepted": self.accepted,
            "tokens": self.input + self.output,
            "estimated": self.estimated,
        }


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    statements: tuple[StatementCheck, ...] = ()
    uncited: tuple[Uncited, ...] = ()
    version: int = field(default=VERSION)
    opinion: SecondOpinion | None = None

    @property
    def summary(self) -> str:
        """12 处引用：9 处有据 · 1 处不符 · 2 处未核"""
        checks = [citation.check for statement in self.statements for citation in statement.citations]
        labels = Counter(check.label for check in sorted(checks, key=lambda check: _ORDER[check.verdict, check.by]))
        told = " · ".join(f"{count} 处{label}" for label, count in labels.items())
        return f"{labels.total()} 处引用：{told}" if told else "没有可以核对的引用。"

    def to_json(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "statements": [statement.to_json() for statement in self.statements],
            "uncited": [statement.to_json() for statement in self.uncited],
        } | ({"opinion": self.opinion.to_json()} if self.opinion else {})


_ORDER = {pair: place for place, pair in enumerate(product(Verdict, ("rules", "model")))}
