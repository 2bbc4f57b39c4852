"""The command line: the same services without a browser. `--json` prints JSON on standard output and nothing else."""

from __future__ import annotations

import argparse
import errno
import logging
import os
import signal
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import NamedTuple

from core import __version__
from core.base.errors import AppError
from core.base.paths import COMMAND
from core.commands.output import BUG, FAILED, INTERRUPTED, WRONG_USAGE, Output, print_note
from core.commands.parser import CommandParser, add_command

log = logging.getLogger(__name__)


class Command(NamedTuple):
    """A command: what it is for, and which function adds its arguments. That is imported only for the command itself."""

    help: str
    module: str
    add_arguments: str = "add_arguments"

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        getattr(import_module(self.module), self.add_arguments)(parser)


COMMANDS = {
    "search": Command("搜索，打印结果", "core.commands.search"),
    "ask": Command("提问，打印带来源的回答", "core.commands.ask"),
    "conversation": Command("对话：列出、删除 ask --save 保存的", "core.commands.conversation"),
    "docs": Command("资料：导入、列出、检索、删除、分享", "core.commands.docs"),
    "law": Command("法规：导入、检索、核验", "core.commands.law"),
    "case": Command("案例：导入、检索", "core.commands.case"),
    "check": Command("核验：回答里每一处引用，来源是否这样说", "core.commands.check"),
    "mcp": Command("MCP 服务器：让 Claude、Cursor 等程序使用问源", "core.commands.mcp"),
    "run": Command("启动页面", "core.commands.run"),
    "doctor": Command("检查哪些可用、哪些不可用，以及怎么修", "core.commands.doctor"),
    "token": Command("令牌：给其他程序调用接口用，建立、列出、撤回", "core.commands.token"),
    "completion": Command("打印 bash 或 zsh 的补全脚本", "core.commands.completion"),
    "setup-link": Command("打印一个链接：打开它的浏览器从此可以修改设置", "core.commands.setup_link"),
    "backup": Command(
        "备份：对话、资料、设置和密钥、法规库，写成一个文件", "core.commands.backup", "add_backup_arguments"
    ),
    "restore": Command(
        "从备份或数据文件夹恢复；SQLite 与 PostgreSQL 之间也可以", "core.commands.backup", "add_restore_arguments"
    ),
}
"""A command that works without the App sets `without_app` instead of `command` as the function to call. `complete` is called
before, with what the parser has found."""

STATUS_HELP = "退出码：0 成功，1 服务失败，2 用法不对，3 核验发现了 --fail-on 所列的问题。"
NO_INPUT = "标准输入是关闭的，没有内容可读。请把内容用管道传进来，或直接写在命令里。"


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    _prepare_streams()
    if arguments is None:  # LANG=C leaves Chinese arguments undecoded
        arguments = [os.fsencode(argument).decode("utf-8", "replace") for argument in sys.argv[1:]]
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except OSError as error:
        if not _is_about_output(error):
            raise
        if error.errno == errno.ENOSPC:  # else whoever read the output has gone
            print_note("写不进输出：磁盘已满。请换一个地方，或先腾出空间。")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain about the rest once more
    return FAILED


def _is_about_output(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.EPIPE, errno.ENOSPC)


def _prepare_streams() -> None:
    """Let the standard streams take any characters. Those that are closed lead nowhere: the next file that is opened, such as
    a database, would get their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (as long as the process)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a Windows console or LANG=C would refuse Chinese
            stream.reconfigure(encoding="utf-8", errors="surrogateescape" if stream is sys.stdin else "replace")


def _run(arguments: list[str]) -> int:
    with _leaving_at_once():
        wanted = next((argument for argument in arguments if not argument.startswith("-")), "")
        options = build_parser([wanted]).parse_args(arguments)
        if "complete" in options:
            options.complete(options)
    if "without_app" in options:
        status: int = options.without_app(options)
        return status
    inputs = (getattr(options, name, "") for name in ("query", "question", "file", "files", "pairs"))
    if sys.stdin is None and any(given in ("-", ["-"]) for given in inputs):
        print(NO_INPUT, file=sys.stderr)
        return WRONG_USAGE
    return _run_with_app(options)


@contextmanager
def _leaving_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process at once while it imports: in the middle of that an exception may get lost."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def build_parser(names: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """Return the parser with all commands, of which these have their arguments."""
    parser = CommandParser(prog=COMMAND, description="问源的命令行", epilog=STATUS_HELP)
    parser.add_argument("--version", action="version", version=f"wenyuan {__version__}", help="打印版本号")
    parser.set_defaults(build_parser=build_parser)  # what `completion` completes
    commands = parser.add_subparsers(required=True, metavar="命令")
    for name, command in COMMANDS.items():
        subparser = add_command(commands, name, command.help)
        if name in names:
            command.add_to(subparser)
    return parser


def _run_with_app(options: argparse.Namespace) -> int:
    with _leaving_at_once():
        from core.app import build_app  # imports all services, which --help and misspelled commands do not need

        output = Output(as_json=bool(options.json))
        app = build_app(for_command=True)
    for problem in app.loaded_settings.problems:
        print(f"配置：{problem.for_operator()}", file=sys.stderr, flush=True)
    try:
        status: int = options.command(app, options, output)
    except AppError as error:
        status = output.print_failure(error.kind, str(error))
    except ImportError:  # core.__main__ says what is missing
        raise
    except Exception as error:
        if _is_about_output(error):
            raise
        log.debug("a command has met a bug", exc_info=True)
        status = output.print_failure("internal", BUG)
    except KeyboardInterrupt:
        status = INTERRUPTED
    finally:
        app.close()
    return status
