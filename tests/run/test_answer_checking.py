"""依据核验 of answers: with the run, of older answers again, and never in the way of an answer."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from core.answer.check_results import (
    CHECKER_VERSION,
    AnswerCheck,
    CitationCheck,
    InventedCitation,
    SourceCheck,
    StatementCheck,
    Verdict,
)
from core.answer.citation_verdicts import list_verdicts
from core.answer.events import Answer, Checked, SearchFinished, TextDelta, ToolStarted
from core.answer.message import Message, message_from_run
from core.checks import MeaningComparison
from core.reading import Page
from core.run.answer_checking import AnswerChecks, check_text
from core.run.question import AnswerOptions
from core.run.run_sources import RunSources
from core.search.errors import EngineUnavailable
from core.search.results import EngineResults
from core.search.types import SearchQuery, SearchResponse, SearchResult, Source
from support.fake_engines import FakeEngine, results
from support.scripted_app import scripted_app
from support.table_embedder import TableEmbedder
from support.waiting import until

SOURCE = Source(1, "灯塔", "https://a.example/", "灯塔", read="page")
PAGE = "守塔人应当在日落前点灯，并在日出后熄灯。灯塔高三十米，建于一九二〇年。"
SEARCH = AnswerOptions(search=True)
_SUPPORTED = SourceCheck(Verdict.SUPPORTED, 0.9, "原文如此。")
GREEN = AnswerCheck(
    (StatementCheck(0, 10, "灯塔高四十米。", _SUPPORTED, (CitationCheck(1, 6, 9, _SUPPORTED),)),), version=1
)
"""What version 1 of the checker may have stored."""


@dataclass
class Kept:
    text: str = PAGE


def message(text: str = "灯塔高四十米[1]。", check: AnswerCheck | None = None) -> Message:
    found = SearchFinished(SearchResponse(SearchQuery("灯塔"), provider="fake"), (SOURCE,))
    events = (found, Checked(check)) if check else (found,)
    return Message("assistant", text, events, (SOURCE,))


@pytest.fixture
def checks() -> Iterator[AnswerChecks]:
    checks = AnswerChecks(patience=60)
    yield checks
    checks.close()


def verdicts(check: AnswerCheck | None) -> list[Verdict]:
    assert check is not None
    return [claim.verdict for claim in list_verdicts(check)]


def test_it_is_told_before_the_answer_and_kept_with_it() -> None:
    with scripted_app(says=[["标题1的摘要[1]。"]], engines=[FakeEngine("fake", results(3))]) as (app, _):
        events = list(app.chat.stream("问题", options=SEARCH))
    kinds = [event.type for event in events]
    assert kinds.index("checked") == kinds.index("answer") - 1
    assert message_from_run(events, seconds=1).check is not None


def test_without_a_source_nothing_is_checked() -> None:
    with scripted_app(says=[["你好。"]]) as (app, _):
        events = list(app.chat.stream("你好"))
    assert not any(isinstance(event, Checked) for event in events)


def test_a_check_that_fails_leaves_the_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> AnswerCheck:
        raise ValueError("a bug")

    monkeypatch.setattr("core.run.answer_checking.check_answer", broken)
    with scripted_app(says=[["答[1]。"]], engines=[FakeEngine("fake", results(3))]) as (app, _):
        events = list(app.chat.stream("问题", options=SEARCH))
    assert any(isinstance(event, Answer) for event in events)
    assert not any(isinstance(event, Checked) for event in events)
    assert "could not be checked" in caplog.text


def test_what_was_stored_by_this_checker_is_taken_as_it_is(checks: AnswerChecks) -> None:
    made = check_text("灯塔高四十米[1]。", [SOURCE], {1: Kept()})

    def load() -> dict[int, Kept]:
        raise AssertionError("nobody needs the page")

    assert checks.check_for(message(check=made), load) == made


def test_another_checkers_is_made_again_from_what_was_kept(checks: AnswerChecks) -> None:
    old = AnswerCheck(version=CHECKER_VERSION + 1)
    assert verdicts(checks.check_for(message(check=old), lambda: {1: Kept()})) == [Verdict.CONTRADICTED]


def test_an_answer_that_was_stopped_is_checked_when_it_is_shown_and_only_once(checks: AnswerChecks) -> None:
    loaded: list[int] = []

    def load() -> dict[int, Kept]:
        loaded.append(1)
        return {1: Kept()}

    entry = message()
    for _ in range(3):
        assert verdicts(checks.check_for(entry, load)) == [Verdict.CONTRADICTED]
    assert loaded == [1]


def test_what_cannot_be_loaded_is_not_called_checked_and_tried_again(checks: AnswerChecks) -> None:
    is_away = True

    def load() -> dict[int, Kept]:
        if is_away:
            raise OSError("away")
        return {1: Kept()}

    assert checks.check_for(message(), load) is None
    entry = message(check=GREEN)
    assert verdicts(checks.check_for(entry, load)) == [Verdict.UNCHECKED]
    assert not checks.is_repeated(entry)
    is_away = False
    assert verdicts(checks.check_for(entry, load)) == [Verdict.CONTRADICTED]
    assert checks.is_repeated(entry)


def test_no_green_of_another_checker_is_shown_while_it_is_made_again() -> None:
    checks, may_load = AnswerChecks(patience=0.01), threading.Event()

    def load() -> dict[int, Kept]:
        assert may_load.wait(60)
        return {1: Kept()}

    entry = message(check=GREEN)
    try:
        waiting = checks.check_for(entry, load)
        assert verdicts(waiting) == [Verdict.UNCHECKED]
        assert waiting is not None
        assert "正在重新核验" in waiting.statements[0].citations[0].check.reason
        assert not checks.is_repeated(entry)
        may_load.set()
        until(lambda: checks.is_repeated(entry))
        assert verdicts(checks.check_for(entry, load)) == [Verdict.CONTRADICTED]
    finally:
        may_load.set()
        checks.close()


def test_a_source_whose_text_is_gone_cannot_be_checked_again(checks: AnswerChecks) -> None:
    """Neither is the snippet that is left taken for the page."""
    source = replace(SOURCE, snippet="灯塔高四十米。")
    found = SearchFinished(SearchResponse(SearchQuery("灯塔"), provider="fake"), (source,))
    made = checks.check_for(replace(message(check=GREEN), events=(found, Checked(GREEN))), dict)
    assert verdicts(made) == [Verdict.UNCHECKED]
    assert made is not None
    assert "不再有效" in made.statements[0].citations[0].check.reason
    assert made.version == CHECKER_VERSION, "it is not made again at every opening"


# ── Turns ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_answers_that_end_together_are_checked_one_after_the_other(
    checks: AnswerChecks, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work: list[str] = []
    most: list[int] = []

    def slow(text: str, *_: object, **__: object) -> AnswerCheck:
        at_work.append(text)
        most.append(len(at_work))
        time.sleep(0.01)
        at_work.remove(text)
        return AnswerCheck()

    monkeypatch.setattr("core.run.answer_checking.check_answer", slow)

    async def check_all() -> list[Checked | None]:
        answers = (Answer(f"{number}[1]。", (SOURCE,)) for number in range(8))
        return await asyncio.gather(*(checks.begin(RunSources()).finish(answer) for answer in answers))

    assert asyncio.run(check_all()) == [Checked(AnswerCheck(digests=()))] * 8
    assert set(most) == {1}


@pytest.mark.parametrize(
    "long", [Answer("长" * 30_000, (SOURCE,)), Answer("短", (replace(SOURCE, snippet="长" * 2_000_000),))]
)
def test_nobody_waits_for_a_long_one(checks: AnswerChecks, monkeypatch: pytest.MonkeyPatch, long: Answer) -> None:
    others_are_done = threading.Event()

    def check(text: str, *_: object, **__: object) -> AnswerCheck:
        assert text != long.text or others_are_done.wait(60)
        return AnswerCheck()

    monkeypatch.setattr("core.run.answer_checking.check_answer", check)

    async def check_both() -> None:
        waiting = asyncio.create_task(checks.begin(RunSources()).finish(long))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            await checks.begin(RunSources()).finish(Answer("别人的[1]。", (SOURCE,)))
        others_are_done.set()
        await waiting

    asyncio.run(check_both())


def test_what_is_written_is_checked_before_the_end(checks: AnswerChecks, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    memories: list[object] = []

    def check(text: str, _: object, memory: object, __: object, **___: object) -> AnswerCheck:
        lengths.append(len(text))
        memories.append(memory)
        return AnswerCheck()

    monkeypatch.setattr("core.run.answer_checking.check_answer", check)
    found, sentence = RunSources(), "灯塔高三十米，每天都有人看守[1]。"
    found.add_results([SearchResult("灯塔", SOURCE.url, "灯塔高三十米。", "a.example")])

    async def write() -> None:
        growing = checks.begin(found)
        for _ in range(200):
            growing.record_event(TextDelta(sentence))
            if growing._ahead:
                growing._ahead.result(60)
        growing.record_event(ToolStarted("web_search", "灯塔", "c1"))
        assert await growing.finish(Answer(sentence * 200, found.sources))

    asyncio.run(write())
    assert lengths[-1] == len(sentence) * 200
    assert 4 <= len(lengths) <= 8, "each time half as long again"
    assert all(later >= 1.4 * earlier for earlier, later in pairwise(lengths[:-1]))
    assert len(set(map(id, memories))) == 1


def test_a_page_that_is_read_meanwhile_is_compared_anew(checks: AnswerChecks) -> None:
    found = RunSources()
    (source,) = found.add_results([SearchResult("灯塔", SOURCE.url, "灯塔高四十米。", "a.example")])
    said = "灯塔高四十米[1]。"

    async def write() -> Checked | None:
        growing = checks.begin(found)
        growing.record_event(TextDelta(said * 100))
        assert growing._ahead
        growing._ahead.result(60)
        page = Page(SOURCE.url, SOURCE.url, "灯塔", PAGE, None, "html", datetime.now(UTC), 0, is_cut=False)
        return await growing.finish(Answer(said, (found.record_outcome(source, page),)))

    checked = asyncio.run(write())
    assert checked
    assert verdicts(checked.check) == [Verdict.CONTRADICTED]


def test_whoever_stops_gives_up_the_turn(checks: AnswerChecks, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    first_may_end = threading.Event()

    def check(text: str, *_: object, **__: object) -> AnswerCheck:
        begun.append(text)
        assert first_may_end.wait(60)
        return AnswerCheck()

    monkeypatch.setattr("core.run.answer_checking.check_answer", check)

    async def stop_the_second() -> None:
        first, second = (
            asyncio.create_task(checks.begin(RunSources()).finish(Answer(name, (SOURCE,)))) for name in "甲乙"
        )
        await asyncio.sleep(0.05)
        second.cancel()
        await asyncio.wait([second])
        first_may_end.set()
        await first

    asyncio.run(stop_the_second())
    assert begun == ["甲"]


def test_a_snippet_accuses_nobody() -> None:
    made = check_text("灯塔高四十米[1]。", [replace(SOURCE, read="snippet", snippet="灯塔高三十米。")], {})
    assert verdicts(made) == [Verdict.UNCHECKED]


def test_the_model_for_meanings_is_loaded_before_an_answer_needs_it() -> None:
    embedder = TableEmbedder("塔")
    checks = AnswerChecks(MeaningComparison(embedder))
    checks.warm_up()
    until(lambda: bool(embedder.asked))
    checks.close()


def test_a_stored_check_stays_when_a_model_is_configured_later() -> None:
    """What was made by words alone is right by words alone. It is made again with the next version of the checker."""
    embedder = TableEmbedder("雾笛吼")
    made = check_text("起霾时分须大声呼吼[1]。", [SOURCE], {1: Kept("大雾期间，鸣笛一直响到天明。")})
    assert verdicts(made) == [Verdict.ABSENT]
    checks = AnswerChecks(MeaningComparison(embedder), patience=60)
    stored = message("起霾时分须大声呼吼[1]。", made)
    assert checks.check_for(stored, dict) == made
    assert embedder.asked == []
    checks.close()


# ── Citations of sources that do not exist ────────────────────────────────────────────────────────────────────────────


class Broken(FakeEngine):
    def search(self, *_: object, **__: object) -> EngineResults:
        raise EngineUnavailable


@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_numbers_after_a_failed_search_point_to_nothing_and_their_sentences_have_no_source(mode: str) -> None:
    says = ["守塔人喜欢唱歌[1]。灯塔三十米高[2][3]。"]
    with scripted_app(says=[says, says], engines=[Broken("fake")], AGENT_STRATEGY="tools") as (app, _):
        service = app.chat if mode == "chat" else app.agent
        found = message_from_run(list(service.stream("问题", options=SEARCH)), seconds=1)
    assert "[" not in found.text
    [notice] = [one.text for one in found.notices if one.kind == "invented_source"]
    assert notice.startswith("模型引用了不存在的来源 1、2、3，这次没有任何来源")
    assert found.check is not None
    assert [(one.text, one.invented) for one in found.check.unsourced] == [
        ("守塔人喜欢唱歌。", (1,)),
        ("灯塔三十米高。", (2, 3)),
    ]


def test_a_repeated_check_still_knows_them(checks: AnswerChecks) -> None:
    answer = Answer("守塔人喜欢唱歌。", (), (InventedCitation(7, (6,)),))
    stored = Message("assistant", answer.text, (*message().events, answer, Checked(AnswerCheck(version=1))))
    again = checks.check_for(stored, lambda: {1: Kept()})
    assert again is not None
    assert [one.invented for one in again.uncited] == [(6,)]


def test_a_number_that_was_taken_out_is_not_replaced_by_that_of_the_next_sentence() -> None:
    invented = (InventedCitation(7, (6,)),)
    check = check_text("守塔人喜欢唱歌。灯塔高三十米[1]。", [SOURCE], {1: Kept()}, invented=invented)
    assert check is not None
    assert [one.text for one in check.statements] == ["灯塔高三十米。"]
    assert [one.text for one in check.unsourced] == ["守塔人喜欢唱歌。"]


def test_a_pasted_text_tells_them_too() -> None:
    check = check_text("守塔人喜欢唱歌[6]。灯塔高三十米[1][7]。", [SOURCE], {1: Kept()})
    assert check is not None
    assert [one.invented for one in check.unsourced] == [(6,)]
    assert [one.numbers for one in check.unattached] == [(7,)]
