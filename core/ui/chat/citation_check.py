"""Checks of an answer (依据核验, 法条核验, 案号核验) as one fold below it: what is wrong stands first in its title."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from core.answer import (
    CitationVerdict,
    counted_results,
    list_agreements,
    list_verdicts,
    other_uncited,
    uncited_label,
    verdict_html,
    with_statutes,
)
from core.answer.check_results import BY_MODEL_LABEL, AnswerCheck, Verdict
from core.answer.check_texts import source_words
from core.answer.message import Message
from core.app import App
from core.legal.entities import LAWS
from core.search import find_article
from core.search.types import Source
from core.ui import conversation_sync, session
from core.ui.chat import answer_tasks, revision_dialog, second_opinion_button
from core.ui.chat.answer import app_url
from core.ui.escape import draw_html, escape_label

if TYPE_CHECKING:
    from core.legal import StatuteCheck

log = logging.getLogger(__name__)

NO_LAW_LIBRARY = Markup(
    '<div class="wy-law wy-dim">法条核验：法规库是空的，回答引用的法条没有核验。可以在「'
    '<a href="/legal" target="_blank" rel="noopener">法规与案例</a>」页下载国家法律，只需一次点击。</div>'
)
_VERDICT_COLOURS = {Verdict.CONTRADICTED: "red", Verdict.ABSENT: "orange"}
_LAW_COLOURS = {"✗": "red", "≠": "red", "⌛": "orange"}
_LAW_WORDS = {"✓": "一致", "○": "未能比对", "≠": "不一致", "✗": "查无", "⌛": "非现行有效", "？": "未能核验"}
"""The results of 法条核验 and 案号核验 in the title, by mark."""


def check_of(app: App, entry: Message) -> AnswerCheck | None:
    """Return the check of an answer. It is computed again if the checker changed or the answer was cut short."""
    check = app.checks.check_for(entry, conversation_sync.read_pages_loader(app, entry))
    conversation_sync.save_repeated_check(app, entry, check)
    return with_statutes(check, app.check_statutes(entry.text, session.chat().question_of(entry)))


def draw(app: App, entry: Message, check: AnswerCheck | None) -> None:
    words = partial(source_words, entry.sources, conversation_sync.read_pages_loader(app, entry))
    statutes = app.check_statutes(entry.text, session.chat().question_of(entry), words)
    if title := _title(check, statutes):
        _draw_fold(app, entry, check, statutes, title)
    elif uses_laws(entry):
        _draw_age_of_library(app)
    second_opinion_button.follow_automatic_review(app, entry)
    answer_tasks.draw_progress(entry)
    revision_dialog.draw(app, entry)


def uses_laws(entry: Message) -> bool:
    return any(source.engine == LAWS for source in entry.sources)


def _draw_age_of_library(app: App) -> None:
    draw_html(Markup('<div class="wy-dim">%s</div>') % app.legal.library_summary)


def _draw_fold(app: App, entry: Message, check: AnswerCheck | None, statutes: StatuteCheck | None, title: str) -> None:
    key, chat = answer_tasks.fold_key(entry), session.chat()
    if chat.unfolded_id == entry.id:
        chat.unfolded_id, st.session_state[key] = "", True
    fold = st.expander(title, key=key, type="compact", on_change="rerun")
    if fold.open:
        with fold:
            _draw_statutes(app, entry, statutes)
            if check is not None and (check.statements or check.uncited):
                _draw_claims(app, entry, check)


def _draw_claims(app: App, entry: Message, check: AnswerCheck) -> None:
    others = tuple(one for one in check.uncited if one.statute is None)  # the others stand among the statutes
    if check.statements or others:
        draw_html(_heading("依据核验"))
        draw_check(replace(check, uncited=others), entry.sources, key=entry.id)
    st.caption("网页打不开或改了，当时读到的文字还在回答下方的「来源原文」里；打开右侧的「来源」时，就在那里。")
    answer_tasks.draw_remark(entry)
    with st.container(horizontal=True):
        second_opinion_button.draw_button(app, entry, check)
        revision_dialog.draw_button(app, entry, check)


# ── The title ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _title(check: AnswerCheck | None, statutes: StatuteCheck | None) -> str:
    """Return the results of all checks in one line, what is wrong first and in its colour; empty if nothing was checked."""
    parts = [*(_claim_parts(check) if check else ()), *(_law_parts(statutes) if statutes else ())]
    ranked = sorted(parts, key=lambda part: _TITLE_ORDER[part[0]])
    coloured = (f":{colour}[{text}]" if colour in {"red", "orange"} else text for colour, text in ranked)
    return " · ".join(("核验", *coloured)) if parts else ""


_TITLE_ORDER = {"red": 0, "orange": 1, "good": 2, "": 3}


def _claim_parts(check: AnswerCheck) -> Iterable[tuple[str, str]]:
    """Yield a colour and the words for each kind of result on sentences."""
    for verdict, words in counted_results(check):
        colour = _VERDICT_COLOURS.get(verdict, "") if verdict else ""
        yield "good" if verdict is Verdict.SUPPORTED else colour, words


def _law_parts(statutes: StatuteCheck) -> Iterable[tuple[str, str]]:
    """Yield a colour and the words for each kind of result on statutes and cases."""
    if not statutes.has_index:
        yield "", "法条没有核验"
    for name, unit, findings in (("法条", "条", statutes.findings), ("案号", "个", statutes.cases)):
        for mark, count in Counter(one.mark.value for one in findings).items():
            colour = "good" if mark == "✓" else _LAW_COLOURS.get(mark, "")
            yield colour, f"{name} {count} {unit}{_LAW_WORDS[mark]}"


# ── Statutes and cases ────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_statutes(app: App, entry: Message, statutes: StatuteCheck | None) -> None:
    """Draw the statutes and cases that the answer cites, and the age of the library."""
    from core.ui import case_findings, statute_findings

    try:
        if statutes is not None and not statutes.has_index:
            draw_html(NO_LAW_LIBRARY)
        if statutes is not None and statutes.findings:
            with _check_row("法条核验"):
                statute_findings.draw(statutes.findings, key=f"statutes-{entry.id}")
        if statutes is not None and statutes.cases:
            with _check_row("案号核验"):
                case_findings.draw(statutes.cases, key=f"cases-{entry.id}")
        if uses_laws(entry) or (statutes is not None and statutes.findings):
            _draw_age_of_library(app)
    except Exception:
        log.exception("the checked statutes of an answer could not be drawn")


def _check_row(title: str) -> DeltaGenerator:
    row = st.container(horizontal=True, gap="small", vertical_alignment="top")
    with row:
        draw_html(_heading(title), width="content")
    return row


def _heading(title: str) -> Markup:
    return Markup('<div class="wy-check-title">%s</div>') % title


# ── Sentences ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def draw_check(check: AnswerCheck, sources: Sequence[Source], *, key: str) -> None:
    claims = [*sorted(list_verdicts(check), key=lambda claim: claim.severity_key), *list_agreements(check)]
    uncited = [(uncited_label(statement), statement.text) for statement in other_uncited(check)]
    kinds = Counter([*(claim.label for claim in claims), *(label for label, _ in uncited)])
    chosen = st.pills("只看", list(kinds), key=f"claims-kind-{key}", format_func=lambda kind: f"{kind} {kinds[kind]}")
    by_number = {source.number: source for source in sources}
    rows = [_row(claim, by_number.get(claim.number)) for claim in claims if chosen in {None, claim.label}]
    row = Markup('<li><span class="wy-verdict">%s</span><p>%s</p></li>')
    rows += [row % (label, text) for label, text in uncited if chosen in {None, label}]
    draw_html(Markup('<ul class="wy-claims">%s</ul>') % Markup().join(rows))
    st.caption(escape_label(_method_note(check)))
    _draw_explanation()


def _draw_explanation() -> None:
    """Draw the manual's article on the marks, folded. A link would lead nowhere where the page 帮助 is switched off."""
    if article := find_article("trust"):
        with st.popover("这些标记怎么来的", icon=":material/help:", type="tertiary"):
            st.markdown(article.body.replace("\n## ", "\n##### "))


def _method_note(check: AnswerCheck) -> str:
    undecided = "「未核」：换了说法、只有摘要，或不足以判断，不是说回答错了。"
    if check.opinion is None:
        return f"由程序逐词比对，不经大模型。{undecided}"
    return f"由程序逐词比对；标明「{BY_MODEL_LABEL}」的是模型的判断，它引的原话确实在来源里。{undecided}{check.opinion}"


def _row(claim: CitationVerdict, source: Source | None) -> Markup:
    return Markup("<li>%s</li>") % verdict_html(claim, source, app_url())
