"""Pictures of a PDF's pages: one at a time, with passages marked, and ways to the pages before and after it.

A picture goes to the browser as a data address, through the websocket of the session that may see it. Streamlit's own
pictures have an address made of their content, which answers whoever asks for it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence

import streamlit as st
from markupsafe import Markup

from core.base.errors import AppError
from core.base.text import one_line, shorten
from core.ui.escape import draw_html
from core.ui.frame import draw_warning

DrawPage = Callable[[int, Sequence[str]], bytes]
"""Function that returns a page, numbered from 1, as a PNG file with these passages marked. It raises an AppError."""
MAX_ALT = 300
"""Characters of the marked passages that are read aloud with the picture."""
_ZOOM = Markup('<button type="button" class="wy-zoom" data-zoom aria-pressed="false">放大</button>')


def draw(
    draw_page: DrawPage,
    *,
    key: str,
    name: str,
    first: int,
    count: int = 0,
    passages_on: Callable[[int], Sequence[str]] = lambda _number: (),
) -> None:
    """Draw a page of the file with this name, and the buttons that lead to its neighbours.

    `first`: the page to begin with. `count`: the number of pages; 0 if it is not known. `passages_on`: returns the
    passages to mark on a page."""
    number = page_shown(key, first)
    _draw_ways(key, number, count)
    passages = passages_on(number)
    try:
        with st.spinner(f"正在画第 {number} 页…"):
            png = draw_page(number, passages)
    except AppError as error:
        draw_warning(str(error))
        st.button("再试一次", key=f"{key}-again", icon=":material/refresh:")
    else:
        draw_html(picture_html(png, name, number, passages))


def page_shown(key: str, first: int) -> int:
    """Return the number of the page that is shown under this key."""
    number: int = st.session_state.setdefault(_number_key(key), first)
    return number


def show_page(key: str, number: int) -> None:
    """Show this page from the next run on."""
    st.session_state[_number_key(key)] = number


def forget_page(key: str) -> None:
    """Begin with the first page again."""
    st.session_state.pop(_number_key(key), None)


def picture_html(png: bytes, name: str, number: int, passages: Sequence[str]) -> Markup:
    """Return the picture in a box of its own, which scrolls when it is enlarged (core/ui/scripts/passages.js)."""
    label = f"「{one_line(name)}」第 {number} 页"
    marked = shorten(one_line(" … ".join(passages)), MAX_ALT)
    alt = f"{label}的图片，标出了：{marked}" if marked else f"{label}的图片"
    image = Markup('<img src="data:image/png;base64,%s" alt="%s">') % (b64encode(png).decode("ascii"), alt)
    box = Markup('<div class="wy-page-picture" tabindex="0" role="region" aria-label="%s">%s</div>') % (label, image)
    return _ZOOM + box


def _draw_ways(key: str, number: int, count: int) -> None:
    words = f"第 {number} 页，共 {count} 页" if count else f"第 {number} 页"
    with st.container(key=f"{key}-ways", horizontal=True, vertical_alignment="center", gap="xsmall"):
        _draw_way(key, "上一页", number - 1, is_open=number > 1)
        st.markdown(words, width="content")
        _draw_way(key, "下一页", number + 1, is_open=not count or number < count)


def _draw_way(key: str, label: str, number: int, *, is_open: bool) -> None:
    icon = ":material/chevron_left:" if label == "上一页" else ":material/chevron_right:"
    go, to = show_page, (key, number)
    st.button(label, key=f"{key}-{label}", icon=icon, type="tertiary", disabled=not is_open, on_click=go, args=to)


def _number_key(key: str) -> str:
    return f"{key}-number"
