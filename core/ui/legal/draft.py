"""核验文稿: a text with citations; each is looked up, counted by its mark, and shown with the article."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import streamlit as st
from markupsafe import Markup, escape
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.base.errors import AppError
from core.base.text import clean
from core.legal import export
from core.legal.desk import LegalDesk
from core.legal.layouts.markup import Undecodable, decode
from core.legal.verify import Author, Mark, Verdict
from core.ui.escape import draw_html, label
from core.ui.frame import warning
from core.ui.legal import frame
from core.ui.legal.asked import draw_day
from core.ui.legal.verdicts import coloured, details, mark_html, words
from core.ui.uploads import upload_field

TEXT = "draft_text"
MAX_LENGTH = 200_000
_MAX_MEGABYTES = 2
_LISTED = 100
_UNREADABLE = "这个文件不是文本，或编码无法识别。请另存为 UTF-8 文本，或把内容粘贴到上面。"


def draw(desk: LegalDesk) -> None:
    if desk.library.index() is None:
        st.write("核验要把引用与法律原文对照，所以要先导入法律文本。")
        frame.nothing_imported(web=desk.searches_web)
        return
    with st.form("draft", border=False):
        typed = st.text_area(
            "文稿",
            key=TEXT,
            persist_state="session",
            height=220,
            max_chars=MAX_LENGTH,
            placeholder="粘贴一段文字，例如：根据《劳动合同法》第三十八条第一款……",
            label_visibility="collapsed",
        )
        file = upload_field(
            f"或上传文本文件（txt、md），最大 {_MAX_MEGABYTES} MB", megabytes=_MAX_MEGABYTES, type=["txt", "md"]
        )
        on = draw_day("draft_on")
        st.form_submit_button("核验", type="primary", icon=":material/fact_check:")
    text = _text(typed or "", file)
    if not text.strip():
        return
    try:
        _draw_verdicts(text, desk.verifier.verify(text, Author.PERSON, on))
    except AppError as error:
        warning(str(error))


def _text(typed: str, file: UploadedFile | None) -> str:
    if file is None:
        return clean(typed)
    try:
        return decode(file.getvalue())[:MAX_LENGTH]
    except Undecodable:
        warning(_UNREADABLE)
        return ""


def _draw_verdicts(text: str, verdicts: Sequence[Verdict]) -> None:
    if not verdicts:
        st.info(
            "没有找到法条的引用。能识别的写法如：《劳动合同法》第三十八条、民法典第1198条。", icon=":material/info:"
        )
        return
    counts = Counter(verdict.mark for verdict in verdicts)
    st.subheader(f"共引用 {len(verdicts)} 处", anchor=False)
    shown = st.pills(
        "只看",
        [mark for mark in Mark if counts[mark]],
        selection_mode="multi",
        format_func=lambda mark: f"{coloured(mark)} {mark.meaning} {counts[mark]}",
        label_visibility="collapsed",
        key="draft_marks",
    )
    listed = [(number, verdict) for number, verdict in enumerate(verdicts) if not shown or verdict.mark in shown]
    for number, verdict in listed[:_LISTED]:
        note = f" — {verdict.note}" if verdict.note else ""
        with st.expander(f"{coloured(verdict.mark)} {label(words(verdict) + note)}", key=f"draft-{number}"):
            draw_html(details(verdict))
    if len(listed) > _LISTED:
        st.caption(f"只列出前 {_LISTED} 处；其余请按标记筛选、在原文中查看，或导出表格。")
    with st.expander("在原文中查看", icon=":material/article:"):
        draw_html(Markup('<div class="wy-question">%s</div>') % _marked(text, verdicts))
    files = {
        "csv": partial(export.verdicts_csv, verdicts),
        "json": partial(export.verdicts_json, verdicts),
    }
    frame.exports("法条核验", files, key="draft")


def _marked(text: str, verdicts: Sequence[Verdict]) -> Markup:
    """The text with a mark before each citation."""
    out: list[Markup] = []
    done = 0
    for verdict in verdicts:
        if verdict.start >= done:
            cited = Markup("%s<u>%s</u>") % (mark_html(verdict.mark), verdict.cited)
            out += [escape(text[done : verdict.start]), cited]
            done = verdict.end
    return Markup().join([*out, text[done:]])
