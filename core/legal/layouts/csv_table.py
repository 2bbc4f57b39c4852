"""Court cases as a CSV table, one per row. The first line has field names of `core.legal.layouts.case_records`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from core.base.text import one_line
from core.legal.layouts.case_records import FIELDS, parse_case_record
from core.legal.layouts.corpus_markdown import Undecodable, decode
from core.legal.layouts.items import Item, Skipped
from core.legal.layouts.source_files import MAX_LINE, SourceFile

NAME = "CSV"
_NEEDED = {"caseName", *FIELDS["caseName"]}


def is_ours(path: PurePosixPath) -> bool:
    return path.suffix == ".csv"


def is_metadata(path: PurePosixPath) -> bool:
    return False


def read(files: Iterable[SourceFile], metadata: Iterable[SourceFile]) -> Iterator[Item]:
    csv.field_size_limit(MAX_LINE)
    for entry in files:
        try:
            yield from _rows(entry)
        except Undecodable:
            yield Skipped(str(entry.path), "编码无法识别")
        except csv.Error as error:
            yield Skipped(str(entry.path), f"不是 CSV：{one_line(str(error))[:60]}")


def _rows(entry: SourceFile) -> Iterator[Item]:
    table = csv.reader(decode(line.replace(b"\0", b""), keep_blanks=True) for line in entry.lines())
    heads = [one_line(head) for head in next(table, [])]
    if _NEEDED.isdisjoint(heads):
        yield Skipped(str(entry.path), "第一行没有「案件名称」一列")
        return
    for row in table:
        try:
            yield parse_case_record(dict(zip(heads, row, strict=False)), entry.path.name)
        except ValueError as error:
            yield Skipped(f"{entry.path.name}:{table.line_num}", f"缺少或写错的字段：{one_line(str(error))[:60]}")
