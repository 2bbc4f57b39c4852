"""Upload of files and folders into a collection. Each of them is taken in, or named with the reason why not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.app import App
from core.base.errors import AppError
from core.documents import Collection
from core.ui import document_access
from core.ui.escape import escape_label
from core.ui.uploads import release_uploads, upload_fields

REPORT = "upload_report"
MAX_FILES = 500
MAX_REASONS = 8
_OF_SYSTEMS = {"thumbs.db", "desktop.ini"}


def draw(app: App, collection: Collection) -> None:
    """Draw the fields for files and for folders, and what became of the last upload."""
    megabytes = min(app.settings.documents.file_megabytes, st.get_option("server.maxUploadSize"))
    with st.container(key="document-upload"):
        for column, folders in zip(st.columns(2), (False, True), strict=True):
            what = "一个文件夹" if folders else "文件"
            key = f"upload-{collection.id}-{'folder' if folders else 'files'}"
            with column:
                upload_fields(
                    f"把{what}拖到这里，每个文件最大 {megabytes} MB",
                    megabytes=megabytes,
                    files=MAX_FILES,
                    folders=folders,
                    key=key,
                    on_change=_take_in,
                    args=(app, collection.id, key),
                )
    _draw_report(collection.id)


def forget_report() -> None:
    st.session_state.pop(REPORT, None)


def _draw_report(collection_id: str) -> None:
    whose, taken, reasons = st.session_state.get(REPORT, ("", "", ()))
    if whose != collection_id:
        return
    if taken:
        st.success(escape_label(taken), icon=":material/check_circle:")
    if reasons:
        more = f"还有 {len(reasons) - MAX_REASONS} 个文件也没有收下。" if len(reasons) > MAX_REASONS else ""
        lines = [escape_label(reason) for reason in [*reasons[:MAX_REASONS], *([more] if more else [])]]
        st.warning("  \n".join(lines), icon=":material/warning:")


def _take_in(app: App, collection_id: str, key: str) -> None:
    """Store the files that were uploaded. They leave the memory of the page, and stay in its list with their mistakes."""
    files = [file for file in st.session_state[key] if isinstance(file, UploadedFile)]
    if files:
        st.session_state[REPORT] = (collection_id, *store_files(app, collection_id, files))
        release_uploads(files)


def store_files(app: App, collection_id: str, files: Sequence[UploadedFile]) -> tuple[str, list[str]]:
    """Store files in a collection. Return what was taken in, in a sentence, and the reasons of the others."""
    access, reasons = document_access.access(), list[str]()
    counts = {"new": 0, "same": 0, "newer": 0}
    wanted = [file for file in files if not _is_of_system(file.name)]
    skipped = len(files) - len(wanted)
    try:
        before = {document.name: document.hash for document in app.documents.list_documents(collection_id, access)}
    except AppError as error:
        return "", [str(error)]
    for file in wanted[:MAX_FILES]:
        try:
            added = app.documents.add_document(collection_id, file.name, file.getvalue(), access)
        except AppError as error:
            reasons.append(_named(file.name, str(error)))
        else:
            known = before.get(added.name)
            counts["new" if known is None else "same" if known == added.hash else "newer"] += 1
    if len(wanted) > MAX_FILES:
        reasons.append(f"一次最多放入 {MAX_FILES} 个文件，其余的没有收下。请再拖一次：已经放入的不会重复。")
    return _taken_sentence(counts["new"], counts["same"], counts["newer"], skipped), reasons


def _taken_sentence(new: int, same: int, newer: int, skipped: int) -> str:
    parts = [f"放入了 {new} 个文件"] if new else []
    parts += [f"{newer} 个代替了同名的旧文件"] if newer else []
    parts += [f"{same} 个已经在这里，没有变化"] if same else []
    parts += [f"跳过了 {skipped} 个系统文件"] if skipped else []
    return f"{'，'.join(parts)}。" if parts else ""


def _named(name: str, reason: str) -> str:
    return reason if name in reason else f"「{name}」：{reason}"


def _is_of_system(name: str) -> bool:
    """Return whether a file of a folder is none of the reader's: hidden, of a system, or the lock of an open document."""
    parts = PurePosixPath(name).parts
    return any(_is_hidden(part) for part in parts)


def _is_hidden(part: str) -> bool:
    return part.startswith((".", "~$", "__MACOSX")) or part.casefold() in _OF_SYSTEMS
