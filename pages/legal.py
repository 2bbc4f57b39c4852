"""法规与案例: look-up, verification and import, without any model. The address may name an article, a law or a case."""

import streamlit as st

from core.ui import session
from core.ui.frame import set_page_title
from core.ui.legal import asked as asked_laws
from core.ui.legal import cases, claims, draft, frame, imports, law, laws

session.require_router()
app = session.app()
asked = st.query_params.to_dict()
st.query_params.from_dict(
    asked
)  # a link inside the page sets new parameters; only this call updates the browser's address

if "law" in asked:
    set_page_title(asked["law"], asked.get("article", ""))
    law.draw_law(app.legal, asked["law"], *(asked.get(name, "") for name in ("article", "version", "on")))
    frame.draw_library_summary(app.legal)
    st.stop()
if "case" in asked:
    set_page_title(asked["case"])
    cases.draw_case(app.legal, asked["case"])
    frame.draw_library_summary(app.legal)
    st.stop()

if asked_laws.has_filters(asked):
    st.session_state[frame.VIEW] = frame.LAWS
st.header("法规与案例", anchor=False)
match frame.choose_view():
    case frame.LAWS:
        laws.draw_search(app.legal)
    case frame.CASES:
        cases.draw_search(app.legal)
    case frame.DRAFT:
        draft.draw(app.legal, app.reader)
    case frame.CLAIMS:
        claims.draw(app)
    case frame.IMPORT:
        imports.draw(app)
frame.draw_library_summary(app.legal)
