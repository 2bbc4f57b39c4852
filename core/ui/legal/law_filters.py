"""Filters of 查法规: query, facets and day, kept in the address so that a link shows the same results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from core.legal import FACETS, FIELD, ISSUER, KIND, STATE, YEARS, Catalogue, Period, parse_period
from core.legal.entities import LawStatus
from core.ui.escape import escape_label
from core.ui.frame import draw_warning
from core.ui.legal import legal_page

QUERY = "legal_query"
AS_OF = "legal_on"
DAY_LABEL = "按哪一天的法律"
_SHOWN = "laws_shown"
"""Session key of the values that the boxes had when last drawn."""
_KEYS = {"q": QUERY, "on": AS_OF} | {facet: f"laws_{facet}" for facet in FACETS}
ALL_STATES = "全部"
_STATE_LABELS = {LawStatus.IN_FORCE.value: "现行有效"}


@dataclass(frozen=True)
class LawFilters:
    query: str
    facet_choice: dict[str, str]
    """Facets and their values."""
    as_of: Period | None
    state: str = LawStatus.IN_FORCE
    """Chosen validity. What is in force is not named in the address."""

    @property
    def address(self) -> dict[str, str]:
        state = "" if self.state == LawStatus.IN_FORCE else self.state
        given = {"q": self.query, **self.facet_choice, STATE: state, "on": self.as_of.iso if self.as_of else ""}
        return {name: value for name, value in given.items() if value}

    @property
    def lists_laws(self) -> bool:
        """True if something was chosen that lists laws: more than what the directory shows."""
        return any(facet != STATE for facet in self.facet_choice) or self.state not in {LawStatus.IN_FORCE, ALL_STATES}


def has_filters(address: Mapping[str, str]) -> bool:
    return any(name in address for name in _KEYS)


def last_address() -> dict[str, str]:
    """Return the query parameters of the last search, for the link back."""
    return dict(st.session_state.get(_SHOWN, {}))


def draw(catalogue: Catalogue | None) -> LawFilters:
    """Draw the boxes and return their values. They are filled from the address, or else left as they were."""
    _fill_boxes(catalogue)
    query = legal_page.draw_box("查法规", key=QUERY, placeholder="法律名称、条号或日常用语")
    filters = _draw_filters(catalogue, query) if catalogue else LawFilters(query, {}, None)
    st.session_state[_SHOWN] = filters.address
    st.query_params.from_dict(filters.address)
    return filters


def _fill_boxes(catalogue: Catalogue | None) -> None:
    """Fill the boxes from the address. A browser may still report the old address while the next box is used; then the
    boxes count."""
    drawn_before = QUERY in st.session_state
    given = {name: value for name, value in st.query_params.to_dict().items() if name in _KEYS}
    before = last_address()
    if drawn_before and (given == before or _box_values() != before):
        return
    if not given and not drawn_before:
        given = before
    for name, key in _KEYS.items():
        value = given.get(name, "")
        known = name not in FACETS or bool(catalogue and value in catalogue.counts(name, {}))
        st.session_state[key] = value if known and (value or name not in FACETS) else None
    if given.get(STATE) == ALL_STATES:
        st.session_state[_KEYS[STATE]] = ALL_STATES


def _box_values() -> dict[str, str]:
    values = {name: str(st.session_state.get(key) or "").strip() for name, key in _KEYS.items()}
    period = parse_period(values["on"])
    values["on"] = period.iso if period else ""
    if values[STATE] == LawStatus.IN_FORCE:
        values[STATE] = ""
    return {name: value for name, value in values.items() if value}


def _draw_filters(catalogue: Catalogue, query: str) -> LawFilters:
    chosen: dict[str, str] = {facet: value for facet in FACETS if (value := st.session_state.get(_KEYS[facet]))}
    state = _draw_states(catalogue)
    is_narrowed = any(facet != STATE for facet in chosen) or state not in {LawStatus.IN_FORCE, ALL_STATES}
    period = parse_period(st.session_state.get(AS_OF) or "")
    chosen.pop(STATE, None)
    if state != ALL_STATES and period is None:  # what was in force on that day counts, not what is today
        chosen[STATE] = state
    if query or is_narrowed:  # otherwise the directory already has the same links
        _draw_pills(catalogue, KIND, chosen)
    if KIND in chosen and not query:
        _draw_fields(catalogue, chosen)
    with st.expander(escape_label(_filter_summary(chosen)), icon=":material/tune:", key="laws_filters"):
        if KIND in chosen and query:
            _draw_fields(catalogue, chosen)
        for facet in (ISSUER, YEARS):
            _draw_pills(catalogue, facet, chosen)
        as_of = day_field(AS_OF)
    return LawFilters(query, chosen, as_of, state)


def _draw_states(catalogue: Catalogue) -> str:
    """Draw the validity to choose: what is in force, unless the reader wants more. Returns the choice."""
    counts = catalogue.counts(STATE, {})
    key, options = _KEYS[STATE], [LawStatus.IN_FORCE.value, ALL_STATES]
    options[1:1] = [state for state in counts if state != LawStatus.IN_FORCE]
    if st.session_state.get(key) not in options:
        st.session_state[key] = options[0]
    if len(counts) < 2:
        return str(st.session_state[key])
    counts = {ALL_STATES: sum(counts.values()), LawStatus.IN_FORCE.value: 0} | counts
    chosen = st.segmented_control(
        FACETS[STATE],
        options,
        required=True,
        format_func=lambda state: f"{_STATE_LABELS.get(state, state)} {counts[state]:,}",
        key=key,
        label_visibility="collapsed",
    )
    return str(chosen)


def _filter_summary(choice: dict[str, str]) -> str:
    on = st.session_state.get(AS_OF)
    used = [value for facet, value in choice.items() if facet not in (KIND, STATE)] + ([f"{on} 的法律"] if on else [])
    return f"筛选：{'、'.join(used)}" if used else "筛选：机关、公布年份、按哪一天的法律"


def _draw_fields(catalogue: Catalogue, choice: dict[str, str]) -> None:
    """Draw the fields of the chosen kind. A field that was chosen for another kind is cleared."""
    if choice.get(FIELD) not in catalogue.counts(FIELD, choice):
        st.session_state[_KEYS[FIELD]] = None
        choice.pop(FIELD, None)
    _draw_pills(catalogue, FIELD, choice)


def _draw_pills(catalogue: Catalogue, facet: str, choice: dict[str, str]) -> None:
    """Draw the values of a facet that have results. A chosen value stays, so that it can be cleared."""
    counts = catalogue.counts(facet, choice)
    if facet in choice:
        counts.setdefault(choice[facet], 0)
    if len(counts) < 2 and facet not in choice:
        return
    value = st.pills(
        FACETS[facet],
        list(counts),
        format_func=lambda value: f"{escape_label(value)} {counts[value]:,}",
        key=_KEYS[facet],
        label_visibility="collapsed" if facet in (KIND, FIELD) else "visible",
    )
    choice.pop(facet, None)
    if value:
        choice[facet] = value


def day_field(key: str) -> Period | None:
    """Draw the field 按哪一天的法律 and return the period whose law is to be shown."""
    typed = st.text_input(
        DAY_LABEL,
        key=key,
        persist_state="session",
        placeholder="如 2019-05-01 或 2019，留空为现行",
        icon=":material/event:",
    )
    period = parse_period(typed or "")
    if typed and typed.strip() and period is None:
        draw_warning(f"「{typed}」不是日期，没有按日期选择。请写成 2019-05-01、2019-05 或 2019。")
    return period
