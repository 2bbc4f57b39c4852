"""Synchronization of the conversation on the screen with the database. A database that fails never stops it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from core.answer.check_results import CHECKER_VERSION, AnswerCheck
from core.answer.message import Message, new_id
from core.app import App
from core.base.errors import AppError
from core.base.text import clean
from core.reading import FileError
from core.reading import Page as ReadPage
from core.store import (
    ChosenCollection,
    ConversationNotFound,
    MessagePage,
    ShareNotFound,
    StoredPage,
    make_title,
    new_conversation_id,
)
from core.ui import identity, scripts, session
from core.ui.page_picture import DrawPage

ADDRESS = "c"
"""Query parameter with the conversation's id."""
SHARED = "s"
"""Query parameter with a share, which opens a conversation for reading only."""
NOTES = "unsaved_notes"
SETTLE_SECONDS = 0.5
"""Longest wait for writes after a page is drawn. They take some milliseconds; what takes longer is watched."""
FLUSH_SECONDS = 2.0
"""Longest wait of a click for earlier writes, if it needs the database up to date."""
EXPORT_SECONDS = 20.0
"""Longest wait of an export for checks that are made again."""
LOGIN_FIRST = "如果它是你登录后开始的，请先登录。"
COOKIES_OFF = "这个浏览器没有保存 Cookie，所以刷新之后认不出自己的对话；请允许 Cookie，再开始新对话。"
GONE = "这个对话已经打不开了，它可能在另一个标签页里被删除。"
UNDO_THERE = "删除之后 30 分钟内，可以在那里点「撤销」。"
LOOK = "look"
"""Query parameter with which the page asks for what was said elsewhere: core/ui/scripts/tabs.js adds it."""
CHANGED = "changed_conversation"


@contextmanager
def reading_problems_noted(chat: session.ChatState) -> Iterator[None]:
    """Turn a database that cannot be read into a remark of the page."""
    try:
        yield
        chat.reading_problem = ""
    except AppError as error:
        chat.reading_problem = str(error)


def open_conversation(id: str) -> None:
    st.query_params.from_dict({ADDRESS: id})


def open_from_address(app: App) -> None:
    """Show the conversation that the address names: after a reload, a bookmark, a click on an older one. Call it before
    the sidebar is drawn, because the conversation's mode is the value of a widget there."""
    chat = session.chat()
    wanted = st.query_params.get(ADDRESS, "")
    share = "" if wanted else st.query_params.get(SHARED, "")
    if (wanted and wanted != chat.conversation_id) or (share and share != chat.share):
        chat.stop_run()
        st.session_state.chat = chat = session.ChatState(
            session_id=chat.session_id, conversation_id=wanted or None, share=share, unread=True
        )
    if st.query_params.pop(LOOK, ""):
        with suppress(ConversationNotFound):
            catch_up(app)
    if chat.unread and chat.run is None and chat.pending is None:
        _load(app, chat)


def _load(app: App, chat: session.ChatState) -> None:
    """Load the conversation. While the database is away it goes on in memory, and is read as soon as that is back."""
    try:
        id = app.store.find_shared(chat.share) if chat.share else chat.conversation_id or ""
        page = _load_page(app, chat, id)
    except ConversationNotFound as error:
        _leave_missing(app, chat, error)
    except AppError as error:
        chat.reading_problem = str(error)
        chat.messages = _join(_unsaved_messages(app, chat), chat.messages)
    else:
        _show(app, chat, page)


def _load_page(app: App, chat: session.ChatState, id: str) -> MessagePage:
    try:
        return app.store.load(id, visitor_id=_reader(chat), share=chat.share)
    except ConversationNotFound:
        if not (mark := identity.browser()) or mark == _reader(chat):
            raise
        page = app.store.load(id, visitor_id=mark)
        chat.opened_as = mark
        return replace(page, may_change=False)


def _reader(chat: session.ChatState) -> str:
    """Return the name under which the open conversation is read."""
    return chat.opened_as or identity.reader()


def _unsaved_messages(app: App, chat: session.ChatState) -> tuple[Message, ...]:
    return app.outbox.pending_messages(chat.conversation_id or "", visitor_id=identity.reader())


def _leave_missing(app: App, chat: session.ChatState, error: ConversationNotFound) -> None:
    """Say that there is no such conversation, unless the database has not got it yet."""
    if unsaved := _unsaved_messages(app, chat):
        chat.messages = _join(unsaved, chat.messages)
        return
    st.query_params.clear()
    advice = "" if chat.share else _advice()
    chat.conversation_id, chat.share, chat.unread, chat.reading_problem = None, "", False, ""
    for message in chat.messages:  # written meanwhile, under an id that turns out not to be the reader's
        save_message(app, message)
    chat.add_note(f"{error}{advice}")


def _advice() -> str:
    """Return what helps if the conversation is the reader's own after all."""
    if identity.visitor() is None:
        return COOKIES_OFF
    return LOGIN_FIRST if identity.is_login_configured() and not identity.owner() else ""


def _show(app: App, chat: session.ChatState, page: MessagePage) -> None:
    written = chat.messages
    chat.conversation_id = page.conversation.id
    chat.unread, chat.reading_problem, chat.read_only = False, "", not page.may_change
    chat.title, chat.has_older = page.conversation.title, page.has_more
    chat.collections = page.conversation.collections or chat.collections
    chat.messages = _join(page.messages, _unsaved_messages(app, chat), written)
    chat.may_have_stored_files = True
    st.session_state[session.MODE] = page.conversation.mode.lower()  # it was stored as "Chat" or "Agent" at first
    if chat.share and page.may_change:  # the reader's own conversation
        chat.share = ""
        open_conversation(page.conversation.id)
    if chat.read_only and written:  # it went on in memory, and turns out to be another's
        with reading_problems_noted(chat):
            fork_if_read_only(app)
            for message in written:
                save_message(app, message)


def _join(*parts: Iterable[Message]) -> list[Message]:
    """Return each message once, in its first place and its newest state."""
    return list({message.id: message for part in parts for message in part}.values())


# ── Other tabs, devices and servers ───────────────────────────────────────────────────────────────────────────────


def catch_up(app: App) -> bool:
    """Show what was said and changed elsewhere since, and return whether there was any. Raise ConversationNotFound, and begin
    a new conversation, if it was deleted or its share withdrawn. While the database is away nothing changes."""
    chat = session.chat()
    if chat.conversation_id is None or chat.unread:
        return False
    before = _list_texts(chat.messages)
    try:
        if not _has_news(app, chat):
            return False
        count = max(len(chat.messages), session.MESSAGES_PER_PAGE)
        page = app.store.load(chat.conversation_id, visitor_id=_reader(chat), share=chat.share, last=count)
    except ConversationNotFound:
        return _leave_deleted(app, chat)
    except AppError:
        return False
    running = chat.run.id if chat.run else ""
    stored = (message for message in page.messages if message.id != running)
    chat.messages = _join(stored, _unsaved_messages(app, chat))
    chat.title, chat.has_older, chat.may_have_stored_files = page.conversation.title, page.has_more, True
    return _list_texts(chat.messages) != before


def _has_news(app: App, chat: session.ChatState) -> bool:
    """Return whether the newest messages in the database are others than those here. One query: this is asked with every
    question."""
    id, last = chat.conversation_id or "", session.MESSAGES_PER_PAGE
    own = {message.id for message in chat.messages[-last:] if app.outbox.unsaved_reason(message.id)}
    own |= {message.id for message in _unsaved_messages(app, chat)} | {chat.run.id if chat.run else ""}
    rows = app.store.newest_texts(id, visitor_id=_reader(chat), share=chat.share, last=last)
    there = [(id, text) for id, role, text in rows if role != "note" and id not in own]
    here = [text for text in _list_texts(chat.messages) if text[0] not in own]
    return (here[-len(there) :] if len(rows) == last else here) != there


def _list_texts(messages: Iterable[Message]) -> list[tuple[str, str]]:
    return [(message.id, clean(message.text)) for message in messages if message.role != "note"]


def _leave_deleted(app: App, chat: session.ChatState) -> bool:
    """Begin a new conversation, unless the database has not got this one yet."""
    if app.outbox.has_pending(chat.conversation_id or ""):
        return False
    gone = ShareNotFound() if chat.share else ConversationNotFound(GONE, cure=UNDO_THERE)
    chat.stop_run()
    st.query_params.clear()
    new = session.ChatState(
        session_id=chat.session_id, waiting_files=chat.waiting_files, waiting_bodies=chat.waiting_bodies
    )
    st.session_state.chat = new
    new.add_note(str(gone))
    raise gone


def note_change(id: str) -> None:
    """Let the other tabs of this browser know of a change, when it is saved and all is drawn."""
    st.session_state[CHANGED] = id


def tell_other_tabs() -> None:
    """Tell of the change. The script has another text each time, because the browser runs none twice."""
    if id := st.session_state.pop(CHANGED, ""):
        scripts.tell_other_tabs(id, new_id())


# ── Whose it is, and what is saved ────────────────────────────────────────────────────────────────────────────────


def fork_if_read_only(app: App) -> None:
    """Copy a conversation of another visitor, and continue in the copy. Raises an AppError, and changes nothing then."""
    chat = session.chat()
    if not chat.read_only or chat.conversation_id is None:
        return
    copy = app.store.copy(chat.conversation_id, visitor_id=_reader(chat), share=chat.share, owner=identity.owner())
    chat.conversation_id, chat.share, chat.opened_as, chat.read_only = copy, "", "", False
    open_conversation(copy)
    if chat.mode_note:
        save_mode(app, chat.mode_note)
    if chat.collections:
        choose_collections(app, chat.collections)


def update_address() -> None:
    """Name the conversation in the address after its first message, so that a reload finds it again."""
    chat = session.chat()
    if chat.conversation_id and not chat.share and st.query_params.get(ADDRESS) != chat.conversation_id:
        st.query_params[ADDRESS] = chat.conversation_id


def load_older(app: App) -> None:
    """Load the messages before the first one on the screen."""
    chat = session.chat()
    if not chat.has_older or chat.conversation_id is None or not chat.messages:
        return
    with reading_problems_noted(chat):
        first, who = chat.messages[0], _reader(chat)
        page = app.store.load(chat.conversation_id, visitor_id=who, share=chat.share, before=first.id)
        chat.messages[:0] = page.messages
        chat.has_older = page.has_more


def all_messages_loader(app: App) -> Callable[[], list[Message]]:
    """Return a function that loads every message, also those not on the screen. It may be called outside the session."""
    chat, who = session.chat(), _reader(session.chat())
    messages, id, share, has_older = list(chat.messages), chat.conversation_id, chat.share, chat.has_older

    def load() -> list[Message]:
        found: Sequence[Message] = messages
        if id is not None and has_older:
            with suppress(AppError):
                found = app.store.load(id, visitor_id=who, share=share, last=None).messages
        return with_repeated_checks(app, found, id or "", visitor_id=who, share=share)

    return load


def save_message(app: App, message: Message) -> None:
    """Save a message in the background. The first one gives the conversation its id and its title."""
    chat = session.chat()
    id = chat.conversation_id or _begin(app, chat)
    app.outbox.save(id, message, visitor_id=identity.reader())
    note_change(id)
    if not chat.title and message.role == "user":
        chat.title = make_title(message.text)


def _begin(app: App, chat: session.ChatState) -> str:
    chat.conversation_id = id = new_conversation_id()
    chat.share, chat.unread = "", False
    st.query_params.pop(SHARED, None)
    app.outbox.create(id, owner=identity.owner(), visitor_id=identity.reader(), mode=session.mode())
    if chat.mode_note:
        app.outbox.save(id, chat.mode_note, visitor_id=identity.reader())
    if chat.collections:
        app.outbox.set_collections(id, chat.collections, visitor_id=identity.reader())
    return id


def save_mode(app: App, note: Message) -> None:
    """Save the mode and the note about it. The next reload opens the conversation in the mode it was left in."""
    chat = session.chat()
    chat.mode_note = note
    if chat.conversation_id is not None and not chat.read_only:
        app.outbox.set_mode(chat.conversation_id, session.mode(), visitor_id=identity.reader())
        app.outbox.save(chat.conversation_id, note, visitor_id=identity.reader())


def choose_collections(app: App, chosen: tuple[ChosenCollection, ...]) -> None:
    """Use these collections of documents for all questions to come, and keep the choice with the conversation."""
    chat = session.chat()
    chat.collections = chosen
    if chat.conversation_id is not None and not chat.read_only:
        app.outbox.set_collections(chat.conversation_id, chosen, visitor_id=identity.reader())


def truncate_from(app: App, message: Message) -> None:
    """Delete this message and everything after it from the database, and a title that came from it."""
    chat = session.chat()
    first = next((one for one in chat.messages if one.role == "user"), None)
    if message is first and not chat.has_older and chat.title == make_title(message.text):
        chat.title = ""
    if chat.conversation_id is not None:
        app.outbox.truncate_from(chat.conversation_id, message.id, visitor_id=identity.reader())
        note_change(chat.conversation_id)


def save_run(app: App) -> None:
    """Save the running answer while it grows."""
    chat = session.chat()
    if chat.run is not None and chat.conversation_id is not None:
        id, who = chat.conversation_id, identity.reader()
        app.keeper.save_while_running(chat.run, id, visitor_id=who, question_id=chat.asked_id)


def storage_problem(app: App) -> str:
    """Return the reason why something cannot be saved or read at the moment, or what has become of old conversations."""
    return app.outbox.problem or session.chat().reading_problem or app.database.damage_note


def unsaved_note(app: App, message: Message) -> str:
    """Return the note on a message that the database does not have; an empty string for one that it has."""
    reason = app.outbox.unsaved_reason(message.id)
    return f"尚未保存：{reason}" if reason else ""


def watch_unsaved(app: App) -> None:
    """Check every two seconds while something is not saved. Call it when all is drawn. The page runs again only if a
    note changes, because a rerun closes what the reader has just opened."""
    if not app.outbox.flush(SETTLE_SECONDS):
        st.session_state[NOTES] = _unsaved_notes(app)
        _rerun_on_change(app)


@st.fragment(run_every=2.0)
def _rerun_on_change(app: App) -> None:
    if session.chat().run is None and _unsaved_notes(app) != st.session_state.get(NOTES):
        st.rerun()


def _unsaved_notes(app: App) -> tuple[str, ...]:
    return (app.outbox.problem, *(unsaved_note(app, message) for message in session.chat().messages))


# ── Checks that are made again ────────────────────────────────────────────────────────────────────────────────────


def save_repeated_check(app: App, entry: Message, check: AnswerCheck | None) -> None:
    """Save the check of an answer whose own one was of another version. Readers of another's conversation only see it."""
    if check is None or entry.check is None or check.version == entry.check.version:
        return
    chat, who, checked = session.chat(), identity.reader(), entry.with_repeated_check(check)
    chat.replace_message(checked)
    if chat.conversation_id is not None and not chat.read_only:
        save = partial(app.store.save_check, chat.conversation_id, checked, visitor_id=who)
        app.outbox.add_write(chat.conversation_id, save, visitor_id=who)


def watch_checks(app: App) -> None:
    """Show the checks that are being made again as soon as they are made. Call it when all is drawn."""
    chat = session.chat()
    if chat.run is None and any(map(_is_unchecked, chat.messages[-chat.shown :])):
        _rerun_when_checked(app)


@st.fragment(run_every=1.0)
def _rerun_when_checked(app: App) -> None:
    if any(app.checks.is_repeated(message) for message in session.chat().messages if _is_unchecked(message)):
        st.rerun()


def _is_unchecked(message: Message) -> bool:
    return message.check is not None and message.check.version != CHECKER_VERSION


def with_repeated_checks(
    app: App, messages: Iterable[Message], id: str, *, visitor_id: str | None, share: str = ""
) -> list[Message]:
    """Return the messages with their checks made again where necessary, for a file. The reader waits for it, some time."""
    end = time.monotonic() + EXPORT_SECONDS

    def checked(message: Message) -> Message:
        load = partial(app.read_pages.load, id, message.id, visitor_id=visitor_id, share=share, sources=message.sources)
        patience = max(0.0, end - time.monotonic())
        return message.with_repeated_check(app.checks.check_for(message, load, patience=patience))

    return [checked(message) if _is_unchecked(message) else message for message in messages]


# ── Files and pages that were read ────────────────────────────────────────────────────────────────────────────────


def read_pages_loader(app: App, message: Message) -> Callable[[], dict[int, StoredPage]]:
    """Return a function that loads the pages read for an answer, in any thread. It raises a StoreError."""
    return partial(pages_by_answer_loader(app), message)


def pages_by_answer_loader(app: App, conversation_id: str = "") -> Callable[[Message], dict[int, StoredPage]]:
    """Return a function that loads the pages of an answer of this conversation, or of the visitor's own that is named.
    It works in any thread and raises a StoreError."""
    chat = session.chat()
    id, who, share = chat.conversation_id, _reader(chat), chat.share
    if conversation_id:
        id, who, share = conversation_id, identity.reader(), ""

    def load(message: Message) -> dict[int, StoredPage]:
        if not id:
            return {}
        return app.read_pages.load(id, message.id, visitor_id=who, share=share, sources=message.sources)

    return load


def page_drawer(app: App, name: str, address: str) -> DrawPage:
    """Return a function that draws the pages of a PDF that was attached in this conversation. It asks each time whether the
    reader may still see it."""
    chat, who = session.chat(), _reader(session.chat())

    def draw(number: int, passages: Sequence[str]) -> bytes:
        body = app.read_pages.load_file(chat.conversation_id or "", address, visitor_id=who, share=chat.share)
        if body is None:
            raise FileError("gone", name=name)
        return app.reader.draw_page(body, number, passages, name=name)

    return draw


def save_files(app: App, message: Message, files: Sequence[ReadPage]) -> None:
    """Save files with the question that they were attached to, and the PDFs among them as they are. Later questions use
    them too."""
    chat, who = session.chat(), identity.reader()
    pages = dict(enumerate(files, 1))
    bodies = {number: body for number, file in pages.items() if (body := chat.waiting_bodies.pop(file.address, b""))}
    if files and chat.conversation_id is not None:
        chat.files[message.id] = tuple(files)
        save = partial(app.read_pages.save, chat.conversation_id, message.id, pages, visitor_id=who, bodies=bodies)
        app.outbox.add_write(chat.conversation_id, save, visitor_id=who)


def attached_files(app: App) -> dict[str, tuple[ReadPage, ...]]:
    """Return the files of this conversation by the id of their question, the newest last."""
    chat = session.chat()
    if chat.may_have_stored_files and chat.conversation_id is not None:
        with reading_problems_noted(chat):
            who = _reader(chat)
            stored = app.read_pages.load_attachments(chat.conversation_id, visitor_id=who, share=chat.share)
            chat.files = {id: tuple(file.to_page() for file in files) for id, files in stored.items()} | chat.files
            chat.may_have_stored_files = False
    return chat.files
