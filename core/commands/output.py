"""Output of a command: one JSON document per line, or text for people; and the lines that a command reads."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.base.errors import AppError, InputError

OK, FAILED, WRONG_USAGE, FOUND_WRONGS, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses. The last is that of a shell for a program that Ctrl-C has ended."""


BUG = "程序出错，没有做完。请设置 LOG_LEVEL=DEBUG 再运行一次，把打印的细节交给维护者。"
JSON_HELP = "只向标准输出打印 JSON"


@dataclass
class Output:
    """The output of a command: one JSON document per line, or text for people."""

    as_json: bool

    def print_document(self, document: dict[str, Any], text: Callable[[], str]) -> None:
        print(json.dumps(document, ensure_ascii=False) if self.as_json else text(), flush=True)

    def print_failure(self, kind: str, message: str) -> int:
        if self.as_json:
            print(json.dumps({"error": {"kind": kind, "message": message}}, ensure_ascii=False), flush=True)
        else:
            print(message, file=sys.stderr, flush=True)
        return FAILED


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help=JSON_HELP)


def input_lines(argument: str) -> Iterable[str]:
    """Return the argument itself, or each line of standard input that is not blank. `run_all` decodes them."""
    return [argument] if argument != "-" else (line.rstrip("\n") for line in sys.stdin if line.strip())


def decode_input(text: str) -> str:
    """Return text from standard input. What is not UTF-8 is read as GBK, in which Chinese Windows writes. Raise InputError
    for what is neither, or no text."""
    raw = text.encode("utf-8", "surrogateescape")
    for encoding in ("utf-8-sig", "gb18030"):
        with suppress(UnicodeDecodeError):
            if "\0" not in (decoded := raw.decode(encoding)):
                return decoded
    raise InputError("输入的内容不是 UTF-8 或 GBK 编码的文字，没有读。", cure="请先转换编码。")


def run_all(queries: Iterable[str], output: Output, run_one: Callable[[str], int | None]) -> int:
    """Run all queries, decoded, and return the worst status. It goes on after a failure, so that line n of the output answers
    line n of the input."""
    worst = OK
    for query in queries:
        try:
            status = run_one(decode_input(query)) or OK
        except AppError as error:
            status = output.print_failure(error.kind, str(error))
        worst = max(worst, status)
    return worst


def print_note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
