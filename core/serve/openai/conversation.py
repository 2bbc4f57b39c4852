"""The question of a request, with the conversation before it, its files and the wishes for the answer."""

from __future__ import annotations

import base64
import binascii
import mimetypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from core.answer.message import Message
from core.base.text import clean, is_blank
from core.reading import FileError, Page, Reader
from core.run import ABOUT_FILES, MAX_ATTACHED_FILES
from core.serve.answers import Ask
from core.serve.openai.appendix import without_appendix
from core.serve.openai.errors import BadRequest
from core.serve.openai.models import OfferedModel
from core.serve.openai.requests import ChatMessage, ImageUrl, InputItem, ResponseRequest

MAX_INSTRUCTIONS = 16_000
"""Characters of the system messages together. They stand in every prompt, beside the sources."""
_TEXTS = {"text", "input_text", "output_text"}
_LEFT_BEHIND = {"reasoning", "function_call", "function_call_output"}
"""Kinds of items that other models leave in a conversation. They are nothing that was said."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of a message, not yet read."""

    name: str
    body: bytes


def ask_from(messages: Sequence[ChatMessage], model: OfferedModel, reader: Reader) -> Ask:
    """Return the last message as the question. Reads its files, which takes a while. Raise an AppError."""
    said = [one for one in messages if one.role in {"user", "assistant"}]
    if not said or said[-1].role != "user" or messages[-1].role not in {"user", "system", "developer"}:
        raise BadRequest("最后一条消息要是用户的问题（role 为 user）。", param="messages")
    files = [list(_files(one)) for one in said if one.role == "user"]
    question = clean(_text(said[-1])).strip()
    return Ask(
        ABOUT_FILES if is_blank(question) and files[-1] else question,
        model.mode,
        model.search,
        history=[message for one in said[:-1] if (message := _message(one)).text],
        files=_read_files(files, reader),
        instructions=_instructions(messages),
        may_be_reviewed=False,
    )


def messages_of(request: ResponseRequest) -> list[ChatMessage]:
    """Return the input of a response as messages. Raise BadRequest."""
    given = [ChatMessage(role="system", content=request.instructions)] if request.instructions else []
    if isinstance(request.input, str):
        return [*given, ChatMessage(role="user", content=request.input)]
    return [*given, *(_message_of(item) for item in request.input if item.type not in _LEFT_BEHIND)]


def _message_of(item: InputItem) -> ChatMessage:
    if item.type != "message" or item.role is None:
        raise BadRequest(f"不支持 input 里的「{item.type[:40]}」：只支持消息。", param="input")
    return ChatMessage(role=item.role, content=item.content)


def _message(one: ChatMessage) -> Message:
    text = clean(_text(one)).strip()
    return Message("assistant", without_appendix(text)) if one.role == "assistant" else Message("user", text)


def _instructions(messages: Iterable[ChatMessage]) -> str:
    given = "\n\n".join(_text(one) for one in messages if one.role in {"system", "developer"})
    if len(given) > MAX_INSTRUCTIONS:
        raise BadRequest(
            f"系统消息有 {len(given):,} 个字符，超过了 {MAX_INSTRUCTIONS:,} 个字符的上限。",
            cure="请缩短；长的资料请作为文件附上。",
            param="messages",
        )
    return clean(given).strip()


def _text(message: ChatMessage) -> str:
    """Return the text of a message: its parts one below the other."""
    if not isinstance(message.content, list):
        return message.content or ""
    return "\n".join(part.text or part.refusal or "" for part in message.content if part.type in {*_TEXTS, "refusal"})


# ── Files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _files(message: ChatMessage) -> Iterator[File]:
    for number, part in enumerate(message.content if isinstance(message.content, list) else (), 1):
        match part.type:
            case "image_url" | "input_image":
                address = part.image_url.url if isinstance(part.image_url, ImageUrl) else part.image_url
                yield _file_from(address, f"图片 {number}")
            case "file" | "input_file":
                given = part.file or part
                yield _file_from(given.file_data, given.filename or f"文件 {number}")
            case kind if kind not in {*_TEXTS, "refusal"}:
                raise BadRequest(f"不支持「{kind[:40]}」这种内容：只支持文字、图片和文件。", param="messages")


def _file_from(data: str | None, name: str) -> File:
    """Return a file from the data in a request. Raise BadRequest where they are not in it."""
    if not data:
        raise BadRequest(f"没有读「{name}」：请把内容放在请求里（data: 开头的地址）。", param="messages")
    if not data.startswith("data:"):
        if "://" in data[:16]:
            raise BadRequest(
                f"没有读「{name}」：不打开请求里的网址，请把内容放在请求里（data: 开头的地址）。", param="messages"
            )
        return File(name, _decode(data, name))
    head, _, content = data.removeprefix("data:").partition(",")
    kind, *encoding = head.split(";")
    body = _decode(content, name) if "base64" in encoding else unquote_to_bytes(content)
    return File(name if "." in name else f"{name}{mimetypes.guess_extension(kind) or ''}", body)


def _decode(text: str, name: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(f"没有读「{name}」：内容不是 base64。", param="messages") from None


def _read_files(messages: Sequence[Sequence[File]], reader: Reader) -> tuple[Page, ...]:
    """Return the files of the question, then those of the messages before it, newest first."""
    if len(messages[-1]) > reader.max_files:
        raise FileError("many", name=messages[-1][-1].name, most=reader.max_files)
    wanted = dict.fromkeys(file for files in reversed(messages) for file in files)
    pages = (reader.read_file(file.name, file.body) for file in list(wanted)[:MAX_ATTACHED_FILES])
    return tuple({page.address: page for page in pages}.values())
