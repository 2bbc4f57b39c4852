"""按核验结果改写: a model gets its own answer and the problems that the check found, and writes another version.

The new text is not trusted: it is checked like the first one, and the reader decides between the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from core.answer import PROBLEM_VERDICTS, UNCITED, CitationVerdict, drop_invented, list_verdicts
from core.answer.check_results import AnswerCheck, InventedCitation
from core.answer.message import Message
from core.base.errors import InputError
from core.base.text import clean
from core.base.threads import run_in_thread
from core.checks import MeaningComparison
from core.llm import Model, ask_once, estimate_tokens
from core.llm.errors import ModelError
from core.llm.pieces import TokenUsage
from core.run.answer_checking import TextsByNumber, check_text
from core.run.prompts import fill_template
from core.search import CLOSE_FENCE, OPEN_FENCE, fence_safe

REVISION_SECONDS = 120.0
EXTRA_TOKENS = 2_048
"""Tokens beyond the length of the answer, because some models think first."""
MAX_PROBLEMS = 30


@dataclass(frozen=True, slots=True)
class Revision:
    text: str
    check: AnswerCheck | None
    usage: TokenUsage
    invented: tuple[InventedCitation, ...] = ()


class NothingToRevise(InputError):
    default_message = "模型没有改动这个回答。"


def has_problems(check: AnswerCheck) -> bool:
    return bool(check.unsourced) or any(claim.verdict in PROBLEM_VERDICTS for claim in list_verdicts(check))


async def revise_answer(
    message: Message,
    check: AnswerCheck,
    texts: TextsByNumber,
    model: Model,
    meaning: MeaningComparison | None = None,
) -> Revision:
    """Ask the model for another version and check it. Raises a ModelError, or NothingToRevise."""
    prompt, tokens = revision_prompt(message.text, check), 2 * estimate_tokens(message.text) + EXTRA_TOKENS
    reply, usage = await ask_once(model, prompt, max_tokens=tokens, seconds=REVISION_SECONDS)
    if usage.cut_off:
        raise ModelError("改写没有写完。", cure="请重试。")
    text, invented = drop_invented(extract_version(reply), {source.number for source in message.sources})
    if not text or text == clean(message.text).strip():
        raise NothingToRevise
    check_again = partial(check_text, text, message.sources, texts, meaning, invented=invented)
    new_check = await run_in_thread(check_again, name="wenyuan-checks")
    return Revision(text, new_check, usage, invented)


def revision_prompt(text: str, check: AnswerCheck) -> str:
    problems = list(_problem_lines(check))[:MAX_PROBLEMS]
    return fill_template("mend", problems="\n".join(problems), answer=_escape_fences(clean(text)))


def _problem_lines(check: AnswerCheck) -> Iterator[str]:
    yield from (_problem_line(claim) for claim in list_verdicts(check) if claim.verdict in PROBLEM_VERDICTS)
    yield from (f"- {UNCITED}：{fence_safe(statement.text)}" for statement in check.unsourced)


def _problem_line(claim: CitationVerdict) -> str:
    line = f"- {claim.verdict.label} [{claim.number}]：{fence_safe(claim.statement)}（{fence_safe(claim.reason)}）"
    return "\n".join((line, OPEN_FENCE, fence_safe(claim.passage), CLOSE_FENCE)) if claim.passage else line


_FENCE = re.compile(r"<\s*(/?)\s*(sources?|answer)", re.IGNORECASE)
_WRAPPED = re.compile(r"^(?:<answer>|```(?:markdown|md)?\n)(.*?)(?:</answer>|\n```)$", re.DOTALL | re.IGNORECASE)


def _escape_fences(text: str) -> str:
    return _FENCE.sub(r"‹\1\2", text)


def extract_version(reply: str) -> str:
    """Return the new version without the tags or fences that some models put around it."""
    text = clean(reply).strip()
    found = _WRAPPED.match(text)
    return found[1].strip() if found else text
