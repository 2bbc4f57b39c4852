"""Common parts of every page: title, icon, style and the look of a warning."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

import streamlit as st

from core.base.text import one_line, shorten
from core.ui import scripts
from core.ui.escape import escape_label

FOLDER = Path(__file__).parent
NAME = "问源"
PURPOSE = "提出问题，得到每句话都能查到来源的回答。"
MAX_TITLE_LENGTH = 40
View = TypeVar("View")

is_index_customized = False
"""True if the page's index.html already has style and scripts (core/ui/index_html.py)."""


def draw_page_frame() -> None:
    """Set title, icon, style and scripts of a page. All are local: an icon by name would be fetched from a foreign
    host."""
    st.set_page_config(page_title=NAME, page_icon=_image_address("icon.svg"), layout="centered")
    st.logo(_image_address("logo.svg"), size="large", icon_image=_image_address("icon.svg"))
    if not is_index_customized:
        st.html(FOLDER / "style.css")
        scripts.draw()


@cache
def _image_address(name: str) -> str:
    """Return an image as a data address. Streamlit would read a file again in every run of a page."""
    return f"data:image/svg+xml;base64,{b64encode((FOLDER / name).read_bytes()).decode()}"


def set_page_title(*names: str) -> None:
    """Set the title of the browser's tab: the conversation, the law, the page."""
    words = [shorten(one_line(name), MAX_TITLE_LENGTH) for name in names if name.strip()]
    st.set_page_config(page_title=" · ".join((*words, NAME)))


def draw_open_tab(parts: Mapping[str, Callable[[View], None]], view: View, *, key: str) -> None:
    """Draw a tab for each part, and only the part whose tab is open."""
    for tab, draw_part in zip(st.tabs(list(parts), key=key, on_change="rerun"), parts.values(), strict=True):
        if tab.open:
            with tab:
                draw_part(view)


def draw_warning(text: str) -> None:
    st.warning(escape_label(text), icon=":material/warning:")
