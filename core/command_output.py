"""Output of a command: one JSON document per line, or text for people; and the lines that a command reads."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from core.base.errors import AppError

OK, FAILED, WRONG_USAGE, FOUND_WRONGS = 0, 1, 2, 3
"""Exit statuses."""


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


def input_lines(argument: str) -> Iterable[str]:
    """Return the argument itself, or each line of standard input that is not blank."""
    return [argument] if argument != "-" else (decode_input(line.rstrip("\n")) for line in sys.stdin if line.strip())


def decode_input(text: str) -> str:
    """Return text from standard input. What is not UTF-8 is read as GBK, in which Chinese Windows writes."""
    raw = text.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("gb18030", "replace")


def run_all(queries: Iterable[str], output: Output, run_one: Callable[[str], int | None]) -> int:
    """Run all queries and return the worst status. It goes on after a failure, so that line n of the output answers
    line n of the input."""
    worst = OK
    for query in queries:
        try:
            status = run_one(query) or OK
        except AppError as error:
            status = output.print_failure(error.kind, str(error))
        worst = max(worst, status)
    return worst


def print_note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
