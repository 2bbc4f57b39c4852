"""让模型复核: one model call about the citations that the rules left open.

A model turns a mark only if it quotes words that stand in that source and bear it out: 支持, if they say the same as the
statement, word by word; 不支持, if the exact comparisons see what differs. A quotation that is about the statement in other
words is shown as the model's opinion, and the mark stays. So a page that has won the model over can turn no mark.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.answer.check_results import (
    AnswerCheck,
    CitationCheck,
    QuotedPassage,
    SecondOpinion,
    SourceCheck,
    SourceText,
    StatementCheck,
    Verdict,
)
from core.answer.events import Answer, Checked, RunEvent, Usage
from core.base.chinese.script import comparison_form
from core.base.errors import AppError, InputError
from core.base.text import one_line, shorten
from core.base.threads import run_in_thread
from core.checks import check_statement, find_objection, is_about, says_the_same
from core.llm import Model, ask_once
from core.llm.pieces import TokenUsage
from core.reading import count_instructions
from core.run.answer_checking import merge_sources, source_texts
from core.run.prompts import fill_template
from core.run.question import Question
from core.search import CLOSE_FENCE, OPEN_FENCE, fence_safe

log = logging.getLogger(__name__)

REQUESTED_SECONDS = 60.0
"""The time limit if a reader has asked for the second opinion."""
AUTOMATIC_SECONDS = 20.0
"""The time limit if it comes automatically after an answer."""
MAX_TOKENS = 4_096
"""The output limit. Twenty lines need a quarter of it; some models think first."""
MAX_CITATIONS = 20
"""The number of citations in one call."""
STATEMENT_LENGTH = 400
CONTEXT_LENGTH = 200
"""Characters on each side of the passage that the rules compared."""
PASSAGES_LENGTH = 1_000
"""Characters of one source for one statement."""
SHORTEST_QUOTE, LONGEST_QUOTE = 6, 400
BETWEEN = " …… "
SUPPORTED_REASON = "模型认为来源是这样说的，原话如下。"
CONTRADICTED_REASON = "模型认为来源的说法不同，原话如下。"
SUPPORTING_OPINION = "模型认为来源支持这一句，原话如下。两边词句不同，程序无法证实，所以仍是未核。"
CONTRADICTING_OPINION = "模型认为来源的说法不同，原话如下。程序看不出哪里不同，所以仍是未核。"


# ── The request ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class OpenCitation:
    """One citation that the rules left open."""

    position: tuple[int, int]
    """The index of the statement, and of the citation within it."""
    statement: str
    check: SourceCheck
    source: SourceText


def open_citations(check: AnswerCheck, sources: Sequence[SourceText]) -> list[OpenCitation]:
    texts = {source.number: source for source in sources if source.text.strip()}
    return list(_find_open_citations(check, texts))[:MAX_CITATIONS]


def _find_open_citations(check: AnswerCheck, texts: Mapping[int, SourceText]) -> Iterator[OpenCitation]:
    for row, statement in enumerate(check.statements):
        for column, citation in enumerate(statement.citations):
            is_open = citation.check.verdict is Verdict.UNCHECKED and citation.check.by == "rules"
            if is_open and citation.number in texts:
                yield OpenCitation((row, column), statement.text, citation.check, texts[citation.number])


def second_opinion_prompt(citations: Sequence[OpenCitation]) -> str:
    items = "\n\n".join(_prompt_item(number, citation) for number, citation in enumerate(citations, 1))
    return fill_template("judge", count=str(len(citations)), items=items)


def _prompt_item(number: int, citation: OpenCitation) -> str:
    statement = shorten(fence_safe(citation.statement), STATEMENT_LENGTH)
    return "\n".join((f"第 {number} 条：{statement}", OPEN_FENCE, fence_safe(passages_for(citation)), CLOSE_FENCE))


def passages_for(citation: OpenCitation) -> str:
    """Return the passages that the rules compared, with the text around them; else the beginning of the source."""
    text = citation.source.text
    if len(text) <= PASSAGES_LENGTH:
        return text
    quotes = [one.text for one in citation.check.evidence if one.source == citation.source.number]
    spans = [(start, start + len(quote)) for quote in quotes if (start := text.find(quote)) >= 0]
    passages = [text[max(0, start - CONTEXT_LENGTH) : end + CONTEXT_LENGTH] for start, end in spans]
    return BETWEEN.join(passages)[:PASSAGES_LENGTH] or text[:PASSAGES_LENGTH]


# ── The reply ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_LINE = re.compile(
    r"^[ \t>*#-]*(?:第 ?)?[\[【(（]?(?P<number>\d{1,3})[\]】)）]?(?: ?[条项])?[ \t|｜:：.、*]*"
    r"(?P<verdict>不支持|支持|无法判断)(?P<rest>.*)$",
    re.MULTILINE,
)
_LABEL = re.compile(r"^[\s|｜:：,，。*>]*(?:(?:证据|原话|原文|引文|依据)\s*[:：]\s*)?")
_QUOTED = re.compile(r"^(?:「(.*)」|『(.*)』|“(.*)”|\"(.*)\")[\s|｜。]*$")


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    supports: bool
    quote: str


def parse_verdicts(reply: str) -> dict[int, ModelVerdict]:
    """Return the model's verdicts by the number of the citation. Double, undecided and unquoted ones are left out."""
    lines = list(_LINE.finditer(reply))
    nexts = [*(line.start() for line in lines), len(reply)][1:]
    verdicts: dict[int, list[ModelVerdict]] = {}
    for line, end in zip(lines, nexts, strict=False):
        quote = "" if line["verdict"] == "无法判断" else _parse_quote(reply[line.start("rest") : end])
        verdicts.setdefault(int(line["number"]), []).append(ModelVerdict(line["verdict"] == "支持", quote))
    return {number: given[0] for number, given in verdicts.items() if len(given) == 1 and given[0].quote}


def _parse_quote(rest: str) -> str:
    words = _LABEL.sub("", one_line(rest)).strip("|｜ *`")
    found = _QUOTED.match(words)
    return next(filter(None, found.groups()), "") if found else words


# ── Accepting verdicts ────────────────────────────────────────────────────────────────────────────────────────────────


def accept_verdict(citation: OpenCitation, verdict: ModelVerdict) -> SourceCheck | None:
    """Return the check with the model's verdict, or with its opinion only. None if it counts for nothing."""
    place = find_quote(verdict.quote, citation.source.text)
    if place is None or count_instructions(verdict.quote):
        return None
    quote = QuotedPassage(citation.source.number, *place, citation.source.text[slice(*place)])
    if not is_about(quote.text, citation.statement):
        return None
    check = replace(citation.check, evidence=(quote,), by="model")
    around = _sentences_around(place, citation.source)
    quoted = replace(around, text=quote.text)
    if not verdict.supports:
        if citation.source.is_full and check_statement(citation.statement, quoted).verdict is Verdict.CONTRADICTED:
            return replace(check, verdict=Verdict.CONTRADICTED, reason=CONTRADICTED_REASON)
        return replace(check, reason=CONTRADICTING_OPINION)
    if check.differences or any(find_objection(citation.statement, passage) for passage in (quoted, around)):
        return None
    if says_the_same(around.text, citation.statement):
        return replace(check, verdict=Verdict.SUPPORTED, reason=SUPPORTED_REASON)
    return replace(check, reason=SUPPORTING_OPINION)


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return the position of a quotation, in any spelling. None if it is missing, too short or too long."""
    wanted = "".join(comparison_form(quote).split())
    if not SHORTEST_QUOTE <= len(wanted) <= LONGEST_QUOTE:
        return None
    solid, places = _without_spaces(text)
    start = solid.find(wanted)
    return None if start < 0 else (places[start], places[start + len(wanted) - 1] + 1)


@lru_cache(maxsize=16)
def _without_spaces(text: str) -> tuple[str, Sequence[int]]:
    """Return the text for comparing without its spaces, and the position of each of its characters."""
    places = [place for place, character in enumerate(text) if not character.isspace()]
    return "".join(comparison_form(text).split()), places


_SENTENCE_END = re.compile(r"[。！？!?；;\n]")


def _sentences_around(position: tuple[int, int], source: SourceText) -> SourceText:
    """Return the whole sentences around a quotation: the words left out of it count too."""
    start, end = position
    ends = [found.end() for found in _SENTENCE_END.finditer(source.text, max(0, start - CONTEXT_LENGTH), start)]
    after = _SENTENCE_END.search(source.text, max(start, end - 1), end + CONTEXT_LENGTH)
    first = ends[-1] if ends else max(0, start - CONTEXT_LENGTH)
    last = after.end() if after else end + CONTEXT_LENGTH
    return replace(source, text=source.text[first:last], is_full=True)


def apply_reply(
    check: AnswerCheck, citations: Sequence[OpenCitation], reply: str, *, model: str, usage: TokenUsage
) -> AnswerCheck:
    """Return the check with the model's accepted verdicts and the cost of the call."""
    verdicts = parse_verdicts(reply)
    decided = {
        citation.position: told
        for number, citation in enumerate(citations, 1)
        if number in verdicts and (told := accept_verdict(citation, verdicts[number]))
    }
    accepted = sum(one.verdict is not Verdict.UNCHECKED for one in decided.values())
    opinion = SecondOpinion(model, len(citations), accepted, usage.input, usage.output, usage.estimated)
    statements = tuple(_update_statement(statement, row, decided) for row, statement in enumerate(check.statements))
    return replace(check, statements=statements, opinion=opinion)


def _update_statement(
    statement: StatementCheck, row: int, decided: Mapping[tuple[int, int], SourceCheck]
) -> StatementCheck:
    citations = tuple(
        replace(citation, check=decided.get((row, column), citation.check))
        for column, citation in enumerate(statement.citations)
    )
    return replace(statement, citations=citations, check=_combined_check(statement.check, citations))


def _combined_check(check: SourceCheck, citations: Sequence[CitationCheck]) -> SourceCheck:
    """Return the check of the statement. One supporting source is enough."""
    if check.verdict is not Verdict.UNCHECKED:
        return check
    supported = [citation.check for citation in citations if citation.check.verdict is Verdict.SUPPORTED]
    return supported[0] if supported else citations[0].check if len(citations) == 1 else check


# ── The call ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class NothingToReview(InputError):
    default_message = "没有可以复核的引用，或来源的文字没有保存下来。"


async def get_second_opinion(
    check: AnswerCheck, sources: Sequence[SourceText], model: Model, *, seconds: float = REQUESTED_SECONDS
) -> AnswerCheck:
    """Ask the model and return the check with its accepted verdicts. Raises a ModelError, or NothingToReview."""
    citations = open_citations(check, sources)
    if not citations:
        raise NothingToReview
    reply, usage = await ask_once(model, second_opinion_prompt(citations), max_tokens=MAX_TOKENS, seconds=seconds)
    return await run_in_thread(
        lambda: apply_reply(check, citations, reply, model=model.label, usage=usage), name="wenyuan-checks"
    )


class AutomaticReview:
    """The second opinion that follows an answer automatically, if the administrator wants one."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._is_wanted = question.settings.checks.judge == "always" and not question.model.choice.is_embedded
        self._check: AnswerCheck | None = None
        self._answer: Answer | None = None
        self._usage: Usage | None = None

    def record_event(self, event: RunEvent) -> None:
        match event:
            case Checked(check=check):
                self._check = check
            case Answer():
                self._answer = event
            case Usage():
                self._usage = event

    async def events(self) -> tuple[RunEvent, ...]:
        """Ask the model and return the events. Empty if there is nothing to ask, or if the call failed."""
        if not self._is_wanted or self._check is None or self._answer is None:
            return ()
        found = self._question.run_sources
        sources = source_texts(merge_sources(self._answer.sources, found.sources), dict(found.pages))
        try:
            check = await get_second_opinion(self._check, sources, self._question.model, seconds=AUTOMATIC_SECONDS)
        except AppError as error:
            log.info("no second opinion: %s", error)
            return ()
        except Exception:
            log.exception("a second opinion met a bug")
            return ()
        assert check.opinion is not None
        before, asked = self._usage or Usage(0, 0), check.opinion
        return Checked(check), before.plus(asked.input, asked.output, estimated=asked.estimated)
