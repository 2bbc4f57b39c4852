"""What only the browser can do, as scripts of our own: the policy of asgi.py lets none come from elsewhere."""

from __future__ import annotations

import json

import streamlit as st

_CLOSE_SIDEBAR = """<script>
if (!window.wenyuanClosesSidebar) {
  window.wenyuanClosesSidebar = true;
  document.addEventListener("click", (event) => {
    if (innerWidth < 768 && event.target.closest("SELECTOR"))
      document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  });
}
</script>"""
_COPY = """<span class="wy-dim wy-copied" hidden>已复制到剪贴板。</span><script>
navigator.clipboard?.writeText(TEXT).then(() => {
  for (const word of document.querySelectorAll(".wy-copied")) word.hidden = false;
});
</script>"""


def close_sidebar_after(selector: str) -> None:
    """On a phone, where it covers what was chosen in it. `selector` has no quotation marks."""
    _run(_CLOSE_SIDEBAR.replace("SELECTOR", selector))


def copy(text: str) -> None:
    """Says so where it worked: a browser may refuse, and has no clipboard for a page that did not come by HTTPS."""
    _run(_COPY.replace("TEXT", json.dumps(text).replace("<", "\\u003c")))


def _run(script: str) -> None:
    st.html(script, unsafe_allow_javascript=True)
