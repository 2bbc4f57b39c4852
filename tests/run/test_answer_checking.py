"""依据核对 of answers: with the run, of older answers again, and never in the way of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from core.answer.check_results import CHECKER_VERSION, AnswerCheck, Verdict
from core.answer.citation_verdicts import list_verdicts
from core.answer.events import Answer, Checked, SearchFinished
from core.answer.message import Message, message_from_run
from core.run.answer_checking import AnswerChecks, check_text
from core.run.question import AnswerOptions
from core.search.types import SearchQuery, SearchResponse, Source
from support.fake_engines import FakeEngine, results
from support.scripted_app import scripted_app

SOURCE = Source(1, "灯塔", "https://a.example/", "灯塔", read="page")
PAGE = "守塔人应当在日落前点灯，并在日出后熄灯。灯塔高三十米，建于一九二〇年。"
SEARCH = AnswerOptions(search=True)


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


def test_what_cannot_be_loaded_is_not_called_checked(checks: AnswerChecks) -> None:
    def load() -> dict[int, Kept]:
        raise OSError("away")

    assert checks.check_for(message(), load) is None


def test_a_snippet_accuses_nobody() -> None:
    made = check_text("灯塔高四十米[1]。", [replace(SOURCE, read="snippet", snippet="灯塔高三十米。")], {})
    assert verdicts(made) == [Verdict.UNCHECKED]
