"""The command `check`: whether the sources of an answer say what it says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.answer import (
    HOW_MADE_NOTE,
    MARKS,
    VERDICTS_WORST_FIRST,
    against_law_lines,
    list_agreements,
    list_verdicts,
    other_uncited,
    tally,
    uncited_line,
    with_statutes,
)
from core.answer.check_texts import with_places
from core.base.errors import InputError
from core.commands.fail_on import parse_marks, status_of
from core.commands.files import read_text_file
from core.commands.output import Output, add_json, decode_input, print_note, run_all

if TYPE_CHECKING:
    from core.answer.check_results import AnswerCheck, SourceText
    from core.app import App


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="带 [n] 的回答；- 表示从标准输入读取")
    parser.add_argument("--sources", metavar="DIR|URL", nargs="+", help="来源：一个目录，或依次排列的网址")
    parser.add_argument("--pairs", metavar="FILE.jsonl", help="逐行核验 statement 与 source；- 表示从标准输入读取")
    parser.add_argument(
        "--fail-on",
        metavar="MARKS",
        type=_verdict_marks,
        default=frozenset(),
        help="有这些结论时退出码为 3：✗ 不符、○ 未见、· 未核、✓ 有据；标记可以连写，词用逗号隔开",
    )
    add_json(parser)
    parser.set_defaults(command=run, usage=parser.error)


def run(app: App, options: argparse.Namespace, output: Output) -> int:
    if options.pairs and not options.file and not options.sources:
        return _check_pairs(app, options.pairs, output, options.fail_on)
    if not options.file or not options.sources or options.pairs:
        options.usage("请给出 FILE 和 --sources，或者 --pairs")
    from core.checks import check_answer

    text = decode_input(sys.stdin.read()) if options.file == "-" else read_text_file(Path(options.file))
    sources = _read_sources(app, options.sources)
    checked = with_places(check_answer(text, sources, meaning=app.checks.meaning), sources)
    checked = with_statutes(checked, app.check_statutes(text)) or checked
    output.print_document(checked.to_json(), lambda: _checked_text(checked))
    return status_of((MARKS[verdict.verdict] for verdict in list_verdicts(checked)), options.fail_on)


def _read_sources(app: App, places: Sequence[str]) -> list[SourceText]:
    from core.checks import read_address_sources, read_folder_sources

    if len(places) == 1 and Path(places[0]).is_dir():
        return read_folder_sources(Path(places[0]), app.reader, print_note)
    if strange := next((place for place in places if "://" not in place), ""):
        raise InputError(f"{strange} 不能作为来源。", cure="来源是一个目录，或几个以 http:// 或 https:// 开头的网址。")
    return read_address_sources(places, app.reader, print_note)


def _check_pairs(app: App, file: str, output: Output, fail_on: Collection[str]) -> int:
    from core.checks import check_pair
    from core.serve import pair_json

    def one(line: str) -> int:
        check = check_pair(line, app.checks.meaning)
        output.print_document(pair_json(check), lambda: f"{check.verdict.label} {check.score:.2f} {check.reason}")
        return status_of([MARKS[check.verdict]], fail_on)

    lines = sys.stdin if file == "-" else read_text_file(Path(file)).split("\n")
    return run_all(filter(str.strip, lines), output, one)


def _checked_text(checked: AnswerCheck) -> str:
    lines = [
        f"{citation.check.verdict.label} [{citation.number}] {statement.text}\n     {citation.check.reason}"
        for statement in checked.statements
        for citation in statement.citations
    ]
    lines += against_law_lines(checked)
    lines += map(uncited_line, other_uncited(checked))
    lines += map(str, list_agreements(checked))
    return "\n".join([*lines, tally(checked) or "没有可以核验的引用。", HOW_MADE_NOTE])


def _verdict_marks(text: str) -> frozenset[str]:
    return parse_marks(text, {MARKS[verdict]: (verdict.label, verdict.value) for verdict in VERDICTS_WORST_FIRST})
