"""The library of laws and cases, for commands: its imports, how it is filled when empty, and days of the law."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from core.base.errors import AppError
from core.base.settings import LAW_SOURCES
from core.commands.output import FAILED, OK, Output, add_json, print_note

if TYPE_CHECKING:
    from core.app import App
    from core.legal import ImportProgress, ImportReport, Period


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    path_help = f"目录、压缩包、JSONL、网址，或公开来源的名称：{'、'.join(LAW_SOURCES)}"
    parser.add_argument("path", metavar="PATH_OR_URL", nargs="?", default="", help=path_help)
    parser.add_argument("--update", action="store_true", help="只导入有变化的；不写路径时，从以前导入的各处重新取")
    add_json(parser)
    parser.set_defaults(command=run_import, usage=parser.error)


def run_import(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.legal import law_import

    if not options.path and not options.update:
        options.usage("请给出路径或网址，或用 --update 更新以前导入的")
    report = law_import(
        app.legal.library,
        options.path,
        update=options.update,
        mirrors=dict(app.settings.legal.mirrors),
        on_progress=_progress_printer(),
    )
    document, remarks = report.to_json(), [*report.problems, *_skipped_text(report)]
    if options.update:
        output.print_document(document, lambda: "\n".join([*_changes_text(report), *remarks]))
    else:
        output.print_document(document, lambda: json.dumps(document, ensure_ascii=False, indent=2))
        for remark in remarks:
            print_note(remark)
    return FAILED if report.has_failed else OK


def _skipped_text(report: ImportReport) -> Iterator[str]:
    for first in report.skipped[:1]:
        yield f"跳过 {report.skipped_count:,} 处，第一处：{first.path}，{first.reason}。"


def _changes_text(report: ImportReport) -> Iterator[str]:
    if report.has_failed:
        yield "一处也没有取到，不知道法规有没有变化。"
        return
    yield f"有变化的法规：{len(report.changes):,} 部" if report.changes else "法规没有变化。"
    for change in report.changes:
        days = " → ".join(dict.fromkeys(filter(None, (change.published_before, change.published_after))))
        yield f"{change.kind}　《{change.law}》{f'（{days}）' if days else ''}"


def _progress_printer() -> Callable[[ImportProgress], None]:
    """Return a function that prints progress: one line that is overwritten, or in a file one line for each stage."""
    printed = set[str]()

    def print_progress(progress: ImportProgress) -> None:
        if sys.stderr.isatty():
            total = f"/{progress.total:,}" if progress.total else ""
            print(f"\r{progress.stage} {progress.done:,}{total}   ", end="", file=sys.stderr, flush=True)
        elif progress.stage not in printed:
            printed.add(progress.stage)
            print(progress.stage, file=sys.stderr, flush=True)

    return print_progress


def fill_library(app: App, *, may_download: bool) -> None:
    """Build an empty library from the laws that come with the program. The command goes on without it if that fails."""
    from core.legal import IMPORT_FAILED

    try:
        app.legal.build_empty_library(_progress_printer(), may_download=may_download)
    except AppError as error:
        print_note(str(error))
    except OSError:  # a folder that cannot be written to
        print_note(IMPORT_FAILED)


def period(text: str) -> Period:
    from core.legal import parse_period

    period = parse_period(text)
    if period is None:
        raise argparse.ArgumentTypeError("日期写成 2019-05-01、2019-05 或 2019")
    return period
