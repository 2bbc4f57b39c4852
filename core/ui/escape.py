"""Escaping of untrusted text: as one line where Streamlit takes only Markdown, and as HTML through one function."""

from __future__ import annotations

import re
from typing import Literal

import streamlit as st
from markupsafe import Markup, escape
from streamlit.delta_generator import DeltaGenerator

from core.base.text import one_line

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_WORD_JOINER = "\u2060"
# Streamlit replaces these in the finished text, after escapes were resolved: addresses become links, `:smile:` an emoji,
# `:material/home:` an icon, `->` an arrow. An invisible character in the right place keeps them what they are.
_REPLACED_LATER = re.compile(
    r"(?<=:)(?=//|[\w+/-]+:)|(?<=www)(?=\.)|(?<=@)(?=\w)|(?<=-)(?=[->])|(?<=<)(?=[-=])|(?<=[>~])(?==)", re.IGNORECASE
)


def escape_label(text: str) -> str:
    """Escape a text for labels, captions, toasts, titles and help texts, so that Streamlit shows it as written, on one
    line. Not for HTML, `st.code`, or a browser tab's title."""
    return _PUNCTUATION.sub(r"\\\g<0>", _REPLACED_LATER.sub(_WORD_JOINER, one_line(text)))


def draw_html(
    html: Markup, place: DeltaGenerator | None = None, *, width: Literal["stretch", "content"] = "stretch"
) -> None:
    """Draw HTML; the page uses no other way. A string that is not Markup is escaped and shown as text."""
    show = st.html if place is None else place.html
    show(escape(html), width=width)
