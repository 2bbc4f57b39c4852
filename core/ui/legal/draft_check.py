"""Check of drafts (核验文稿): a contract is reviewed, every citation is looked up, problems come first, and the draft can be
downloaded with comments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import PurePath

import streamlit as st
from markupsafe import Markup
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.base.errors import AppError
from core.legal import (
    PASTED_DRAFT_NAME,
    PROBLEMS,
    Author,
    ContractReview,
    Draft,
    LegalServices,
    Period,
    StatuteFinding,
    StatuteMark,
    draft_with_comments,
    legal_export,
)
from core.reading import FILE_KINDS, FileError, Reader
from core.ui import case_findings
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning
from core.ui.legal import contract_view, legal_page
from core.ui.legal.law_filters import day_field
from core.ui.statute_findings import badge, citation_label, finding_html, mark_html
from core.ui.uploads import upload_fields

TEXT = "draft_text"
FILES = "draft_files"
SHOWN = "draft_shown"
MAX_LENGTH = 200_000
MAX_FILES = 5
_READ, _VERIFIED = "drafts_read", "drafts_verified"
_LISTED = 100
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ALL = "全部"

CheckedDraft = tuple[Draft, Sequence[StatuteFinding], ContractReview | None]


def draw(legal: LegalServices, reader: Reader) -> None:
    """Draw the form and the findings for each draft."""
    if legal.library.index() is None:
        st.write("核验要把引用与法律原文对照，所以要先有法律文本。")
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
            f"或上传文件（{'、'.join(FILE_KINDS)}），最多 {MAX_FILES} 个，每个最大 {reader.max_megabytes} MB",
            megabytes=reader.max_megabytes,
            files=MAX_FILES,
            type=FILE_KINDS,
            key=FILES,
        )
        as_of = day_field("draft_on")
        st.form_submit_button("核验", type="primary", icon=":material/fact_check:")
    pasted = Draft.from_text(typed or "")
    drafts = [*([pasted] if pasted.text else []), *_uploaded_drafts(files, reader)]
    try:
        _draw(list(_verify_drafts(legal, drafts, as_of)), reader)
    except AppError as error:
        draw_warning(str(error))
    for number, draft in enumerate(drafts):
        _draw_cases(legal, draft, key=f"draft-cases-{number}")


def _draw_cases(legal: LegalServices, draft: Draft, *, key: str) -> None:
    """Draw the case check (案号核验) of a draft that names cases."""
    if findings := legal.check_cases(draft.text):
        title = "案号核验" if draft.name == PASTED_DRAFT_NAME else f"{draft.name}：案号核验"
        st.subheader(escape_label(title), anchor=False)
        case_findings.draw(findings, key=key)


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


def _verify_drafts(legal: LegalServices, drafts: Sequence[Draft], as_of: Period | None) -> Iterator[CheckedDraft]:
    """Yield each draft with its findings. They are cached per text, index and day, because every click draws them
    again."""
    known = st.session_state.get(_VERIFIED, {})
    st.session_state[_VERIFIED] = now = {}
    for draft in drafts:
        key = (draft.text, as_of, legal.library.version, date.today())
        now[key] = known[key] if key in known else _checked(legal, draft.text, as_of)
        yield draft, *now[key]


def _checked(
    legal: LegalServices, text: str, as_of: Period | None
) -> tuple[Sequence[StatuteFinding], ContractReview | None]:
    return legal.verifier.verify(text, Author.PERSON, as_of), legal.contracts.review(text, as_of)


# ── Findings ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw(checked: Sequence[CheckedDraft], reader: Reader) -> None:
    all_findings = [finding for _, findings, _ in checked for finding in findings]
    group = _choose_group(all_findings) if all_findings else ALL
    for number, (draft, findings, review) in enumerate(checked):
        has_title = draft.name != PASTED_DRAFT_NAME or len(checked) > 1
        _draw_draft(draft, findings, review, group, reader, key=f"draft-{number}", has_title=has_title)
    if all_findings or any(review for _, _, review in checked):
        named = [legal_export.CheckedDraft(draft.name, findings, review) for draft, findings, review in checked]
        files = {
            "md": partial(legal_export.findings_markdown, named),
            "csv": partial(legal_export.findings_csv, named),
            "json": partial(legal_export.findings_json, named),
        }
        legal_page.draw_exports("法条核验", files, key="draft")


def _group_of(finding: StatuteFinding) -> str:
    if finding.mark in PROBLEMS:
        return "有问题"
    if finding.mark is StatuteMark.UNKNOWN:
        return "未核"
    return "请核对" if finding.note and finding.mark is StatuteMark.EXISTS else "没有问题"


GROUPS = ("有问题", "请核对", "未核", "没有问题")


def _choose_group(findings: Sequence[StatuteFinding]) -> str:
    counts = Counter(map(_group_of, findings))
    counts[ALL] = len(findings)
    options = [ALL, *(group for group in GROUPS if counts[group])]
    if st.session_state.get(SHOWN) not in options:
        st.session_state[SHOWN] = ALL
    chosen = st.pills(
        "只看",
        options,
        required=True,
        format_func=lambda group: f"{group} {counts[group]}",
        label_visibility="collapsed",
        key=SHOWN,
    )
    return str(chosen)


def _draw_draft(
    draft: Draft,
    findings: Sequence[StatuteFinding],
    review: ContractReview | None,
    group: str,
    reader: Reader,
    *,
    key: str,
    has_title: bool,
) -> None:
    name = f"{draft.name}：" if has_title else ""
    if review:
        contract_view.draw(review, name, key=key)
    st.subheader(escape_label(f"{name}共引用 {len(findings)} 处"), anchor=False)
    if draft.is_cut:
        st.caption(f"文稿太长，只核验了前 {len(draft.text):,} 字。")
    if findings or (review and review.findings):
        st.download_button(
            "下载带批注的 Word",
            data=partial(draft_with_comments, draft, findings, reader, review),
            file_name=f"{PurePath(draft.name).stem}（批注）.docx",
            mime=_DOCX,
            key=f"{key}-word",
            on_click="ignore",
            icon=":material/rate_review:",
        )
    if not findings:
        example = "《劳动合同法》第三十八条、民法典第1198条"
        st.info(f"没有找到法条的引用。能识别的写法如：{example}。", icon=":material/info:")
        return
    counts = Counter((one.mark, _kind_of(one)) for one in sorted(findings, key=lambda one: one.severity))
    st.markdown(" ".join(badge(mark, f"{kind} {count}") for (mark, kind), count in counts.items()))
    _draw_list([(place, one) for place, one in _worst_first(findings) if group in {ALL, _group_of(one)}], key)
    with st.expander("在原文中查看", icon=":material/article:", key=f"{key}-text"):
        draw_html(Markup('<div class="wy-question">%s</div>') % _marked_html(draft.text, findings))


def _kind_of(finding: StatuteFinding) -> str:
    """Return what is counted together: each mark, but ○ by its two meanings."""
    return finding.meaning if finding.mark is StatuteMark.EXISTS else finding.mark.meaning


def _worst_first(findings: Sequence[StatuteFinding]) -> list[tuple[int, StatuteFinding]]:
    """Return the findings, worst first, each with its position in the draft."""
    placed = enumerate(findings)
    return sorted(placed, key=lambda one: (GROUPS.index(_group_of(one[1])), one[1].severity, one[0]))


def _draw_list(findings: Sequence[tuple[int, StatuteFinding]], key: str) -> None:
    for place, finding in findings[:_LISTED]:
        cited = " · ".join(filter(None, (citation_label(finding), finding.note)))
        with st.expander(f"{badge(finding.mark, finding.meaning)} {escape_label(cited)}", key=f"{key}-{place}"):
            draw_html(finding_html(finding))
    if len(findings) > _LISTED:
        st.caption(f"只列出前 {_LISTED} 处；其余请筛选、在原文中查看，或下载。")


def _marked_html(text: str, findings: Sequence[StatuteFinding]) -> Markup:
    """Return the text with a mark before each citation."""
    parts: list[str] = []
    done = 0
    for finding in findings:
        if finding.start >= done:
            parts += [text[done : finding.start], mark_html(finding.mark), Markup("<u>%s</u>") % finding.cited]
            done = finding.end
    return Markup().join([*parts, text[done:]])
