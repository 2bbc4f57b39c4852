"""法规与案例: look-up, verification and import, without any model. The address may name an article, a law or a case."""

import streamlit as st

from core.app import shared_app
from core.ui import legal, legal_cases, legal_draft, legal_import, legal_laws, state

state.through_router()
app = shared_app()
asked = st.query_params.to_dict()
st.query_params.from_dict(asked)  # a link inside the page brings new ones; the browser's address follows only this

if "law" in asked:
    legal_laws.draw_law(app.legal, asked["law"], asked.get("article", ""), asked.get("version", ""))
    st.stop()
if "case" in asked:
    legal_cases.draw_case(app.legal, asked["case"])
    st.stop()

st.header("法规与案例", anchor=False)
match legal.choose_view():
    case legal.LAWS:
        legal_laws.draw_search(app.legal)
    case legal.CASES:
        legal_cases.draw_search(app.legal)
    case legal.DRAFT:
        legal_draft.draw(app.legal)
    case legal.IMPORT:
        legal_import.draw(app)
