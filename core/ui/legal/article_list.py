"""Articles that a reader added to the draft check (加入核验): whether the draft cites each of them, and how."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from core.legal import LegalIndex, LegalServices, StatuteFinding, find_citations, law_query, summary
from core.ui.escape import draw_html, escape_label
from core.ui.legal import legal_page

CHOSEN = "draft_articles"
_ADDED = "draft_articles_added"
_MOST = 50


def add(legal: LegalServices, name: str) -> None:
    """Add the article that a link of the page names (《…》第三十八条), if the library has it, and say so."""
    index = legal.library.index()
    article = _named_article(index, name) if index else None
    if article is None:
        return
    full_name = "《{}》{}".format(*article)
    chosen = list(dict.fromkeys([*st.session_state.get(CHOSEN, ()), full_name]))[-_MOST:]
    st.session_state[_ADDED] = list(dict.fromkeys([*st.session_state.get(_ADDED, ()), full_name]))[-_MOST:]
    st.session_state[CHOSEN] = chosen
    st.toast(
        escape_label(f"已加入核验文稿：{full_name}（共 {len(chosen)} 条）。核验时看文稿有没有引用它。"),
        icon=":material/playlist_add_check:",
    )


def draw(legal: LegalServices, findings: Sequence[StatuteFinding] | None) -> None:
    """Draw the articles and, if a draft was checked, what its citations of each came to. Draws nothing without
    articles."""
    added, index = st.session_state.get(_ADDED), legal.library.index()
    if not added or index is None:
        return
    st.session_state.setdefault(CHOSEN, list(added))
    chosen = st.multiselect(
        "加入的条文：核验时看文稿有没有引用它们、引得对不对", added, key=CHOSEN, persist_state="session"
    )
    if findings is None:
        return
    lines = [_line_html(index, name, findings) for name in chosen]
    draw_html(Markup('<ul class="wy-law wy-added">%s</ul>') % Markup().join(lines))


def _line_html(index: LegalIndex, name: str, findings: Sequence[StatuteFinding]) -> Markup:
    article = _named_article(index, name)
    if article is None:
        return Markup("<li>%s：库中没有这一条了。</li>") % name
    cited = [one for one in findings if (one.law_name, one.article_number) == article]
    said = f"文稿引用了 {len(cited)} 处，{summary(cited)}" if cited else "没有查到文稿引用这一条"
    return Markup("<li>%s：%s</li>") % (legal_page.link_html(name, law_query(*article)), said)


def _named_article(index: LegalIndex, name: str) -> tuple[str, str] | None:
    """Return the law and the number of an article that the library has."""
    for citation in find_citations(name, index.is_known)[:1]:
        law = index.resolve(citation.law or "")
        if law and index.article(law.id, citation.article):
            return law.name, str(citation.article)
    return None
