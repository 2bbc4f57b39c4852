"""Check of drafts (核验文稿): a contract is reviewed, every citation is looked up, problems come first, and the draft can be
downloaded with comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import PurePath

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.base.errors import AppError
from core.legal import (
    PASTED_DRAFT_NAME,
    SAMPLE_DRAFT,
    Author,
    CaseFinding,
    ContractFinding,
    ContractReview,
    Draft,
    FindingGroup,
    LegalServices,
    Period,
    StatuteFinding,
    draft_with_comments,
    legal_export,
    summary,
)
from core.reading import FileError, Reader
from core.ui import legal_views
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning
from core.ui.legal import article_list, contract_view, draft_desk, legal_page
from core.ui.legal.law_filters import day_field
from core.ui.uploads import upload_fields

TEXT = "draft_text"
FILES = "draft_files"
SHOWN = "draft_shown"
FORM = "draft_form"
MAX_LENGTH = 200_000
MAX_FILES = 5
DRAFT_KINDS = ("txt", "md", "docx", "pdf")
_READ, _VERIFIED = "drafts_read", "drafts_verified"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ALL = "全部"
_SAMPLE_NOTE = "这是问源写的示例文稿，错误是故意留下的。点一处结果，文稿里就标出它的位置；点文稿里的标记，就看到结果。"


@dataclass(frozen=True)
class DraftFindings:
    draft: Draft
    statutes: Sequence[StatuteFinding]
    review: ContractReview | None
    cases: Sequence[CaseFinding]

    @property
    def clauses(self) -> Sequence[ContractFinding]:
        return self.review.findings if self.review else ()


def draw(legal: LegalServices, reader: Reader) -> None:
    """Draw the form, which folds once there is something to show, and the verdicts on each draft."""
    if legal.library.index() is None:
        st.write("核验要把引用与法律原文对照，所以要先有法律文本。")
        return
    drafts, as_of = _draw_form(reader)
    if not drafts and not st.session_state.get(legal_views.SAMPLE):
        st.button("看一份示例", icon=":material/lightbulb:", on_click=_show_sample)
    elif not drafts:
        st.info(_SAMPLE_NOTE, icon=":material/lightbulb:")
        drafts = [SAMPLE_DRAFT]
    try:
        checked = list(_check_drafts(legal, drafts, as_of))
        article_list.draw(legal, [found for one in checked for found in one.statutes] if checked else None)
        _draw(checked, reader)
    except AppError as error:
        draw_warning(str(error))


def _draw_form(reader: Reader) -> tuple[list[Draft], Period | None]:
    """Draw the form in a fold, and return its drafts and the day whose law counts."""
    st.session_state.setdefault(FORM, not (st.session_state.get(TEXT) or st.session_state.get(legal_views.SAMPLE)))
    # With another label Streamlit would draw another fold, and close it.
    with (
        st.expander("编辑文稿", key=FORM, icon=":material/edit_note:", on_change="rerun"),
        st.form("draft", border=False),
    ):
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
            f"或上传文件（{'、'.join(DRAFT_KINDS)}），最多 {MAX_FILES} 个，每个最大 {reader.max_megabytes} MB",
            megabytes=reader.max_megabytes,
            files=MAX_FILES,
            type=DRAFT_KINDS,
            key=FILES,
        )
        as_of = day_field("draft_on")
        st.form_submit_button("核验", type="primary", icon=":material/fact_check:", on_click=_fold)
    pasted = Draft.from_text(typed or "")
    return [*([pasted] if pasted.text else []), *_uploaded_drafts(files, reader)], as_of


def _show_sample() -> None:
    st.session_state[legal_views.SAMPLE], st.session_state[FORM] = True, False


def _fold() -> None:
    """Fold the form if there is something to check."""
    st.session_state[FORM] = not (st.session_state.get(TEXT) or st.session_state.get(FILES))


def _uploaded_drafts(files: Sequence[UploadedFile], reader: Reader) -> Iterator[Draft]:
    """Yield the uploaded drafts. Each file is read once; a problem is shown as long as the file is there."""
    known: Mapping[str, Draft | str] = st.session_state.get(_READ, {})
    now = {file.file_id: known.get(file.file_id) or _read(file, reader) for file in files[:MAX_FILES]}
    st.session_state[_READ] = now
    for draft in now.values():
        if isinstance(draft, str):
            draw_warning(draft)
        else:
            yield draft
    if len(files) > MAX_FILES:
        draw_warning(f"一次最多核验 {MAX_FILES} 个文件，其余的没有读。")


def _read(file: UploadedFile, reader: Reader) -> Draft | str:
    try:
        return Draft.from_file(file.name, file.getvalue(), reader)
    except FileError as error:
        return str(error)


def _check_drafts(legal: LegalServices, drafts: Sequence[Draft], as_of: Period | None) -> Iterator[DraftFindings]:
    """Yield each draft with its findings. They are cached per text, index and day, because every click draws them
    again."""
    known = st.session_state.get(_VERIFIED, {})
    st.session_state[_VERIFIED] = now = {}
    for draft in drafts:
        key = (draft.text, as_of, legal.library.version, date.today())
        now[key] = known[key] if key in known else _checked(legal, draft.text, as_of)
        statutes, review = now[key]
        yield DraftFindings(draft, statutes, review, legal.checks.check_cases(draft.text))


def _checked(
    legal: LegalServices, text: str, as_of: Period | None
) -> tuple[Sequence[StatuteFinding], ContractReview | None]:
    return legal.verifier.verify(text, Author.PERSON, as_of), legal.contracts.review(text, as_of)


# ── Verdicts ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw(checked: Sequence[DraftFindings], reader: Reader) -> None:
    verdicts = [draft_desk.verdicts(one.statutes, one.clauses, one.cases) for one in checked]
    group = _choose_group([verdict for found in verdicts for verdict in found])
    for number, (one, found) in enumerate(zip(checked, verdicts, strict=True)):
        has_title = one.draft.name != PASTED_DRAFT_NAME or len(checked) > 1
        _draw_heading(one, reader, key=f"draft-{number}", name=f"{one.draft.name}：" if has_title else "")
        _draw_desk(one, [verdict for verdict in found if group in {ALL, verdict.group}], key=f"draft-{number}")
    if any(one.statutes or one.review for one in checked):
        named = [legal_export.CheckedDraft(one.draft.name, one.statutes, one.review) for one in checked]
        files = {
            "md": partial(legal_export.findings_markdown, named),
            "csv": partial(legal_export.findings_csv, named),
            "json": partial(legal_export.findings_json, named),
        }
        legal_page.draw_exports("法条核验", files, key="draft")


def _choose_group(verdicts: Sequence[draft_desk.DraftVerdict]) -> str:
    """Draw the groups to choose from, if there are several."""
    known = {verdict.group for verdict in verdicts}
    options = [ALL, *(group for group in FindingGroup if group in known)]
    if len(known) < 2:
        return ALL
    if st.session_state.get(SHOWN) not in options:
        st.session_state[SHOWN] = ALL
    chosen = st.pills("只看", options, required=True, label_visibility="collapsed", key=SHOWN, format_func=str)
    return str(chosen)


def _draw_heading(one: DraftFindings, reader: Reader, *, key: str, name: str) -> None:
    """Draw what was counted, and the button for the Word document."""
    counted = f"：{summary(one.statutes)}" if one.statutes else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(escape_label(f"{name}共引用 {len(one.statutes)} 处{counted}"), anchor=False, width="stretch")
        if one.statutes or one.clauses:
            st.download_button(
                "下载带批注的 Word",
                data=partial(draft_with_comments, one.draft, one.statutes, reader, one.review),
                file_name=f"{PurePath(one.draft.name).stem}（批注）.docx",
                mime=_DOCX,
                key=f"{key}-word",
                on_click="ignore",
                icon=":material/rate_review:",
            )
    others = []
    if one.review and one.review.kind:
        others.append(f"合同审查提示 {len(one.clauses)} 处{contract_view.counts(one.review)}")
    if one.cases:
        others.append(f"案号核验 {len(one.cases)} 处：{summary(one.cases)}")
    if others:
        st.write("；".join(others))
    if one.draft.is_cut:
        st.caption(f"文稿太长，只核验了前 {len(one.draft.text):,} 字。")


def _draw_desk(one: DraftFindings, shown: Sequence[draft_desk.DraftVerdict], *, key: str) -> None:
    if shown:
        draw_html(draft_desk.desk_html(one.draft.name, one.draft.text, shown[: draft_desk.LISTED], key=key))
    if len(shown) > draft_desk.LISTED:
        st.caption(f"只列出前 {draft_desk.LISTED} 处；其余请筛选，或下载。")
    if not one.statutes:
        example = "《劳动合同法》第三十八条、民法典第1198条"
        st.info(f"没有找到法条的引用。能识别的写法如：{example}。", icon=":material/info:")
    for note in one.review.notes if one.review else ():
        st.caption(escape_label(note))
