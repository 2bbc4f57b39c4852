"""Errors of the library of laws and cases."""

from __future__ import annotations

from core.base.errors import AppError


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


class NoLegalIndex(LegalError):
    kind = "legal_no_index"
    default_message = "还没有导入法规与案例库。"
    default_cure = "请在「法规与案例」页导入，或运行 python -m core law import 路径。"
