"""The parser of the command line: argparse in Chinese, with help that fits a terminal."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unicodedata import east_asian_width

MESSAGES = {
    "usage: ": "用法：",
    "positional arguments": "参数",
    "options": "选项",
    "show this help message and exit": "打印这份说明",
    "%(prog)s: error: %(message)s\n": "%(prog)s：%(message)s\n",
    "%(prog)s: warning: %(message)s\n": "%(prog)s：%(message)s\n",
    "argument %(argument_name)s: %(message)s": "%(argument_name)s：%(message)s",
    "the following arguments are required: %s": "缺少 %s",
    "one of the arguments %s is required": "请写其中一个：%s",
    "unrecognized arguments: %s": "不认识 %s",
    "unexpected option string: %s": "不认识 %s",
    "ambiguous option: %(option)s could match %(matches)s": "%(option)s 不明确，可以是 %(matches)s",
    "not allowed with argument %s": "不能和 %s 一起用",
    "ignored explicit argument %r": "这里不能写 %r",
    "expected one argument": "后面要写一个值",
    "expected at most one argument": "后面最多写一个值",
    "expected at least one argument": "后面至少要写一个值",
    "expected %s argument": "后面要写 %s 个值",
    "invalid choice: %(value)r (choose from %(choices)s)": "不能是 %(value)r，可以写 %(choices)s",
    "invalid %(type)s value: %(value)r": "不能是 %(value)r",
    "unknown parser %(parser_name)r (choices: %(choices)s)": "没有 %(parser_name)r，可以写 %(choices)s",
}
"""What argparse says to those who type, in Chinese. What it says to programmers stays in English."""

_CANNOT_BEGIN_A_LINE = "，。、；：！？）」》…"


class CommandParser(argparse.ArgumentParser):
    """A parser whose help, usage and errors are in Chinese."""

    def __init__(self, **options: Any) -> None:
        vars(argparse).update(_=_in_chinese, ngettext=_in_chinese)  # argparse looks its messages up with gettext
        super().__init__(formatter_class=_HelpFormatter, **options)

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(message)  # argparse would be silent where that fails

    def format_help(self) -> str:
        return re.sub(r"(?m)^(\S+):$", r"\1：", super().format_help())


def _in_chinese(message: str, *_: object) -> str:
    return MESSAGES.get(message, message)


class _HelpFormatter(argparse.HelpFormatter):
    """Breaks lines by their width on a terminal, where a Chinese character takes two cells."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return list(wrap(text, width))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in wrap(text, width - len(indent)))


def wrap(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text. Words of Latin letters stay whole, and no line begins with closing punctuation."""
    line, used = "", 0
    for token in re.findall(r"[!-~]+|\s+|.", text):
        cells = sum(2 if east_asian_width(character) in "WF" else 1 for character in token)
        if line and used + cells > width and token not in _CANNOT_BEGIN_A_LINE:
            yield line.rstrip()
            line, used = "", 0
            if token.isspace():
                continue
        line, used = line + token, used + cells
    if line:
        yield line


def add_command(
    commands: argparse._SubParsersAction[Any], name: str, help: str, description: str = ""
) -> CommandParser:
    """Add a command whose own help begins with what it is for."""
    parser: CommandParser = commands.add_parser(name, help=help, description=description or help)
    return parser


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return the type of an argument that is a whole number."""

    def parse(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"要写 {least} 到 {most} 之间的整数，不能是 {text!r}")
        return int(text)

    return parse
