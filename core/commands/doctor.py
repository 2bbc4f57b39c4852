"""The command `doctor`: what works, what does not, and how to mend it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from core.commands.output import FAILED, OK, Output, add_json

if TYPE_CHECKING:
    from core.app import App


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    parser.set_defaults(command=run)


def run(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.doctor import diagnose

    checks = diagnose(app)
    ok = all(check.ok for check in checks)
    document = {"ok": ok, "checks": [check.to_json() for check in checks]}
    output.print_document(document, lambda: "\n".join(map(str, checks)))
    return OK if ok else FAILED
