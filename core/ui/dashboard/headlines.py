"""Headline figures of 运行看板, each with its change against the span before and a small curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import streamlit as st

from core.metrics import DashboardReport, SpanStats, TimeSpan
from core.ui.escape import escape_label

NO_VALUE = "–"
NO_PRICE = "未设价格"
NOT_COMPARABLE = "暂不比较"
UNCHANGED = "持平"


@dataclass(frozen=True)
class Headline:
    name: str
    figure: Callable[[SpanStats], float | None]
    format_value: Callable[[float], str]
    meaning: str
    delta_color: Literal["normal", "inverse", "off"]
    """Colour mode of st.metric: whether more is good, bad or neither."""
    format_difference: Callable[[float], str] | None = None
    """Format of the change, if it differs from that of the figure."""
    unknown_text: str = NO_VALUE


def draw(report: DashboardReport, span: TimeSpan, currency: str) -> None:
    st.caption(_comparison_note(report, span))
    with st.container(key="headlines"):  # in a grid, by the style sheet
        for headline in _headlines(currency):
            _draw_metric(headline, report)


def _comparison_note(report: DashboardReport, span: TimeSpan) -> str:
    if report.previous is None:
        return f"之前的 {span.label}数据不全，{NOT_COMPARABLE}。曲线是这段时间里的走势。"
    return f"变化是与之前的 {span.label}相比；曲线是这段时间里的走势。"


def _draw_metric(headline: Headline, report: DashboardReport) -> None:
    value = headline.figure(report.whole)
    change = _change(headline, value, report.previous)
    curve = [headline.figure(part) for _, part in report.parts[:-1]]  # without the current part, which is not over
    known = [round(figure, 3) for figure in curve if figure is not None]
    st.metric(
        headline.name,
        escape_label(headline.unknown_text if value is None else headline.format_value(value)),
        change[0] + escape_label(change[1:]),  # the sign must not be escaped
        delta_color=headline.delta_color if change[0] in "+-" else "off",
        delta_arrow="auto" if change[0] in "+-" else "off",
        chart_data=known if len(known) > 1 else None,
        border=True,
        height="stretch",
        help=headline.meaning,
    )


def _change(headline: Headline, value: float | None, before: SpanStats | None) -> str:
    earlier = headline.figure(before) if before else None
    if value is None or earlier is None:
        return NOT_COMPARABLE
    words = headline.format_difference or headline.format_value
    difference = words(abs(value - earlier))
    return UNCHANGED if difference == words(0) else f"{'+' if value > earlier else '-'}{difference}"


def _format_times(figure: float) -> str:
    return f"{figure:,.0f} 次"


def _format_percent(figure: float) -> str:
    return f"{figure:.1%}"


def _format_points(figure: float) -> str:
    return f"{figure * 100:.1f} 个百分点"


def _format_seconds(figure: float) -> str:
    return f"{figure:.1f} 秒"


def _format_money(currency: str, figure: float) -> str:
    return f"{figure:,.2f} {currency}"


def _headlines(currency: str) -> tuple[Headline, ...]:
    return (
        Headline(
            "搜索成功率",
            lambda figures: figures.success_rate,
            _format_percent,
            "有结果的搜索占全部搜索的比例，读者中途离开的不算。",
            "normal",
            _format_points,
        ),
        Headline(
            "回答用时 p95",
            lambda figures: figures.answer_seconds.percentile(0.95),
            _format_seconds,
            "从提问到写完，每 20 次里最慢的 1 次大约要这么久；只算完成的回答，误差不超过 5 %。",
            "inverse",
        ),
        Headline(
            "错误率",
            lambda figures: figures.failure_rate,
            _format_percent,
            "以错误告终的搜索和回答占全部的比例。由下一个引擎补上的不算，超出限额的不算。",
            "inverse",
            _format_points,
        ),
        Headline(
            "估算费用",
            lambda figures: figures.cost,
            partial(_format_money, currency),
            "按设置中的单价计算，没有单价的模型不计。",
            "off",
            unknown_text=NO_PRICE,
        ),
        Headline("搜索", lambda figures: figures.searches, _format_times, "包括由缓存回答的和没有成功的。", "off"),
        Headline("回答", lambda figures: figures.answers, _format_times, "两种模式合计，包括没有完成的。", "off"),
        Headline(
            "缓存命中",
            lambda figures: figures.hit_rate,
            _format_percent,
            "由会话缓存或共享缓存直接回答的搜索的比例。",
            "normal",
            _format_points,
        ),
        Headline(
            "超出限额",
            lambda figures: figures.refused_searches,
            _format_times,
            "超过每个用户每分钟的上限而没有执行的搜索。",
            "inverse",
        ),
    )
