"""E-mails (.eml): subject, people, day, text and attached files. This runs only in a worker: the file is untrusted.

Pictures and pages that a message refers to are never fetched.
"""

from __future__ import annotations

import email
from collections.abc import Callable, Iterator
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import compat32
from email.utils import parsedate_to_datetime

from core.base.text import clean, is_blank, one_line, shorten
from core.reading.charset_detection import decode_body
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.html_blocks import add_blocks, parse_markup
from core.reading.sections import TextSection, place_at
from core.reading.text_builder import TextBuilder

MAX_PARTS, MAX_DEPTH = 500, 20
MAX_HEADER, MAX_DATE = 4_000, 100
MAX_LISTED = 200
"""Length of the names that are listed for an attached file."""
_HEADERS = {"From": "发件人", "To": "收件人", "Cc": "抄送", "Date": "日期"}
ReadAttachment = Callable[[bytes, str], ExtractedText]
"""Function that returns the text of an attached file, given its name's ending. It raises NotReadable."""


def read_eml(body: bytes, read_attachment: ReadAttachment) -> ExtractedText:
    """Return the message with the text of its attached files. Raise NotReadable."""
    message = email.message_from_bytes(body, policy=compat32)
    subject, builder = _header(message, "Subject"), TextBuilder()
    builder.begin("part", title="邮件头")
    builder.add_line(f"主题：{subject or '（无主题）'}")
    for name, words in _HEADERS.items():
        if value := _moment(message) or _header(message, name) if name == "Date" else _header(message, name):
            builder.add_line(f"{words}：{value}")
    parts = list(_parts(message))
    written = [part for part in parts if not _is_attached(part)]
    if written:
        builder.add_line()
        builder.begin("part", title="正文")
    for part in written:
        _add_body(part, builder)
    for part in filter(_is_attached, parts):
        _add_attachment(part, builder, read_attachment)
    return ExtractedText(
        "eml", builder.text, title=subject, sections=builder.sections, modified=_moment(message)[:10] or None
    )


def _parts(message: Message, depth: int = 0) -> Iterator[Message]:
    """Yield the parts that hold something themselves. Raise NotReadable."""
    if depth > MAX_DEPTH:
        raise NotReadable("complex")
    inside = message.get_payload()
    if not isinstance(inside, list) or message.get_content_maintype() == "message":
        yield message
        return
    if len(inside) > MAX_PARTS:
        raise NotReadable("complex")
    parts = [part for child in inside if isinstance(child, Message) for part in _parts(child, depth + 1)]
    yield from _choose_alternative(parts) if message.get_content_type() == "multipart/alternative" else parts


def _choose_alternative(parts: list[Message]) -> list[Message]:
    """Return the parts without those that say the same: the page stays where it has tables, else the plain text."""
    has_text = any(part.get_content_type() == "text/plain" and not is_blank(_text(part)) for part in parts)
    has_table = any(part.get_content_type() == "text/html" and "<table" in _text(part).lower() for part in parts)
    unwanted = "text/html" if has_text and not has_table else "text/plain"
    return [part for part in parts if part.get_content_type() != unwanted or _is_attached(part)]


def _is_attached(part: Message) -> bool:
    is_file = part.get_content_disposition() == "attachment" or bool(_file_name(part))
    return is_file or part.get_content_maintype() not in {"text", "multipart"}


def _add_body(part: Message, builder: TextBuilder) -> None:
    if part.get_content_type() != "text/html":
        for line in clean(_text(part)).split("\n"):
            builder.add_line(line.rstrip())
        return
    own = TextBuilder()
    try:
        add_blocks(parse_markup(_text(part)), own)
    except NotReadable as error:
        if error.reason != "empty":
            raise
    builder.add_text(own.text, own.sections)


def _text(part: Message) -> str:
    return decode_body(_payload(part), str(part.get("Content-Type", ""))[:MAX_HEADER])


def _payload(part: Message) -> bytes:
    found = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""


# ── Attached files ────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_attachment(part: Message, builder: TextBuilder, read_attachment: ReadAttachment) -> None:
    """Add an attached file: its name and size, and its text where it can be read."""
    name = _file_name(part) or ("转发的邮件.eml" if part.get_content_maintype() == "message" else "未命名")
    body = _attached_message(part) if part.get_content_maintype() == "message" else _payload(part)
    builder.add_line()
    builder.begin("part", title=f"附件「{name}」")
    try:
        found = read_attachment(body, name.rpartition(".")[2].lower())
    except NotReadable:
        found = None
    remark = "" if found and not is_blank(found.text) else "，没有读出文字"
    builder.add_line(f"附件：{name}（{len(body):,} 字节{remark}）")
    if found and not remark:
        builder.add_text(found.text, _named_parts(found, f"附件「{name}」"))


def _named_parts(found: ExtractedText, prefix: str) -> Iterator[TextSection]:
    """Yield the sections of an attached file as parts of the message: 附件「合同.pdf」第 3 页."""
    for section in found.sections:
        if section.kind == "heading":
            yield section
        elif section.kind in {"page", "slide"} and (place := place_at("", (section,), section.start)):
            yield TextSection(section.start, "part", title=prefix + place.label)
        elif section.title:
            yield TextSection(section.start, "part", title=f"{prefix}「{section.title}」")


def _attached_message(part: Message) -> bytes:
    inside = part.get_payload()
    first = inside[0] if isinstance(inside, list) and inside else inside
    return first.as_bytes(policy=compat32) if isinstance(first, Message) else b""


def _file_name(part: Message) -> str:
    given = part.get_filename()
    return (
        shorten(one_line(_decoded(str(given)[:MAX_HEADER])).replace("\\", "/").rpartition("/")[2], MAX_LISTED)
        if given
        else ""
    )


# ── Headers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _header(message: Message, name: str) -> str:
    given = message.get(name)
    return "" if given is None else one_line(_decoded(str(given)[:MAX_HEADER]))


def _decoded(header: str) -> str:
    """Return a header with its encoded words (=?utf-8?B?…?=) and raw bytes as text."""
    try:
        pieces = decode_header(header)
    except (HeaderParseError, ValueError):
        return header
    return "".join(
        decode_body(piece, f"text/plain; charset={codec or ''}") if isinstance(piece, bytes) else _unescaped(piece)
        for piece, codec in pieces
    )


def _unescaped(piece: str) -> str:
    """Return the text of raw bytes, which the parser keeps as lone surrogates."""
    return decode_body(piece.encode("utf-8", "surrogateescape"), "") if not piece.isascii() else piece


def _moment(message: Message) -> str:
    """Return when the message was sent, as its sender's clock showed it; empty if it does not say."""
    try:
        return f"{parsedate_to_datetime(str(message.get('Date', ''))[:MAX_DATE]):%Y-%m-%d %H:%M}"
    except (ValueError, TypeError, OverflowError):
        return ""
