"""The commands `case`: import and search."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from core.base.text import one_line, shorten
from core.commands.law_library import add_import_arguments
from core.commands.output import Output, add_json, input_lines, print_note, run_all
from core.commands.parser import add_command, whole_number
from core.commands.statute_lines import FIRST_WORDS
from core.legal.entities import CaseFilter, CourtCase

if TYPE_CHECKING:
    from core.app import App


def add_arguments(parser: argparse.ArgumentParser) -> None:
    operations = parser.add_subparsers(required=True, metavar="操作")
    add_import_arguments(add_command(operations, "import", "导入案例：目录、压缩包、JSONL 或网址"))
    search = add_command(operations, "search", "按关键词或案号检索")
    search.add_argument("query", metavar="QUERY", help="关键词；- 表示从标准输入逐行读取")
    search.add_argument("--type", choices=["民事", "刑事", "行政", "其他"], help="只要这一类案件")
    search.add_argument("--cause", metavar="CAUSE", default="", help="案由，如 民间借贷纠纷")
    search.add_argument("--court", metavar="NAME", default="", help="法院名称或其中几个字，如 北京")
    search.add_argument("--year", type=whole_number(1949, 2100), metavar="YEAR", help="裁判年份")
    add_json(search)
    search.set_defaults(command=_case_search)


def _case_search(app: App, options: argparse.Namespace, output: Output) -> int:
    wanted = CaseFilter(cause=options.cause, court=options.court, year=options.year)

    def one(text: str) -> None:
        response = app.legal.cases(None).search(text, options.type, case_filter=wanted)
        if response.note:
            print_note(response.note)
        parts = map(_case_text, response.results)
        output.print_document(response.to_json(), lambda: "\n\n".join(parts) or "没有找到。")

    return run_all(input_lines(options.query), output, one)


def _case_text(case: CourtCase) -> str:
    from core.legal import case_facts

    first = shorten(one_line(case.gist or case.summary or case.text), FIRST_WORDS)
    return "\n".join(filter(None, (case.name, " · ".join(case_facts(case)), first)))
