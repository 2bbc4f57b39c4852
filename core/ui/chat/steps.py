"""Steps of a run on the page: a light rail, live while they happen and the same on every rerun.

During a run each line has its own place, which is sent when it changes; the style sheet counts its seconds. After the
run the rail is one element below a summary line. If a reader folds it, the next ones start folded.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.answer.events import RunEvent, Thought
from core.ui import visitor_preferences
from core.ui.chat.answer import UPDATES_PER_SECOND, app_url
from core.ui.chat.step_lines import ONLY_SNIPPET, STOPPED, StepLine, StepLines, ThoughtLine, lines_of, rail_html
from core.ui.escape import draw_html, escape_label

if TYPE_CHECKING:
    from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

FOLDED_KEY = "steps_folded"
"""Key of the reader's choice, in the session and among the stored preferences."""
_INITIAL_STATES = "steps_at_first"


def restore(stored_choices: Mapping[str, Any]) -> None:
    st.session_state[FOLDED_KEY] = stored_choices.get(FOLDED_KEY) is True


def _fold(place: DeltaGenerator, title: str, key: str, icon: str | None = None) -> ExpanderContainer:
    """Return the expander of a rail. Its first state is remembered, because Streamlit would take another one for a new
    widget."""
    at_first = st.session_state.setdefault(_INITIAL_STATES, {})
    opened = at_first.setdefault(key, not st.session_state.get(FOLDED_KEY))
    return place.expander(title, expanded=opened, key=key, icon=icon, type="compact", on_change=_on_fold, args=(key,))


def _on_fold(key: str) -> None:
    st.session_state[FOLDED_KEY] = not st.session_state[key]
    visitor_preferences.save({FOLDED_KEY: st.session_state[FOLDED_KEY] or None})


def draw_steps(
    events: Iterable[RunEvent], *, key: str = "", seconds: float = 0.0, place: DeltaGenerator | None = None
) -> None:
    """Draw the steps of a finished run, in the place of the growing ones if that is given."""
    steps = lines_of(events, app_url=app_url())
    if steps.visible:
        fold = _fold(place or st.container(), _title(steps, seconds), f"steps-{key}")
        if fold.open:
            draw_html(rail_html(steps.visible), fold)
    elif place:
        place.empty()


def _title(steps: StepLines, seconds: float) -> str:
    parts = [steps.totals or "思考过程"]
    if failed := steps.failed:
        names = "、".join(dict.fromkeys(line.name for line in failed))
        parts.append(f":red[{len(failed)} 步没有成功：{escape_label(names)}]")
    if pages := steps.snippet_count:
        parts.append(f":orange[{pages} 页{ONLY_SNIPPET}]")
    if steps.is_stopped:
        parts.append(STOPPED)
    is_complete = len(parts) == 1
    if seconds:
        parts.append(f"{max(round(seconds), 1)} 秒")
    return ("✓ " if is_complete else "") + " · ".join(parts)


class Steps:
    """Steps of a running answer, drawn into `place`. With the `key` of a run they have a `rail` that can be folded, and below
    it then the last line."""

    def __init__(self, place: DeltaGenerator, *, key: str = "", rail: DeltaGenerator | None = None) -> None:
        self._place = place
        self._rail = rail or place
        self._key = key
        self._steps = StepLines(app_url=app_url())
        self._area: DeltaGenerator | None = None
        self._shows_last_only = False
        self._places: list[DeltaGenerator] = []
        self._next_update = 0.0

    def add_event(self, event: RunEvent) -> None:
        self._steps.add_event(event)
        if not isinstance(event, Thought):
            self.draw()

    def finish(self) -> None:
        self._steps.finish()
        self.draw()

    def hide_last_line(self) -> None:
        """Hide the line below a folded rail."""
        if self._shows_last_only and self._places:
            self._places[0].empty()

    def draw(self) -> None:
        for number, line in enumerate(self._steps.lines):
            if line.is_changed and self._is_due(line):
                line.is_changed = False
                place = self._place_of(number)
                if line.is_removed:
                    place.empty()
                else:
                    draw_html(rail_html([line]), place)

    def _is_due(self, line: StepLine) -> bool:
        """Return whether a line may be drawn now. A thought grows with every token and is drawn less often."""
        if not (isinstance(line, ThoughtLine) and line.state == "running"):
            return True
        now = time.monotonic()
        if now < self._next_update:
            return False
        self._next_update = now + 1 / UPDATES_PER_SECOND
        return True

    def _place_of(self, number: int) -> DeltaGenerator:
        area = self._area = self._area or self._open_area()
        while len(self._places) <= number:
            self._places.append(self._places[0] if self._shows_last_only and self._places else area.empty())
        return self._places[number]

    def _open_area(self) -> DeltaGenerator:
        """Create the area with the first line, because a run may have none."""
        if not self._key:
            return self._place.container(gap=None)
        fold = _fold(self._rail, "正在回答", f"steps-live-{self._key}", icon="spinner")
        self._shows_last_only = not fold.open
        return (fold if fold.open else self._place).container(gap=None)
