"""Untrusted text where Streamlit takes nothing but Markdown: labels, captions, toasts, titles, help texts."""

from __future__ import annotations

import re

from core.base.text import one_line

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_WORD_JOINER = "\u2060"
# Streamlit replaces these in the finished text, after escapes were resolved: addresses become links, `:smile:` an emoji,
# `:material/home:` an icon, `->` an arrow. An invisible character in the right place keeps them what they are.
_REPLACED_LATER = re.compile(
    r"(?<=:)(?=//|[\w+/-]+:)|(?<=www)(?=\.)|(?<=@)(?=\w)|(?<=-)(?=[->])|(?<=<)(?=[-=])|(?<=[>~])(?==)", re.IGNORECASE
)


def label(text: str) -> str:
    """One line that Streamlit shows exactly as it was written. Not for `st.html`, `st.code`, or a browser tab's title."""
    return _PUNCTUATION.sub(r"\\\g<0>", _REPLACED_LATER.sub(_WORD_JOINER, one_line(text)))
