"""Pages of a PDF among the sources as pictures, in the dialog 来源原文: of an attached one for whoever may see the conversation,
of one in a collection for whoever may open the collection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.answer import TextSpan
from core.app import App
from core.base.errors import AppError
from core.documents import document_id_of
from core.reading import TextSection, place_at
from core.store import StoredPage
from core.ui import conversation_sync, document_access, page_picture
from core.ui.page_picture import DrawPage

_KEY = "source-page"
NO_MARKS = "这一页的文字是从图像里识别的，图上标不出段落的位置。"


def has_pages(app: App, page: StoredPage) -> bool:
    """Return whether the reader can see the pages of this source."""
    id = document_id_of(page.address)
    if not id:
        return page.has_file
    try:
        return app.documents.open_document(id, document_access.access()).kind == "pdf"
    except AppError:
        return False


def _page_drawer(app: App, page: StoredPage) -> DrawPage:
    id, access = document_id_of(page.address), document_access.access()
    if not id:
        return conversation_sync.page_drawer(app, page.title, page.address)
    return lambda number, passages: app.reader.draw_page(
        app.documents.read_bytes(id, access), number, passages, name=page.title
    )


def forget() -> None:
    """Forget which page was shown last: the next one is where the passage is."""
    page_picture.forget_page(_KEY)


def show_page(number: int) -> None:
    page_picture.show_page(_KEY, number)


def draw(app: App, page: StoredPage, spans: Sequence[TextSpan], wanted: TextSpan | None, *, first: int) -> None:
    """Draw a page of the file with the wanted passage marked; where that is elsewhere, with all that were compared."""
    sections = _pages(page)
    page_picture.draw(
        _page_drawer(app, page),
        key=_KEY,
        name=page.title,
        first=first,
        count=0 if page.is_cut or not sections else sections[-1].number,
        passages_on=partial(passages_on, page, spans, wanted),
    )
    shown = page_picture.page_shown(_KEY, first)
    if spans and _is_recognized(page, shown):
        st.caption(NO_MARKS)


def passages_on(page: StoredPage, spans: Sequence[TextSpan], wanted: TextSpan | None, number: int) -> list[str]:
    """Return the texts of the passages to mark on a page. Nothing can be marked where the text was recognized: the file does not
    say where it stands."""
    if _is_recognized(page, number):
        return []
    start, end = _edges(page, number)
    there = [span for span in spans if span.start < end and start < span.end]
    return [page.text[span.start : span.end] for span in ([wanted] if wanted in there else there) if span]


def _is_recognized(page: StoredPage, number: int) -> bool:
    return any(section.number == number and section.is_recognized for section in _pages(page))


def _pages(page: StoredPage) -> list[TextSection]:
    return [section for section in page.sections if section.kind == "page"]


def _edges(page: StoredPage, number: int) -> tuple[int, int]:
    """Return where the text of a page begins and ends; an empty span for a page without text."""
    starts = [section.start for section in _pages(page) if section.number in (number, number + 1)]
    if not starts or number not in {section.number for section in _pages(page)}:
        return 0, 0
    return starts[0], starts[1] if len(starts) > 1 else len(page.text)


def page_of(page: StoredPage, span: TextSpan) -> int:
    """Return the number of the page on which the middle of a passage stands."""
    return page_at(page, (span.start + span.end) // 2)


def page_at(page: StoredPage, position: int) -> int:
    place = place_at(page.text, page.sections, position)
    return place.page if place and place.page else 1


def start_of_page_shown(page: StoredPage) -> int:
    """Return where the text of the page begins that is shown as a picture."""
    number = page_picture.page_shown(_KEY, 1)
    return next((section.start for section in _pages(page) if section.number == number), len(page.text))
