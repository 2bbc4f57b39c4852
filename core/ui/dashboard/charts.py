"""Charts of the dashboard. Only the dashboard imports this module, because Altair takes about a second to import."""

from __future__ import annotations

from calendar import timegm
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import altair as alt

from core.metrics import Grain, TimeSpan

# The categorical colours of .streamlit/config.toml, by what they mean here.
TEAL, AMBER, BLUE, RED, GREEN, MAUVE = "#2f6f6a", "#b7791f", "#5a67a8", "#a8505a", "#6b7f3a", "#7a6a8a"
GREY = "#9a9a94"

# Streamlit fits axes and legend into the height as well.
UPRIGHT_HEIGHT = 260
CHART_MARGIN = 110
BAR_STEP = 30

_TIME_FORMATS: dict[Grain, tuple[Any, str, str]] = {
    Grain.MINUTE: ("yearmonthdatehoursminutes", "%H:%M", "%m-%d %H:%M"),
    Grain.HOUR: ("yearmonthdatehours", "%m-%d %H:%M", "%m-%d %H:%M"),
    Grain.DAY: ("utcyearmonthdate", "%m-%d", "%Y-%m-%d"),
}
"""Time unit of one bar, and the formats of its time on the axis and in full."""

Row = dict[str, Any]
Spec = dict[str, Any]
"""Chart as a Vega-Lite specification."""
Colours = dict[str, str]
"""Words of a legend in order, each with its colour."""


def timeline(rows: Sequence[Row], colours: Colours, *, span: TimeSpan, now: float, unit: str) -> Spec:
    """Return stacked bars over time: `start` in seconds since 1970, `what` the word in the legend, `times` the height.
    Minutes and hours are on the reader's clock, because the browser draws them. The bar of the current span is paler."""
    time_unit, format, in_full = _TIME_FORMATS[span.grain]
    first, *_, last, _ = span.edges(now)
    # Empty bars at both ends, so that the axis covers the whole span.
    rows = [*({**rows[0], "start": edge, "times": 0} for edge in (first, last)), *rows]
    axis = alt.Axis(format=format, labelOverlap=True, labelAngle=0, tickCount=5)
    return _bars(
        [{**row, "start": _milliseconds(row["start"], span), "running": row["start"] == last} for row in rows],
        UPRIGHT_HEIGHT,
        x=alt.X("start:T", timeUnit=time_unit, title=None, axis=axis),
        y=alt.Y("times:Q", title=unit, stack="zero", axis=alt.Axis(tickMinStep=1, format=",d")),
        color=_colour_scale(rows, colours),
        opacity=alt.condition("datum.running", alt.value(0.4), alt.value(1)),
        order=alt.Order("place:Q"),
        tooltip=[
            alt.Tooltip("start:T", timeUnit=time_unit, title="时间", format=in_full),
            alt.Tooltip("what:N", title="结果"),
            alt.Tooltip("times:Q", title=unit),
        ],
    )


def _milliseconds(start: int, span: TimeSpan) -> int:
    """Return the start of a bar. A day is one on the server's calendar: its date, as if it were in UTC."""
    if span.grain is Grain.DAY:
        start = timegm(datetime.fromtimestamp(start).timetuple())
    return start * 1000


def stacked_bars(rows: Sequence[Row], colours: Colours, *, unit: str, as_shares: bool = False) -> Spec:
    """Return one horizontal bar per `name`, made of parts: `what` and `times`."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    axis = _amount_axis("%" if as_shares else ",d")
    return _bars(
        rows,
        _chart_height(len(names)),
        x=alt.X("times:Q", title=unit, stack="normalize" if as_shares else "zero", axis=axis),
        y=_name_axis(names),
        color=_colour_scale(rows, colours),
        order=alt.Order("place:Q"),
        tooltip=[
            alt.Tooltip("name:N", title="名称"),
            alt.Tooltip("what:N", title="部分"),
            alt.Tooltip("times:Q", title="数量", format=","),
        ],
    )


def grouped_bars(rows: Sequence[Row], colours: Colours, *, unit: str) -> Spec:
    """Return one horizontal bar per `name` and `what`, as long as `amount`."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    return _bars(
        rows,
        _chart_height(len(names), per_name=1.5),
        x=alt.X("amount:Q", title=unit, axis=_amount_axis("~g")),
        y=_name_axis(names),
        yOffset=alt.YOffset("what:N", sort=list(colours)),
        color=_colour_scale(rows, colours),
        tooltip=[
            alt.Tooltip("name:N", title="名称"),
            alt.Tooltip("what:N", title="指标"),
            alt.Tooltip("amount:Q", title=unit, format=".2f"),
        ],
    )


def column_chart(rows: Sequence[Row], *, x: str, unit: str) -> Spec:
    """Return one upright bar per `name`, in the given order."""
    names = [row["name"] for row in rows]
    return _bars(
        rows,
        UPRIGHT_HEIGHT,
        x=alt.X("name:N", title=x, sort=names, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("times:Q", title=unit, axis=alt.Axis(tickMinStep=1, format=",d")),
        color=alt.value(TEAL),
        tooltip=[alt.Tooltip("name:N", title=x), alt.Tooltip("times:Q", title=unit, format=",")],
    )


def _bars(rows: Sequence[Row], height: int, **encoding: Any) -> Spec:
    """Return a bar chart as a layer with inline rows. Streamlit would send the rows of a plain chart as Arrow and
    import pandas."""
    chart = alt.Chart(alt.NamedData("rows"), height=height).mark_bar().encode(**encoding)
    spec: Spec = chart.to_dict(validate=False)  # validation takes longer than the rest of the page; a test does it
    layer = {name: spec.pop(name) for name in ("mark", "encoding")}
    del spec["data"]
    return {**spec, "layer": [{**layer, "data": {"values": list(rows)}}]}


def _chart_height(names: int, *, per_name: float = 1.0) -> int:
    return round(names * per_name * BAR_STEP) + CHART_MARGIN


def _name_axis(names: list[str]) -> alt.Y:
    return alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=130, labelOverlap=False))


def _amount_axis(format: str) -> alt.Axis:
    smallest = 1 if format.endswith("d") else alt.Undefined
    return alt.Axis(format=format, labelOverlap=True, tickCount=5, tickMinStep=smallest)


def _colour_scale(rows: Sequence[Row], colours: Colours) -> alt.Color:
    """Return the colour scale. Its legend has only the words that occur."""
    found = {row["what"] for row in rows}
    used = {word: colour for word, colour in colours.items() if word in found}
    return alt.Color(
        "what:N",
        title=None,
        scale=alt.Scale(domain=list(used), range=list(used.values())),
        legend=alt.Legend(orient="top", columns=3, symbolType="square", offset=4, padding=0),
    )
