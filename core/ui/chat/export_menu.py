"""Export of a conversation: one button per file format."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.answer.check_texts import TextsByNumber, source_words
from core.answer.export import as_html, as_json, as_markdown, as_word
from core.answer.message import Message, questions_by_answer
from core.app import App
from core.base.text import one_line, shorten
from core.legal import StatuteCheck
from core.ui import clock

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_FORMATS: tuple[tuple[str, str, str, Callable[..., str | bytes]], ...] = (
    ("Word 文档", "docx", _WORD, as_word),
    ("Markdown", "md", "text/markdown", as_markdown),
    ("网页（HTML）", "html", "text/html", as_html),
    ("JSON", "json", "application/json", as_json),
)
PDF_HINT = "要 PDF：用浏览器打印本页，或打印导出的网页，选「另存为 PDF」。"


LoadPages = Callable[[Message], TextsByNumber]
"""A function that loads the pages read for an answer."""


def draw(app: App, title: str, load: Callable[[], list[Message]], load_pages: LoadPages, *, key: str) -> None:
    """Draw the export buttons. A file is made when its button is clicked, outside of the session, so `load` and
    `load_pages` must not use it."""
    title = shorten(one_line(title or "对话"), 40)
    for name, ending, mime, make in _FORMATS:
        st.download_button(
            name,
            data=partial(_export_file, partial(make, title, zone=clock.reader_zone()), load, load_pages, app),
            file_name=f"问源-{title}.{ending}",
            mime=mime,
            key=f"export-{ending}-{key}",
            on_click="ignore",
            width="stretch",
        )
    st.caption(PDF_HINT)


def _export_file(
    make: Callable[..., str | bytes], load: Callable[[], list[Message]], load_pages: LoadPages, app: App
) -> bytes:
    messages = load()
    asked = questions_by_answer(messages)

    def check(answer: Message) -> StatuteCheck | None:
        words = partial(source_words, answer.sources, partial(load_pages, answer))
        return app.check_statutes(answer.text, asked.get(answer.id, ""), words)

    made = make(messages, check_statutes=check)
    return made.encode() if isinstance(made, str) else made
