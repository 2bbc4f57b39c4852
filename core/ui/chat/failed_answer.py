"""Failed answer: what happened, in place of the text that was not written. What can be done next belongs below it."""

from __future__ import annotations

import streamlit as st

from core.answer.events import RunFailed
from core.ui.escape import escape_label


def draw(failure: RunFailed) -> None:
    st.error(escape_label(failure.message), icon=":material/error:")
