"""The results of a check (依据核验): plain frozen data, stored with the answer and drawn elsewhere."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from core.reading import Place, TextSection

CHECKER_VERSION = 5
"""The version of the checker. Results of another version are computed again."""


class Verdict(StrEnum):
    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    ABSENT = "absent"
    UNCHECKED = "unchecked"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {Verdict.SUPPORTED: "有据", Verdict.CONTRADICTED: "不符", Verdict.ABSENT: "未见", Verdict.UNCHECKED: "未核"}
BY_MODEL_LABEL = "模型复核"


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text behind `[number]`, as far as it was read."""

    number: int
    text: str
    is_full: bool = True
    """False for an engine's snippet and for a page that was cut: a statement may stand in the missing part."""
    published: str | None = None
    """The ISO day of publication, to resolve 去年 and 今年."""
    sections: tuple[TextSection, ...] = ()
    """The pages, sheets and headings of the text."""
    uncertain: tuple[tuple[int, int], ...] = ()
    """Start and end of recognized values that may be wrong."""


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """The passage that was compared: `source.text[start:end]`."""

    source: int
    start: int
    end: int
    text: str
    place: Place | None = None
    """The page or row on which the compared words stand. It follows from the text, so it is not stored."""

    def to_json(self) -> dict[str, Any]:
        return {"source": self.source, "start": self.start, "end": self.end, "text": self.text} | _place_json(
            self.place
        )


def _place_json(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {}
    page = {} if place.page is None else {"page": place.page}
    return {**page, "place": place.label} | ({"recognized": True} if place.is_recognized else {})


@dataclass(frozen=True, slots=True)
class Difference:
    """One detail that the statement gives otherwise. `found` is empty where the source has no such detail."""

    kind: str
    """number, date, name, quote or wording."""
    stated: str
    found: str = ""


@dataclass(frozen=True, slots=True)
class AlignedWords:
    """Words of a statement, and the words of the passage that say the same."""

    start: int
    end: int
    """`start` and `end` in the text of the statement."""
    found_start: int
    found_end: int
    """`found_start` and `found_end` in the text of the source."""

    def to_json(self) -> dict[str, int]:
        return {"start": self.start, "end": self.end, "foundStart": self.found_start, "foundEnd": self.found_end}


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """The result for one statement against one source, or against several together."""

    verdict: Verdict
    score: float
    """The probability, 0 to 1, that the source says so."""
    reason: str
    """A short explanation for the reader."""
    evidence: tuple[QuotedPassage, ...] = ()
    """The compared passages, best first."""
    differences: tuple[Difference, ...] = ()
    by: Literal["rules", "model"] = "rules"
    """The judge. A model is believed only with words that stand in the source."""
    alignment: tuple[AlignedWords, ...] = ()
    """The words that were compared, in the order of the statement. Words in none of them have no counterpart."""

    @property
    def label(self) -> str:
        """The verdict in words; it says so if a model gave it."""
        return self.verdict.label if self.by == "rules" else f"{self.verdict.label}（{BY_MODEL_LABEL}）"

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict.value,
            "score": round(self.score, 4),
            "reason": self.reason,
            "evidence": [passage.to_json() for passage in self.evidence],
            "differences": [asdict(difference) for difference in self.differences],
            "alignment": [words.to_json() for words in self.alignment],
        } | ({"by": "model"} if self.by == "model" else {})


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """The result for one `[n]` behind one statement."""

    number: int
    start: int
    end: int
    """`start` and `end` of the bracket in the answer."""
    check: SourceCheck

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number, "start": self.start, "end": self.end, **self.check.to_json()}


@dataclass(frozen=True, slots=True)
class StatuteVerdict:
    """The result of 法条核验 or 案号核验 on one citation."""

    mark: str
    """One of ✓ ○ ≠ ✗ ⌛ ？."""
    meaning: str
    cited: str
    """The citation as written in the answer."""
    note: str = ""
    check_name: str = "法条核验"

    @property
    def is_problem(self) -> bool:
        """True if the law says otherwise, is not in force, or has no such article."""
        return self.mark in {"≠", "✗", "⌛"}

    def __str__(self) -> str:
        return f"{self.mark} {self.meaning}"


@dataclass(frozen=True, slots=True)
class StatementCheck:
    start: int
    end: int
    """`start` and `end` in the cleaned answer (`core.base.text.clean`), brackets included."""
    text: str
    """The text as a reader sees it, without brackets and Markdown."""
    check: SourceCheck
    """The result against all its sources together."""
    citations: tuple[CitationCheck, ...]
    shares_citation: bool = False
    """True if its number stands behind a later sentence."""
    statute: StatuteVerdict | None = None
    """What 法条核验 has against it, whatever its sources say. It depends on the library, so it is not stored."""

    def to_json(self) -> dict[str, Any]:
        return {
            "start": self.start,
            "end": self.end,
            "text": self.text,
            **self.check.to_json(),
            "citations": [citation.to_json() for citation in self.citations],
            "sharesCitation": self.shares_citation,
        } | ({"statute": asdict(self.statute)} if self.statute else {})


@dataclass(frozen=True, slots=True)
class InventedCitation:
    """A citation of sources that do not exist, which was taken out of the text."""

    at: int
    """Its place in the text without it."""
    numbers: tuple[int, ...]
    """Empty where the model cited in a way of its own, which names no source."""

    @property
    def label(self) -> str:
        named = _named_sources(self.numbers)
        return f"{named}{' ' * named[-1].isdigit()}不存在" if self.numbers else "编号不指向来源"

    def __str__(self) -> str:
        return invented_sentence(self.numbers)

    def to_json(self) -> dict[str, Any]:
        return {"at": self.at, "numbers": list(self.numbers)}


MAX_NAMED_SOURCES = 10


def invented_sentence(numbers: Collection[int]) -> str:
    """Return the sentence on citations of sources that do not exist, without its full stop."""
    return f"模型引用了不存在的{_named_sources(numbers)}" if numbers else "模型写的编号不指向任何来源"


def _named_sources(numbers: Collection[int]) -> str:
    named = sorted(set(numbers))
    more = f" 等 {len(named)} 个" if len(named) > MAX_NAMED_SOURCES else ""
    return f"来源 {'、'.join(map(str, named[:MAX_NAMED_SOURCES]))}{more}"


@dataclass(frozen=True, slots=True)
class UncitedStatement:
    """A statement without a number: it needs a source, or a source says it all the same."""

    start: int
    end: int
    text: str
    check: SourceCheck | None = None
    """The check against the source that says it word by word; None if none does."""
    is_conclusion: bool = False
    """True if it draws a conclusion (因此…) from what stands before. That is no statement of a source."""
    statute: StatuteVerdict | None = None
    """The worst verdict on the articles that it names. It depends on the library, so it is not stored."""
    invented: tuple[int, ...] | None = None
    """The numbers that it cites although there is no such source; None if it cites nothing."""

    @property
    def has_no_source(self) -> bool:
        """True if nothing was compared with it, and it draws no conclusion, unless from a source that does not exist."""
        draws_conclusion = self.is_conclusion and self.invented is None
        return not (self.check or self.statute or draws_conclusion)

    @property
    def agreeing_source(self) -> int | None:
        """The number of the source that says it."""
        return self.check.evidence[0].source if self.check else None

    def to_json(self) -> dict[str, Any]:
        place = {"start": self.start, "end": self.end, "text": self.text, "isConclusion": self.is_conclusion}
        agreement = {"agreesWith": self.agreeing_source, "check": self.check.to_json()} if self.check else {}
        invented = {} if self.invented is None else {"invented": list(self.invented)}
        return place | agreement | invented | ({"statute": asdict(self.statute)} if self.statute else {})


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """A model's review of the citations: model, number of citations, cost."""

    model: str
    asked: int
    accepted: int
    """The verdicts that were accepted, because the quoted words really stand in the source."""
    input: int
    output: int
    """`input` and `output` are tokens. They are not among the tokens of the answer."""
    estimated: bool = False

    @property
    def cost(self) -> str:
        return f"{self.input + self.output:,} tokens{'（估算）' if self.estimated else ''}"

    def after(self, earlier: SecondOpinion | None) -> SecondOpinion:
        """Return this review with the tokens of an earlier one of the same answer added."""
        if earlier is None:
            return self
        estimated = self.estimated or earlier.estimated
        tokens = self.input + earlier.input, self.output + earlier.output
        return replace(self, input=tokens[0], output=tokens[1], estimated=estimated)

    def __str__(self) -> str:
        return f"{BY_MODEL_LABEL}：{self.model} 看了 {self.asked} 处，采纳 {self.accepted} 处，另用了 {self.cost}。"

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "asked": self.asked,
            "accepted": self.accepted,
            "tokens": self.input + self.output,
            "estimated": self.estimated,
        }


@dataclass(frozen=True, slots=True)
class TextDigest:
    """The digest of a source's text as it was checked."""

    source: int
    digest: str


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    statements: tuple[StatementCheck, ...] = ()
    uncited: tuple[UncitedStatement, ...] = ()
    version: int = CHECKER_VERSION
    opinion: SecondOpinion | None = None
    digests: tuple[TextDigest, ...] = ()
    """Of the texts that the results rest on. With another text they are not shown."""
    invented: tuple[InventedCitation, ...] = ()
    """The citations of sources that do not exist."""

    @property
    def unsourced(self) -> tuple[UncitedStatement, ...]:
        """The statements without a number that nothing was compared with, and that draw no conclusion."""
        return tuple(one for one in self.uncited if one.has_no_source)

    @property
    def unattached(self) -> tuple[InventedCitation, ...]:
        """The invented citations that no statement without a source has."""
        held = [one for one in self.unsourced if one.invented is not None]
        return tuple(cited for cited in self.invented if not any(one.start < cited.at <= one.end for one in held))

    @property
    def agreeing(self) -> tuple[UncitedStatement, ...]:
        """The statements without a number that a source says. They are no citations of the model."""
        return tuple(statement for statement in self.uncited if statement.check is not None)

    @property
    def against_law(self) -> list[StatementCheck | UncitedStatement]:
        """The statements that a source was found for, and that 法条核验 has something against, in the order of the text."""
        sourced: list[StatementCheck | UncitedStatement] = [*self.statements, *self.agreeing]
        return sorted((one for one in sourced if one.statute), key=lambda one: one.end)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "statements": [statement.to_json() for statement in self.statements],
            "uncited": [statement.to_json() for statement in self.uncited if not statement.statute],
            **_unless_empty("statutes", [one.to_json() for one in self.uncited if one.statute]),
            **_unless_empty("invented", [one.to_json() for one in self.invented]),
        } | ({"opinion": self.opinion.to_json()} if self.opinion else {})


def _unless_empty(name: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: entries} if entries else {}
