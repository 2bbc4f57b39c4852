"""搜索账本: what the program searched, who answered, who did not and why. Always there, folded, under the answer."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from core.answer.events import SearchFinished
from core.base.text import ago
from core.search.query import limits_in_words
from core.search.registry import unheeded_limits
from core.search.types import Attempt, Outcome, SearchResponse
from core.ui.chat import actions
from core.ui.labels import label_of

_OUTCOMES = {Outcome.OK: "成功", Outcome.EMPTY: "没有结果", Outcome.SKIPPED: "跳过", Outcome.FAILED: "失败"}


def draw(searches: Sequence[SearchFinished], *, key: str, can_repeat: bool) -> None:
    with st.expander("搜索账本", icon=":material/receipt_long:"):
        for search in searches:
            st.html(entry(search.response))
        if can_repeat:
            st.button(
                "重新搜索",
                key=f"fresh-{key}",
                icon=":material/refresh:",
                help="不用缓存，重新搜索并重新回答。",
                on_click=actions.answer_again,
                kwargs={"fresh": True},
            )


def summary(response: SearchResponse) -> str:
    """One line: who answered, how many, how long, how old."""
    if not response.provider:
        return "没有搜索" if was_not_tried(response) else "搜索没有成功"
    found = f"找到 {response.total_results} 条" if response.results else "没有找到结果"
    parts = [label_of(response.provider), found, f"{response.search_time:.1f} 秒"]
    if response.failure:
        parts = ["联网搜索没有成功", f"只查了{label_of(response.provider)}", *parts[1:]]
    if response.from_cache:
        parts.append(f"{'旧' if response.stale else ''}缓存 · {ago(response.cache_age or 0).strip()}")
    return " · ".join(parts)


def was_not_tried(response: SearchResponse) -> bool:
    """The model could have searched and chose not to."""
    return bool(response.attempts) and all(attempt.outcome is Outcome.SKIPPED for attempt in response.attempts)


def entry(response: SearchResponse) -> str:
    rows = "".join(_attempt(attempt) for attempt in response.attempts)
    table = f'<table class="wy-ledger"><tr><th>引擎</th><th>结果</th><th>用时</th><th>说明</th></tr>{rows}</table>'
    limits = " · ".join(limits_in_words(response.query))
    asked_for = f'<div class="wy-line"><b>条件</b> {html.escape(limits)}</div>' if limits else ""
    notes = "".join(
        f'<div class="wy-line">{html.escape(note)}</div>'
        for note in (*response.notes, *unheeded_limits(response.provider, response.query))
    )
    return (
        f'<div class="wy-line"><b>查询</b> {html.escape(response.query.text)}</div>{asked_for}'
        f'<div class="wy-line"><b>结果</b> {html.escape(summary(response))}</div>{table if rows else ""}{notes}'
    )


def _attempt(attempt: Attempt) -> str:
    cells = (
        label_of(attempt.engine),
        _OUTCOMES[attempt.outcome],
        f"{attempt.seconds:.1f} 秒" if attempt.seconds >= 0.05 else "–",
        f"{attempt.reason}{attempt.cure}",
    )
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
