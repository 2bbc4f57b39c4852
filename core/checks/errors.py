"""What can go wrong before anything is compared."""

from __future__ import annotations

from core.base.errors import AppError


class CheckInputError(AppError):
    """A file, a folder or a line cannot be read as what it should be."""

    kind = "check_input"
    happened = "没有可以核对的内容。"
