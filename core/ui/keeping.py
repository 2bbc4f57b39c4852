"""The conversation on the screen and the one in the database. A database that fails never stops the conversation."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from core import VISITOR_COOKIE
from core.answer.message import Message
from core.app import App, shared_app
from core.base.errors import AppError
from core.base.visitors import LOOPBACK, Visitor, neighbourhood
from core.reading import Page as ReadPage
from core.store import UNDO_SECONDS, Conversation, KeptPage, Page, new_conversation_id, title_of
from core.store.errors import ConversationNotFound
from core.ui import session

ADDRESS = "c"
"""The query parameter with the conversation's id."""
SHARED = "s"
"""The one with a share, which opens it for reading only."""

_MARK = re.compile(r"[A-Za-z0-9_-]{32}")
"""A visitor's mark as asgi.py makes it. No owner and no address looks like one."""


ACCOUNT = "account"
MARKS = "keeping_marks"
DELETED = "deleted_conversations"
SETTLE_SECONDS = 0.5
"""A write takes some milliseconds; what takes longer is watched."""
COMMAND_SECONDS = 2.0
"""How long a click that changes the list of conversations waits for what was said before it."""


@dataclass(frozen=True)
class Deleted:
    conversation: Conversation
    at: float
    was_open: bool


LOGIN_FIRST = "如果它是你登录后开始的，请先登录。"


def account() -> Mapping[str, Any]:
    """What Streamlit knows of who is logged in: decided when the page was opened.

    It is asked once, because where there is no secrets.toml it looks for one on the disk whenever it is asked.
    """
    if ACCOUNT not in st.session_state:
        st.session_state[ACCOUNT] = dict(st.user)
    known: Mapping[str, Any] = st.session_state[ACCOUNT]
    return known


def login_configured() -> bool:
    """Streamlit says who is logged in only where secrets.toml has a section [auth]."""
    return "is_logged_in" in account()


def owner() -> str | None:
    """Who is logged in, where a login is configured; otherwise conversations belong to whoever has their address.

    Issuer and subject are the only claims that OpenID promises to be unique and lasting: an e-mail address may be
    unverified, and may belong to somebody else next year.
    """
    known = account()
    subject = known.get("sub")
    return f"{known.get('iss')} {subject}" if known.get("is_logged_in") and subject else None


def visitor() -> str | None:
    """Who is logged in, or this browser, as asgi.py has marked it: who has conversations, and may change them.

    A mark that asgi.py did not write is none: nobody gets at another's list by making their name a cookie.
    """
    mark = st.context.cookies.get(VISITOR_COOKIE)
    return owner() or (mark if isinstance(mark, str) and _MARK.fullmatch(mark) else None)


def identity() -> Visitor:
    """Whose limits count: who is logged in, else this browser, else this session; and without a login the address too.

    The address is what asgi.py believes. Streamlit has none for this machine itself.
    """
    if account := owner():
        return Visitor(account)
    return Visitor(visitor() or session.chat().session_id, neighbourhood(str(st.context.ip_address or LOOPBACK)))


@contextmanager
def _tolerant(chat: session.ChatState) -> Iterator[None]:
    """A database that cannot be read takes nothing away from the page but what is in it."""
    try:
        yield
        chat.reading_problem = ""
    except AppError as error:
        chat.reading_problem = str(error)


def read_pages(app: App, message: Message) -> dict[int, KeptPage]:
    """What was read for an answer, as it is kept. Raises a StoreError."""
    return pages_of(app, message)()


def pages_of(app: App, message: Message) -> Callable[[], dict[int, KeptPage]]:
    """The same for a thread that has no session."""
    chat, who = session.chat(), visitor()
    conversation, share = chat.conversation_id, chat.share

    def load() -> dict[int, KeptPage]:
        if not conversation:
            return {}
        files = {source.url: source.number for source in message.found if source.read == "file"}
        attached = app.read_pages.attached(conversation, who=who, share=share).values() if files else ()
        kept = [
            replace(file, number=files[file.address]) for each in attached for file in each if file.address in files
        ]
        return app.read_pages.load(conversation, message.id, who=who, share=share) | {
            file.number: file for file in kept
        }

    return load


def keep_files(app: App, message: Message, files: Sequence[ReadPage]) -> None:
    """With the question that they were attached to, for the questions after it, too."""
    chat = session.chat()
    if files and chat.conversation_id is not None:
        chat.files[message.id] = tuple(files)
        save = partial(app.read_pages.save, chat.conversation_id, message.id, dict(enumerate(files, 1)), who=visitor())
        app.outbox.keep_with(chat.conversation_id, save, who=visitor())


def files(app: App) -> dict[str, tuple[ReadPage, ...]]:
    """What was attached to questions of this conversation, by the question's id, the newest last."""
    chat = session.chat()
    if chat.has_kept_files and chat.conversation_id is not None:
        with _tolerant(chat):
            kept = app.read_pages.attached(chat.conversation_id, who=visitor(), share=chat.share)
            chat.files = {id: tuple(file.as_page() for file in each) for id, each in kept.items()} | chat.files
            chat.has_kept_files = False
    return chat.files


def problem(app: App) -> str:
    """Why something cannot be kept or read just now."""
    return app.outbox.problem or session.chat().reading_problem


def open_from_address() -> None:
    """A reload, a bookmark, a click on an older conversation: the address says which one to show.

    Called before the sidebar is drawn, because the conversation's mode is the value of a widget there.
    """
    chat = session.chat()
    wanted = st.query_params.get(ADDRESS, "")
    share = "" if wanted else st.query_params.get(SHARED, "")
    if (wanted and wanted != chat.conversation_id) or (share and share != chat.share):
        chat.interrupt()
        st.session_state.chat = chat = session.ChatState(
            session_id=chat.session_id, conversation_id=wanted or None, share=share, unread=True
        )
    if chat.unread and chat.run is None and chat.pending is None:
        _read(chat)


def _read(chat: session.ChatState) -> None:
    """While the database is away the conversation goes on in memory, and is read as soon as it is back."""
    app, who = shared_app(), visitor()
    try:
        id = app.store.shared(chat.share) if chat.share else chat.conversation_id or ""
        page = app.store.load(id, who=who, share=chat.share)
    except ConversationNotFound as error:
        _not_found(chat, error)
    except AppError as error:
        chat.reading_problem = str(error)
        chat.messages = _joined(_waiting(app, chat), chat.messages)
    else:
        _show(app, chat, page)


def _waiting(app: App, chat: session.ChatState) -> tuple[Message, ...]:
    return app.outbox.waiting_messages(chat.conversation_id or "", who=visitor())


def _not_found(chat: session.ChatState, error: ConversationNotFound) -> None:
    app = shared_app()
    if waiting := _waiting(app, chat):  # about to be kept
        chat.messages = _joined(waiting, chat.messages)
        return
    st.query_params.clear()
    login_helps = login_configured() and not owner() and not chat.share
    chat.conversation_id, chat.share, chat.unread, chat.reading_problem = None, "", False, ""
    for message in chat.messages:  # it went on in memory, under an id that turns out not to be the reader's
        keep(app, message)
    chat.note(f"{error}{LOGIN_FIRST}" if login_helps else str(error))


def _show(app: App, chat: session.ChatState, page: Page) -> None:
    said = chat.messages
    chat.conversation_id = page.conversation.id
    chat.unread, chat.reading_problem, chat.read_only = False, "", not page.changeable
    chat.title, chat.has_older = page.conversation.title, page.has_more
    chat.messages = _joined(page.messages, _waiting(app, chat), said)
    chat.has_kept_files = True
    st.session_state[session.MODE] = session.AGENT if page.conversation.mode == "agent" else session.CHAT
    if chat.share and page.changeable:  # one's own
        chat.share = ""
        open_conversation(page.conversation.id)
    if chat.read_only and said:  # it went on in memory, and turns out to be another's
        with _tolerant(chat):
            own(app)
            for message in said:
                keep(app, message)


def _joined(*parts: Iterable[Message]) -> list[Message]:
    """Each message once, in its first place, in its newest state."""
    return list({message.id: message for part in parts for message in part}.values())


def own(app: App) -> None:
    """What was opened to be read goes on in a copy of one's own. Raises an AppError, and changes nothing then."""
    chat = session.chat()
    if not chat.read_only or chat.conversation_id is None:
        return
    copy = app.store.copy(chat.conversation_id, who=visitor(), share=chat.share, owner=owner())
    chat.conversation_id, chat.share, chat.read_only = copy, "", False
    open_conversation(copy)
    if chat.mode_note:
        keep_mode(app, chat.mode_note)


def keep(app: App, message: Message) -> None:
    """Sends a message on its way to the database, and gives the conversation its address with the first one."""
    chat = session.chat()
    if chat.conversation_id is None:
        _begin(app, chat)
    assert chat.conversation_id is not None
    app.outbox.save(chat.conversation_id, message, who=visitor())
    if not chat.title and message.role == "user":
        chat.title = title_of(message.text)


def _begin(app: App, chat: session.ChatState) -> None:
    chat.conversation_id = new_conversation_id()
    chat.share, chat.unread = "", False
    st.query_params.pop(SHARED, None)
    app.outbox.create(chat.conversation_id, owner=owner(), who=visitor(), mode=session.mode().lower())
    if chat.mode_note:
        app.outbox.save(chat.conversation_id, chat.mode_note, who=visitor())


def keep_mode(app: App, note: Message) -> None:
    """The next reload opens the conversation in the mode it was left in, with the word that said so."""
    chat = session.chat()
    chat.mode_note = note
    if chat.conversation_id is not None and not chat.read_only:
        app.outbox.set_mode(chat.conversation_id, session.mode().lower(), who=visitor())
        app.outbox.save(chat.conversation_id, note, who=visitor())


def forget_from(app: App, message: Message) -> None:
    """The database forgets this message and everything after it, and a title that came from it."""
    chat = session.chat()
    questions = [asked for asked in chat.messages if asked.role == "user"]
    if questions and message is questions[0] and not chat.has_older and chat.title == title_of(message.text):
        chat.title = ""
    if chat.conversation_id is not None:
        app.outbox.truncate_from(chat.conversation_id, message.id, who=visitor())


def keep_run(app: App) -> None:
    chat = session.chat()
    if chat.run is not None and chat.conversation_id is not None:
        app.keeper.keep(chat.run, chat.conversation_id, who=visitor())


def mark(app: App, message: Message) -> str:
    """What is said on a message that the database does not have; nothing on one that it has."""
    why = app.outbox.unkept(message.id)
    return f"尚未保存：{why}" if why else ""


def watch(app: App) -> None:
    """Called when all is drawn: while something is not kept, the page looks again by itself.

    It runs again only to say something else than it says now: a rerun closes what the reader has just opened.
    """
    if not app.outbox.flush(SETTLE_SECONDS):
        st.session_state[MARKS] = _marks(app)
        _look_again()


@st.fragment(run_every=2.0)
def _look_again() -> None:
    if session.chat().run is None and _marks(shared_app()) != st.session_state.get(MARKS):
        st.rerun()


def _marks(app: App) -> tuple[str, ...]:
    return (app.outbox.problem, *(mark(app, message) for message in session.chat().messages))


def show_in_address() -> None:
    """After the first message the address names the conversation, so that a reload finds it again."""
    chat = session.chat()
    if chat.conversation_id and not chat.share and st.query_params.get(ADDRESS) != chat.conversation_id:
        st.query_params[ADDRESS] = chat.conversation_id


def load_older(app: App) -> None:
    chat = session.chat()
    if not chat.has_older or chat.conversation_id is None or not chat.messages:
        return
    with _tolerant(chat):
        page = app.store.load(chat.conversation_id, who=visitor(), share=chat.share, before=chat.messages[0].id)
        chat.messages[:0] = page.messages
        chat.has_older = page.has_more


def everything(app: App) -> Callable[[], list[Message]]:
    """Loads every message, also those that are not on the screen: for an export, which is made outside the session."""
    chat, who = session.chat(), visitor()
    messages, id, share, has_older = list(chat.messages), chat.conversation_id, chat.share, chat.has_older

    def load() -> list[Message]:
        if id is None or not has_older:
            return messages
        try:
            return list(app.store.load(id, who=who, share=share, last=None).messages)
        except AppError:
            return messages

    return load


# ── The list of conversations. What changes it raises an AppError ─────────────────────────────────────────────────


def listed(app: App, words: str, limit: int) -> list[Conversation]:
    """The latest ones, the one that was begun just now included; with words, those in which they stand."""
    chat, who, found = session.chat(), visitor(), list[Conversation]()
    if who is None:
        return found
    begun = None if words else _on_its_way(app, chat)
    with _tolerant(chat):
        found += app.store.listed(who, words=words, limit=limit)
    if begun and all(entry.id != begun.id for entry in found):
        found.insert(0, begun)
    return found


def _on_its_way(app: App, chat: session.ChatState) -> Conversation | None:
    """What is open, as long as the database may not have it."""
    id = chat.conversation_id
    if id is None or not chat.title or not app.outbox.is_waiting(id):
        return None
    now = time.time()
    return Conversation(id, chat.title, session.mode().lower(), now, now)


def open_conversation(id: str) -> None:
    st.query_params.from_dict({ADDRESS: id})


def rename(app: App, id: str, title: str) -> None:
    app.outbox.flush(COMMAND_SECONDS)
    app.store.rename(id, title, who=visitor())
    chat = session.chat()
    if id == chat.conversation_id:
        chat.title = title_of(title)


def delete(app: App, entry: Conversation) -> None:
    """`undo` brings the latest one back."""
    chat = session.chat()
    was_open = chat.conversation_id == entry.id
    if was_open and chat.run is not None:
        chat.interrupt()
        keep(app, chat.messages[-1])
    app.outbox.flush(COMMAND_SECONDS)
    app.store.delete(entry.id, who=visitor())
    st.session_state.setdefault(DELETED, []).append(Deleted(entry, time.time(), was_open))
    if was_open:
        st.session_state.chat = session.ChatState(session_id=chat.session_id)
        st.query_params.clear()


def deleted() -> Deleted | None:
    """What can be brought back."""
    latest: Deleted | None = next(reversed(st.session_state.get(DELETED, [])), None)
    return latest if latest and time.time() - latest.at < UNDO_SECONDS else None


def undo(app: App) -> None:
    latest: Deleted = st.session_state[DELETED][-1]
    app.store.restore(latest.conversation.id, who=visitor())
    st.session_state[DELETED].pop()
    if latest.was_open:
        open_conversation(latest.conversation.id)


def share(app: App, id: str) -> str:
    app.outbox.flush(COMMAND_SECONDS)
    return app.store.share(id, who=visitor())


def withdraw(app: App, id: str) -> None:
    app.store.withdraw(id, who=visitor())


def whole(app: App, id: str) -> Callable[[], list[Message]]:
    """Loads every message of a conversation that need not be the open one, outside the session."""
    who = visitor()
    return lambda: list(app.store.load(id, who=who, last=None).messages)
