"""List of the reader's conversations, and functions that change them. Those raise an AppError on failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core.answer.message import Message
from core.app import App
from core.store import UNDO_SECONDS, Conversation, make_title
from core.ui import conversation_sync, identity, session
from core.ui.conversation_sync import FLUSH_SECONDS

DELETED = "deleted_conversations"


@dataclass(frozen=True)
class DeletedConversation:
    conversation: Conversation
    at: float
    was_open: bool


def list_conversations(app: App, words: str, limit: int) -> list[Conversation]:
    """Return the latest conversations, with the one that was just begun. With words, only those that contain them."""
    chat, who, conversations = session.chat(), identity.reader(), list[Conversation]()
    unsaved = None if words else _unsaved_conversation(app, chat)
    with conversation_sync.reading_problems_noted(chat):
        conversations += app.store.list_conversations(who, words=words, limit=limit)
    if unsaved and all(entry.id != unsaved.id for entry in conversations):
        conversations.insert(0, unsaved)
    return conversations


def _unsaved_conversation(app: App, chat: session.ChatState) -> Conversation | None:
    """Return the open conversation if the database may not have it yet."""
    id = chat.conversation_id
    if id is None or not chat.title or not app.outbox.has_pending(id):
        return None
    now = time.time()
    return Conversation(id, chat.title, session.mode(), now, now)


def rename(app: App, id: str, title: str) -> None:
    app.outbox.flush(FLUSH_SECONDS)
    app.store.rename(id, title, visitor_id=identity.reader())
    chat = session.chat()
    if id == chat.conversation_id:
        chat.title = make_title(title)


def delete(app: App, entry: Conversation) -> None:
    """Delete a conversation. `undo_delete` restores the latest one."""
    chat = session.chat()
    was_open = chat.conversation_id == entry.id
    if was_open and chat.run is not None:
        chat.stop_run()
        conversation_sync.save_message(app, chat.messages[-1])
    app.outbox.flush(FLUSH_SECONDS)
    app.store.delete(entry.id, visitor_id=identity.reader())
    conversation_sync.note_change(entry.id)
    st.session_state.setdefault(DELETED, []).append(DeletedConversation(entry, time.time(), was_open))
    if was_open:
        st.session_state.chat = session.ChatState(session_id=chat.session_id)
        st.query_params.clear()


def last_deleted() -> DeletedConversation | None:
    """Return the conversation that `undo_delete` would restore."""
    latest: DeletedConversation | None = next(reversed(st.session_state.get(DELETED, [])), None)
    return latest if latest and time.time() - latest.at < UNDO_SECONDS else None


def undo_delete(app: App) -> None:
    latest: DeletedConversation = st.session_state[DELETED][-1]
    app.store.restore(latest.conversation.id, visitor_id=identity.reader())
    st.session_state[DELETED].pop()
    if latest.was_open:
        conversation_sync.open_conversation(latest.conversation.id)


def share(app: App, id: str) -> str:
    """Return the share token that opens a conversation for reading. It is made if there is none."""
    app.outbox.flush(FLUSH_SECONDS)
    return app.store.share(id, visitor_id=identity.reader())


def withdraw_share(app: App, id: str) -> None:
    app.store.stop_sharing(id, visitor_id=identity.reader())


def messages_loader(app: App, id: str) -> Callable[[], list[Message]]:
    """Return a function that loads every message of a conversation. It may be called outside the session."""
    who = identity.reader()

    def load() -> list[Message]:
        found = app.store.load(id, visitor_id=who, last=None).messages
        return conversation_sync.with_repeated_checks(app, found, id, visitor_id=who)

    return load
