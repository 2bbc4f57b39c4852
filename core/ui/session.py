"""State of one browser session between reruns, in st.session_state."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from core.answer.events import Checked
from core.answer.message import Message, Mode, new_id, questions_by_answer
from core.app import App, shared_app
from core.reading import FileReading, Page
from core.run import Question, Revision, Run
from core.search import SessionCache
from core.store import ChosenCollection

APP = "app"
ROUTED = "routed"
FIRST_RUN = "first_run"
STASHED_INPUT = "unheard"
SEARCH_TOGGLE = "search_toggle"
CHAT_INPUT = "chat_input"
MODE = "mode"
CHAT: Mode = "chat"
AGENT: Mode = "agent"
RESTORED = "restored"
MESSAGES_PER_PAGE = 20


@dataclass
class AnswerTask:
    future: Future[Any]
    status_text: str
    """Text shown to the reader meanwhile."""
    failure_prefix: str
    """Text before the reason of a failure."""
    on_result: Callable[[Message, Any], None]
    """Callback that takes the answer and the result."""
    was_drawn: bool = False
    """True if the page shows it. What has ended before is taken with the next poll."""


@dataclass
class ChatState:
    """Conversation on the screen. Widgets keep their own values under their own keys."""

    messages: list[Message] = field(default_factory=list)
    run: Run | None = None
    pending: Question | None = None
    """Accepted question that the next run of the page starts to answer."""
    asked: int = 0
    """Number of questions that were sent or sent again here. With a new one the page goes to the question."""
    asked_id: str = ""
    """Id of the question that `run` answers, or that `pending` is."""
    shown: int = MESSAGES_PER_PAGE
    """Number of newest messages that are drawn. Streamlit sends all of them again on every rerun."""
    refusal: str = ""
    """Reason why an input was refused."""
    from_link: bool = False
    """True if a link has filled the input box."""
    session_id: str = field(default_factory=new_id)
    conversation_id: str | None = None
    title: str = ""
    collections: tuple[ChosenCollection, ...] = ()
    """Collections of documents that the reader has chosen for this conversation."""
    mode_note: Message | None = None
    """Last note about the mode. It may be shown before there is a conversation to store it in."""
    has_older: bool = False
    """True if the database has messages before the first one here."""
    unread: bool = False
    """True if the address names a conversation that could not be read from the database yet."""
    read_only: bool = False
    """True if the conversation is another visitor's. It is copied before anything is stored."""
    opened_as: str = ""
    """Mark of this browser, if it began the conversation before the account logged in. The account may read and copy it."""
    share: str = ""
    """Share link token that opened the conversation, if it was not opened by its id."""
    reading_problem: str = ""
    """Reason why conversations cannot be read at the moment."""
    tasks: dict[str, AnswerTask] = field(default_factory=dict)
    """Running tasks on finished answers, by the answer's id."""
    proposal: tuple[str, Revision] | None = None
    """Id of an answer and its proposed revision, for the reader to decide on."""
    changing_id: str = ""
    """Id of the answer whose question is being changed. The dialog stays open when the page runs again meanwhile."""
    reviews: dict[str, Future[Checked | None]] = field(default_factory=dict)
    """Reviews of answers that began by themselves and are not followed yet, by the answer's id."""
    unfolded_id: str = ""
    """Id of the answer whose fold 依据核验 stays open. With a new title Streamlit takes it for another widget."""
    waiting_files: tuple[Page, ...] = ()
    """Files that were read and wait for the next accepted question."""
    waiting_bodies: dict[str, bytes] = field(default_factory=dict)
    """Bytes of the PDFs among them, by their address."""
    scans: tuple[FileReading, ...] = ()
    """Files whose pages are being recognized for the next question."""
    scanned_question: str = ""
    """The question that is sent when they are."""
    files: dict[str, tuple[Page, ...]] = field(default_factory=dict)
    """Files attached to questions of the conversation, by the question's id, newest last."""
    may_have_stored_files: bool = False
    """True if the database may have more files that were not loaded yet."""
    remarks: dict[str, str] = field(default_factory=dict)
    """Remarks shown below answers about a failed task, by the answer's id."""

    def collect_finished_run(self) -> None:
        """Turn a finished run into a message, whoever ended it."""
        run = self.run
        if run is not None and run.done:
            self.run = None
            self.reviews[run.id] = run.review_future
            self.messages.insert(self._place_of_answer(), run.message())

    def _place_of_answer(self) -> int:
        """Return the place behind the question. Another tab may have asked a later one meanwhile."""
        places = (place for place, message in enumerate(self.messages, 1) if message.id == self.asked_id)
        return next(places, len(self.messages))

    def stop_run(self) -> None:
        """Stop the current run, if any, and keep what it wrote."""
        if self.run is not None:
            self.run.cancel()
            self.collect_finished_run()

    def add_note(self, text: str) -> Message:
        """Add a note of the program to the conversation. No model ever reads it."""
        self.messages.append(Message("note", text))
        return self.messages[-1]

    def replace_message(self, message: Message) -> None:
        """Replace the message with the same id."""
        self.messages = [message if known.id == message.id else known for known in self.messages]

    def last_question(self) -> Message | None:
        return next((message for message in reversed(self.messages) if message.role == "user"), None)

    def question_of(self, answer: Message) -> str:
        return questions_by_answer(self.messages).get(answer.id, "")

    def remove_from(self, message: Message) -> None:
        """Remove this message and everything after it."""
        gone = self.messages[self.messages.index(message) :]
        del self.messages[-len(gone) :]
        for message in gone:
            self.files.pop(message.id, None)
            self.tasks.pop(message.id, None)
            self.reviews.pop(message.id, None)


def chat() -> ChatState:
    if "chat" not in st.session_state:
        st.session_state.chat = ChatState()
    current: ChatState = st.session_state.chat
    return current


def begin_script_run() -> App:
    """Bind the App for this run of the page and return it. Home.py calls this first, for whatever page."""
    st.session_state[APP] = shared_app()
    st.session_state[FIRST_RUN] = ROUTED not in st.session_state
    st.session_state[ROUTED] = True
    chat().collect_finished_run()
    return app()


def app() -> App:
    """Return the App of this run of the page. What a page draws gets it as an argument."""
    bound: App = st.session_state.get(APP) or shared_app()
    return bound


def require_router() -> None:
    """Send a page that was opened without Home.py through it. Until some session has called st.navigation, Streamlit
    takes the files in pages/ for pages of its own. It runs one of them alone when its address is opened first."""
    if ROUTED not in st.session_state:
        PagesManager.uses_pages_directory = False
        st.rerun()


def mode() -> Mode:
    return AGENT if st.session_state.get(MODE) == AGENT else CHAT


def session_cache() -> SessionCache:
    """Return the searches of this session in Agent mode. They are never shared and end with the session."""
    if "session_cache" not in st.session_state:
        st.session_state.session_cache = SessionCache()
    cache: SessionCache = st.session_state.session_cache
    return cache


def is_search_enabled() -> bool:
    return bool(st.session_state.get(SEARCH_TOGGLE, False))


def check_interrupted() -> None:
    """Stop a superseded script run. Reading the session's state raises Streamlit's stop signal there."""
    st.session_state.get(SEARCH_TOGGLE)
