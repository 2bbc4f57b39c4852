"""Reading of sources and pairs from files, for the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from core.answer.check_results import SourceCheck, SourceText
from core.base.http import Deadline
from core.checks.check import check_statement
from core.checks.errors import CheckInputError
from core.checks.meaning import MeaningComparison
from core.reading import Reader, ReadingError

_NUMBER = re.compile(r"(\d{1,3})(?!\d)")
_MAX_FILES = 999
_FILE_SECONDS = 20.0

ReportProblem = Callable[[str], None]


def read_folder_sources(folder: Path, reader: Reader, report_problem: ReportProblem) -> list[SourceText]:
    """Read the files of a folder. Each has the number that its name begins with, else its place in the order of names."""
    try:
        listed = sorted(folder.iterdir())
    except OSError as error:
        raise CheckInputError(f"无法读取 {folder}。", cure="请检查路径和权限。") from error
    files = [path for path in listed if path.is_file() and not path.name.startswith(".")][:_MAX_FILES]
    numbers = [int(found[1]) if (found := _NUMBER.match(path.name)) else 0 for path in files]
    if not all(numbers) or len(set(numbers)) < len(numbers):
        numbers = list(range(1, len(files) + 1))
    if not files:
        raise CheckInputError(f"{folder.name} 里没有文件。")
    return [
        _read_file_source(number, path, reader, report_problem) for number, path in zip(numbers, files, strict=True)
    ]


def _read_file_source(number: int, path: Path, reader: Reader, report_problem: ReportProblem) -> SourceText:
    try:
        found = reader.read_bytes(_read_bytes(path), _content_type(path), deadline=Deadline(_FILE_SECONDS))
    except ReadingError as error:
        report_problem(f"[{number}] {path.name}：{error.short_reason}")
        return SourceText(number, "", is_full=False)
    return SourceText(number, found.text, not found.is_cut, found.published, found.sections)


def _content_type(path: Path) -> str:
    return "text/html" if path.suffix.lower() in {".html", ".htm", ".xhtml"} else "text/plain"


def read_address_sources(addresses: Sequence[str], reader: Reader, report_problem: ReportProblem) -> list[SourceText]:
    """Read the pages at these addresses. The first address is [1]."""
    sources = []
    outcomes = reader.read_all(addresses, deadline=Deadline(reader.timeout * max(1, len(addresses) // 4)))
    for number, outcome in enumerate(outcomes, 1):
        if isinstance(outcome, ReadingError):
            report_problem(f"[{number}] {outcome}")
            sources.append(SourceText(number, "", is_full=False))
        else:
            sources.append(SourceText(number, outcome.text, not outcome.is_cut, outcome.published))
    return sources


def check_pair(line: str, meaning: MeaningComparison | None = None) -> SourceCheck:
    """Check one line of a file of pairs. The source counts as read in full."""
    try:
        pair = json.loads(line)
        statement, source = pair["statement"], pair["source"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise CheckInputError("这一行不是带有 statement 和 source 的 JSON 对象。") from None
    if not isinstance(statement, str) or not isinstance(source, str):
        raise CheckInputError("statement 和 source 必须是文字。")
    return check_statement(statement, SourceText(1, source), meaning)


def _read_bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CheckInputError(f"无法读取 {file.name}。", cure="请检查路径和权限。") from error
