"""Prompt templates are files beside this one; `$name` is filled in, everything else is sent as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from string import Template

from core.base.settings import ModelChoice
from core.base.text import fold, is_chinese

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Preview:
    """A prompt as a model would be sent it, and the file that it was made from."""

    path: Path
    messages: Sequence[tuple[str, str]]
    """Role and text: system, human."""
    notice: str = ""
    """Why another template is used than the one that was asked for."""

    @property
    def template(self) -> str:
        return self.path.read_text("utf-8-sig")


@cache
def template_text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text("utf-8").strip()


LONGEST_QUERY = 150
"""Of a model's making. Keywords are short; a query longer than this carries something out."""
SAME_WORDS = 20
"""So many characters in a row that also stand in the instructions are a quotation of them."""


def quotes_instructions(query: str) -> bool:
    """Whether a model searches for what it was told by us, which nobody has a reason to."""
    folded = fold(query)
    starts = range(len(folded) - SAME_WORDS + 1)
    return any(folded[start : start + SAME_WORDS] in instructions() for start in starts)


@cache
def instructions() -> str:
    return "\n".join(
        fold(path.read_text("utf-8"))
        for path in sorted(FOLDER.glob("*.md"))
        if path.name.startswith(("agent_", "query_rewriting"))
    )


def fill(name: str, **values: str) -> str:
    return Template(template_text(name)).substitute(values)


def chat_system(wanted: str, *, question: str, model: ModelChoice) -> str:
    """The name of the template that says how to answer: the configured variant, or the one for this model and language."""
    if wanted == "auto":
        wanted = "small" if model.small else "chinese" if is_chinese(question) else "english"
    return "chat_system" if wanted == "chinese" else f"chat_system_{wanted}"


def answer_prompt(
    question: str, context: str, *, system: str, today: date, turns: Sequence[tuple[str, str]] = (), before: str = ""
) -> list[tuple[str, str]]:
    """`context`: the sources, or why there are none; `turns` and `before`: what was said before, as messages or as text."""
    asked = fill("chat_question", context=context, question=question) if context else question
    return [
        ("system", fill(system, date=today.isoformat())),
        *turns,
        ("human", f"{before}\n{asked}" if before else asked),
    ]
