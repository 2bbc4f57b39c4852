"""What may be asked, in either mode."""

from __future__ import annotations

from core.base.errors import InputError
from core.base.text import clean


def accept(question: str, *, limit: int) -> str:
    """The question as it will be sent, or an InputError that says why it cannot be."""
    question = clean(question).strip()
    if not question:
        raise InputError("消息是空的，没有发送。", cure="请输入问题。")
    if len(question) > limit:
        raise InputError(
            f"消息有 {len(question):,} 个字符，超过了 {limit:,} 个字符的上限，没有发送。",
            cure="原文保留在下方，请缩短后再发送。",
        )
    return question
