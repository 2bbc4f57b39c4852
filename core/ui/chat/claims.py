"""依据核对 below an answer: one line that counts, and inside it every place that was compared, problems first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from core.answer.checked import AnswerCheck
from core.answer.claims import BAD_FIRST, UNCITED, Claim, claims, tally
from core.answer.message import Message
from core.answer.source_html import claim_html
from core.app import shared_app
from core.search.types import Source
from core.ui import keeping
from core.ui.chat.answer import app_url
from core.ui.escape import draw_html, label


def check_of(entry: Message) -> AnswerCheck | None:
    """As it was made with the answer; made again where the checker has changed since, or the answer was cut short."""
    app = shared_app()
    return app.checks.of(entry, keeping.pages_of(app, entry))


def draw(entry: Message, check: AnswerCheck | None) -> None:
    if check is None or not (check.statements or check.uncited):
        return
    title = f"依据核对 · {tally(check)}"
    fold = st.expander(label(title), icon=":material/fact_check:", key=f"claims-{entry.id}", on_change="rerun")
    if fold.open:
        with fold:
            draw_list(check, entry.found, key=entry.id)
            st.caption("网页打不开或改了，可以在下方「来源原文」里看当时读到的文字。")


def draw_list(check: AnswerCheck, sources: Sequence[Source], *, key: str) -> None:
    kinds = _kinds(check)
    chosen = st.pills("只看", list(kinds), key=f"claims-kind-{key}", format_func=lambda kind: f"{kind} {kinds[kind]}")
    rows = Markup().join(_rows(check, {source.number: source for source in sources}, chosen))
    draw_html(Markup('<ul class="wy-claims">%s</ul>') % rows)
    st.caption("程序逐字比较回答和来源得出，没有用模型。「未核」：只有摘要，或不足以判断。")


def _kinds(check: AnswerCheck) -> Mapping[str, int]:
    """What there is, problems first."""
    counted = Counter(claim.verdict for claim in claims(check))
    kinds = {verdict.label: counted[verdict] for verdict in BAD_FIRST if counted[verdict]}
    return kinds | ({UNCITED: len(check.uncited)} if check.uncited else {})


def _rows(check: AnswerCheck, sources: Mapping[int, Source], chosen: str | None) -> Iterator[Markup]:
    for claim in sorted(claims(check), key=lambda claim: BAD_FIRST.index(claim.verdict)):
        if chosen in {None, claim.verdict.label}:
            yield _row(claim, sources.get(claim.number))
    for statement in check.uncited if chosen in {None, UNCITED} else ():
        yield Markup('<li><span class="wy-verdict">%s</span><p>%s</p></li>') % (UNCITED, statement.text)


def _row(claim: Claim, source: Source | None) -> Markup:
    return Markup("<li><p>%s</p>%s</li>") % (claim.statement, claim_html(claim, source, app_url()))
