"""The text of a file, part by part, opened at a passage; and of a PDF the same pages as pictures."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup, escape

from core.app import App
from core.base.errors import AppError
from core.documents import Access, Document, DocumentState
from core.reading import Page
from core.ui import page_picture
from core.ui.documents import addresses
from core.ui.documents.found_words import mark_words, query_words
from core.ui.documents.text_parts import TextPart, part_with, split_parts
from core.ui.escape import draw_html, escape_label

TEXT, PICTURE = "文字", "原页"
VIEW = "document_view"
PASSAGE = "passage"
SHORT_TEXT = 600
"""Characters of text that fit into the box without scrolling."""


@dataclass(frozen=True)
class Preview:
    document: Document
    page: Page
    parts: Sequence[TextPart]
    passage: tuple[int, int] | None
    """Start and end of the passage that the address names; None if it names none of the text."""
    words: str
    """Words of the search that found it."""

    @property
    def key(self) -> str:
        return f"{self.document.id}-{self.passage}"

    @property
    def numbers(self) -> list[int]:
        """Numbers of the parts: those of the pages, where the file has pages."""
        return [part.page or number for number, part in enumerate(self.parts, 1)]

    @property
    def first(self) -> int:
        """Number of the part to begin with."""
        return self.numbers[part_with(self.parts, self.passage[0]) if self.passage else 0]

    def passage_in(self, part: TextPart) -> tuple[int, int] | None:
        """Return what of the passage is in a part."""
        start, end = self.passage or (0, 0)
        start, end = max(start, part.start), min(end, part.end)
        return (start, end) if start < end else None


def draw(app: App, document: Document, access: Access, asked: Mapping[str, str]) -> None:
    """Draw as much of the text as was read. `asked` is the address."""
    if document.state is DocumentState.UNREADABLE:
        return
    try:
        page = app.documents.read_text(document.id, access)
    except AppError as error:
        st.info(escape_label(str(error)), icon=":material/hourglass_empty:")
        return
    parts, words = split_parts(page.text, page.sections), asked.get(addresses.WORDS, "")
    preview = Preview(document, page, parts, _passage(asked, len(page.text)), words)
    if document.kind == "pdf" and _choose_view() == PICTURE:
        _draw_picture(app, preview, access)
    else:
        _draw_part(preview)


def _passage(asked: Mapping[str, str], length: int) -> tuple[int, int] | None:
    start, end = (addresses.number_in(asked, name) for name in (addresses.START, addresses.END))
    if start is None or end is None or start >= min(end, length):
        return None
    return start, min(end, length)


def _choose_view() -> str:
    views = (TEXT, PICTURE)
    return st.segmented_control(
        "显示",
        views,
        default=TEXT,
        required=True,
        key=VIEW,
        persist_state="session",
        label_visibility="collapsed",
    )


def _draw_picture(app: App, preview: Preview, access: Access) -> None:
    def passages_on(number: int) -> list[str]:
        spans = (preview.passage_in(part) for part in preview.parts if part.page == number)
        return [preview.page.text[slice(*span)] for span in spans if span]

    marks = [preview.passage] if preview.passage else []
    page_picture.draw(
        lambda number, _: app.documents.draw_page(preview.document.id, number, access, marks),
        key=preview.key,
        name=preview.document.name,
        first=preview.first,
        count=preview.document.pages,
        passages_on=passages_on,
    )


def _draw_part(preview: Preview) -> None:
    number = page_picture.page_shown(preview.key, preview.first)
    index = max(bisect_right(preview.numbers, number) - 1, 0)
    part = preview.parts[index]
    if len(preview.parts) > 1:
        _draw_ways(preview, index)
    shown = escape(preview.page.text[part.start : part.end])
    if span := preview.passage_in(part):
        shown = _with_passage(preview, part, span)
        if span[0] - part.start > SHORT_TEXT:
            draw_html(Markup('<div class="wy-to-passage"><a href="#%s">跳到找到的地方</a></div>') % PASSAGE)
    draw_html(Markup('<div class="wy-page-text" tabindex="0">%s</div>') % shown)


def _with_passage(preview: Preview, part: TextPart, span: tuple[int, int]) -> Markup:
    """Return a part of the text with the passage marked, and in it the words of the search."""
    text, (start, end) = preview.page.text, span
    found = mark_words(text[start:end], query_words(preview.words))
    pieces = text[part.start : start], PASSAGE, found, text[end : part.end]
    return Markup('%s<span class="passage" id="%s">%s</span>%s') % pieces


def _draw_ways(preview: Preview, index: int) -> None:
    """Draw the buttons that lead to the parts before and after this one."""
    part, count = preview.parts[index], len(preview.parts)
    words = f"{part.label}，共 {count} 页" if part.page else f"第 {index + 1} 部分，共 {count} 部分"
    with st.container(key="part-ways", horizontal=True, vertical_alignment="center", gap="xsmall"):
        _draw_way(preview, "上一页", index - 1, ":material/chevron_left:")
        st.markdown(escape_label(words), width="content")
        _draw_way(preview, "下一页", index + 1, ":material/chevron_right:")


def _draw_way(preview: Preview, label: str, index: int, icon: str) -> None:
    is_open = 0 <= index < len(preview.parts)
    key, args = f"{preview.key}-{label}", (preview.key, preview.numbers[index] if is_open else 0)
    go = page_picture.show_page
    st.button(label, key=key, icon=icon, type="tertiary", disabled=not is_open, on_click=go, args=args)
