"""Actions of an answer: one row of icons below it, with a word for each on hover and focus, and the rest behind ⋯."""

from __future__ import annotations

import streamlit as st
from markupsafe import Markup

from core.answer.message import Message
from core.app import App
from core.ui import conversation_sync, session
from core.ui.chat import actions, export_menu, failed_answer, sharing, source_texts
from core.ui.escape import draw_html, escape_label

USAGE_LABELS = {"thinking": "思考", "tools": "工具", "answer": "回答"}
COPY_BUTTON = Markup('<button type="button" class="wy-copy"><span>复制</span></button>')
"""Copy button. A script of the page (scripts/copying.js) listens for clicks on it."""
_COPY_ENTRIES = Markup().join(
    Markup('<button data-copy="%s">%s</button>') % entry
    for entry in (("markdown", "复制为 Markdown"), ("picture", "复制为图片"), ("save-picture", "保存图片"))
)
_PRINT_BUTTON = Markup('<button class="wy-print" data-copy="print">打印 / PDF</button>')
_MENU = Markup('<div class="wy-menu">%s</div>')
_OLDER = Markup(
    '<div class="wy-older">%s<details class="wy-dots"><summary><span>更多</span></summary>%s</details>'
    '<span class="wy-cost">%s</span></div>'
)
"""The row of an answer that is not the last one, as a single element: it is sent again with every rerun."""


def draw(app: App, entry: Message, *, is_last: bool) -> None:
    """Draw the row. What was not written can be neither copied, shared nor exported."""
    copy = COPY_BUTTON if entry.text.strip() else Markup()
    with st.container(
        key=f"actions-{entry.id}", horizontal=True, wrap=False, gap="xxsmall", vertical_alignment="center"
    ):
        if is_last:
            _draw_last(app, entry, copy)
        else:
            source_texts.draw_button(app, entry, is_last=False)
            draw_html(_OLDER % (copy, _menu(entry), _total(entry)), width="content")


def _draw_last(app: App, entry: Message, copy: Markup) -> None:
    if not failed_answer.offers_again(entry):
        draw_again_button(app, f"again-{entry.id}")
    if copy:
        draw_html(copy, width="content")
    source_texts.draw_button(app, entry, is_last=True)
    if copy:
        sharing.draw_button(app, session.chat())
        draw_export(app, entry.id)
    with st.popover("更多", icon=":material/more_horiz:", key=f"more-{entry.id}", type="tertiary"):
        _draw_edit_button(app, entry)
        draw_html(_menu(entry))
    draw_html(Markup('<span class="wy-cost">%s</span>') % _total(entry), width="content")


def draw_again_button(app: App, key: str) -> None:
    st.button(
        "重新回答", key=key, icon=":material/replay:", type="tertiary", on_click=actions.answer_again, args=(app,)
    )


def draw_export(app: App, key: str) -> None:
    with st.popover("导出", icon=":material/download:", key=f"export-{key}", type="tertiary"):
        load, load_pages = conversation_sync.all_messages_loader(app), conversation_sync.pages_by_answer_loader(app)
        export_menu.draw(app, session.chat().title, load, load_pages, key=key)
        draw_html(_PRINT_BUTTON)


def _menu(entry: Message) -> Markup:
    """Return what is behind ⋯: the entries that a script acts on, then what the answer cost."""
    entries = _COPY_ENTRIES if entry.text.strip() else Markup()
    return _MENU % (entries + _cost(entry))


def _draw_edit_button(app: App, entry: Message) -> None:
    chat = session.chat()
    question = chat.last_question()
    if question is None:
        return
    label, key = "修改问题", f"change-{entry.id}"
    st.button(
        label, key=key, icon=":material/edit:", type="tertiary", width="stretch", on_click=_change, args=(entry.id,)
    )
    if chat.changing_id == entry.id:
        _draw_edit_dialog(app, question.text, f"edit-{entry.id}")


def _change(id: str = "") -> None:
    session.chat().changing_id = id


@st.dialog("修改问题", width="medium", icon=":material/edit:", on_dismiss=_change)
def _draw_edit_dialog(app: App, text: str, key: str) -> None:
    with st.form(f"form-{key}", border=False):
        st.text_area("问题", text, key=key, height=160, label_visibility="collapsed")
        sent = st.form_submit_button("重新发送", type="primary", on_click=actions.resend, args=(app, key))
    if sent and (refused := session.chat().refusal):
        st.warning(escape_label(refused), icon=":material/edit_note:")
    elif sent:
        st.rerun()


def _total(entry: Message) -> str:
    """Return the total of tokens, which is always in view; without one, the seconds."""
    if (usage := entry.usage) is None:
        return f"{entry.seconds:.1f} 秒"
    return f"{usage.total:,} tokens{'（估算）' if usage.estimated else ''}"


def _cost(entry: Message) -> Markup:
    """Return what makes up the total, one line each."""
    lines = [f"用时 {entry.seconds:.1f} 秒", entry.model]
    if (usage := entry.usage) is not None:
        lines = [
            _total(entry),
            "、".join(f"{USAGE_LABELS[name]} {count:,}" for name, count in usage.parts.items() if name in USAGE_LABELS),
            f"其中推理 {usage.reasoning:,}" if usage.reasoning else "",
            f"{usage.iterations} 轮" if usage.iterations else "",
            f"{entry.tool_calls} 次工具调用" if entry.tool_calls else "",
            *lines,
        ]
    if entry.check is not None and entry.check.opinion is not None:
        lines.append(f"复核另用 {entry.check.opinion.cost}")
    return Markup().join(Markup("<div>%s</div>") % line for line in lines if line)
