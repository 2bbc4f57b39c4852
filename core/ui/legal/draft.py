"""Check of drafts (核验文稿): every citation is looked up, problems come first, and the draft can be downloaded with
comments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import PurePath

import streamlit as st
from markupsafe import Markup, escape
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.base.errors import AppError
from core.legal import export
from core.legal.desk import LegalDesk
from core.legal.draft import PASTED, Draft, with_comments
from core.legal.text.as_of import Period
from core.legal.verify import BAD_FIRST, PROBLEMS, Author, Mark, Verdict
from core.reading import FileError, Reader
from core.reading.files import KINDS
from core.ui.escape import draw_html, label
from core.ui.frame import warning
from core.ui.legal import frame
from core.ui.legal.asked import draw_day
from core.ui.legal.verdicts import badge, details, mark_html, words
from core.ui.uploads import upload_fields

TEXT = "draft_text"
FILES = "draft_files"
SHOWN = "draft_shown"
MAX_LENGTH = 200_000
MOST_FILES = 5
_READ, _VERIFIED = "drafts_read", "drafts_verified"
_LISTED = 100
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ALL = "全部"

Checked = tuple[Draft, Sequence[Verdict]]


def draw(desk: LegalDesk, reader: Reader) -> None:
    """Draw the form and the findings for each draft."""
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
        files = upload_fields(
            f"或上传文件（{'、'.join(KINDS)}），最多 {MOST_FILES} 个，每个最大 {reader.megabytes} MB",
            megabytes=reader.megabytes,
            files=MOST_FILES,
            type=KINDS,
            key=FILES,
        )
        on = draw_day("draft_on")
        st.form_submit_button("核验", type="primary", icon=":material/fact_check:")
    drafts = [*_pasted(typed or ""), *_uploaded(files, reader)]
    try:
        _draw(list(_verified(desk, drafts, on)), reader)
    except AppError as error:
        warning(str(error))


def _pasted(typed: str) -> list[Draft]:
    draft = Draft.pasted(typed)
    return [draft] if draft.text else []


def _uploaded(files: Sequence[UploadedFile], reader: Reader) -> Iterator[Draft]:
    """Yield the uploaded drafts. Each file is read once; a problem is shown as long as the file is there."""
    known: Mapping[str, Draft | str] = st.session_state.get(_READ, {})
    now = {file.file_id: known.get(file.file_id) or _read(file, reader) for file in files[:MOST_FILES]}
    st.session_state[_READ] = now
    for draft in now.values():
        if isinstance(draft, str):
            warning(draft)
        else:
            yield draft
    if len(files) > MOST_FILES:
        warning(f"一次最多核验 {MOST_FILES} 个文件，其余的没有读。")


def _read(file: UploadedFile, reader: Reader) -> Draft | str:
    try:
        return Draft.read(file.name, file.getvalue(), reader)
    except FileError as error:
        return str(error)


def _verified(desk: LegalDesk, drafts: Sequence[Draft], on: Period | None) -> Iterator[Checked]:
    """Yield each draft with its findings. They are cached per text, index and day, because every click draws them
    again."""
    known = st.session_state.get(_VERIFIED, {})
    st.session_state[_VERIFIED] = now = {}
    for draft in drafts:
        key = (draft.text, on, desk.library.version, date.today())
        now[key] = known[key] if key in known else desk.verifier.verify(draft.text, Author.PERSON, on)
        yield draft, now[key]


# ── Findings ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw(checked: Sequence[Checked], reader: Reader) -> None:
    found = [verdict for _, verdicts in checked for verdict in verdicts]
    group = _choose_group(found) if found else ALL
    for number, (draft, verdicts) in enumerate(checked):
        _draw_draft(
            draft, verdicts, group, reader, key=f"draft-{number}", named=draft.name != PASTED or len(checked) > 1
        )
    if found:
        named = [(draft.name, verdicts) for draft, verdicts in checked]
        files = {"csv": partial(export.verdicts_csv, named), "json": partial(export.verdicts_json, named)}
        frame.exports("法条核验", files, key="draft")


def _group(verdict: Verdict) -> str:
    if verdict.mark in PROBLEMS:
        return "有问题"
    if verdict.mark is Mark.UNKNOWN:
        return "未核"
    return "请核对" if verdict.note and verdict.mark is Mark.EXISTS else "没有问题"


GROUPS = ("有问题", "请核对", "未核", "没有问题")


def _choose_group(found: Sequence[Verdict]) -> str:
    counts = Counter(map(_group, found))
    counts[ALL] = len(found)
    options = [ALL, *(group for group in GROUPS if counts[group])]
    if st.session_state.get(SHOWN) not in options:
        st.session_state[SHOWN] = ALL
    return str(
        st.pills(
            "只看",
            options,
            required=True,
            format_func=lambda group: f"{group} {counts[group]}",
            label_visibility="collapsed",
            key=SHOWN,
        )
    )


def _draw_draft(
    draft: Draft, verdicts: Sequence[Verdict], group: str, reader: Reader, *, key: str, named: bool
) -> None:
    cited = f"共引用 {len(verdicts)} 处"
    st.subheader(label(f"{draft.name}：{cited}" if named else cited), anchor=False)
    if draft.is_cut:
        st.caption(f"文稿太长，只核验了前 {len(draft.text):,} 字。")
    if not verdicts:
        st.info(
            "没有找到法条的引用。能识别的写法如：《劳动合同法》第三十八条、民法典第1198条。", icon=":material/info:"
        )
        return
    counts = Counter(verdict.mark for verdict in verdicts)
    st.markdown(" ".join(badge(mark, f"{mark.meaning} {counts[mark]}") for mark in BAD_FIRST if counts[mark]))
    st.download_button(
        "下载带批注的 Word",
        data=partial(with_comments, draft, verdicts, reader),
        file_name=f"{PurePath(draft.name).stem}（批注）.docx",
        mime=_DOCX,
        key=f"{key}-word",
        on_click="ignore",
        icon=":material/rate_review:",
    )
    _list([(place, one) for place, one in _bad_first(verdicts) if group in {ALL, _group(one)}], key)
    with st.expander("在原文中查看", icon=":material/article:", key=f"{key}-text"):
        draw_html(Markup('<div class="wy-question">%s</div>') % _marked(draft.text, verdicts))


def _bad_first(verdicts: Sequence[Verdict]) -> list[tuple[int, Verdict]]:
    """Return the findings, worst first, each with its position in the draft."""
    placed = enumerate(verdicts)
    return sorted(placed, key=lambda one: (GROUPS.index(_group(one[1])), BAD_FIRST.index(one[1].mark), one[0]))


def _list(verdicts: Sequence[tuple[int, Verdict]], key: str) -> None:
    for place, verdict in verdicts[:_LISTED]:
        cited = " · ".join(filter(None, (words(verdict), verdict.note)))
        with st.expander(f"{badge(verdict.mark, verdict.meaning)} {label(cited)}", key=f"{key}-{place}"):
            draw_html(details(verdict))
    if len(verdicts) > _LISTED:
        st.caption(f"只列出前 {_LISTED} 处；其余请筛选、在原文中查看，或下载。")


def _marked(text: str, verdicts: Sequence[Verdict]) -> Markup:
    """Return the text with a mark before each citation."""
    out: list[Markup] = []
    done = 0
    for verdict in verdicts:
        if verdict.start >= done:
            cited = Markup("%s<u>%s</u>") % (mark_html(verdict.mark), verdict.cited)
            out += [escape(text[done : verdict.start]), cited]
            done = verdict.end
    return Markup().join([*out, text[done:]])
