"""The command `setup-link`: a link whose browser may change the settings from then on."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from core.base.settings import SETUP_VALIDITY, SetupLinks
from core.commands.output import OK, Output, add_json

if TYPE_CHECKING:
    from core.app import App


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reset", action="store_true", help="先忘记所有管理者和以前的链接，此后只有新链接有效")
    add_json(parser)
    parser.set_defaults(command=run)


def run(app: App, options: argparse.Namespace, output: Output) -> int:
    links = SetupLinks(app.saved_settings)
    if options.reset:
        links.reset()
    url = links.create_link(app.settings.public.url)
    output.print_document({"url": url}, lambda: f"{url}（{SETUP_VALIDITY}）")
    return OK
