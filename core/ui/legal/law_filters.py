"""Filters of 查法规: query, facets and day, kept in the address so that a link shows the same results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from core.legal import FACETS, FIELD, ISSUER, KIND, STATE, YEARS, Catalogue, Period, parse_period
from core.ui.escape import escape_label
from core.ui.frame import draw_warning
from core.ui.legal import legal_page

QUERY = "legal_query"
AS_OF = "legal_on"
_SHOWN = "laws_shown"
"""Session key of the values that the boxes had when last drawn."""
_KEYS = {"q": QUERY, "on": AS_OF} | {facet: f"laws_{facet}" for facet in FACETS}


@dataclass(frozen=True)
class LawFilters:
    query: str
    facet_choice: dict[str, str]
    """Facets and their values."""
    as_of: Period | None

    @property
    def address(self) -> dict[str, str]:
        given = {"q": self.query, **self.facet_choice, "on": self.as_of.iso if self.as_of else ""}
        return {name: value for name, value in given.items() if value}


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


def _box_values() -> dict[str, str]:
    values = {name: str(st.session_state.get(key) or "").strip() for name, key in _KEYS.items()}
    period = parse_period(values["on"])
    values["on"] = period.iso if period else ""
    return {name: value for name, value in values.items() if value}


def _draw_filters(catalogue: Catalogue, query: str) -> LawFilters:
    chosen: dict[str, str] = {facet: value for facet in FACETS if (value := st.session_state.get(_KEYS[facet]))}
    if query or chosen:  # otherwise the directory already has the same links
        _draw_pills(catalogue, KIND, chosen)
    if KIND in chosen and not query:
        _draw_fields(catalogue, chosen)
    with st.expander(escape_label(_filter_summary(chosen)), icon=":material/tune:", key="laws_filters"):
        if KIND in chosen and query:
            _draw_fields(catalogue, chosen)
        for facet in (STATE, ISSUER, YEARS):
            _draw_pills(catalogue, facet, chosen)
        as_of = day_field(AS_OF)
    return LawFilters(query, chosen, as_of)


def _filter_summary(choice: dict[str, str]) -> str:
    on = st.session_state.get(AS_OF)
    used = [value for facet, value in choice.items() if facet != KIND] + ([f"以 {on} 为准"] if on else [])
    return f"筛选：{'、'.join(used)}" if used else "筛选：效力、机关、公布年份、日期"


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
    """Draw the field 以 … 为准 and return the period whose law is to be shown."""
    typed = st.text_input(
        "以哪一天的法律为准",
        key=key,
        persist_state="session",
        placeholder="如 2019-05-01 或 2019，留空为现行",
        icon=":material/event:",
    )
    period = parse_period(typed or "")
    if typed and typed.strip() and period is None:
        draw_warning(f"「{typed}」不是日期，没有按日期选择。请写成 2019-05-01、2019-05 或 2019。")
    return period
