"""The prompt templates: files beside this one. `$name` is filled in, everything else is sent as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from string import Template

from core.base.settings import ModelChoice
from core.base.text import is_chinese, normalize
from core.search import CLOSE_FENCE

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """A prompt as a model would get it, and the file of its template."""

    path: Path
    messages: Sequence[tuple[str, str]]
    """Pairs of role (system, human) and text."""
    notice: str = ""
    """The reason why another template is used than the requested one."""

    @property
    def template(self) -> str:
        return self.path.read_text("utf-8-sig")


@cache
def template_text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text("utf-8").strip()


MAX_MODEL_QUERY_LENGTH = 150
"""Characters of a query that a model wrote. Keywords are short; a longer query may carry data out."""
QUOTATION_LENGTH = 20
"""Characters in a row that also stand in the instructions. So many are a quotation of them."""


def contains_instructions(query: str) -> bool:
    """Return whether a model's query repeats our instructions. No honest search does that."""
    folded = normalize(query)
    starts = range(len(folded) - QUOTATION_LENGTH + 1)
    return any(folded[start : start + QUOTATION_LENGTH] in instruction_text() for start in starts)


@cache
def instruction_text() -> str:
    return "\n".join(
        normalize(path.read_text("utf-8"))
        for path in sorted(FOLDER.glob("*.md"))
        if path.name.startswith(("agent_", "query_rewriting"))
    )


def fill_template(name: str, **values: str) -> str:
    return Template(template_text(name)).substitute(values)


def chat_system_template(variant: str, *, question: str, model: ModelChoice) -> str:
    """Return the name of the system template: the configured variant, or the one for this model and language."""
    if variant == "auto":
        variant = "small" if model.is_small else "chinese" if is_chinese(question) else "english"
    return "chat_system" if variant == "chinese" else f"chat_system_{variant}"


def _question_template(system: str, context: str) -> str:
    """Return the name of the template for a question behind its context. A small model forgets what stands before the
    sources, so it is asked for their numbers again behind them."""
    asks_again = system == "chat_system_small" and CLOSE_FENCE in context
    return "chat_question_small" if asks_again else "chat_question"


def answer_prompt(
    question: str,
    context: str,
    *,
    system: str,
    today: date,
    turns: Sequence[tuple[str, str]] = (),
    preface: str = "",
) -> list[tuple[str, str]]:
    """Return the messages of a prompt. `context`: the sources, or why there are none. `turns`: the conversation so far as
    messages. `preface`: what stands before all that: the wishes of the caller, and the conversation as text."""
    template = _question_template(system, context)
    asked = fill_template(template, context=context, question=question) if context else question
    return [
        ("system", fill_template(system, date=today.isoformat())),
        *turns,
        ("human", f"{preface}\n{asked}" if preface else asked),
    ]


def instructions_text(instructions: str) -> str:
    """Return what the caller wishes of the answer, as it stands before the question; empty where nothing is wished."""
    return f"{fill_template('instructions', instructions=instructions)}\n" if instructions else ""
