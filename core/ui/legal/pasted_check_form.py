"""Citation check (依据核验) of a pasted text and its sources, drawn as below an answer."""

from __future__ import annotations

import streamlit as st

from core.answer import tally, with_statutes
from core.app import App
from core.base.errors import AppError
from core.run import MAX_ADDRESSES, PastedTextCheck, check_pasted_text, parse_pasted_sources, validate_pasted_text
from core.ui import identity
from core.ui.chat import draw_answer, draw_source_list
from core.ui.chat import draw_check as draw_claims
from core.ui.escape import escape_label
from core.ui.frame import draw_warning

TEXT, SOURCES, RESULT = "claims_text", "claims_sources", "claims_result"


def draw(app: App) -> None:
    """Draw the form and the result of the last check."""
    st.caption(
        f"逐句核验一段带 [1]、[2] 的文字：来源是否这样说。不用大模型。来源可以是网址（一次最多 {MAX_ADDRESSES} 个，"
        "打开阅读，计入你的搜索次数），也可以是粘贴的原文。"
    )
    with st.form("claims", border=False):
        text = st.text_area(
            "文字",
            key=TEXT,
            persist_state="session",
            height=200,
            placeholder="例如：今年前三季度全市供水总量为 1.2 亿立方米[1]。",
        )
        written = st.text_area(
            "来源",
            key=SOURCES,
            persist_state="session",
            height=140,
            placeholder="每行一个网址，第一行是 [1]。\n或者粘贴原文，在每份原文前单独一行写 [1]、[2]。",
        )
        if st.form_submit_button("核验", type="primary", icon=":material/fact_check:"):
            st.session_state[RESULT] = _check(app, text or "", written or "")
    match st.session_state.get(RESULT):
        case PastedTextCheck() as result:
            _draw_result(app, result)
        case str(refusal):
            draw_warning(refusal)


def _check(app: App, text: str, written: str) -> PastedTextCheck | str:
    """Check the text. Returns a sentence for the reader if that is not possible."""
    try:
        text, sources = validate_pasted_text(text), parse_pasted_sources(written)
        if any(one.needs_reading for one in sources):
            app.search.admit(identity.rate_limited_visitor())
        with st.spinner("正在核验…"):
            return check_pasted_text(text, sources, app.reader, app.checks.meaning)
    except AppError as error:
        return str(error)


def _draw_result(app: App, result: PastedTextCheck) -> None:
    check = with_statutes(result.check, app.check_statutes(result.text))
    if result.problems:
        st.warning("\n\n".join(map(escape_label, result.problems)), icon=":material/warning:")
    if check is None or not (check.statements or check.uncited):
        st.info("没有可以核验的引用：请在句子后面写 [1]、[2]，编号与来源对应。", icon=":material/info:")
        return
    st.subheader(escape_label(tally(check)), anchor=False)
    with st.container(border=True):
        draw_answer(result.text, result.sources, anchor="pasted", check=check)
    draw_claims(check, result.sources, key="pasted")
    with st.expander("来源列表", icon=":material/library_books:"):
        draw_source_list(result.sources)
