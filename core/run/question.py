"""A question on its way to an answer, in either mode, with everything that belongs to it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.answer.message import Message
from core.base.errors import InputError
from core.base.settings import Settings
from core.base.text import clean, is_blank
from core.base.visitors import COMMAND_LINE, Visitor
from core.base.web_addresses import find_urls
from core.documents import Access
from core.llm import Model
from core.reading import Page
from core.run.approvals import Approvals
from core.run.choices import NO_CHOICES, Choices
from core.run.configured import Configured
from core.run.run_sources import RunSources
from core.search import SessionCache
from core.search.types import Source

ABOUT_FILES = "请概括附件的主要内容。"
"""The question of a reader who sends files without a text."""
MAX_ATTACHED_FILES = 10
"""The largest number of files that go with one question: its own, and the newest of those before."""
NO_ACCESS = Access()
"""Of a program that asks without a reader: it finds only what everybody may read."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    search: bool = False
    """Chat mode: search the web first. The agent decides for itself."""
    skip_caches: bool = False
    """Search again instead of using the caches."""
    visitor: Visitor = COMMAND_LINE
    """The visitor whose limits count."""
    sources_to_read: tuple[Source, ...] = ()
    """Sources of an earlier answer whose pages the reader wants to be read first."""
    files: tuple[Page, ...] = ()
    """The reader's files, attached to this question and to earlier ones of the conversation."""
    collections: tuple[str, ...] = ()
    """Ids of the reader's collections of documents that the answer may use."""
    access: Access = NO_ACCESS
    """Under what name the collections are opened."""
    query: str = ""
    """Chat mode: the words that the reader wants to be searched for. Empty: the question, rewritten to stand alone."""
    session_cache: SessionCache | None = None
    """Agent mode: earlier searches of this session. The cache ends with the session."""
    choices: Choices = NO_CHOICES
    instructions: str = ""
    """What the caller wishes of the answer: the system messages of a program. The rules of citations stand above them."""
    may_be_reviewed: bool = True
    """True if the model may review the finished answer without being asked."""
    own_model: Model | None = None
    """The model behind the reader's own key; it answers instead of the installation's."""
    has_reader: bool = False
    """True if somebody follows the answer who can be asked whether a tool may be used."""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    history: Sequence[Message]
    options: AnswerOptions
    configured: Configured
    """The parts under which it was asked, to the end of its answer."""
    settings: Settings
    """The settings with the reader's choices."""
    model: Model
    """The model that these settings name."""
    run_sources: RunSources = field(default_factory=RunSources)
    """The sources that are found and read on the way."""
    approvals: Approvals = field(default_factory=Approvals)

    @property
    def links(self) -> tuple[str, ...]:
        """The addresses that the user typed, now or before. Links from anywhere else are never opened."""
        before = [message.text for message in self.history if message.role == "user"]
        return find_urls("\n".join((self.text, *reversed(before))))


def validate_question(question: str, *, limit: int) -> str:
    """Return the cleaned question. Raises an InputError that says why it cannot be sent."""
    question = clean(question).strip()
    if is_blank(question):
        raise InputError("消息是空的，没有发送。", cure="请输入问题。")
    if len(question) > limit:
        raise InputError(
            f"消息有 {len(question):,} 个字符，超过了 {limit:,} 个字符的上限，没有发送。", cure="请缩短后再发送。"
        )
    return question
