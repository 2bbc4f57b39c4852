"""按核对结果改写: a model gets its own answer and the problems that the check found, and writes another version.

The new text is not trusted: it is checked like the first one, and the reader decides between the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.answer.checked import AnswerCheck
from core.answer.claims import PROBLEMS, UNCITED, Claim, claims
from core.answer.message import Message
from core.base.errors import InputError
from core.base.text import clean
from core.base.threads import in_a_thread
from core.llm.errors import ModelError
from core.llm.model import Model
from core.llm.one_shot import ask_once
from core.llm.pieces import TokenUsage
from core.llm.tokens import estimate_tokens
from core.run.checking import Texts
from core.run.checking import check as check_against
from core.run.prompts import fill
from core.search.format import CLOSE_FENCE, OPEN_FENCE, inert

SECONDS = 120.0
TOKENS_BESIDES = 2_048
"""Tokens beyond the length of the answer, because some models think first."""
MOST_PROBLEMS = 30


@dataclass(frozen=True, slots=True)
class Mended:
    text: str
    check: AnswerCheck | None
    usage: TokenUsage


class NothingToMend(InputError):
    happened = "模型没有改动这个回答。"


def has_problems(check: AnswerCheck) -> bool:
    return bool(check.uncited) or any(claim.verdict in PROBLEMS for claim in claims(check))


async def mended(message: Message, check: AnswerCheck, texts: Texts, model: Model) -> Mended:
    """Ask the model for another version and check it. Raises a ModelError, or NothingToRevise."""
    tokens = 2 * estimate_tokens(message.text) + TOKENS_BESIDES
    said, usage = await ask_once(model, prompt_for(message.text, check), tokens=tokens, seconds=SECONDS)
    if usage.cut_off:
        raise ModelError("改写没有写完。", cure="请重试。")
    text = version_in(said)
    if not text or text == clean(message.text).strip():
        raise NothingToMend
    found = message.found
    again = await in_a_thread(lambda: check_against(text, found, texts), name="wenyuan-checks")
    return Mended(text, again, usage)


def prompt_for(text: str, check: AnswerCheck) -> str:
    problems = list(_problems(check))[:MOST_PROBLEMS]
    return fill("mend", problems="\n".join(problems), answer=_fenced_in(clean(text)))


def _problems(check: AnswerCheck) -> Iterator[str]:
    yield from (_problem(claim) for claim in claims(check) if claim.verdict in PROBLEMS)
    yield from (f"- {UNCITED}：{inert(statement.text)}" for statement in check.uncited)


def _problem(claim: Claim) -> str:
    said = f"- {claim.verdict.label} [{claim.number}]：{inert(claim.statement)}（{inert(claim.reason)}）"
    return "\n".join((said, OPEN_FENCE, inert(claim.passage), CLOSE_FENCE)) if claim.passage else said


_FENCE = re.compile(r"<\s*(/?)\s*(sources?|answer)", re.IGNORECASE)
_WRAPPED = re.compile(r"^(?:<answer>|```(?:markdown|md)?\n)(.*?)(?:</answer>|\n```)$", re.DOTALL | re.IGNORECASE)


def _fenced_in(text: str) -> str:
    return _FENCE.sub(r"‹\1\2", text)


def version_in(said: str) -> str:
    """Return the new version without the tags or fences that some models put around it."""
    text = clean(said).strip()
    found = _WRAPPED.match(text)
    return found[1].strip() if found else text
