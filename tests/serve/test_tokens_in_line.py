"""A question of a program costs what a page's question costs, and stands in the same line."""

from __future__ import annotations

import pytest

from core.app import App
from core.base.visitors import Visitor
from core.run import AnswerOptions, Run, TooManyQuestions
from core.search.errors import RateLimited
from core.search.types import SearchQuery
from core.serve import Ask, Caller, Scope, start_answer
from core.serve.web import search_web
from support.fake_engines import FakeEngine, results
from support.scripted_app import scripted_app
from support.waiting import until

READER = Visitor("b" * 32, "192.0.2.7")
ME, HER = "m" * 32, "h" * 32
FOR_EVER = [["一半", 3_600]]


def token_of(app: App, maker: str = ME) -> Caller:
    return Caller.from_token(app.tokens.create(maker, "x", list(Scope))[0])


def ask_on_page(app: App, visitor: Visitor = READER) -> Run:
    return app.chat.start(app.chat.accept_question("问", (), AnswerOptions(search=False, visitor=visitor)), grace=60)


def ask_with(app: App, caller: Caller) -> Run:
    return start_answer(app, caller, Ask("问"), grace=60)


def has_begun(run: Run) -> bool:
    return run.questions_ahead is None and bool(run.events)


@pytest.mark.parametrize("first", ["page", "token"])
def test_pages_and_tokens_wait_for_each_other_in_one_line(first: str) -> None:
    with scripted_app(says=FOR_EVER, LIMITS_ANSWERS_AT_ONCE="1") as (app, _):
        caller = token_of(app)
        runs = (
            [ask_on_page(app), ask_with(app, caller)] if first == "page" else [ask_with(app, caller), ask_on_page(app)]
        )
        third = ask_with(app, token_of(app, HER))
        until(lambda: has_begun(runs[0]))
        until(lambda: (runs[1].questions_ahead, third.questions_ahead) == (0, 1))
        runs[0].cancel()
        until(lambda: has_begun(runs[1]))
        assert third.questions_ahead == 0
        for run in (*runs, third):
            run.cancel()


def test_one_token_cannot_take_every_place() -> None:
    with scripted_app(says=FOR_EVER, LIMITS_ANSWERS_AT_ONCE="9", LIMITS_ANSWERS_AT_ONCE_PER_VISITOR="2") as (app, _):
        caller = token_of(app)
        mine = [ask_with(app, caller) for _ in range(4)]
        until(lambda: [has_begun(run) for run in mine] == [True, True, False, False])
        reader = ask_on_page(app)
        until(lambda: has_begun(reader))
        for run in (*mine, reader):
            run.cancel()


def test_a_token_has_the_questions_of_one_reader() -> None:
    with scripted_app(says=[["答"]], LIMITS_ANSWERS_PER_MINUTE="2") as (app, _):
        caller = token_of(app)
        for _ in range(2):
            ask_with(app, caller)
        with pytest.raises(TooManyQuestions, match="秒后"):
            ask_with(app, caller)
        ask_on_page(app)
        ask_with(app, token_of(app, HER))


def test_many_tokens_of_one_maker_are_no_way_around_the_limit() -> None:
    with scripted_app(says=[["答"]], LIMITS_ANSWERS_PER_MINUTE="1", LIMITS_VISITORS_PER_ADDRESS="2") as (app, _):
        for _ in range(2):
            ask_with(app, token_of(app))
        with pytest.raises(TooManyQuestions):
            ask_with(app, token_of(app))
        ask_with(app, token_of(app, HER))


def test_searches_of_a_token_are_limited_like_a_readers() -> None:
    with scripted_app(says=[], engines=[FakeEngine("fake", results(3))], SEARCH_RATE_LIMIT="1") as (app, _):
        caller = token_of(app)
        search_web(app, caller, SearchQuery("灯塔"))
        search_web(app, caller, SearchQuery("灯塔"))  # from the cache
        with pytest.raises(RateLimited):
            search_web(app, caller, SearchQuery("守塔人"))
        app.search.search(SearchQuery("守塔人"), visitor=READER)


def test_what_the_model_read_and_wrote_is_counted_for_the_token() -> None:
    usage = {"input_tokens": 700, "output_tokens": 30, "total_tokens": 730}
    with scripted_app(says=[["答", usage]]) as (app, _):
        caller = token_of(app)
        for run in (ask_with(app, caller), ask_with(app, caller), ask_on_page(app)):
            assert list(run.iter_events())
            run.end_future.result(20)
        assert app.metrics.flush()
        assert app.metrics_store.token_answers(0, 1e12) == [(caller.token_id, 2, 1400, 60)]
