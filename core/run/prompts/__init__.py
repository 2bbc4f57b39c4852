"""The prompt templates: files beside this one. `$name` is filled in, everything else is sent as it stands."""

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


LONGEST_QUERY = 150
"""Characters of a query that a model wrote. Keywords are short; a longer query may carry data out."""
SAME_WORDS = 20
"""Characters in a row that also stand in the instructions. So many are a quotation of them."""


def quotes_instructions(query: str) -> bool:
    """Return whether a model's query repeats our instructions. No honest search does that."""
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
    """Return the name of the system template: the configured variant, or the one for this model and language."""
    if wanted == "auto":
        wanted = "small" if model.small else "chinese" if is_chinese(question) else "english"
    return "chat_system" if wanted == "chinese" else f"chat_system_{wanted}"


def answer_prompt(
    question: str, context: str, *, system: str, today: date, turns: Sequence[tuple[str, str]] = (), before: str = ""
) -> list[tuple[str, str]]:
    """Return the messages of a prompt. `context`: the sources, or why there are none. `turns` or `history_text`: the
    conversation so far, as messages or as text."""
    asked = fill("chat_question", context=context, question=question) if context else question
    return [
        ("system", fill(system, date=today.isoformat())),
        *turns,
        ("human", f"{before}\n{asked}" if before else asked),
    ]
