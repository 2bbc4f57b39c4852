"""让模型复核: one model call about the citations of an answer.

The model is asked about what the rules left open, and about what they support. It is believed only with a quotation that
stands in that source and is about the statement. 支持 counts where the exact comparisons of the quotation and its sentences
with the statement have no objection: a model never overrules a changed number, name or negation. 不支持 is a contradiction
where those comparisons see it, else an opinion; what the rules support is then left open. Nothing a model says is ever ✓.
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
from core.answer.check_texts import with_places
from core.answer.events import Answer, Checked, RunEvent
from core.base.chinese.script import comparison_form
from core.base.errors import AppError, InputError
from core.base.text import one_line, shorten
from core.base.threads import run_in_thread
from core.checks import check_statement, find_objection, is_about, leave_uncertain
from core.llm import Model, ask_once
from core.llm.pieces import TokenUsage
from core.run.answer_checking import merge_sources, source_texts
from core.run.judge_passages import is_near_speech, passages_for_judge, surrounding_sentences
from core.run.prompts import fill_template
from core.run.question import Question
from core.search import CLOSE_FENCE, OPEN_FENCE, fence_safe

log = logging.getLogger(__name__)

SECONDS = 60.0
"""The time limit of a call."""
MAX_TOKENS = 4_096
"""The output limit. Twenty lines need a quarter of it; some models think first."""
MAX_CITATIONS = 20
"""The number of citations in one call. What is left open comes first."""
STATEMENT_LENGTH = 400
SHORTEST_QUOTE, LONGEST_QUOTE = 6, 400
SUPPORTED_REASON = "模型认为来源支持这一句，原话如下；程序没有发现两边有出入。"
CONTRADICTED_REASON = "模型认为来源的说法不同，原话如下。"
CONTRADICTING_OPINION = "模型认为来源的说法不同，原话如下。程序看不出哪里不同，所以仍是未核。"
LOWERED_REASON = "逐词比较相符，但模型认为来源的说法不同，原话如下，所以改为未核。"


# ── The request ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class JudgedCitation:
    """One citation that the model is asked about."""

    position: tuple[int, int]
    """The index of the statement, and of the citation within it."""
    statement: str
    check: SourceCheck
    source: SourceText

    @property
    def is_open(self) -> bool:
        """True if the rules left it open; False if they support it."""
        return self.check.verdict is Verdict.UNCHECKED


def judged_citations(check: AnswerCheck, sources: Sequence[SourceText]) -> list[JudgedCitation]:
    """Return the citations that the rules left open or support, as far as their sources have a text."""
    texts = {source.number: source for source in sources if source.text.strip()}
    return sorted(_find_citations(check, texts), key=lambda citation: not citation.is_open)[:MAX_CITATIONS]


def _find_citations(check: AnswerCheck, texts: Mapping[int, SourceText]) -> Iterator[JudgedCitation]:
    for row, statement in enumerate(check.statements):
        for column, citation in enumerate(statement.citations):
            is_asked = citation.check.by == "rules" and citation.check.verdict in (Verdict.UNCHECKED, Verdict.SUPPORTED)
            if is_asked and citation.number in texts:
                yield JudgedCitation((row, column), statement.text, citation.check, texts[citation.number])


def second_opinion_prompt(citations: Sequence[JudgedCitation]) -> str:
    items = "\n\n".join(_prompt_item(number, citation) for number, citation in enumerate(citations, 1))
    return fill_template("judge", count=str(len(citations)), items=items)


def _prompt_item(number: int, citation: JudgedCitation) -> str:
    statement = shorten(fence_safe(citation.statement), STATEMENT_LENGTH)
    passages = fence_safe(passages_for_judge(citation.source, citation.check))
    return "\n".join((f"第 {number} 条：{statement}", OPEN_FENCE, passages, CLOSE_FENCE))


# ── The reply ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_LINE = re.compile(
    r"^[ \t>*#-]*(?:第 ?)?[\[【(（]?(?P<number>\d{1,3})[\]】)）]?(?: ?[条项])?[ \t|｜:：.、*]*"
    r"(?P<verdict>不支持|支持|无法判断)(?P<others>[、,，/或 ]+(?:不支持|支持|无法判断))*(?P<rest>.*)$",
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
        is_clear = line["verdict"] != "无法判断" and not line["others"]
        quote = _parse_quote(reply[line.start("rest") : end]) if is_clear else ""
        verdicts.setdefault(int(line["number"]), []).append(ModelVerdict(line["verdict"] == "支持", quote))
    return {number: given[0] for number, given in verdicts.items() if len(given) == 1 and given[0].quote}


def _parse_quote(rest: str) -> str:
    words = _LABEL.sub("", one_line(rest)).strip("|｜ *`")
    found = _QUOTED.match(words)
    return next(filter(None, found.groups()), "") if found else words


# ── Accepting verdicts ────────────────────────────────────────────────────────────────────────────────────────────────


def accept_verdict(citation: JudgedCitation, verdict: ModelVerdict) -> SourceCheck | None:
    """Return the check with the model's verdict, or with its opinion only. None if it counts for nothing."""
    place = find_quote(verdict.quote, citation.source.text)
    if place is None:
        return None
    quote = QuotedPassage(citation.source.number, *place, citation.source.text[slice(*place)])
    first, last = surrounding_sentences(citation.source.text, *place)
    sentences = SourceText(
        citation.source.number, citation.source.text[first:last], published=citation.source.published
    )
    if is_near_speech(citation.source.text, first, last) or not is_about(quote.text, citation.statement):
        return None
    check = replace(citation.check, evidence=(quote,), by="model", alignment=())
    quotation = replace(sentences, text=quote.text)
    found = (
        _supported(citation, check, quotation, sentences) if verdict.supports else _doubted(citation, check, quotation)
    )
    return found and leave_uncertain(found, [citation.source])


def _supported(
    citation: JudgedCitation, check: SourceCheck, quotation: SourceText, sentences: SourceText
) -> SourceCheck | None:
    """Return the check as supported by the model, unless the rules do so or have an objection."""
    if not citation.is_open or check.differences:
        return None
    if find_objection(citation.statement, quotation, sentences):
        return None
    return replace(check, verdict=Verdict.SUPPORTED, reason=SUPPORTED_REASON)


def _doubted(citation: JudgedCitation, check: SourceCheck, quotation: SourceText) -> SourceCheck:
    if not citation.is_open:
        return replace(check, verdict=Verdict.UNCHECKED, reason=LOWERED_REASON)
    compared = check_statement(citation.statement, quotation)
    if citation.source.is_full and compared.verdict is Verdict.CONTRADICTED:
        differences = compared.differences
        return replace(check, verdict=Verdict.CONTRADICTED, reason=CONTRADICTED_REASON, differences=differences)
    return replace(check, reason=CONTRADICTING_OPINION)


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


def apply_reply(
    check: AnswerCheck, citations: Sequence[JudgedCitation], reply: str, *, model: str, usage: TokenUsage
) -> AnswerCheck:
    """Return the check with the model's accepted verdicts and the cost of the call."""
    verdicts = parse_verdicts(reply)
    decided = {
        citation.position: told
        for number, citation in enumerate(citations, 1)
        if number in verdicts and (told := accept_verdict(citation, verdicts[number]))
    }
    accepted = sum(_is_turned(check, position, told) for position, told in decided.items())
    opinion = SecondOpinion(model, len(citations), accepted, usage.input, usage.output, usage.estimated)
    statements = tuple(_update_statement(statement, row, decided) for row, statement in enumerate(check.statements))
    return replace(check, statements=statements, opinion=opinion.after(check.opinion))


def _is_turned(check: AnswerCheck, position: tuple[int, int], told: SourceCheck) -> bool:
    row, column = position
    return told.verdict is not check.statements[row].citations[column].check.verdict


def _update_statement(
    statement: StatementCheck, row: int, decided: Mapping[tuple[int, int], SourceCheck]
) -> StatementCheck:
    citations = tuple(
        replace(citation, check=decided.get((row, column), citation.check))
        for column, citation in enumerate(statement.citations)
    )
    if citations == statement.citations:
        return statement
    return replace(statement, citations=citations, check=_combined_check(statement.check, citations))


def _combined_check(check: SourceCheck, citations: Sequence[CitationCheck]) -> SourceCheck:
    """Return the check of the statement. One supporting source is enough, and without one it is not supported."""
    supported = [citation.check for citation in citations if citation.check.verdict is Verdict.SUPPORTED]
    if supported:
        return min(supported, key=lambda one: one.by == "model")
    lowered = next((citation.check for citation in citations if citation.check.by == "model"), check)
    return lowered if check.verdict is Verdict.SUPPORTED or len(citations) == 1 else check


# ── The call ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class NothingToReview(InputError):
    default_message = "没有可以复核的引用，或来源的文字没有保存下来。"


async def get_second_opinion(
    check: AnswerCheck, sources: Sequence[SourceText], model: Model, *, seconds: float = SECONDS
) -> AnswerCheck:
    """Ask the model and return the check with its accepted verdicts. Raises a ModelError, or NothingToReview."""
    citations = judged_citations(check, sources)
    if not citations:
        raise NothingToReview
    reply, usage = await ask_once(model, second_opinion_prompt(citations), max_tokens=MAX_TOKENS, seconds=seconds)
    return await run_in_thread(
        lambda: with_places(apply_reply(check, citations, reply, model=model.label, usage=usage), sources),
        name="wenyuan-checks",
    )


def wants_review(question: Question) -> bool:
    """Return whether the answer is reviewed without being asked for: never by the embedded model, which only quotes, and not
    where nobody would see it."""
    wanted = question.settings.checks.judge == "auto" and question.options.may_be_reviewed
    return wanted and not question.model.choice.is_embedded


async def review_answer(question: Question, events: Sequence[RunEvent]) -> Checked | None:
    """Return the second opinion on a complete answer as another event. None if there is nothing to ask, or if it failed."""
    checked = next((event for event in reversed(events) if isinstance(event, Checked)), None)
    answer = next((event for event in reversed(events) if isinstance(event, Answer)), None)
    if checked is None or answer is None:
        return None
    found = question.run_sources
    sources = source_texts(merge_sources(answer.sources, found.sources), dict(found.pages))
    try:
        return Checked(await get_second_opinion(checked.check, sources, question.model))
    except AppError as error:
        log.info("no second opinion: %s", error)
    except Exception:
        log.exception("a second opinion met a bug")
    return None
