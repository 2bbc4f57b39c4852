"""An answer as text: progress on standard error, the answer and its sources on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, assert_never

from core.answer import (
    AGREEING_SOURCES,
    HOW_MADE_NOTE,
    NO_SOURCES_NOTE,
    PROBLEM_VERDICTS,
    against_law_lines,
    agreeing_sources,
    describe_source,
    list_agreements,
    list_verdicts,
    places_by_source,
    reading_status,
    tally,
    uncited_line,
    with_statutes,
)
from core.answer.check_texts import source_words
from core.answer.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
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
    SourcesFound,
    SourcesGiven,
    TextDelta,
    Thought,
    ToolFinished,
    ToolStarted,
    Usage,
)
from core.base.text import one_line
from core.base.web_addresses import host_of
from core.commands.notices import notice_lines, origin_text
from core.commands.statute_lines import case_finding_text, verdict_text
from core.legal.entities import LIBRARY_LABELS

if TYPE_CHECKING:
    from core.answer.check_results import AnswerCheck
    from core.answer.message import Message
    from core.app import App
    from core.legal import StatuteCheck
    from core.reading import Place
    from core.run import Run
    from core.search.types import Source
    from core.serve import Ask


class Transcript:
    """The run as text: progress on standard error, the answer and its sources on standard output."""

    def __init__(self, app: App, asked: Ask, run: Run) -> None:
        self._app = app
        self._mode = asked.mode
        self._question = asked.question
        self._run = run
        self._events: list[RunEvent] = []
        self._check: AnswerCheck | None = None
        self._statutes: StatuteCheck | None = None
        self._told = set[str]()
        self._foreign_calls = set[str]()

    @property
    def _message(self) -> Message:
        from core.answer.message import message_from_run

        return message_from_run(self._events, seconds=0.0, model=self._run.model, mode=self._mode)

    def __call__(self, event: RunEvent) -> None:
        self._events.append(event)
        match event:
            case SearchFinished(response=response, amends=False):
                provider = LIBRARY_LABELS.get(response.provider, response.provider)
                note = f"搜索：{provider or '未成功'} · {len(response.results)} 条"
                print(f"{note} · {origin_text(response)}", file=sys.stderr)
                is_told = bool(self._told) and any(attempt.was_paused for attempt in response.attempts)
                if response.failure and self._mode == "agent" and not is_told:  # Chat mode has a notice for each
                    self._tell(f"{response.failure}{response.cure}".rstrip())
            case ReadingStarted(sources=sources):
                print(f"正在阅读 {len(sources)} 个网页…", file=sys.stderr)
            case PageRead(source=source):
                _print_reading(source)
            case ToolStarted(server=server) if server:
                self._foreign_calls.add(event.call_id)
            case ToolFinished(tool=tool, summary=summary) if event.call_id in self._foreign_calls:
                print(f"外部工具 {tool}：{summary} · {event.seconds:.1f} 秒", file=sys.stderr)
            case ApprovalAsked():
                self._run.decide(event.call_id, is_allowed=_is_allowed(event))
            case SourcesGiven(sources=sources) | SourcesFound(sources=sources):
                for source in sources:
                    _print_reading(source)
            case PartsStarted(source=source, parts=parts):
                print(f"[{source.number}] 太长，分 {parts} 部分通读…", file=sys.stderr)
            case PartRead(part=part, parts=parts, problem=problem):
                print(f"第 {part}/{parts} 部分：{problem or '已读'}", file=sys.stderr)
            case Notice():
                for line in notice_lines(event):
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
                told = [event for event in self._events if isinstance(event, Notice)]
                for notice in self._message.notices:
                    if notice not in told:
                        self._tell(notice.text)
                print(f"\n{message}", file=sys.stderr)
            case SearchStarted() | SearchFinished() | Thought() | ToolStarted() | ToolFinished() | RunStopped():
                pass
            case ApprovalAnswered():  # what came of it is told when the tool is done
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
            print("\n案号核验", *map(case_finding_text, checked.cases), sep="\n")

    def _tell(self, sentence: str) -> None:
        """Print a sentence about the run, unless it was said before: the agent's searches may all fail for one reason."""
        if sentence not in self._told:
            self._told.add(sentence)
            print(sentence, file=sys.stderr)


def _is_allowed(asked: ApprovalAsked) -> bool:
    """Ask on the terminal. No answer is a refusal."""
    print(f"{asked.tool} 没有声明自己是只读的，可能会改动数据。参数：\n{asked.arguments}", file=sys.stderr)
    print("允许执行吗？[y/N] ", end="", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() in {"y", "yes", "是", "允许"}
    except EOFError:
        return False


def _print_reading(source: Source) -> None:
    site = LIBRARY_LABELS.get(source.engine) or host_of(source.url) or one_line(source.title)
    print(f"[{source.number}] {site} · {reading_status(source)}", file=sys.stderr)


def _statute_check_lines(app: App, checked: StatuteCheck) -> Iterator[str]:
    from core.legal import NoLegalIndex

    if checked.has_index:
        yield from (verdict_text(verdict.to_json()) for verdict in checked.findings)
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
