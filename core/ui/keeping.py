"""The conversation on the screen and the one in the database. A database that fails never stops the conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import streamlit as st

from core import VISITOR_COOKIE
from core.answer.message import Message
from core.app import App, shared_app
from core.base.errors import AppError
from core.base.visitors import LOOPBACK, Visitor, neighbourhood
from core.store import Conversation, KeptPage, new_conversation_id, title_of
from core.store.errors import ConversationNotFound
from core.ui import session

ADDRESS = "c"
"""The query parameter with the conversation's id."""

_MARK = re.compile(r"[A-Za-z0-9_-]{32}")
"""A visitor's mark as asgi.py makes it. No owner and no address looks like one."""


MARKS = "keeping_marks"
SETTLE_SECONDS = 0.5
"""A write takes some milliseconds; what takes longer is watched."""
COMMAND_SECONDS = 2.0
"""How long a click that changes the list of conversations waits for what was said before it."""

LOGIN_FIRST = "如果它是你登录后开始的，请先登录。"


def login_configured() -> bool:
    """Streamlit says who is logged in only where secrets.toml has a section [auth]."""
    return "is_logged_in" in st.user


def owner() -> str | None:
    """Who is logged in, where a login is configured; otherwise conversations belong to whoever has their address.

    Issuer and subject are the only claims that OpenID promises to be unique and lasting: an e-mail address may be
    unverified, and may belong to somebody else next year.
    """
    subject = st.user.get("sub")
    return f"{st.user.get('iss')} {subject}" if st.user.get("is_logged_in") and subject else None


def visitor() -> str | None:
    """Who is logged in, or this browser, as asgi.py has marked it: it lists the conversations that were opened here.

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
    conversation, who = session.chat().conversation_id, owner()
    return lambda: app.read_pages.load(conversation, message.id, owner=who) if conversation else {}


def problem(app: App) -> str:
    """Why something cannot be kept or read just now."""
    return app.outbox.problem or session.chat().reading_problem


def open_from_address() -> None:
    """A reload, a bookmark, a click on an older conversation: the address says which one to show.

    Called before the sidebar is drawn, because the conversation's mode is the value of a widget there.
    """
    chat = session.chat()
    wanted = st.query_params.get(ADDRESS, "")
    if wanted and wanted != chat.conversation_id:
        chat.interrupt()
        st.session_state.chat = chat = session.ChatState(
            session_id=chat.session_id, conversation_id=wanted, unread=True
        )
    if chat.unread and chat.run is None and chat.pending is None:
        _read(chat)


def _read(chat: session.ChatState) -> None:
    """While the database is away the conversation goes on in memory, and is read as soon as it is back."""
    app, id = shared_app(), chat.conversation_id
    assert id is not None
    waiting = app.outbox.waiting_messages(id, owner=owner())
    try:
        page = app.store.load(id, owner=owner())
    except ConversationNotFound as error:
        if waiting:  # about to be kept
            chat.messages = _joined(waiting, chat.messages)
            return
        del st.query_params[ADDRESS]
        chat.conversation_id, chat.unread, chat.reading_problem = None, False, ""
        for message in chat.messages:  # it went on in memory, under an id that turns out not to be the reader's
            keep(app, message)
        chat.note(f"{error}{LOGIN_FIRST}" if login_configured() and not owner() else str(error))
    except AppError as error:
        chat.reading_problem = str(error)
        chat.messages = _joined(waiting, chat.messages)
    else:
        if who := visitor():
            app.outbox.remember(who, id)
        chat.unread, chat.reading_problem = False, ""
        chat.title, chat.has_older = page.conversation.title, page.has_more
        chat.messages = _joined(page.messages, waiting, chat.messages)
        st.session_state[session.MODE] = session.AGENT if page.conversation.mode == "agent" else session.CHAT


def _joined(*parts: Iterable[Message]) -> list[Message]:
    """Each message once, in its first place, in its newest state."""
    return list({message.id: message for part in parts for message in part}.values())


def keep(app: App, message: Message) -> None:
    """Sends a message on its way to the database, and gives the conversation its address with the first one."""
    chat = session.chat()
    if chat.conversation_id is None:
        chat.conversation_id = new_conversation_id()
        app.outbox.create(chat.conversation_id, owner=owner(), mode=session.mode().lower())
        if who := visitor():
            app.outbox.remember(who, chat.conversation_id)
        if chat.mode_note:
            app.outbox.save(chat.conversation_id, chat.mode_note, owner=owner())
    app.outbox.save(chat.conversation_id, message, owner=owner())
    if not chat.title and message.role == "user":
        chat.title = title_of(message.text)


def keep_mode(app: App, note: Message) -> None:
    """The next reload opens the conversation in the mode it was left in, with the word that said so."""
    chat = session.chat()
    chat.mode_note = note
    if chat.conversation_id is not None:
        app.outbox.set_mode(chat.conversation_id, session.mode().lower(), owner=owner())
        app.outbox.save(chat.conversation_id, note, owner=owner())


def forget_from(app: App, message: Message) -> None:
    """The database forgets this message and everything after it, and a title that came from it."""
    chat = session.chat()
    questions = [asked for asked in chat.messages if asked.role == "user"]
    if questions and message is questions[0] and not chat.has_older and chat.title == title_of(message.text):
        chat.title = ""
    if chat.conversation_id is not None:
        app.outbox.truncate_from(chat.conversation_id, message.id, owner=owner())


def keep_run(app: App) -> None:
    chat = session.chat()
    if chat.run is not None and chat.conversation_id is not None:
        app.keeper.keep(chat.run, chat.conversation_id, owner=owner())


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
    if chat.conversation_id and st.query_params.get(ADDRESS) != chat.conversation_id:
        st.query_params[ADDRESS] = chat.conversation_id


def load_older(app: App) -> None:
    chat = session.chat()
    if not chat.has_older or chat.conversation_id is None or not chat.messages:
        return
    with _tolerant(chat):
        page = app.store.load(chat.conversation_id, owner=owner(), before=chat.messages[0].id)
        chat.messages[:0] = page.messages
        chat.has_older = page.has_more


def recent(app: App) -> tuple[Conversation, ...]:
    chat = session.chat()
    who = visitor()
    found: tuple[Conversation, ...] = ()
    if who is not None:
        with _tolerant(chat):
            found = app.store.recent(owner(), visitor=who, limit=15)
    return found


def rename(app: App, id: str, key: str) -> None:
    chat = session.chat()
    with _tolerant(chat):
        app.outbox.flush(COMMAND_SECONDS)
        app.store.rename(id, st.session_state[key], owner=owner())
        if id == chat.conversation_id:
            chat.title = st.session_state[key]


def delete(app: App, id: str) -> None:
    chat = session.chat()
    with _tolerant(chat):
        app.outbox.flush(COMMAND_SECONDS)
        app.store.delete(id, owner=owner())
    if chat.conversation_id == id:
        chat.interrupt()
        st.session_state.chat = session.ChatState(session_id=chat.session_id)
        st.query_params.clear()


def open_conversation(id: str) -> None:
    st.query_params[ADDRESS] = id


def everything(app: App) -> Callable[[], list[Message]]:
    """Loads every message, also those that are not on the screen: for an export, which is made outside the session."""
    chat, who = session.chat(), owner()
    messages, id, has_older = list(chat.messages), chat.conversation_id, chat.has_older

    def load() -> list[Message]:
        if id is None or not has_older:
            return messages
        try:
            return list(app.store.load(id, owner=who, last=None).messages)
        except AppError:
            return messages

    return load
