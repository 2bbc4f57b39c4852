"""Files that a command is given, or writes."""

from __future__ import annotations

import errno
from pathlib import Path

from core.base.errors import InputError
from core.commands.output import print_note

_REASONS = {
    errno.ENOENT: "没有这个文件",
    errno.EISDIR: "这是一个目录",
    errno.EACCES: "没有权限",
    errno.ENAMETOOLONG: "名称太长",
}


def read_file(file: Path) -> bytes:
    """Return the bytes of a file. Raise an InputError that says why it cannot be read."""
    try:
        return file.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in its name
        raise InputError(f"无法读取 {file}：{_reason(error)}。", cure="请检查路径和权限。") from error


def read_text_file(file: Path) -> str:
    """Return the text of a file in any encoding. Raise InputError for one that cannot be read or has no text."""
    from core.reading import decode_body

    text = decode_body(read_file(file), "text/plain")
    if "\0" in text:
        raise InputError(f"{file} 不是文字文件，没有读。", cure="请给出纯文字的文件，如 txt、md。")
    return text


def write_file(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except (OSError, ValueError) as error:
        raise InputError(f"无法写入 {file}：{_reason(error)}。", cure="请检查目录和权限。") from error
    print_note(f"已写入 {file}")


def _reason(error: OSError | ValueError) -> str:
    return _REASONS.get(getattr(error, "errno", None) or 0, "打不开")
