"""Untrusted text on the page: as one line where Streamlit takes nothing but Markdown, as HTML through one door."""

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


def label(text: str) -> str:
    """For labels, captions, toasts, titles, help texts: one line that Streamlit shows exactly as it was written.

    Not for HTML, `st.code`, or a browser tab's title.
    """
    return _PUNCTUATION.sub(r"\\\g<0>", _REPLACED_LATER.sub(_WORD_JOINER, one_line(text)))


def draw_html(
    html: Markup, place: DeltaGenerator | None = None, *, width: Literal["stretch", "content"] = "stretch"
) -> None:
    """The only way of HTML to the page. A string that is not Markup is text, and is shown as such, tags and all."""
    show = st.html if place is None else place.html
    show(escape(html), width=width)
