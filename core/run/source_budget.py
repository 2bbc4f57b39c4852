"""How many tokens of a prompt the sources get: a share of what the model takes, less history, question and answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from core.answer.events import Notice
from core.base.settings import Settings
from core.llm import Model, estimate_tokens
from core.llm.errors import ModelContextExceeded

USABLE_SHARE = 0.8
"""Share of the context length that a prompt may fill by our estimate of tokens, which is right to about a quarter."""
ANSWER_SHARE, MOST_FOR_ANSWER = 8, 8_000
"""An answer gets an eighth of the context length, at most so many tokens."""
FEWEST_TOKENS = 500
MOST_FOR_FOUND = 8_000
"""Tokens for what the program finds by itself: five results hardly have more about a question, and each costs money."""
FEWEST_FOR_SEARCH = 3_000
"""Tokens that what is found gets as long as they are there."""
LESS_GIVEN = Notice(
    "context_exceeded", "内容超过了模型的上下文长度，模型服务没有接受，已减少交给模型的来源和历史后重试一次。"
)
"""The notice on a second try with less."""
EXCERPT_TOKENS = 3_000
"""Tokens of text in which the embedded model looks for sentences to quote."""


@dataclass(frozen=True, slots=True)
class SourceBudget:
    tokens: int
    """For all sources of a prompt together."""
    for_found: int
    """Of these, for pages, articles and documents that were found. The reader's own files get the rest."""
    room: int
    """What the model could take. It limits an agent, whose prompt gets longer with each thing that it reads."""

    @classmethod
    def fixed(cls, tokens: int) -> SourceBudget:
        return cls(tokens, tokens, tokens)

    def limited(self, tokens: int) -> SourceBudget:
        """Return the same budget, of at most so many tokens."""
        most = max(tokens, FEWEST_TOKENS)
        return replace(self, tokens=min(self.tokens, most), for_found=min(self.for_found, most))


class GrowingPrompt:
    """The sources in an agent's prompt, which stay in it to the end of the run."""

    def __init__(self, budget: SourceBudget) -> None:
        self.budget = budget
        self.used = 0
        self.turns = asyncio.Lock()
        """Held by a tool from its budget to what it adds: tools run side by side."""

    def restart(self, budget: SourceBudget) -> None:
        """Begin a new prompt with another budget."""
        self.budget, self.used = budget, 0

    def files_budget(self) -> SourceBudget:
        """Return the budget for the reader's own files, which are read first: all but what the first search needs."""
        room = self.budget.room
        return self.budget.limited(room - min(room // 2, self.budget.for_found))

    def next_budget(self) -> SourceBudget:
        """Return the budget for what is read next: half of the room that is left, or as much as one search needs."""
        left = self.budget.room - self.used
        return self.budget.limited(max(left // 2, min(left, FEWEST_FOR_SEARCH)))

    @property
    def is_full(self) -> bool:
        return self.used >= self.budget.room

    def add(self, text: str) -> None:
        self.used += estimate_tokens(text)


def prompt_room(context_length: int, *, beside: int) -> int:
    """Return the tokens that a prompt has for sources. `beside`: those of the rest of it."""
    answer = min(context_length // ANSWER_SHARE, MOST_FOR_ANSWER)
    return max(int(context_length * USABLE_SHARE) - answer - beside, FEWEST_TOKENS)


def source_budget(settings: Settings, room: int) -> SourceBudget:
    """Return the configured budget, else all of the room."""
    configured = settings.chat.source_tokens
    if configured != "auto":
        return SourceBudget(configured, configured, max(configured, room))
    return SourceBudget(room, min(room, MOST_FOR_FOUND), room)


def excerpt_budget(settings: Settings) -> SourceBudget:
    """Return the budget of the embedded model, which takes any length."""
    configured = settings.chat.source_tokens
    return SourceBudget.fixed(EXCERPT_TOKENS if configured == "auto" else configured)


async def budget_after_refusal(
    budget: SourceBudget, settings: Settings, model: Model, error: ModelContextExceeded, *, prompt: int, beside: int
) -> SourceBudget:
    """Return a smaller budget after a prompt of `prompt` tokens was refused for its length: by the length that the service
    has named, and at most half of what it was. Our estimate of tokens may be wrong."""
    model.note_refused_length(error.limit, estimated=prompt)
    room = prompt_room(await model.context_length(), beside=beside)
    half = min(room, budget.tokens // 2)
    return replace(source_budget(settings, room), room=half).limited(half)


async def find_source_budget(settings: Settings, model: Model, *, beside: int) -> SourceBudget:
    """Return the budget for a prompt of this model, whose other parts have so many tokens."""
    if model.choice.is_embedded:
        return excerpt_budget(settings)
    return source_budget(settings, prompt_room(await model.context_length(), beside=beside))
