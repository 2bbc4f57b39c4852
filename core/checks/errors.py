"""Errors in the input of a check, before anything is compared."""

from __future__ import annotations

from core.base.errors import AppError


class CheckInputError(AppError):
    """A file, a folder or a line that cannot be read as expected."""

    kind = "check_input"
    default_message = "没有可以核验的内容。"
