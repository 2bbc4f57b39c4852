"""The scripts of the page: one inline script, drawn once per page. Each part is a file beside this one, named below.

They listen at the document, because Streamlit draws everything below it again and again.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

PARTS = ("dark", "formulas", "copying", "bottom")


@cache
def _script() -> str:
    parts = (Path(__file__).with_name(f"{name}.js").read_text("utf-8") for name in PARTS)
    inside = "\n".join(f"{{\n{part}}}" for part in parts)
    return f"<script>if (!window.wyScripts) {{ window.wyScripts = true;\n{inside}\n}}</script>"


def draw() -> None:
    st.html(_script(), unsafe_allow_javascript=True)
