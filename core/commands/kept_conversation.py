"""Conversations of the command `ask`: kept with `--save`, gone on with by `--continue`. Only the operator can open them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.answer.message import Message
from core.serve import OPERATOR
from core.store import ConversationNotFound, new_conversation_id

if TYPE_CHECKING:
    from core.answer.message import Mode
    from core.app import App
    from core.reading import Page
    from core.run import Run

NAME = OPERATOR.visitor.name


class KeptConversation:
    """A conversation in the database. A new one is there as soon as its first answer is saved."""

    def __init__(self, app: App, id: str | None = None) -> None:
        """Open a conversation, or begin one without an id. Raise ConversationNotFound."""
        self.id = new_conversation_id() if id is None else id
        self.mode: Mode = "chat"
        self.history: Sequence[Message] = ()
        self.files: tuple[Page, ...] = ()
        self._app = app
        if id is not None:
            self._load()

    def _load(self) -> None:
        try:
            page = self._app.store.load(self.id, visitor_id=NAME, last=None)
        except ConversationNotFound:
            raise conversation_not_found(self.id) from None
        self.mode = "agent" if page.conversation.mode == "agent" else "chat"
        self.history = page.messages
        stored = self._app.read_pages.load_attachments(self.id, visitor_id=NAME)
        self.files = tuple(file.to_page() for files in stored.values() for file in files)

    def save(self, question: str, files: Sequence[Page], run: Run) -> None:
        """Add a question, the files that came with it, and its answer. Raise StoreError."""
        asked = Message("user", question, files=tuple(file.title for file in files))
        self._app.store.create(visitor_id=NAME, mode=run.mode, id=self.id)
        self._app.store.save(self.id, asked, visitor_id=NAME)
        self._app.read_pages.save(self.id, asked.id, dict(enumerate(files, 1)), visitor_id=NAME)
        self._app.store.save(self.id, run.message(), visitor_id=NAME, question_id=asked.id)


def conversation_not_found(id: str) -> ConversationNotFound:
    cure = "编号由 ask --save 和 conversation list 打印；这里没有页面上的对话。"
    return ConversationNotFound(f"没有编号为「{id[:40]}」的对话。", cure=cure)
