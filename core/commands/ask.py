"""The command `ask`: an answer with its sources and checks."""

from __future__ import annotations

import argparse
import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.answer.events import RunFailed
from core.base.paths import COMMAND
from core.commands.files import read_file
from core.commands.kept_conversation import KeptConversation
from core.commands.law_library import fill_library
from core.commands.output import FAILED, JSON_HELP, OK, Output, input_lines, print_note, run_all
from core.commands.transcript import Transcript
from core.serve import OPERATOR, Ask, answer_document, iter_answer_events, start_answer

if TYPE_CHECKING:
    from core.app import App
    from core.run import Run

EVENTS, ANSWER = "events", "answer"
"""What is printed as JSON."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", metavar="QUESTION", nargs="?", help="问题；- 表示从标准输入逐行读取")
    parser.add_argument(
        "--mode", choices=["chat", "agent"], help="chat 直接回答（默认）、agent 由 Agent 决定怎么查；接着问时默认不变"
    )
    parser.add_argument("--search", action="store_true", help="先联网搜索，再回答")
    parser.add_argument("--model", metavar="MODEL", default="", help="由哪个模型回答，如 openai:gpt-5-mini；默认按设置")
    several: dict[str, Any] = {"nargs": "+", "action": "extend", "default": []}
    parser.add_argument("--file", metavar="F", type=Path, help="附上的文件，可以写几个", **several)
    parser.add_argument("--collection", metavar="NAME", help="用这些资料集回答", **several)
    parser.add_argument("--save", action="store_true", help="保存这次对话，打印它的编号，以后可以接着问")
    parser.add_argument("--continue", dest="conversation", metavar="ID", help="接着一次保存过的对话问")
    printed = parser.add_mutually_exclusive_group()
    as_json: dict[str, Any] = {"dest": "json", "action": "store_const", "default": ""}
    printed.add_argument("--json", const=EVENTS, help=f"{JSON_HELP}，每行一个事件", **as_json)
    printed.add_argument("--json-answer", const=ANSWER, help=f"{JSON_HELP}：一份完整的回答，有来源和核验", **as_json)
    parser.set_defaults(command=run, complete=partial(_find_question, parser))


def _find_question(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Find the question behind several files or collections, which argparse takes for another one of them."""
    if options.question is None and len(options.file) > 1 and not os.path.exists(options.file[-1]):
        options.question = str(options.file.pop())
    elif options.question is None and len(options.collection) > 1:
        options.question = options.collection.pop()
    if options.question is None:
        parser.error("缺少 QUESTION")


def run(app: App, options: argparse.Namespace, output: Output) -> int:
    files = tuple(
        app.reader.read_file(path.name, read_file(path), on_page=partial(_report_page, path.name))
        for path in options.file
    )
    fill_library(app, may_download=False)

    def one(question: str) -> int:
        is_kept = options.save or options.conversation is not None
        conversation = KeptConversation(app, options.conversation) if is_kept else None
        asked = Ask(
            question,
            mode=options.mode or (conversation.mode if conversation else "chat"),
            search=options.search,
            model=options.model,
            history=conversation.history if conversation else (),
            files=(*conversation.files, *files) if conversation else files,
            collections=options.collection,
            has_reader=not options.json and options.question != "-" and sys.stdin.isatty() and sys.stderr.isatty(),
        )
        run = start_answer(app, OPERATOR, asked)
        _PRINTERS[options.json](app, asked, run, conversation.id if conversation else "")
        if conversation:
            conversation.save(question, files, run)
        if conversation and not options.json:
            print_note(f"接着问：{COMMAND} ask 问题 --continue {conversation.id}")
        return FAILED if isinstance(run.message().ending, RunFailed) else OK

    return run_all(input_lines(options.question), output, one)


def _report_page(name: str, place: int, count: int) -> None:
    print(f"「{name}」是扫描件，正在识别第 {place}/{count} 页", file=sys.stderr, flush=True)


def _print_text(app: App, asked: Ask, run: Run, _: str) -> None:
    show = Transcript(app, asked, run)
    for event in run.iter_events():
        show(event)


def _print_events(app: App, asked: Ask, run: Run, conversation: str) -> None:
    """Print one event per line."""
    if conversation:
        print(json.dumps({"type": "conversation", "id": conversation}), flush=True)
    for event in iter_answer_events(app, asked, run):
        print(json.dumps(event.to_json(), ensure_ascii=False), flush=True)


def _print_document(app: App, asked: Ask, run: Run, conversation: str) -> None:
    """Print the whole answer as one document."""
    document = answer_document(asked, run, iter_answer_events(app, asked, run))
    if conversation:
        document["conversation"] = conversation
    print(json.dumps(document, ensure_ascii=False), flush=True)


_PRINTERS = {"": _print_text, EVENTS: _print_events, ANSWER: _print_document}
