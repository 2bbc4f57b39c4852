"""What one browser session remembers between reruns, in st.session_state."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from core.answer.message import Message, Mode, new_id, questions_of
from core.app import App, shared_app
from core.reading import Page
from core.run.mending import Mended
from core.run.question import Question
from core.run.run import Run
from core.search.cache import SessionCache

APP = "app"
ROUTED = "routed"
FIRST_RUN = "first_run"
UNHEARD = "unheard"
SEARCH_TOGGLE = "search_toggle"
CHAT_INPUT = "chat_input"
MODE = "mode"
CHAT: Mode = "chat"
AGENT: Mode = "agent"
RESTORED = "restored"
PAGE_OF_MESSAGES = 20


@dataclass(frozen=True)
class Task:
    future: Future[Any]
    words: str
    """What the reader is told meanwhile."""
    failed: str
    """Before the reason."""
    take: Callable[[Message, Any], None]
    """What becomes of the result."""


@dataclass
class ChatState:
    """The conversation on the screen. The widgets keep their own values under their own keys."""

    messages: list[Message] = field(default_factory=list)
    run: Run | None = None
    pending: Question | None = None
    """Accepted; the next run of the page starts answering it."""
    shown: int = PAGE_OF_MESSAGES
    """How many of the newest messages are drawn: Streamlit sends all of them again on every rerun."""
    unsent: str = ""
    """Why something was refused."""
    from_link: bool = False
    """What is in the box was put there by a link."""
    session_id: str = field(default_factory=new_id)
    conversation_id: str | None = None
    title: str = ""
    mode_note: Message | None = None
    """The last word about the mode: it may be said before there is a conversation to keep it in."""
    has_older: bool = False
    """The database holds messages before the first one here."""
    unread: bool = False
    """The address names a conversation that could not be read from the database yet."""
    read_only: bool = False
    """It is another's: nothing said here is kept before it is a copy of one's own."""
    share: str = ""
    """What opened it, where that is not its id."""
    reading_problem: str = ""
    """Why conversations cannot be read just now."""
    tasks: dict[str, Task] = field(default_factory=dict)
    """What a model is doing with an answer that is there, by the answer's id."""
    proposal: tuple[str, Mended] | None = None
    """Another version of the answer with this id, for the reader to decide on."""
    unfold: str = ""
    """The answer whose fold 依据核对 stays open: with other figures in its title Streamlit takes it for another one."""
    attached: tuple[Page, ...] = ()
    """What was read and waits for a question to be accepted that takes it along."""
    files: dict[str, tuple[Page, ...]] = field(default_factory=dict)
    """What was attached to questions of the conversation, by the question's id, the newest last."""
    has_kept_files: bool = False
    """The database may hold others; nobody has looked yet."""
    remarks: dict[str, str] = field(default_factory=dict)
    """What is to be said below an answer about something that was tried with it, by the answer's id."""

    def settle(self) -> None:
        """A run that is over becomes a message, whoever ended it."""
        run = self.run
        if run is not None and run.done:
            self.run = None
            self.messages.append(run.message())

    def interrupt(self) -> None:
        """Ends the current run, if any, and keeps what it wrote."""
        if self.run is not None:
            self.run.cancel()
            self.settle()

    def note(self, text: str) -> Message:
        """A word of the program's in the conversation; no model ever reads it."""
        self.messages.append(Message("note", text))
        return self.messages[-1]

    def put(self, message: Message) -> None:
        """In place of the one with the same id."""
        self.messages = [message if known.id == message.id else known for known in self.messages]

    def last_question(self) -> Message | None:
        return next((message for message in reversed(self.messages) if message.role == "user"), None)

    def question_of(self, answer: Message) -> str:
        return questions_of(self.messages).get(answer.id, "")

    def cut_from(self, message: Message) -> None:
        """Forgets this message and everything after it."""
        gone = self.messages[self.messages.index(message) :]
        del self.messages[-len(gone) :]
        self.files = {id: files for id, files in self.files.items() if id not in {one.id for one in gone}}


def chat() -> ChatState:
    if "chat" not in st.session_state:
        st.session_state.chat = ChatState()
    current: ChatState = st.session_state.chat
    return current


def begin() -> App:
    """Bind the App for this run of the page and return it. Home.py calls this first, for whatever page."""
    st.session_state[APP] = shared_app()
    st.session_state[FIRST_RUN] = ROUTED not in st.session_state
    st.session_state[ROUTED] = True
    chat().settle()
    return app()


def app() -> App:
    """Return the App of this run of the page. What a page draws gets it as an argument."""
    bound: App = st.session_state.get(APP) or shared_app()
    return bound


def through_router() -> None:
    """Sends a page that was opened without Home.py through it.

    Until some session has called st.navigation, Streamlit takes the files in pages/ for pages of its own and runs one
    of them alone when its address is opened first.
    """
    if ROUTED not in st.session_state:
        PagesManager.uses_pages_directory = False
        st.rerun()


def mode() -> Mode:
    return AGENT if st.session_state.get(MODE) == AGENT else CHAT


def session_cache() -> SessionCache:
    """What was searched in this session in Agent mode; never shared, gone with the session."""
    if "session_cache" not in st.session_state:
        st.session_state.session_cache = SessionCache()
    cache: SessionCache = st.session_state.session_cache
    return cache


def search_enabled() -> bool:
    return bool(st.session_state.get(SEARCH_TOGGLE, False))


def check_interrupted() -> None:
    """Reading the session's state raises Streamlit's stop signal in a script run that has been superseded."""
    st.session_state.get(SEARCH_TOGGLE)
