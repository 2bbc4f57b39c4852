"""Search ledger (搜索记录): what was searched, which engine answered, which did not and why. Shown with every answer
that searched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st
from markupsafe import Markup

from core.answer.events import SearchFinished
from core.answer.step_words import provider_label, search_summary
from core.app import App
from core.base.text import one_line
from core.search import MAX_LENGTH, describe_filters, unsupported_filters
from core.search.types import DOCUMENTS, Attempt, AttemptOutcome, SearchResponse
from core.ui.advice import advice_html, pause_words
from core.ui.chat import actions
from core.ui.escape import draw_html

AGAIN_HELP = "不用缓存，暂停的引擎也再试一次，然后重新回答。"
QUERY_HELP = "可以改成别的词，再为同一个问题重新搜索。清空后用问题的原话搜索。"
_OUTCOMES = {
    AttemptOutcome.OK: "成功",
    AttemptOutcome.EMPTY: "没有结果",
    AttemptOutcome.SKIPPED: "跳过",
    AttemptOutcome.FAILED: "失败",
}


def draw(app: App, searches: Sequence[SearchFinished], *, key: str, can_repeat: bool, can_edit: bool) -> None:
    """Draw the ledger. With `can_edit` the reader may change the words of a search of the web; an agent chooses its own."""
    title = Markup('<div class="wy-refs-title">搜索记录</div>')
    draw_html(title + Markup().join(entry_html(search.response, search.asked) for search in searches))
    has_web = any(search.response.provider != DOCUMENTS for search in searches)
    if can_repeat and can_edit and has_web:
        _search_form(app, searches[-1].response.query.text, key)
    elif can_repeat:
        again = partial(actions.answer_again, app, fresh=True)
        st.button("重新搜索", key=f"fresh-{key}", icon=":material/refresh:", help=AGAIN_HELP, on_click=again)


def _search_form(app: App, query: str, key: str) -> None:
    field = f"query-{key}"
    again = partial(actions.search_again, app, field)
    with st.form(f"search-{key}", border=False):
        st.text_input("搜索词", query, key=field, max_chars=MAX_LENGTH, help=QUERY_HELP)
        st.form_submit_button("重新搜索", icon=":material/refresh:", help=AGAIN_HELP, on_click=again)


def query_html(query: str, asked: str = "") -> Markup:
    """Return the query, and the reader's own words if they differ."""
    return row_html("搜索词", query) + (row_html("原话", one_line(asked)) if asked else Markup())


def entry_html(response: SearchResponse, asked: str = "") -> Markup:
    lines = [query_html(response.query.text, asked)]
    if limits := describe_filters(response.query):
        lines.append(row_html("条件", " · ".join(limits)))
    lines.append(row_html("结果", search_summary(response)))
    if response.attempts and response.provider != DOCUMENTS:  # no engine was asked
        heads = Markup("<tr><th>引擎</th><th>结果</th><th>用时</th><th>说明</th></tr>")
        rows = Markup().join(map(_attempt_html, response.attempts))
        lines.append(Markup('<table class="wy-ledger" tabindex="0">%s%s</table>') % (heads, rows))
    notes = (*response.notes, *unsupported_filters(response.provider, response.query))
    lines += [Markup('<div class="wy-line">%s</div>') % note for note in notes]
    return Markup().join(lines)


def row_html(name: str, text: str) -> Markup:
    return Markup('<div class="wy-line"><b>%s</b> %s</div>') % (name, text)


def _pause_html(attempt: Attempt) -> Markup:
    return Markup("<div>%s。</div>") % pause_words(attempt.pause) if attempt.pause else Markup()


def _attempt_html(attempt: Attempt) -> Markup:
    cells = (
        provider_label(attempt.engine),
        "暂停中" if attempt.was_paused else _OUTCOMES[attempt.outcome],
        f"{attempt.seconds:.1f} 秒" if attempt.seconds >= 0.05 else "–",
        advice_html(f"{attempt.reason}{attempt.cure}") + _pause_html(attempt),
    )
    return Markup("<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>") % cells
