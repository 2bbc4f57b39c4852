"""Common parts of every page: title, icon, style and the look of a warning."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from pathlib import Path

import streamlit as st

from core.base.text import one_line, shorten
from core.ui import scripts
from core.ui.escape import label

FOLDER = Path(__file__).parent
NAME = "问源"
PURPOSE = "提出问题，得到每句话都能查到来源的回答。"
LONGEST_NAME = 40

in_a_shell = False
"""True if the page's index.html already has style and scripts (core/ui/index_html.py)."""


def page_frame() -> None:
    """Set title, icon, style and scripts of a page. All are local: an icon by name would be fetched from a foreign
    host."""
    st.set_page_config(page_title=NAME, page_icon=_picture("icon.svg"), layout="centered")
    st.logo(_picture("logo.svg"), size="large", icon_image=_picture("icon.svg"))
    if not in_a_shell:
        st.html(FOLDER / "style.css")
        scripts.draw()


@cache
def _picture(name: str) -> str:
    """Return an image as a data address. Streamlit would read a file again in every run of a page."""
    return f"data:image/svg+xml;base64,{b64encode((FOLDER / name).read_bytes()).decode()}"


def page_title(*names: str) -> None:
    """Set the title of the browser's tab: the conversation, the law, the page."""
    words = [shorten(one_line(name), LONGEST_NAME) for name in names if name.strip()]
    st.set_page_config(page_title=" · ".join((*words, NAME)))


def warning(text: str) -> None:
    st.warning(label(text), icon=":material/warning:")
