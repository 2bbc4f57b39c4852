"""Callbacks for the reader's clicks and inputs. They run before the page is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.answer.message import Message, Mode
from core.app import App
from core.base.errors import AppError, InputError
from core.base.logs import add_log_ids
from core.reading import Page
from core.run import ABOUT_FILES, AnswerOptions, AnswerService, Question
from core.search.types import DOCUMENTS, Source
from core.store import ChosenCollection, ConversationNotFound, StoreError
from core.ui import conversation_sync, document_access, identity, session, visitor_preferences
from core.ui.chat import attachments, collection_choice, search_switch, settings_panel
from core.ui.chat.commands import help_text, parse_command
from core.ui.escape import escape_label
from core.ui.settings import own_key
from core.ui.uploads import ChatInputResult

AGENT_DECIDES = "Agent 模式下由 AI 自动决策搜索"
AGENT_ON = "已切换到 Agent 模式：AI 会自己决定是否搜索、搜索什么、搜索几次，每一步都会显示出来。"
CHAT_ON = "已切换到 Chat 模式：是否搜索由「联网」开关决定。"
CONTINUE_PROMPT = "请从中断的地方接着写，不要重复已经写出的内容。"
STILL_IN_BOX = "原文还在输入框里。"
SEEN_NOW = "这个对话在另一个标签页里有新的内容，现在已经显示出来。请看过之后再点一次。"
NO_ENGINE = "没有可用的搜索引擎，联网搜索无法打开。"


def submit(app: App) -> None:
    """Handle the text and files that were sent from the chat box."""
    _handle_input(app, *attachments.split_input(st.session_state[session.CHAT_INPUT]))


def stash_first_input(typed: ChatInputResult) -> None:
    """Stash the first input of a new session and rerun. A page may outlive its session if the server restarts or
    another one takes over. Its first input comes before any callback is registered, so the next run handles it."""
    text, _ = attachments.split_input(typed)  # files went to the session before this one, and with it
    if text and st.session_state[session.FIRST_RUN]:
        st.session_state[session.STASHED_INPUT] = text
        st.rerun()


def submit_stashed(app: App) -> None:
    if typed := st.session_state.pop(session.STASHED_INPUT, ""):
        _handle_input(app, typed)


def _handle_input(app: App, typed: str, files: Sequence[UploadedFile] = ()) -> None:
    chat = session.chat()
    unread = attachments.read_uploads(app, files)
    if command := parse_command(typed):
        run_command(app, command)
        session.chat().refusal = unread
    elif unread:
        chat.refusal = unread + attachments.NOT_SENT * bool(typed.strip())
        st.session_state[session.CHAT_INPUT] = typed
    elif chat.scans and files:
        chat.scanned_question = typed if typed.strip() else ABOUT_FILES
    elif typed.strip() or chat.waiting_files:
        ask(app, typed if typed.strip() else ABOUT_FILES)
        chat = session.chat()
        if chat.refusal:
            chat.refusal += STILL_IN_BOX
            st.session_state[session.CHAT_INPUT] = typed


def submit_scanned(app: App) -> None:
    """Send the question that has waited for its files to be recognized, once they are."""
    chat = session.chat()
    if not chat.scans or not all(scan.is_done for scan in chat.scans):
        return
    unread, typed = attachments.take_scans(), chat.scanned_question
    chat.scanned_question = ""
    if not typed:
        chat.refusal = unread
        return
    if unread:
        chat.refusal = unread + attachments.NOT_SENT
    else:
        ask(app, typed)
        chat = session.chat()
        chat.refusal += STILL_IN_BOX * bool(chat.refusal)
    if chat.refusal:
        st.session_state[session.CHAT_INPUT] = typed


def ask(app: App, text: str) -> None:
    """Send a question, which replaces what is still being answered. It is answered with all that was said in other tabs. If
    it is refused, `chat.refusal` says why."""
    try:
        conversation_sync.catch_up(app)
    except ConversationNotFound as error:
        session.chat().refusal = str(error)
        return
    chat = session.chat()
    files = chat.waiting_files
    if question := _accept_question(app, text, files):
        chat.stop_run()
        chat.waiting_files = ()
        _add_question(app, question, files)


def _accept_question(
    app: App, text: str, files: Sequence[Page], *, fresh: bool = False, read: tuple[Source, ...] = (), query: str = ""
) -> Question | None:
    """Return the accepted question. Returns None if it is refused, which changes nothing."""
    chat = session.chat()
    options = AnswerOptions(
        search=session.is_search_enabled() or bool(read or query),
        skip_caches=fresh,
        sources_to_read=read,
        files=attachments.files_for_question(app, files),
        collections=collection_choice.usable_ids(app),
        access=document_access.access(),
        query=query,
        visitor=identity.rate_limited_visitor(),
        session_cache=session.session_cache(),
        choices=settings_panel.current_choices(app),
        own_model=own_key.session_model(),
        has_reader=True,
    )
    try:
        question = app.chat.accept_question(text, options=options)
        conversation_sync.fork_if_read_only(app)
    except (InputError, StoreError, ConversationNotFound) as error:
        chat.refusal = str(error)
        return None
    chat.refusal, chat.from_link = "", False
    return question


def _add_question(app: App, question: Question, files: Sequence[Page]) -> None:
    message = Message("user", question.text, files=tuple(file.title for file in files))
    session.chat().messages.append(message)
    conversation_sync.save_message(app, message)
    conversation_sync.save_files(app, message, files)
    _queue_answer(question)


def _queue_answer(question: Question) -> None:
    """Queue the last message for an answer. The page starts it."""
    chat = session.chat()
    chat.asked += 1
    chat.asked_id = chat.messages[-1].id
    chat.pending = replace(question, history=tuple(chat.messages[:-1]))


def start_pending(app: App, *, is_shown: bool) -> None:
    """Start the pending question. The script calls this itself, because a run belongs to the script that follows it.
    The first question of Agent mode is shown before it is started: LangChain's agents take seconds to import."""
    chat = session.chat()
    agent = session.mode() == session.AGENT
    if chat.pending is None or (agent and not app.is_agent_built and not is_shown):
        return
    question, chat.pending = chat.pending, None
    if agent and question.options.skip_caches:
        session.session_cache().clear()
    service: AnswerService = app.agent if agent else app.chat
    add_log_ids(conversation=chat.conversation_id or "")
    chat.run = service.start(question)
    conversation_sync.save_run(app)


def switch_mode(app: App, mode: Mode) -> None:
    """Stop the current run, keeping its text, and note the new mode."""
    st.session_state[session.MODE] = mode
    chat = session.chat()
    chat.stop_run()
    visitor_preferences.save({"mode": mode})
    conversation_sync.save_mode(app, chat.add_note(AGENT_ON if mode == session.AGENT else CHAT_ON))


def fill_input(app: App, question: str, mode: Mode) -> None:
    """Put a question into the box for the reader to edit and send. Turns search on, so that there will be sources."""
    st.session_state[session.CHAT_INPUT] = question
    if mode != session.mode():
        switch_mode(app, mode)
    if mode == session.CHAT and app.search.has_engines:
        search_switch.set_search(True)


def search_again(app: App, key: str) -> None:
    """Answer again after a search for the words in the widget with this key, or for the question if it is empty."""
    if asked := session.chat().last_question():
        answer_again(app, fresh=True, query=st.session_state[key].strip() or asked.text)


def answer_again(app: App, *, fresh: bool = False, read: tuple[Source, ...] = (), query: str = "") -> None:
    """Answer the last question again, after reading the sources in `read`, in place of the answer that is there."""
    chat = session.chat()
    asked = chat.last_question()
    if asked is None or _is_outdated(app):
        return
    files = conversation_sync.attached_files(app).get(asked.id, ())
    query = query or _previous_query(app, asked)
    if question := _accept_question(app, asked.text, files, fresh=fresh, read=read, query=query):
        chat.stop_run()
        after = chat.messages.index(asked) + 1
        if chat.messages[after:]:
            conversation_sync.truncate_from(app, chat.messages[after])
            chat.remove_from(chat.messages[after])
        _queue_answer(question)


def continue_answer(app: App, answer: Message) -> None:
    """Ask the model to go on where an answer broke off. What was searched for it is searched again, not the request."""
    if _is_outdated(app):
        return
    chat = session.chat()
    asked = chat.last_question()
    searched = [search.response.query.text for search in answer.searches if search.response.provider != DOCUMENTS]
    wants_search = session.mode() == session.CHAT and (searched or session.is_search_enabled())
    query = [*([asked.text] if asked else []), *searched][-1] if wants_search else ""
    if question := _accept_question(app, CONTINUE_PROMPT, (), query=query):
        chat.stop_run()
        _add_question(app, question, ())


def _is_outdated(app: App) -> bool:
    """Return whether the reader has not seen yet what was said in another tab; it is shown then. What they clicked was
    meant for something else."""
    try:
        is_outdated = conversation_sync.catch_up(app)
    except ConversationNotFound as error:
        session.chat().refusal = str(error)
        return True
    session.chat().refusal = SEEN_NOW if is_outdated else ""
    return is_outdated


def _previous_query(app: App, question: Message) -> str:
    """Return the rewritten query of the last search for this question, unless the reader has turned rewriting off."""
    messages = session.chat().messages
    searches = [search for answer in messages[messages.index(question) + 1 :] for search in answer.searches]
    wanted = settings_panel.current_choices(app).apply_to(app.settings).chat.standalone_queries
    return next((search.response.query.text for search in searches if search.asked and wanted), "")


def resend(app: App, key: str) -> None:
    """Replace the last question with the edited text in the widget with this key."""
    edited, chat = st.session_state[key], session.chat()
    asked = chat.last_question()
    if asked is None or not edited.strip() or _is_outdated(app):
        return
    files = conversation_sync.attached_files(app).get(asked.id, ())
    if question := _accept_question(app, edited, files):
        chat.stop_run()
        chat.changing_id = ""
        conversation_sync.truncate_from(app, asked)
        chat.remove_from(asked)
        _add_question(app, question, files)


def run_command(app: App, command: str) -> None:
    """Execute a chat command."""
    chat = session.chat()
    match command:
        case "/mode chat":
            switch_mode(app, session.CHAT)
        case "/mode agent":
            switch_mode(app, session.AGENT)
        case "/search on" | "/search off" if session.mode() == session.AGENT:
            chat.add_note(f"{AGENT_DECIDES}；要自己决定，请先切换到 Chat 模式。")
        case "/search on" if not app.search.has_engines:
            chat.add_note(f"{NO_ENGINE}{app.chain.no_engine_error.cure}")
        case "/search on":
            search_switch.set_search(True)
            chat.add_note(search_switch.SEARCH_ON)
        case "/search off":
            search_switch.set_search(False)
            chat.add_note(search_switch.SEARCH_OFF)
        case "/clear":
            clear()
        case "/help":
            chat.add_note(help_text())
        case _:
            chat.add_note(f"没有「{command}」这个命令。{help_text()}")


def clear() -> None:
    chat = session.chat()
    chat.stop_run()
    st.session_state.chat = session.ChatState(session_id=chat.session_id)
    st.query_params.clear()


def begin_with_collection(collection: ChosenCollection) -> None:
    """Begin a new conversation about a collection of documents."""
    clear()
    session.chat().collections = (collection,)


def copy_conversation(app: App) -> None:
    """Make a conversation of one's own of what was opened to be read."""
    try:
        conversation_sync.fork_if_read_only(app)
    except AppError as error:
        st.toast(escape_label(str(error)), icon=":material/error:")
    else:
        st.toast("已复制为你自己的对话，可以继续提问。", icon=":material/check:")


def show_older(app: App) -> None:
    chat = session.chat()
    chat.shown += session.MESSAGES_PER_PAGE
    if len(chat.messages) < chat.shown:
        conversation_sync.load_older(app)


def fill_from_address(app: App) -> None:
    """Fill the box from `/?q=…&mode=agent&search=1`, as a bookmark or a browser's search keyword opens it. Nothing is
    asked, because a link may come from anybody. What it switches counts for this session only."""
    asked = {name: st.query_params.pop(name) for name in ("q", "mode", "search") if name in st.query_params}
    if asked.get("mode") in (session.CHAT, session.AGENT):
        st.session_state[session.MODE] = asked["mode"]
    if asked.get("search") in ("0", "1") and app.search.has_engines:
        st.session_state[session.SEARCH_TOGGLE] = asked["search"] == "1"
    if question := asked.get("q", "").strip():
        st.session_state[session.CHAT_INPUT] = question
        session.chat().from_link = True


def open_article(slug: str) -> None:
    st.query_params["article"] = slug
