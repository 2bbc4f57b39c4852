"""What every page has: title, icon and style, and the look of a warning."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.ui.escape import label

FOLDER = Path(__file__).parent

# Popovers and dialogs stand outside of the element that Streamlit tells whether it is dark.
TELL_ALL_OF_THE_PAGE_WHETHER_IT_IS_DARK = """<script>
{
  const app = document.querySelector("[data-testid=stApp]");
  const tell = () => document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme;
  new MutationObserver(tell).observe(app, {attributeFilter: ["class"]});
  tell();
}
</script>"""


def page_frame() -> None:
    """Title, icon and style of every page. All of it is local: an icon by name would be fetched from a foreign host."""
    st.set_page_config(page_title="问源", page_icon=str(FOLDER / "icon.svg"), layout="centered")
    st.logo(str(FOLDER / "logo.svg"), size="large", icon_image=str(FOLDER / "icon.svg"))
    st.html(FOLDER / "style.css")
    st.html(TELL_ALL_OF_THE_PAGE_WHETHER_IT_IS_DARK, unsafe_allow_javascript=True)


def warning(text: str) -> None:
    st.warning(label(text), icon=":material/warning:")
