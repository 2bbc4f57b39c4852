"""让模型复核: one model call about the citations that the rules left open.

A model is believed only if it quotes words that stand in that source. It is never believed against a number, a date or
a negation that the exact comparisons can see. So a hostile page can at worst be quoted with its own words.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.answer.checked import (
    AnswerCheck,
    Check,
    CitationCheck,
    Evidence,
    SecondOpinion,
    SourceText,
    StatementCheck,
    Verdict,
)
from core.answer.events import Answer, Checked, RunEvent, Usage
from core.base.chinese.script import folded
from core.base.errors import AppError, InputError
from core.base.text import one_line, shorten
from core.base.threads import in_a_thread
from core.checks import objection
from core.llm.model import Model
from core.llm.one_shot import ask_once
from core.llm.pieces import TokenUsage
from core.reading.instructions import count_instructions
from core.run.checking import known, source_texts
from core.run.prompts import fill
from core.run.question import Question
from core.search.format import CLOSE_FENCE, OPEN_FENCE, inert

log = logging.getLogger(__name__)

SECONDS = 60.0
"""The time limit if a reader has asked for the second opinion."""
SECONDS_UNASKED = 20.0
"""The time limit if it comes automatically after an answer."""
TOKENS = 4_096
"""The output limit. Twenty lines need a quarter of it; some models think first."""
MOST_PLACES = 20
"""The number of citations in one call."""
STATEMENT_LENGTH = 400
AROUND = 200
"""Characters on each side of the passage that the rules compared."""
PASSAGES_LENGTH = 1_000
"""Characters of one source for one statement."""
SHORTEST_QUOTE, LONGEST_QUOTE = 6, 400
BETWEEN = " …… "
SUPPORTS = "模型认为来源是这样说的，原话如下。"
DIFFERS = "模型认为来源的说法不同，原话如下。"


# ── The request ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Doubt:
    """One citation that the rules left open."""

    place: tuple[int, int]
    """The index of the statement, and of the citation within it."""
    statement: str
    check: Check
    source: SourceText


def doubts(check: AnswerCheck, sources: Sequence[SourceText]) -> list[Doubt]:
    texts = {source.number: source for source in sources if source.text.strip()}
    return list(_doubts(check, texts))[:MOST_PLACES]


def _doubts(check: AnswerCheck, texts: Mapping[int, SourceText]) -> Iterator[Doubt]:
    for row, statement in enumerate(check.statements):
        for column, citation in enumerate(statement.citations):
            if citation.check.verdict is Verdict.UNCHECKED and citation.number in texts:
                yield Doubt((row, column), statement.text, citation.check, texts[citation.number])


def prompt_about(places: Sequence[Doubt]) -> str:
    items = "\n\n".join(_item(number, doubt) for number, doubt in enumerate(places, 1))
    return fill("judge", count=str(len(places)), items=items)


def _item(number: int, doubt: Doubt) -> str:
    statement = shorten(inert(doubt.statement), STATEMENT_LENGTH)
    return "\n".join((f"第 {number} 条：{statement}", OPEN_FENCE, inert(best_passages(doubt)), CLOSE_FENCE))


def best_passages(doubt: Doubt) -> str:
    """Return the passages that the rules compared, with the text around them; else the beginning of the source."""
    text = doubt.source.text
    if len(text) <= PASSAGES_LENGTH:
        return text
    at = [(text.find(one.text), len(one.text)) for one in doubt.check.evidence if one.source == doubt.source.number]
    found = [text[max(0, start - AROUND) : start + length + AROUND] for start, length in at if start >= 0]
    return BETWEEN.join(found)[:PASSAGES_LENGTH] or text[:PASSAGES_LENGTH]


# ── The reply ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_LINE = re.compile(
    r"^[ \t>*#-]*(?:第 ?)?[\[【(（]?(?P<number>\d{1,3})[\]】)）]?(?: ?[条项])?[ \t|｜:：.、*]*"
    r"(?P<verdict>不支持|支持|无法判断)(?P<rest>.*)$",
    re.MULTILINE,
)
_LABEL = re.compile(r"^[\s|｜:：,，。*>]*(?:(?:证据|原话|原文|引文|依据)\s*[:：]\s*)?")
_QUOTED = re.compile(r"^(?:「(.*)」|『(.*)』|“(.*)”|\"(.*)\")[\s|｜。]*$")


@dataclass(frozen=True, slots=True)
class Judgement:
    supports: bool
    quote: str


def judgements(said: str) -> dict[int, Judgement]:
    """Return the model's verdicts by the number of the citation. Double, undecided and unquoted ones are left out."""
    lines = list(_LINE.finditer(said))
    nexts = [*(line.start() for line in lines), len(said)][1:]
    told: dict[int, list[Judgement]] = {}
    for line, end in zip(lines, nexts, strict=False):
        quote = "" if line["verdict"] == "无法判断" else _quote(said[line.start("rest") : end])
        told.setdefault(int(line["number"]), []).append(Judgement(line["verdict"] == "支持", quote))
    return {number: one[0] for number, one in told.items() if len(one) == 1 and one[0].quote}


def _quote(rest: str) -> str:
    words = _LABEL.sub("", one_line(rest)).strip("|｜ *`")
    found = _QUOTED.match(words)
    return next(filter(None, found.groups()), "") if found else words


# ── Accepting verdicts ────────────────────────────────────────────────────────────────────────────────────────────────


def believed(doubt: Doubt, judgement: Judgement) -> Check | None:
    """Return the new check if the model's verdict can be believed. None: the citation stays open."""
    place = find_quote(judgement.quote, doubt.source.text)
    if place is None or count_instructions(judgement.quote):
        return None
    evidence = Evidence(doubt.source.number, *place, doubt.source.text[slice(*place)])
    if not judgement.supports:
        decided = replace(doubt.check, verdict=Verdict.CONTRADICTED, reason=DIFFERS, evidence=(evidence,), by="model")
        return decided if doubt.source.is_full else None
    if doubt.check.differences or objection(doubt.statement, _sentences_at(place, doubt.source)):
        return None
    return replace(doubt.check, verdict=Verdict.SUPPORTED, reason=SUPPORTS, evidence=(evidence,), by="model")


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return the position of a quotation in any spelling and with any line breaks. None if it is missing, too short or
    too long."""
    wanted = "".join(folded(quote).split())
    if not SHORTEST_QUOTE <= len(wanted) <= LONGEST_QUOTE:
        return None
    solid, places = _solid(text)
    start = solid.find(wanted)
    return None if start < 0 else (places[start], places[start + len(wanted) - 1] + 1)


@lru_cache(maxsize=16)
def _solid(text: str) -> tuple[str, Sequence[int]]:
    """Return the text for comparing without its spaces, and the position of each of its characters."""
    places = [place for place, character in enumerate(text) if not character.isspace()]
    return "".join(folded(text).split()), places


_SENTENCE_END = re.compile(r"[。！？!?；;\n]")


def _sentences_at(place: tuple[int, int], source: SourceText) -> SourceText:
    """Return the whole sentences around a quotation: the words left out of it count too."""
    start, end = place
    ends = [found.end() for found in _SENTENCE_END.finditer(source.text, max(0, start - AROUND), start)]
    after = _SENTENCE_END.search(source.text, max(start, end - 1), end + AROUND)
    text = source.text[ends[-1] if ends else max(0, start - AROUND) : after.end() if after else end + AROUND]
    return replace(source, text=text, is_full=True)


def reviewed(check: AnswerCheck, places: Sequence[Doubt], said: str, *, model: str, usage: TokenUsage) -> AnswerCheck:
    """Return the check with the model's accepted verdicts and the cost of the call."""
    told = judgements(said)
    decided = {
        doubt.place: better
        for number, doubt in enumerate(places, 1)
        if number in told and (better := believed(doubt, told[number]))
    }
    opinion = SecondOpinion(model, len(places), len(decided), usage.input, usage.output, usage.estimated)
    statements = tuple(_with(statement, row, decided) for row, statement in enumerate(check.statements))
    return replace(check, statements=statements, opinion=opinion)


def _with(statement: StatementCheck, row: int, decided: Mapping[tuple[int, int], Check]) -> StatementCheck:
    citations = tuple(
        replace(citation, check=decided.get((row, column), citation.check))
        for column, citation in enumerate(statement.citations)
    )
    return replace(statement, citations=citations, check=_together(statement.check, citations))


def _together(check: Check, citations: Sequence[CitationCheck]) -> Check:
    """Return the check of the statement. One supporting source is enough."""
    if check.verdict is not Verdict.UNCHECKED:
        return check
    supported = [citation.check for citation in citations if citation.check.verdict is Verdict.SUPPORTED]
    return supported[0] if supported else citations[0].check if len(citations) == 1 else check


# ── The call ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class NothingToJudge(InputError):
    happened = "没有可以复核的引用，或来源的文字没有保存下来。"


async def judged(
    check: AnswerCheck, sources: Sequence[SourceText], model: Model, *, seconds: float = SECONDS
) -> AnswerCheck:
    """Ask the model and return the check with its accepted verdicts. Raises a ModelError, or NothingToReview."""
    places = doubts(check, sources)
    if not places:
        raise NothingToJudge
    said, usage = await ask_once(model, prompt_about(places), tokens=TOKENS, seconds=seconds)
    return await in_a_thread(
        lambda: reviewed(check, places, said, model=model.label, usage=usage), name="wenyuan-checks"
    )


class Review:
    """The second opinion that follows an answer automatically, if the administrator wants one."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._wanted = question.settings.checks.judge == "always" and not question.model.choice.embedded
        self._check: AnswerCheck | None = None
        self._answer: Answer | None = None
        self._usage: Usage | None = None

    def take(self, event: RunEvent) -> None:
        match event:
            case Checked(check=check):
                self._check = check
            case Answer():
                self._answer = event
            case Usage():
                self._usage = event

    async def events(self) -> tuple[RunEvent, ...]:
        """Ask the model and return the events. Empty if there is nothing to ask, or if it failed: the answer is
        complete anyway."""
        if not self._wanted or self._check is None or self._answer is None:
            return ()
        evidence = self._question.evidence
        sources = source_texts(known(self._answer.sources, evidence.sources), dict(evidence.pages))
        try:
            check = await judged(self._check, sources, self._question.model, seconds=SECONDS_UNASKED)
        except AppError as error:
            log.info("no second opinion: %s", error)
            return ()
        except Exception:
            log.exception("a second opinion met a bug")
            return ()
        assert check.opinion is not None
        before, asked = self._usage or Usage(0, 0), check.opinion
        return Checked(check), before.plus(asked.input, asked.output, estimated=asked.estimated)
