"""Scripts of the page, combined into one. Each part is a file beside this one, named below.

They listen at the document, because Streamlit draws everything below it again and again.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import streamlit as st

_COPYING = ("answer_forms", "markdown_form", "document_forms", "picture", "copying")
PARTS = (
    "dark",
    "sidebar",
    "formulas",
    *_COPYING,
    "pasting",
    "landing",
    "bottom",
    "going",
    "desk",
    "passages",
    "tabs",
    "draft_desk",
    "article_actions",
)
_INLINE = "<script>if (!window.wyScripts) { window.wyScripts = true;\nINSIDE\n}</script>"


@cache
def combined_script() -> str:
    parts = (Path(__file__).with_name(f"{name}.js").read_text("utf-8") for name in PARTS)
    return "\n".join(f"{{\n{part}}}" for part in parts)


def draw() -> None:
    """Add the script inline with every run of a page. A browser runs it once."""
    st.html(_INLINE.replace("INSIDE", combined_script()), unsafe_allow_javascript=True)


_TELL = "<script>dispatchEvent(new CustomEvent('wy-changed', {detail: ID}), NUMBER)</script>"


def tell_other_tabs(conversation_id: str, number: str) -> None:
    """Tell the other tabs of this browser that a conversation has changed. A text is run once, so each has a number."""
    script = _TELL.replace("ID", _quote(conversation_id)).replace("NUMBER", _quote(number))
    st.html(script, unsafe_allow_javascript=True)


_COPY = """<span class="wy-dim wy-copied" hidden>已复制到剪贴板。</span><script>
navigator.clipboard?.writeText(TEXT).then(() => {
  for (const word of document.querySelectorAll(".wy-copied")) word.hidden = false;
});
</script>"""


def copy_to_clipboard(text: str) -> None:
    """Copy a text to the clipboard and say so if it worked. A browser may refuse, and has no clipboard without HTTPS."""
    st.html(_COPY.replace("TEXT", _quote(text)), unsafe_allow_javascript=True)


def _quote(text: str) -> str:
    """Return the text as a string of JavaScript that cannot end the script."""
    return json.dumps(text).replace("<", "\\u003c")
