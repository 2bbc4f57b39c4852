"""The command line: the same services without a browser. `--json` prints JSON on standard output and nothing else."""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import socket
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from core import __version__
from core.answer import (
    AGREEING_SOURCES,
    HOW_MADE_NOTE,
    MARKS,
    NO_SOURCES_NOTE,
    PROBLEM_VERDICTS,
    VERDICTS_WORST_FIRST,
    against_law_lines,
    agreeing_sources,
    describe_source,
    list_agreements,
    list_verdicts,
    other_uncited,
    places_by_source,
    reading_status,
    tally,
    uncited_line,
    with_statutes,
)
from core.answer.check_texts import source_words, with_places
from core.answer.events import (
    Answer,
    Checked,
    Notice,
    PageRead,
    PartRead,
    PartsStarted,
    ReadingStarted,
    RunEvent,
    RunFailed,
    RunStopped,
    SearchFinished,
    SearchStarted,
    SourcesGiven,
    TextDelta,
    Thought,
    ToolFinished,
    ToolStarted,
    Usage,
)
from core.base.errors import AppError, InputError
from core.base.paths import PROGRAM_DIR, USER_DIR
from core.base.settings import LAW_SOURCES, SETUP_VALIDITY, SetupLinks
from core.base.text import one_line, shorten, time_ago
from core.base.web_addresses import host_of
from core.command_output import (
    FAILED,
    FOUND_WRONGS,
    OK,
    WRONG_USAGE,
    Output,
    decode_input,
    input_lines,
    print_note,
    run_all,
)
from core.documents_commands import add_ask_arguments, add_parsers, answer_options
from core.legal.entities import LIBRARY_LABELS, CaseFilter, CourtCase
from core.reading import Place
from core.search import describe_attempt, engine_label
from core.search.errors import AllEnginesFailed, NoEngine
from core.search.types import Attempt, SearchQuery, SearchResponse, SearchType, Source

if TYPE_CHECKING:
    from core.answer.check_results import AnswerCheck
    from core.answer.message import Message, Mode
    from core.app import App
    from core.backup import Contents, Installation
    from core.legal import (
        CaseFinding,
        ContractReview,
        Draft,
        ImportProgress,
        ImportReport,
        LegalArticle,
        Period,
        StatuteCheck,
    )
    from core.run import AnswerService, Run

_FIRST_WORDS = 400
STATUS_HELP = "退出码：0 成功，1 服务失败，2 用法不对，3 核验发现了 --fail-on 所列的问题。"


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a Windows console or LANG=C would refuse Chinese
            stream.reconfigure(encoding="utf-8", errors="surrogateescape" if stream is sys.stdin else "replace")
    if arguments is None:  # LANG=C leaves Chinese arguments undecoded
        arguments = [os.fsencode(argument).decode("utf-8", "replace") for argument in sys.argv[1:]]
    options = _parser().parse_args(arguments)
    if "workers" in options:  # the pages run in processes of their own
        return _run(options)
    inputs = (getattr(options, name, "") for name in ("query", "question", "file", "files", "pairs"))
    if sys.stdin is None and any(given in ("-", ["-"]) for given in inputs):
        print(NO_INPUT, file=sys.stderr)
        return WRONG_USAGE
    output = Output(as_json=options.json)
    from core.app import build_app  # imports all services, which --help and misspelled commands do not need

    app = build_app(errors_only=True)
    for problem in app.loaded_settings.problems:
        print(f"配置：{problem.for_operator()}", file=sys.stderr, flush=True)
    try:
        status: int = options.command(app, options, output)
    except AppError as error:
        status = output.print_failure(error.kind, str(error))
    except BrokenPipeError:
        status = FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print_note("写不进输出：磁盘已满。请换一个地方，或先腾出空间。")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain about it once more
        status = FAILED
    except KeyboardInterrupt:
        status = 130
    finally:
        app.close()
    return status


NO_INPUT = "标准输入是关闭的，没有内容可读。请把内容用管道传进来，或直接写在命令里。"
NO_PAGES = "这里只装了命令行，没有页面。请在问源的源代码目录里运行。"
ONE_PROCESS = (
    "这个命令只启动 1 个进程。要用几个进程，请用 systemd 的模板 deploy/wenyuan@.service 各启动一个，"
    "前面放 nginx（deploy/nginx.conf）；步骤见 docs/deployment.md 的「More than one core」。"
)


def _run(options: argparse.Namespace) -> int:
    """Become the server of the pages."""
    if not (PROGRAM_DIR / "asgi.py").is_file():
        print(NO_PAGES, file=sys.stderr)
        return FAILED
    if not 0 < options.port < 65_536:
        print(f"端口 {options.port} 无法使用。请用 1 到 65535 之间的数。", file=sys.stderr)
        return WRONG_USAGE
    if problem := _host_problem(options.host):
        cure = "请写本机的一个地址：127.0.0.1 只有本机能打开，0.0.0.0 其他机器也能打开。"
        print(f"--host {options.host} 无法使用：{problem}。{cure}", file=sys.stderr)
        return WRONG_USAGE
    if options.workers < 1:
        print(f"--workers {options.workers} 无法使用：至少要有 1 个进程。", file=sys.stderr)
        return WRONG_USAGE
    if options.workers == 1:
        os.chdir(PROGRAM_DIR)
        address = ["--server.address", options.host, "--server.port", str(options.port)]
        os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", "asgi.py", *address])  # noqa: S606 (our own)
    print(ONE_PROCESS, file=sys.stderr)
    return WRONG_USAGE


def _host_problem(host: str) -> str:
    """Return why this machine cannot listen at an address or name; empty if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        address = socket.getaddrinfo(host, 0, family, socket.SOCK_STREAM)[0][4]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
    except (socket.gaierror, UnicodeError):
        return "没有叫这个名字的机器"
    except OSError:
        return "本机没有这个地址"
    return ""


def _parser() -> argparse.ArgumentParser:
    called = "python -m core" if Path(sys.argv[0]).name == "__main__.py" else "wenyuan"
    parser = argparse.ArgumentParser(prog=called, description="问源的命令行", epilog=STATUS_HELP)
    parser.add_argument("--version", action="version", version=f"wenyuan {__version__}", help="打印版本号")
    commands = parser.add_subparsers(required=True, metavar="命令")

    search = commands.add_parser("search", help="搜索，打印结果")
    search.add_argument("query", help="搜索词；- 表示从标准输入逐行读取")
    search.add_argument(
        "--type",
        choices=[kind.value for kind in SearchType],
        default=SearchType.GENERAL.value,
        help="general 一般（默认）、news 新闻、regulation 法规、case 案例",
    )
    search.add_argument("--engine", metavar="NAME", help="只用这一个引擎")
    search.set_defaults(command=_search)

    ask = commands.add_parser("ask", help="提问，打印带来源的回答")
    ask.add_argument("question", help="问题；- 表示从标准输入逐行读取")
    ask.add_argument(
        "--mode", choices=["chat", "agent"], default="chat", help="chat 直接回答（默认）、agent 由 Agent 决定怎么查"
    )
    ask.add_argument("--search", action="store_true", help="先联网搜索，再回答")
    add_ask_arguments(ask)
    ask.set_defaults(command=_ask)
    docs = add_parsers(commands)

    law = commands.add_parser("law", help="法规：导入、检索、核验").add_subparsers(required=True, metavar="操作")
    case = commands.add_parser("case", help="案例：导入、检索").add_subparsers(required=True, metavar="操作")
    imports = [
        law.add_parser("import", help="导入法规：目录、压缩包、JSONL 或网址"),
        case.add_parser("import", help="导入案例：目录、压缩包、JSONL 或网址"),
    ]
    for command in imports:
        path_help = f"目录、压缩包、JSONL、网址，或公开来源的名称：{'、'.join(LAW_SOURCES)}"
        command.add_argument("path", metavar="PATH_OR_URL", nargs="?", default="", help=path_help)
        command.add_argument("--update", action="store_true", help="只导入有变化的；不写路径时，从以前导入的各处重新取")
        command.set_defaults(command=_import, usage=command.error)
    law_search = law.add_parser("search", help="按法名、条号或内容检索")
    law_search.add_argument("query", help="如 劳动合同法第三十八条；- 表示从标准输入逐行读取")
    law_search.add_argument("--as-of", type=_period, metavar="日期", help="按那一天的法律，如 2019-05-01 或 2019")
    law_search.set_defaults(command=_law_search)
    case_search = case.add_parser("search", help="按关键词或案号检索")
    case_search.add_argument("query", help="关键词；- 表示从标准输入逐行读取")
    case_search.add_argument("--type", choices=["民事", "刑事", "行政", "其他"], help="只要这一类案件")
    case_search.add_argument("--cause", default="", help="案由，如 民间借贷纠纷")
    case_search.add_argument("--court", default="", help="法院名称或其中几个字，如 北京")
    case_search.add_argument("--year", type=int, help="裁判年份")
    case_search.set_defaults(command=_case_search)
    verify = law.add_parser("verify", help="核验文稿引用的每一条法条：txt、md、docx、pdf")
    verify.add_argument("files", metavar="FILE", nargs="+", help="要核验的文稿；- 表示从标准输入逐行读取，每行一份")
    verify.add_argument(
        "--fail-on",
        metavar="MARKS",
        type=_statute_marks,
        default=frozenset(),
        help="有这些标记时退出码为 3，如 ≠✗⌛；也可以写意思，用逗号隔开",
    )
    verify.add_argument("--docx", metavar="DIR", type=Path, help="把带批注的 Word 文件写到这个目录")
    verify.add_argument("--as-of", type=_period, metavar="日期", help="按那一天的法律，如 2019-05-01 或 2019")
    verify.set_defaults(command=_verify)

    check = commands.add_parser("check", help="核验：回答里每一处引用，来源是否这样说")
    check.add_argument("file", metavar="FILE", nargs="?", help="带 [n] 的回答；- 表示从标准输入读取")
    check.add_argument("--sources", metavar="DIR|URL", nargs="+", help="来源：一个目录，或依次排列的网址")
    check.add_argument("--pairs", metavar="FILE.jsonl", help="逐行核验 statement 与 source；- 表示从标准输入读取")
    check.add_argument(
        "--fail-on",
        metavar="MARKS",
        type=_verdict_marks,
        default=frozenset(),
        help="有这些结论时退出码为 3：✗ 不符、○ 未见、· 未核、✓ 有据；标记可以连写，词用逗号隔开",
    )
    check.set_defaults(command=_check, usage=check.error)

    serve = commands.add_parser("run", help="启动页面")
    serve.add_argument("--host", default="127.0.0.1", help="监听的地址，默认只有本机能打开")
    serve.add_argument("--port", type=int, default=8501, help="端口，默认 8501")
    serve.add_argument("--workers", type=int, default=1, metavar="N", help="只能是 1；更多进程用 systemd 和 nginx")

    doctor = commands.add_parser("doctor", help="检查哪些可用、哪些不可用，以及怎么修")
    doctor.set_defaults(command=_doctor)

    setup_link = commands.add_parser("setup-link", help="打印一个链接：打开它的浏览器从此可以修改设置")
    setup_link.add_argument("--reset", action="store_true", help="先忘记所有管理者和以前的链接，此后只有新链接有效")
    setup_link.set_defaults(command=_setup_link)

    backup = commands.add_parser("backup", help="备份：对话、资料、设置和密钥、法规库，写成一个文件")
    backup.add_argument("file", metavar="FILE", type=Path, help="要写的文件，如 wenyuan-备份.zip；页面可以开着")
    backup.set_defaults(command=_backup)
    restore = commands.add_parser("restore", help="从备份或数据文件夹恢复；SQLite 与 PostgreSQL 之间也可以")
    restore.add_argument(
        "file", metavar="FILE", type=Path, help="backup 写的文件，或没有用 DATABASE_URL 时的数据文件夹；请先停止页面"
    )
    restore.add_argument("--force", action="store_true", help="替换这里已有的内容")
    restore.set_defaults(command=_restore)

    others = (check, doctor, setup_link, backup, restore)
    for command in (search, ask, *others, law_search, case_search, verify, *imports, *docs):
        command.add_argument("--json", action="store_true", help="只向标准输出打印 JSON")
    return parser


def _setup_link(app: App, options: argparse.Namespace, output: Output) -> int:
    links = SetupLinks(app.saved_settings)
    if options.reset:
        links.reset()
    url = links.create_link(app.settings.public.url)
    output.print_document({"url": url}, lambda: f"{url}（{SETUP_VALIDITY}）")
    return OK


def _search(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.run import search_notices

    def one(text: str) -> int:
        names = [engine.name for engine in app.chain.engines]
        if options.engine and options.engine not in names:
            left_out = {entry.name: f"{entry.reason}{entry.cure_for_administrators}" for entry in app.chain.unavailable}
            cure = left_out.get(options.engine) or f"可用的有：{'、'.join(names) or '没有'}。"
            raise NoEngine(f"没有名为「{options.engine}」的可用引擎。", cure=cure)
        query = SearchQuery(text, type=SearchType(options.type), language=app.settings.search.language)
        try:
            response = app.search.search(query, visitor=None, engine=options.engine)
        except AllEnginesFailed as error:
            for attempt in error.attempts:
                print_note(_attempt_text(attempt))
            raise
        document = response.to_json()
        for notice in search_notices([response]):
            print_note("\n".join(_notice_lines(notice)))
        if response.failure:  # results there may be, of the built-in manual
            message = f"{response.failure}{response.cure}".rstrip()
            document["error"] = {"kind": AllEnginesFailed.kind, "message": message}
        output.print_document(document, lambda: _results_text(response))
        return FAILED if response.failure else OK

    if app.search.has_engines and not app.search.reaches_web and not options.engine:
        print_note(app.chain.no_web_engine)
    return run_all(input_lines(options.query), output, one)


def _attempt_text(attempt: Attempt) -> str:
    """Return what an engine that did not answer did: SearXNG 拒绝访问（403），刚才失败过，暂停到 19:07。"""
    pause = f"，{attempt.pause.words(datetime.now().astimezone())}" if attempt.pause else ""
    return f"{describe_attempt(attempt, engine_label(attempt.engine))}{pause}。"


def _notice_lines(notice: Notice) -> Iterator[str]:
    """Yield a notice, and how long the search engine that it is about is paused, on the clock of this machine."""
    yield notice.text
    if notice.pause:
        yield f"搜索引擎{notice.pause.words(datetime.now().astimezone())}。"


def _results_text(response: SearchResponse) -> str:
    lines = [f"{response.provider} · {len(response.results)} 条 · {_origin_text(response)}"]
    for number, result in enumerate(response.results, 1):
        lines += [f"{number}. {result.title}", f"   {result.url}", f"   {result.snippet}"]
    return "\n".join(lines)


def _print_reading(source: Source) -> None:
    site = LIBRARY_LABELS.get(source.engine) or host_of(source.url) or one_line(source.title)
    print(f"[{source.number}] {site} · {reading_status(source)}", file=sys.stderr)


def _origin_text(response: SearchResponse) -> str:
    """Return how long the search took, and the age of results that come from a cache."""
    cached = f" · {'旧' if response.stale else ''}缓存 · {time_ago(response.cache_age or 0).strip()}"
    return f"{response.search_time:.1f} 秒{cached if response.from_cache else ''}"


def _ask(app: App, options: argparse.Namespace, output: Output) -> int:
    asked_with = answer_options(app, options)
    _fill_library(app, may_download=False)
    service: AnswerService = app.agent if options.mode == "agent" else app.chat

    def one(question: str) -> int:
        run = service.start(service.accept_question(question, (), asked_with), grace=0.0)
        show = (
            _JsonLines(app, options.mode, question) if output.as_json else _Transcript(app, options.mode, question, run)
        )
        status = OK
        for event in run.iter_events():
            show(event)
            status = FAILED if isinstance(event, RunFailed) else status
        return status

    return run_all(input_lines(options.question), output, one)


class _RunOutput:
    """The base of what prints a run: knows the message that it becomes."""

    def __init__(self, app: App, mode: Mode, question: str) -> None:
        self._app = app
        self._mode = mode
        self._question = question
        self._events: list[RunEvent] = []
        self._check: AnswerCheck | None = None

    @property
    def _message(self) -> Message:
        from core.answer.message import message_from_run

        return message_from_run(self._events, seconds=0.0, model=self._app.model.label, mode=self._mode)

    @property
    def _notices_of_unfinished(self) -> Iterator[Notice]:
        """The notices on an answer that ended early, beside those that the run told."""
        told = [event for event in self._events if isinstance(event, Notice)]
        return (notice for notice in self._message.notices if notice not in told)


class _JsonLines(_RunOutput):
    """The run as JSON, one event per line."""

    def __call__(self, event: RunEvent) -> None:
        self._events.append(event)
        match event:
            case Checked(check=check) if self._check is None:
                self._check = check  # is printed with the answer, whose text names the statutes
            case Checked(check=check):
                self._print_check(check)
            case Answer():
                if self._message.is_unsourced:
                    self._print(Notice("not_searched", NO_SOURCES_NOTE))
                if self._check:
                    self._print_check(self._check)
                self._print(event)
            case RunFailed():
                for notice in self._notices_of_unfinished:
                    self._print(notice)
                self._print(event)
            case _:
                self._print(event)

    def _print_check(self, check: AnswerCheck) -> None:
        """Print the check with the verdicts on the statutes that sentences without a number name."""
        self._print(
            Checked(with_statutes(check, self._app.check_statutes(self._message.text, self._question)) or check)
        )

    def _print(self, event: RunEvent) -> None:
        print(json.dumps(event.to_json(), ensure_ascii=False), flush=True)


class _Transcript(_RunOutput):
    """The run as text: progress on standard error, the answer and its sources on standard output."""

    def __init__(self, app: App, mode: Mode, question: str, run: Run) -> None:
        super().__init__(app, mode, question)
        self._run = run
        self._statutes: StatuteCheck | None = None
        self._told = set[str]()

    def __call__(self, event: RunEvent) -> None:
        self._events.append(event)
        match event:
            case SearchFinished(response=response, amends=False):
                provider = LIBRARY_LABELS.get(response.provider, response.provider)
                note = f"搜索：{provider or '未成功'} · {len(response.results)} 条"
                print(f"{note} · {_origin_text(response)}", file=sys.stderr)
                is_told = bool(self._told) and any(attempt.was_paused for attempt in response.attempts)
                if response.failure and self._mode == "agent" and not is_told:  # Chat mode has a notice for each
                    self._tell(f"{response.failure}{response.cure}".rstrip())
            case ReadingStarted(sources=sources):
                print(f"正在阅读 {len(sources)} 个网页…", file=sys.stderr)
            case PageRead(source=source):
                _print_reading(source)
            case SourcesGiven(sources=sources):
                for source in sources:
                    _print_reading(source)
            case PartsStarted(source=source, parts=parts):
                print(f"[{source.number}] 太长，分 {parts} 部分通读…", file=sys.stderr)
            case PartRead(part=part, parts=parts, problem=problem):
                print(f"第 {part}/{parts} 部分：{problem or '已读'}", file=sys.stderr)
            case Notice():
                for line in _notice_lines(event):
                    self._tell(line)
            case TextDelta(text=text) if self._mode == "chat":
                print(text, end="", flush=True)
            case Answer(text=text, sources=sources):
                print(text if self._mode == "agent" else "", flush=True)
                if self._message.is_unsourced:
                    print(NO_SOURCES_NOTE, file=sys.stderr)
                self._print_statute_check(text)
                _print_check(with_statutes(self._check, self._statutes))
                if sources:
                    self._print_sources("参考文献", sources)
                if agreeing := agreeing_sources(self._check, self._message.sources, sources):
                    self._print_sources(AGREEING_SOURCES, agreeing)
            case Checked(check=check):
                self._check = check
                if check.opinion:  # comes after the answer
                    _print_check(with_statutes(check, self._statutes))
            case Usage(estimated=estimated):
                print(f"{event.total:,} tokens{'（估算）' if estimated else ''}", file=sys.stderr)
            case RunFailed(message=message):
                if self._mode == "agent" and self._message.text:
                    print(self._message.text, flush=True)
                for notice in self._notices_of_unfinished:
                    self._tell(notice.text)
                print(f"\n{message}", file=sys.stderr)
            case SearchStarted() | SearchFinished() | Thought() | ToolStarted() | ToolFinished() | RunStopped():
                pass
            case TextDelta():  # the agent's text may announce a tool call; which part is the answer is known at its end
                pass
            case _:
                assert_never(event)

    def _print_sources(self, title: str, sources: Sequence[Source]) -> None:
        places = places_by_source(self._check)
        print(f"\n{title}", *(_source_text(source, places.get(source.number, ())) for source in sources), sep="\n")

    def _print_statute_check(self, text: str) -> None:
        words = partial(source_words, self._message.sources, lambda: self._run.pages)
        self._statutes = checked = self._app.check_statutes(text, self._question, words)
        if checked and (checked.findings or not checked.has_index):
            print("\n法条核验", *_statute_check_lines(self._app, checked), sep="\n")
        if checked and checked.cases:
            print("\n案号核验", *map(_case_finding_text, checked.cases), sep="\n")

    def _tell(self, sentence: str) -> None:
        """Print a sentence about the run, unless it was said before: the agent's searches may all fail for one reason."""
        if sentence not in self._told:
            self._told.add(sentence)
            print(sentence, file=sys.stderr)


def _statute_check_lines(app: App, checked: StatuteCheck) -> Iterator[str]:
    from core.legal import NoLegalIndex

    if checked.has_index:
        yield from (_verdict_text(verdict.to_json()) for verdict in checked.findings)
        yield app.legal.library_summary
    else:
        yield f"回答引用的法条没有核验：{NoLegalIndex()}"


def _print_check(check: AnswerCheck | None) -> None:
    if check and (counted := tally(check)):
        problems = (str(claim) for claim in list_verdicts(check) if claim.verdict in PROBLEM_VERDICTS)
        opinion = (str(check.opinion),) if check.opinion else ()
        unsourced = map(uncited_line, check.unsourced)
        against_law = against_law_lines(check)
        lines = (counted, *problems, *against_law, *unsourced, *list_agreements(check), *opinion, HOW_MADE_NOTE)
        print("\n依据核验", *lines, sep="\n")


def _source_text(source: Source, places: Sequence[Place] = ()) -> str:
    details = describe_source(source, places=places)
    address = "" if source.read == "file" else source.url
    return "\n    ".join(filter(None, (f"[{source.number}] {source.title}", address, details)))


def _import(app: App, options: argparse.Namespace, output: Output) -> int:
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


def _period(text: str) -> Period:
    from core.legal import parse_period

    period = parse_period(text)
    if period is None:
        raise argparse.ArgumentTypeError("日期写成 2019-05-01、2019-05 或 2019")
    return period


def _fill_library(app: App, *, may_download: bool) -> None:
    """Build an empty library from the laws that come with the program. The command goes on without it if that fails."""
    from core.legal import IMPORT_FAILED

    try:
        app.legal.build_empty_library(_progress_printer(), may_download=may_download)
    except AppError as error:
        print_note(str(error))
    except OSError:  # a folder that cannot be written to
        print_note(IMPORT_FAILED)


def _need_library(app: App) -> None:
    """Build an empty library, or say which command fills it."""
    from core.legal import NoLegalIndex

    _fill_library(app, may_download=True)
    if not app.legal.library.available:
        print_note(str(NoLegalIndex()))


def _law_search(app: App, options: argparse.Namespace, output: Output) -> int:
    _need_library(app)

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

    first = shorten(one_line(case.gist or case.summary or case.text), _FIRST_WORDS)
    return "\n".join(filter(None, (case.name, " · ".join(case_facts(case)), first)))


def _verify(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.legal import Author, Draft, draft_with_comments, legal_export

    _need_library(app)
    reads_lines = options.files == ["-"]

    def one(file_or_text: str) -> int:
        draft = Draft.from_text(file_or_text) if reads_lines else _read_draft(app, Path(file_or_text))
        verdicts = app.legal.verifier.verify(draft.text, Author.PERSON, options.as_of)
        cases = app.legal.check_cases(draft.text)
        review = app.legal.contracts.review(draft.text, options.as_of)
        checked = legal_export.CheckedDraft(draft.name, verdicts, review)
        document = {**legal_export.draft_report(checked), "cases": [one.to_json() for one in cases]}
        lines = [draft.name] * (len(options.files) > 1) + [*map(_verdict_text, document["citations"])]
        lines += [f"共引用 {len(verdicts)} 处：{document['summary']}"] if verdicts else ["没有找到法条引用。"]
        lines += ["案号核验", *map(_case_finding_text, cases)] if cases else []
        lines += _review_lines(review) if review else []
        output.print_document(document, lambda: "\n".join(lines))
        if options.docx:
            file_name = f"{Path(draft.name).stem}（批注）.docx"
            _write_file(options.docx / file_name, draft_with_comments(draft, verdicts, app.reader, review))
        return _status_of((verdict["mark"] for verdict in document["citations"]), options.fail_on)

    return run_all(input_lines("-") if reads_lines else options.files, output, one)


def _read_draft(app: App, file: Path) -> Draft:
    from core.legal import Draft

    return Draft.from_file(file.name, _read_bytes(file), app.reader)


def _verdict_marks(text: str) -> frozenset[str]:
    return _parse_marks(text, {MARKS[verdict]: (verdict.label, verdict.value) for verdict in VERDICTS_WORST_FIRST})


def _statute_marks(text: str) -> frozenset[str]:
    from core.legal import WORST_FIRST

    return _parse_marks(text, {mark.value: (mark.meaning,) for mark in WORST_FIRST})


def _parse_marks(text: str, words_by_mark: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return the marks that are named in the value of --fail-on: one after the other, or in words with commas between."""
    found = set[str]()
    for part in re.split(r"[,，、\s]+", text):
        named = {mark for mark, words in words_by_mark.items() if part in words}
        if not named and words_by_mark.keys() >= set(part):
            named = set(part)
        if not named:
            known = "、".join(" ".join((mark, *words)) for mark, words in words_by_mark.items())
            raise argparse.ArgumentTypeError(f"没有「{part}」这个结论，可以写：{known}")
        found |= named
    return frozenset(found)


def _status_of(marks: Iterable[str], fail_on: Collection[str]) -> int:
    """Return the status for what was found: one of the marks for which the caller wants to fail, or none."""
    return FOUND_WRONGS if any(mark in fail_on for mark in marks) else OK


def _read_bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"无法读取 {file.name}。", cure="请检查路径和权限。") from error


def _write_file(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except OSError as error:
        raise InputError(f"无法写入 {file}。", cure="请检查目录和权限。") from error
    print_note(f"已写入 {file}")


def _verdict_text(verdict: dict[str, Any]) -> str:
    return f"{verdict['mark']} {verdict['cited']}：{'；'.join(filter(None, (verdict['meaning'], verdict['note'])))}"


def _case_finding_text(finding: CaseFinding) -> str:
    return f"{finding.mark} {finding.cited}：{finding.sentence}"


def _review_lines(review: ContractReview) -> list[str]:
    """Return the review of a contract: the clauses, each with its article, and what was not checked."""
    first, *others = review.notes
    clauses = (
        f"{one.severity} {one.title}：{shorten(one_line(one.sentence), _FIRST_WORDS)}\n  {one.note}（{one.articles[0].citation}）"
        for one in review.findings
    )
    return [f"合同审查：{first}", *clauses, *others]


def _check(app: App, options: argparse.Namespace, output: Output) -> int:
    if options.pairs and not options.file and not options.sources:
        return _check_pairs(app, options.pairs, output, options.fail_on)
    if not options.file or not options.sources or options.pairs:
        options.usage("请给出 FILE 和 --sources，或者 --pairs")
    from core.checks import check_answer, read_address_sources, read_folder_sources, read_text

    text = decode_input(sys.stdin.read()) if options.file == "-" else read_text(Path(options.file))
    folder = Path(options.sources[0])
    read = read_folder_sources(folder, app.reader, print_note) if folder.is_dir() else None
    sources = read or read_address_sources(options.sources, app.reader, print_note)
    checked = with_places(check_answer(text, sources, meaning=app.checks.meaning), sources)
    checked = with_statutes(checked, app.check_statutes(text)) or checked
    output.print_document(checked.to_json(), lambda: _checked_text(checked))
    return _status_of((MARKS[verdict.verdict] for verdict in list_verdicts(checked)), options.fail_on)


def _check_pairs(app: App, file: str, output: Output, fail_on: Collection[str]) -> int:
    from core.checks import check_pair, read_text

    def one(line: str) -> int:
        check = check_pair(line, app.checks.meaning)
        evidence = " … ".join(evidence.text for evidence in check.evidence)
        document = {"verdict": check.verdict.value, "score": round(check.score, 4), "evidence": evidence}
        output.print_document(document, lambda: f"{check.verdict.label} {check.score:.2f} {check.reason}")
        return _status_of([MARKS[check.verdict]], fail_on)

    lines = map(decode_input, sys.stdin) if file == "-" else read_text(Path(file)).split("\n")
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


def _doctor(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.doctor import diagnose

    checks = diagnose(app)
    ok = all(check.ok for check in checks)
    document = {"ok": ok, "checks": [check.to_json() for check in checks]}
    output.print_document(document, lambda: "\n".join(map(str, checks)))
    return OK if ok else FAILED


def _backup(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.backup import BackupError, require_known_places, write_backup

    require_known_places(app.loaded_settings, BackupError)
    contents = write_backup(_installation(app), options.file)
    output.print_document(contents.to_json(), lambda: f"已写入 {options.file}：{contents}。")
    print_note("备份里有密钥和全部对话，没有加密，请只放在自己能读的地方。环境变量（如 .env）不在其中，请另外保存。")
    if contents.problem:
        print_note(contents.problem)
    return FAILED if contents.problem else OK


def _restore(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.backup import RestoreError, require_known_places, restore_backup

    require_known_places(app.loaded_settings, RestoreError)
    print_note("正在检查备份……")
    if options.file.is_dir():
        contents = _restore_folder(app, options.file, force=options.force)
    else:
        contents = restore_backup(_installation(app), options.file, force=options.force)
    output.print_document(contents.to_json(), lambda: f"已恢复：{contents}。")
    print_note("环境变量不在备份里，请确认它们与原来一样，再启动页面。")
    for problem in filter(None, (app.database.damage_note, contents.problem)):
        print_note(problem)
    return FAILED if contents.problem else OK


def _restore_folder(app: App, folder: Path, *, force: bool) -> Contents:
    from core.backup import Installation, RestoreError, restore_folder
    from core.base.settings import SavedSettingsFile
    from core.documents import DocumentTransfer
    from core.legal import LegalLibrary
    from core.store import Database

    settings = app.settings.in_folder(folder)
    if not app.settings.database.url and settings.data_dir == app.settings.data_dir.resolve():
        raise RestoreError(
            f"没有恢复：{folder} 就是现在的数据文件夹。", cure="要迁移到 PostgreSQL，请先设置 DATABASE_URL。"
        )
    database = Database.from_settings(settings)
    try:
        documents, laws = DocumentTransfer.from_settings(settings, database), LegalLibrary(settings.data_dir)
        saved = SavedSettingsFile(settings.data_dir)
        source = Installation(database, saved, settings.data_dir, settings.data_dir, documents, laws)
        return restore_folder(_installation(app), source, force=force)
    finally:
        database.close()


def _installation(app: App) -> Installation:
    from core.backup import Installation
    from core.documents import DocumentTransfer

    documents = DocumentTransfer.from_settings(app.settings, app.database)
    return Installation(app.database, app.saved_settings, app.settings.data_dir, USER_DIR, documents, app.legal.library)
