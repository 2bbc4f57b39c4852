"""The commands `law`: import, search, and the check of drafts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from core.base.text import one_line, shorten
from core.commands.fail_on import parse_marks, status_of
from core.commands.files import read_file, write_file
from core.commands.law_library import add_import_arguments, fill_library, period
from core.commands.output import Output, add_json, input_lines, print_note, run_all
from core.commands.parser import add_command
from core.commands.statute_lines import FIRST_WORDS, case_finding_text, verdict_text

if TYPE_CHECKING:
    from core.app import App
    from core.legal import ContractReview, Draft, LegalArticle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    operations = parser.add_subparsers(required=True, metavar="操作")
    add_import_arguments(add_command(operations, "import", "导入法规：目录、压缩包、JSONL 或网址"))
    _add_search(add_command(operations, "search", "按法名、条号或内容检索"))
    _add_verify(add_command(operations, "verify", "核验文稿引用的每一条法条：txt、md、docx、pdf"))


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="如 劳动合同法第三十八条；- 表示从标准输入逐行读取")
    _add_day(parser)
    add_json(parser)
    parser.set_defaults(command=_law_search)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="要核验的文稿；- 表示从标准输入逐行读取，每行一份")
    parser.add_argument(
        "--fail-on",
        metavar="MARKS",
        type=_statute_marks,
        default=frozenset(),
        help="有这些标记时退出码为 3，如 ≠✗⌛；也可以写意思，用逗号隔开",
    )
    parser.add_argument("--docx", metavar="DIR", type=Path, help="把带批注的 Word 文件写到这个目录")
    _add_day(parser)
    add_json(parser)
    parser.set_defaults(command=_verify)


def _add_day(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--as-of", type=period, metavar="DATE", help="按那一天的法律，如 2019-05-01 或 2019")


def _law_search(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.legal import NoLegalIndex

    fill_library(app, may_download=True)
    if not app.legal.library.available and app.legal.searches_web:  # else it is the error that ends the search
        print_note(str(NoLegalIndex()))

    def one(text: str) -> None:
        response = app.legal.regulations(None).search(text, as_of=options.as_of)
        parts = [*filter(None, [response.note]), *map(_article_text, response.results)]
        output.print_document(response.to_json(), lambda: "\n\n".join(parts) or "没有找到。")

    return run_all(input_lines(options.query), output, one)


def _article_text(article: LegalArticle) -> str:
    from core.legal import source_name

    effective = f"（{article.effective_date} 起施行）" if article.effective_date else ""
    effective += f" {article.remark}" if article.remark else ""
    return f"《{article.law_name}》{article.article_number or ''}{effective} · {source_name(article.source)}\n{article.content}"


def _verify(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.legal import Draft, draft_with_comments
    from core.serve import verify_draft

    fill_library(app, may_download=True)
    reads_lines = options.files == ["-"]

    def one(file_or_text: str) -> int:
        draft = Draft.from_text(file_or_text) if reads_lines else _read_draft(app, Path(file_or_text))
        checked = verify_draft(app, draft, options.as_of)
        document = checked.to_json()
        lines = [draft.name] * (len(options.files) > 1) + [*map(verdict_text, document["citations"])]
        lines += (
            [f"共引用 {document['total']} 处：{document['summary']}"] if checked.findings else ["没有找到法条引用。"]
        )
        lines += ["案号核验", *map(case_finding_text, checked.cases)] if checked.cases else []
        lines += _review_lines(checked.review) if checked.review else []
        output.print_document(document, lambda: "\n".join(lines))
        if options.docx:
            file_name = f"{Path(draft.name).stem}（批注）.docx"
            write_file(
                options.docx / file_name, draft_with_comments(draft, checked.findings, app.reader, checked.review)
            )
        return status_of((verdict["mark"] for verdict in document["citations"]), options.fail_on)

    return run_all(input_lines("-") if reads_lines else options.files, output, one)


def _read_draft(app: App, file: Path) -> Draft:
    from core.legal import Draft

    return Draft.from_file(file.name, read_file(file), app.reader)


def _statute_marks(text: str) -> frozenset[str]:
    from core.legal import WORST_FIRST

    return parse_marks(text, {mark.value: (mark.meaning,) for mark in WORST_FIRST})


def _review_lines(review: ContractReview) -> list[str]:
    """Return the review of a contract: the clauses, each with its article, and what was not checked."""
    first, *others = review.notes
    clauses = (
        f"{one.severity} {one.title}：{shorten(one_line(one.sentence), FIRST_WORDS)}\n  {one.note}（{one.articles[0].citation}）"
        for one in review.findings
    )
    return [f"合同审查：{first}", *clauses, *others]
