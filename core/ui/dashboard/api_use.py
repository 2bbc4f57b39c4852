"""Use of the interface by other programs, for 运行看板: requests and questions by token.

Names of tokens are shown to those who made them, and to those who may edit the settings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from core.app import App
from core.metrics import Grain, TimeSpan
from core.ui import clock, figure_table, identity, permission
from core.ui.figure_table import Table

WITHOUT_TOKEN, OF_OTHERS = "本机的程序，不带令牌", "其他人的令牌"
COLUMNS = (
    "令牌",
    "请求（次）",
    "成功（次）",
    "被拒绝（次）",
    "失败（次）",
    "提问（次）",
    "读入（token）",
    "写出（token）",
)
Row = tuple[str | int | None, ...]


def read_use(app: App, span: TimeSpan, now: float) -> list[Row]:
    """Return the rows of the table, the most used first; none if no program has called."""
    store, start, names = app.metrics_store, _start(span, now), _names(app)
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for use in store.token_uses(start, now + 1):
        counted[use.token_id if use.token_id in names else OF_OTHERS][use.outcome] += use.times
    for one in store.token_answers(start, now + 1):
        answers = Counter(asked=one.times, input=one.input, output=one.output)
        counted[one.token_id if one.token_id in names else OF_OTHERS] += answers
    rows = [_row(names.get(id, OF_OTHERS), figures, is_token=bool(id)) for id, figures in counted.items()]
    return sorted(rows, key=lambda row: (-int(row[1] or 0), str(row[0])))


def _start(span: TimeSpan, now: float) -> int:
    """Return the start of the span. Requests are counted by the hour."""
    return Grain.HOUR.start(span.start(now))


def _names(app: App) -> dict[str, str]:
    """Return the names of the tokens that this visitor may know, by id."""
    tokens = app.tokens.list_tokens(None if permission.may_edit(app) else identity.reader())
    return {"": WITHOUT_TOKEN} | {token.id: token.name for token in tokens}


def _row(name: str, counted: Counter[str], *, is_token: bool) -> Row:
    """Return a row. Questions without a token are not told from those of the pages."""
    requests = [counted[outcome] for outcome in ("ok", "refused", "failed")]
    questions = [counted[column] if is_token else None for column in ("asked", "input", "output")]
    return (name, sum(requests), *requests, *questions)


def draw(use: Sequence[Row], span: TimeSpan, now: float) -> None:
    st.subheader("其他程序的请求", anchor=False)
    if not use:
        st.caption("这段时间没有程序通过接口请求过。")
        return
    begun = datetime.fromtimestamp(_start(span, now), clock.reader_zone())
    since = f"请求按整点计，从 {begun:%H:%M} 算起；" if span.grain is Grain.MINUTE else ""
    st.caption(f"{since}被拒绝的有太频繁的、没有权限的和内容无法使用的；令牌不对的请求不在内。")
    figure_table.draw(Table("api", COLUMNS, use))
