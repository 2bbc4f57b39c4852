"""The root of all errors that a user may see. Each package adds its own in its `errors.py`.

`str(error)` is what the reader sees: what happened, and what to do about it. It never holds a key, a full URL or a
traceback. Fields are keyword-only, so that a message can never be taken for a number.
"""

from __future__ import annotations

from typing import ClassVar


class AppError(Exception):
    """Base class of every error that the program expects. `message` says what happened, `cure` what to do about it."""

    kind: ClassVar[str] = "error"
    default_message: ClassVar[str] = "程序遇到了没有预料到的问题。"
    default_cure: ClassVar[str] = ""

    def __init__(self, message: str = "", *, cure: str = "") -> None:
        self.message = message or self.default_message
        self.cure = cure or self.default_cure
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}{self.cure}".rstrip()


class InputError(AppError):
    kind = "input"
    default_message = "这条消息没有发送。"
