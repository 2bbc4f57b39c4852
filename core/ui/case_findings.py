"""Findings of the case check (案号核验) as a row of chips. A click shows the case and the words that were compared."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from core.legal import CaseFinding, case_address, case_facts, case_parts
from core.legal.entities import CourtCase
from core.ui.escape import draw_html, escape_label
from core.ui.statute_findings import article_html, coloured_mark, mark_html


def draw(findings: Sequence[CaseFinding], *, key: str) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        for number, one in enumerate(findings):
            label = f"{coloured_mark(one.mark)} {escape_label(one.cited)}"
            with st.popover(label, key=f"{key}-{number}", type="tertiary"):
                draw_html(finding_html(one))


def finding_html(finding: CaseFinding) -> Markup:
    """Return the finding in words, the quotation above the case's own words, and a link to the case."""
    words = (mark_html(finding.mark), finding.meaning, finding.note + finding.source_note)
    parts = Markup('<div class="wy-verdict">%s <b>%s。</b>%s</div>') % words
    if finding.quote:
        parts += Markup('<div class="wy-law-title">文中所引</div>') + article_html(finding.quote)
    if finding.case:
        parts += _case_section(finding.case)
    return Markup('<div class="wy-law">%s</div>') % parts


def _case_section(case: CourtCase) -> Markup:
    name, facts = case.name, " · ".join(case_facts(case))
    gist = next((f"{title}：{text}" for title, text in case_parts(case) if text == case.gist), "")
    return (
        Markup('<div class="wy-law-title">%s <span class="wy-dim">%s</span></div>') % (name, facts)
        + article_html(gist)
        + Markup('<div><a href="%s" target="_blank" rel="noopener">在「法规与案例」页打开</a></div>')
        % case_address(case.number or case.name)
    )
