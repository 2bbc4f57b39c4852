"""The command `search`: results of the search engines."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import TYPE_CHECKING

from core.base.settings import parse_language
from core.commands.notices import notice_lines, origin_text
from core.commands.output import FAILED, OK, Output, add_json, input_lines, print_note, run_all
from core.commands.parser import whole_number
from core.search import describe_attempt, engine_label, parse_time_range
from core.search.errors import AllEnginesFailed
from core.search.types import MAX_RESULTS, Attempt, SearchQuery, SearchResponse, SearchType, TimeRange

if TYPE_CHECKING:
    from core.app import App


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="搜索词；- 表示从标准输入逐行读取")
    parser.add_argument(
        "--type",
        choices=[kind.value for kind in SearchType],
        default=SearchType.GENERAL.value,
        help="general 一般（默认）、news 新闻、regulation 法规、case 案例",
    )
    parser.add_argument(
        "-n",
        dest="limit",
        type=whole_number(1, MAX_RESULTS),
        default=MAX_RESULTS,
        metavar="N",
        help=f"最多几条结果，1 到 {MAX_RESULTS}，默认 {MAX_RESULTS}",
    )
    parser.add_argument(
        "--since",
        type=_since,
        metavar="WHEN",
        help="只要这以来的：day、week、month、year，或日期如 2026-03-01；引擎只分一天、一周、一月、一年，取最接近的一档",
    )
    parser.add_argument("--language", type=_language, metavar="CODE", help="结果的语言，如 zh-CN、en，默认按设置")
    parser.add_argument("--engine", metavar="NAME", default="", help="只用这一个引擎，如 searxng")
    add_json(parser)
    parser.set_defaults(command=run)


def run(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.run import search_notices
    from core.serve import require_engine, search_json

    def one(text: str) -> int:
        require_engine(app, options.engine)
        language = options.language or app.settings.search.language
        query = SearchQuery(text, SearchType(options.type), options.limit, language, options.since)
        try:
            response = app.search.search(query, visitor=None, engine=options.engine or None)
        except AllEnginesFailed as error:
            for attempt in error.attempts:
                print_note(_attempt_text(attempt))
            raise
        for notice in search_notices([response]):
            print_note("\n".join(notice_lines(notice)))
        output.print_document(search_json(response), lambda: _results_text(response))
        return FAILED if response.failure else OK

    if app.search.has_engines and not app.search.reaches_web and not options.engine:
        print_note(app.chain.no_web_engine)
    return run_all(input_lines(options.query), output, one)


def _since(text: str) -> TimeRange:
    try:
        return parse_time_range(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} 写得不对：{error}") from None


def _language(text: str) -> str:
    try:
        return parse_language(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}，不能是 {text!r}") from None


def _attempt_text(attempt: Attempt) -> str:
    """Return what an engine that did not answer did: SearXNG 拒绝访问（403），刚才失败过，暂停到 19:07。"""
    pause = f"，{attempt.pause.words(datetime.now().astimezone())}" if attempt.pause else ""
    return f"{describe_attempt(attempt, engine_label(attempt.engine))}{pause}。"


def _results_text(response: SearchResponse) -> str:
    lines = [f"{response.provider} · {len(response.results)} 条 · {origin_text(response)}"]
    for number, result in enumerate(response.results, 1):
        lines += [f"{number}. {result.title}", f"   {result.url}", f"   {result.snippet}"]
    return "\n".join(lines)
