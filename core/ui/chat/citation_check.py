"""Citation check (依据核验) below an answer: a summary line that unfolds into every compared place, problems first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from core.answer import (
    CitationVerdict,
    list_agreements,
    list_verdicts,
    other_uncited,
    tally,
    uncited_label,
    verdict_html,
    with_statutes,
)
from core.answer.check_results import BY_MODEL_LABEL, AnswerCheck
from core.answer.message import Message
from core.app import App
from core.search import find_article
from core.search.types import Source
from core.ui import conversation_sync, session
from core.ui.chat import answer_tasks, revision_dialog, second_opinion_button
from core.ui.chat.answer import app_url
from core.ui.escape import draw_html, escape_label


def check_of(app: App, entry: Message) -> AnswerCheck | None:
    """Return the check of an answer. It is computed again if the checker changed or the answer was cut short."""
    check = app.checks.check_for(entry, conversation_sync.read_pages_loader(app, entry))
    conversation_sync.save_repeated_check(app, entry, check)
    return with_statutes(check, app.check_statutes(entry.text, session.chat().question_of(entry)))


def draw(app: App, entry: Message, check: AnswerCheck | None) -> None:
    if check is not None and (check.statements or check.uncited):
        _draw_fold(app, entry, check)
    second_opinion_button.follow_automatic_review(app, entry)
    answer_tasks.draw_progress(entry)
    revision_dialog.draw(app, entry)


def _draw_fold(app: App, entry: Message, check: AnswerCheck) -> None:
    title, key, chat = f"依据核验 · {tally(check)}", answer_tasks.fold_key(entry), session.chat()
    if chat.unfolded_id == entry.id:
        chat.unfolded_id, st.session_state[key] = "", True
    fold = st.expander(escape_label(title), icon=":material/fact_check:", key=key, on_change="rerun")
    if fold.open:
        with fold:
            draw_check(check, entry.sources, key=entry.id)
            st.caption("网页打不开或改了，可以在下方「来源原文」里看当时读到的文字。")
            answer_tasks.draw_remark(entry)
            with st.container(horizontal=True):
                second_opinion_button.draw_button(app, entry, check)
                revision_dialog.draw_button(app, entry, check)


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
