"""法规与案例: look-up, verification and import, without any model. The address may name an article, a law or a case."""

import streamlit as st

from core.ui import legal_views, session
from core.ui.frame import set_page_title
from core.ui.legal import (
    article_actions,
    article_list,
    cases,
    draft_check,
    import_view,
    law,
    legal_page,
    pasted_check_form,
    statute_search,
)
from core.ui.legal import law_filters as asked_laws

session.require_router()
app = session.app()
asked = st.query_params.to_dict()
added = asked.pop(article_actions.ADD, "")
# A link inside the page sets new parameters; only this call updates the browser's address.
st.query_params.from_dict(asked)
if added:
    article_list.add(app.legal, added)

if "law" in asked:
    set_page_title(asked["law"], asked.get("article", ""))
    if import_view.draw_empty_library(app):
        st.stop()
    law.draw_law(app.legal, asked["law"], *(asked.get(name, "") for name in ("article", "version", "on")))
    legal_page.draw_library_summary(app.legal)
    st.stop()
if "case" in asked:
    set_page_title(asked["case"])
    import_view.draw_empty_library(app)
    cases.draw_case(app.legal, asked["case"])
    legal_page.draw_library_summary(app.legal)
    st.stop()

if asked_laws.has_filters(asked):
    st.session_state[legal_views.VIEW] = legal_views.LAWS
st.header("法规与案例", anchor=False)
view = legal_views.choose_view()
if view in (legal_views.LAWS, legal_views.CASES, legal_views.DRAFT) and import_view.draw_empty_library(app):
    st.stop()
match view:
    case legal_views.LAWS:
        statute_search.draw_search(app.legal)
    case legal_views.CASES:
        cases.draw_search(app.legal)
    case legal_views.DRAFT:
        draft_check.draw(app.legal, app.reader)
    case legal_views.CLAIMS:
        pasted_check_form.draw(app)
    case legal_views.IMPORT:
        import_view.draw(app)
legal_page.draw_library_summary(app.legal)
