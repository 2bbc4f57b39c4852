"""Links that open something of the reader's for others, or for themselves."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from core.ui import scripts


def draw_link(link: str) -> None:
    """Draw a link to copy, and copy it."""
    st.code(link, language=None, wrap_lines=True)
    scripts.copy_to_clipboard(link)


def page_address(parameter: str, value: str, *, otherwise: str) -> str:
    """Return the address of this page with one parameter, as this browser reaches it. `otherwise`: the address of the page,
    where the browser names none."""
    here = urlsplit(st.context.url or otherwise)
    return here._replace(path=here.path or "/", query=f"{parameter}={value}", fragment="").geturl()
