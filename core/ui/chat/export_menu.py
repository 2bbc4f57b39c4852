"""Export of a conversation, or of its references: one button per file format."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from functools import partial
from typing import Any

import streamlit as st

from core.answer.check_texts import TextsByNumber, source_words
from core.answer.export import as_bibtex, as_csl_json, as_html, as_json, as_markdown, as_ris, as_word
from core.answer.message import Message, questions_by_answer
from core.app import App
from core.base.text import one_line, shorten
from core.legal import StatuteCheck
from core.ui import clock

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_Format = tuple[str, str, str, Callable[..., Any]]
"""The name, the end of the file's name, the media type, and the function that makes it."""
_CONVERSATION: tuple[_Format, ...] = (
    ("Word 文档", ".docx", _WORD, as_word),
    ("Markdown", ".md", "text/markdown", as_markdown),
    ("网页（HTML）", ".html", "text/html", as_html),
    ("JSON", ".json", "application/json", as_json),
)
_REFERENCES: tuple[_Format, ...] = (
    ("RIS", ".ris", "application/x-research-info-systems", as_ris),
    ("BibTeX", ".bib", "application/x-bibtex", as_bibtex),
    ("CSL-JSON", "-参考文献.json", "application/vnd.citationstyles.csl+json", as_csl_json),
)


LoadPages = Callable[[Message], TextsByNumber]
"""A function that loads the pages read for an answer."""


def draw(app: App, title: str, load: Callable[[], list[Message]], load_pages: LoadPages, *, key: str) -> None:
    """Draw the export buttons. A file is made when its button is clicked, outside of the session, so `load` and
    `load_pages` must not use it."""
    title, zone = shorten(one_line(title or "对话"), 40), clock.reader_zone()
    for name, ending, mime, make in _CONVERSATION:
        export = partial(_export_file, partial(make, title, zone=zone), load, load_pages, app)
        _draw_button(name, f"问源-{title}{ending}", mime, export, key)
    st.caption("只要参考文献，可导入 Zotero、EndNote 等：")
    with st.container(horizontal=True, gap="small"):
        for name, ending, mime, make in _REFERENCES:
            _draw_button(name, f"问源-{title}{ending}", mime, partial(_export_references, make, load, zone), key)


def _draw_button(name: str, file: str, mime: str, make: Callable[[], bytes], key: str) -> None:
    st.download_button(
        name, make, file, mime, key=f"export-{mime.rpartition('/')[2]}-{key}", on_click="ignore", width="stretch"
    )


def _export_references(make: Callable[..., str], load: Callable[[], list[Message]], zone: tzinfo | None) -> bytes:
    return make(load(), zone=zone).encode()


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
