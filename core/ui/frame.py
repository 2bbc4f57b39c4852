"""What every page has: title, icon and style, and the look of a warning."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.ui import scripts
from core.ui.escape import label

FOLDER = Path(__file__).parent


def page_frame() -> None:
    """Title, icon, style and scripts of every page. All of it is local: an icon by name would be fetched from a foreign host."""
    st.set_page_config(page_title="问源", page_icon=str(FOLDER / "icon.svg"), layout="centered")
    st.logo(str(FOLDER / "logo.svg"), size="large", icon_image=str(FOLDER / "icon.svg"))
    st.html(FOLDER / "style.css")
    scripts.draw()


def warning(text: str) -> None:
    st.warning(label(text), icon=":material/warning:")
