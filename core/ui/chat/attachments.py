"""Files attached at the input. They are read when sent, and wait until a question is accepted."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup
from streamlit.elements.widgets.chat import ChatInputValue
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.answer import ATTACHED
from core.app import App
from core.reading import FileError, FileReading, Page, Reader
from core.run import MAX_ATTACHED_FILES
from core.ui import conversation_sync, session
from core.ui.escape import escape_label
from core.ui.uploads import ChatInputResult

NOT_SENT = "问题还没有发送，还在输入框里；再发送一次，就不带读不出的文件提问。"


def split_input(typed: ChatInputResult) -> tuple[str, Sequence[UploadedFile]]:
    """Return the text and files of the chat input."""
    if isinstance(typed, ChatInputValue):
        return typed.text, typed.files
    return typed or "", ()


def read_uploads(app: App, files: Sequence[UploadedFile]) -> str:
    """Read uploads and keep them for the next question. Those with scanned pages begin to be recognized. Returns the problems of
    files that cannot be read."""
    chat, problems = session.chat(), list[str]()
    for file in files:
        try:
            if len(chat.waiting_files) + len(chat.scans) >= app.reader.max_files:
                raise FileError("many", name=file.name, most=app.reader.max_files)
            if page := _read_without_recognition(app.reader, file):
                _add_file(chat, page, file.getvalue())
            else:
                chat.scans += (FileReading(app.reader, file.name, file.getvalue()),)
        except FileError as error:
            problems.append(str(error))
    return "".join(problems)


def _read_without_recognition(reader: Reader, file: UploadedFile) -> Page | None:
    """Return the file; None if text can be recognized on pages of it. Raise FileError."""
    try:
        page = reader.read_file(file.name, file.getvalue(), scanned_pages=0)
    except FileError as error:
        if error.reason in ("scanned", "picture") and reader.can_recognize:
            return None
        raise
    return None if page.unread_pages and reader.can_recognize else page


def take_scans() -> str:
    """Keep the files that were recognized for the next question. Returns the problems of those that could not be."""
    chat = session.chat()
    scans, chat.scans = chat.scans, ()
    for scan in scans:
        if scan.page:
            _add_file(chat, scan.page, scan.body)
    return "".join(scan.problem for scan in scans)


def _add_file(chat: session.ChatState, page: Page, body: bytes) -> None:
    """Keep a file. The bytes of a PDF are kept too, to show its pages."""
    chat.waiting_files = tuple({known.address: known for known in (*chat.waiting_files, page)}.values())
    if page.kind == "pdf":
        chat.waiting_bodies[page.address] = body


def draw_waiting() -> None:
    """Draw the files that the next question takes along, above the box."""
    chat = session.chat()
    if not chat.waiting_files:
        return
    with st.container(key="waiting-files", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption("会随下一个问题发送：", width="content")
        for number, file in enumerate(chat.waiting_files):
            st.button(
                escape_label(file.title),
                key=f"detach-{number}",
                icon=":material/close:",
                help="不带这个文件",
                on_click=_detach,
                args=(file,),
            )


def _detach(file: Page) -> None:
    chat = session.chat()
    chat.waiting_files = tuple(one for one in chat.waiting_files if one is not file)
    chat.waiting_bodies.pop(file.address, None)


def files_for_question(app: App, own_files: Sequence[Page]) -> tuple[Page, ...]:
    """Return the question's own files, then those attached before it, newest first."""
    before = [file for files in reversed(conversation_sync.attached_files(app).values()) for file in files]
    return tuple({file.address: file for file in (*own_files, *before)}.values())[:MAX_ATTACHED_FILES]


def file_chips(names: Sequence[str]) -> Markup:
    """Return the file names shown in the bubble of a question."""
    each = (Markup('<span class="wy-file"><span>%s</span> %s</span>') % (ATTACHED, name) for name in names)
    return Markup('<div class="wy-files">%s</div>') % Markup().join(each) if names else Markup()
