"""Buttons by which the reader allows a foreign tool that is not read-only, with all that it is going to get."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.answer.events import ApprovalAnswered, ApprovalAsked
from core.run import Run
from core.ui.escape import escape_label

LONG_ARGUMENTS = 800
"""Characters from which the arguments scroll in a box of their own, so that the buttons stay in sight."""


class ApprovalBoxes:
    """The open questions of a run, below its steps."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._area = st.container(gap="small")
        self._places: dict[str, DeltaGenerator] = {}

    def ask(self, asked: ApprovalAsked) -> None:
        place = self._places[asked.call_id] = self._area.empty()
        with place.container(border=True, key=f"approval-{asked.call_id}"):
            st.markdown(
                f"**{escape_label(asked.tool)}** 没有声明自己是只读的，可能会改动数据。允许用下面的参数执行吗？"
            )
            is_long = len(asked.arguments) > LONG_ARGUMENTS
            st.code(asked.arguments, language="json", wrap_lines=True, height=300 if is_long else "content")
            with st.container(horizontal=True, vertical_alignment="center"):
                self._draw_button(asked, "允许", "allow", is_allowed=True)
                self._draw_button(asked, "不允许", "refuse", is_allowed=False)
                st.caption(f"{asked.seconds:.0f} 秒内没有选择，就不执行。")

    def _draw_button(self, asked: ApprovalAsked, label: str, key: str, *, is_allowed: bool) -> None:
        st.button(
            label,
            key=f"{key}-{asked.call_id}",
            icon=":material/check:" if is_allowed else ":material/block:",
            on_click=self._decide,
            args=(asked, is_allowed),
        )

    def _decide(self, asked: ApprovalAsked, is_allowed: bool) -> None:
        self._run.decide(asked.call_id, is_allowed=is_allowed)

    def remove(self, answered: ApprovalAnswered) -> None:
        if place := self._places.pop(answered.call_id, None):
            place.empty()

    def remove_all(self) -> None:
        """Remove what is left when the run is over: nobody waits any more."""
        for place in self._places.values():
            place.empty()
        self._places.clear()
