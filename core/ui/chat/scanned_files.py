"""Scans attached at the input: they are recognized while the reader sees how far that is, then the question is sent."""

from __future__ import annotations

import streamlit as st

from core.base.text import one_line, shorten
from core.reading import FileReading
from core.ui import session
from core.ui.escape import escape_label

POLL_SECONDS = 1.0
_QUESTION_LENGTH = 40


def draw() -> None:
    """Draw how far the recognition is, and the button that stops it."""
    if session.chat().scans:
        st.fragment(_draw, run_every=POLL_SECONDS)()


def _draw() -> None:
    chat = session.chat()
    if all(scan.is_done for scan in chat.scans):
        st.rerun()
    asked = (
        f"；完成后发送「{shorten(one_line(chat.scanned_question), _QUESTION_LENGTH)}」" if chat.scanned_question else ""
    )
    with st.container(key="scans", horizontal=True, vertical_alignment="center", gap="xsmall"):
        status = "；".join(_status(scan) for scan in chat.scans if not scan.is_done)
        st.caption(escape_label(f"{status}{asked}"), width="content")
        st.button("停止识别", key="stop-scans", icon=":material/stop_circle:", on_click=_stop)


def _status(scan: FileReading) -> str:
    place, count = scan.progress
    where = f"第 {place}/{count} 页" if count else "……"
    return f"「{scan.name}」是扫描件，正在识别{where}"


def _stop() -> None:
    for scan in session.chat().scans:
        scan.stop()
        scan.wait(POLL_SECONDS)
