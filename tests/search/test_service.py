from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.app import build_app
from core.base.cache import DiskTtlCache
from core.base.http import Deadline, Request, fetch
from core.base.http.errors import HttpError
from core.base.settings import SearchSettings
from core.base.visitors import Visitor
from core.search.cache import ResultCache, SessionCache
from core.search.engine import SearchEngine, to_engine_error
from core.search.errors import (
    AllEnginesFailed,
    EngineBlocked,
    EngineMisconfigured,
    EngineTimeout,
    EngineUnavailable,
    NoEngine,
    QueryError,
    RateLimited,
)
from core.search.failover import describe_attempt
from core.search.results import EngineResults
from core.search.search_limits import SearchLimits
from core.search.service import MAX_QUERY_LENGTH, SearchService
from core.search.types import AttemptOutcome, SearchQuery, SearchResponse, SearchResult, SearchType
from support.base import loaded
from support.fake_engines import ScriptedEngine, Stuck, hung_until_cancelled, results_of, slow
from support.faults import Server, drip, head, silence
from support.waiting import Clock, threads_back_to

QUERY = SearchQuery("民法典")


def settings(**values: Any) -> SearchSettings:
    return SearchSettings(**values)


@pytest.fixture
def wall() -> Clock:
    return Clock()


@pytest.fixture
def cache(tmp_path: Path, wall: Clock) -> ResultCache:
    good_for = dict.fromkeys(SearchType, 100.0)
    return ResultCache(DiskTtlCache(tmp_path / "cache"), good_for=good_for, keep_stale=10_000, clock=wall)


def together(count: int, do: Callable[[int], Any]) -> list[Any]:
    """What each of `count` threads got: a value or an exception."""
    outcomes: list[Any] = [None] * count
    start = threading.Barrier(count)

    def work(n: int) -> None:
        start.wait()
        try:
            outcomes[n] = do(n)
        except Exception as error:
            outcomes[n] = error

    threads = [threading.Thread(target=work, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


# ── Refusals ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["", " ", "\u3000\n\t", "\u200b", "\u2800\u3164", "\ufe0f"])
def test_a_blank_query_is_refused_before_anything_is_sent(text: str) -> None:
    engine = ScriptedEngine("a")
    with pytest.raises(QueryError):
        SearchService([engine]).search(SearchQuery(text))
    assert engine.calls == 0


def test_an_endless_query_is_refused() -> None:
    with pytest.raises(QueryError, match="上限"):
        SearchService([ScriptedEngine("a")]).search(SearchQuery("字" * (MAX_QUERY_LENGTH + 1)))


def test_without_engines_or_with_an_unknown_name() -> None:
    assert not SearchService([]).has_engines
    with pytest.raises(NoEngine):
        SearchService([]).search(QUERY)
    with pytest.raises(NoEngine, match="bing"):
        SearchService([ScriptedEngine("a")]).search(QUERY, engine="bing")


# ── An ordinary search ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_search_reports_provider_time_and_attempts() -> None:
    response = SearchService(
        [ScriptedEngine("a", EngineTimeout()), ScriptedEngine("b", slow(0.05, results_of("b")))]
    ).search(QUERY)
    assert response.query is QUERY
    assert response.provider == "b"
    assert response.total_results == 3
    assert response.search_time >= 0.05
    assert (response.from_cache, response.cache_age, response.stale) == (False, None, False)
    assert [(attempt.engine, attempt.outcome) for attempt in response.attempts] == [
        ("a", AttemptOutcome.FAILED),
        ("b", AttemptOutcome.OK),
    ]


def test_never_more_results_than_asked_for() -> None:
    assert (
        SearchService([ScriptedEngine("a", results_of("a", 30))]).search(SearchQuery("x", limit=10)).total_results == 10
    )


def test_engines_get_the_prepared_query_and_the_reader_gets_the_own_one_back() -> None:
    engine = ScriptedEngine("a")
    service = SearchService([engine], prepare=lambda query: replace(query, sites=("flk.npc.gov.cn",)))
    assert service.search(SearchQuery("  民法典　全文 ")).query == SearchQuery("  民法典　全文 ")
    assert engine.asked == [SearchQuery("  民法典　全文 ", sites=("flk.npc.gov.cn",))]


def test_a_named_engine_is_the_only_one_asked() -> None:
    engines = [ScriptedEngine("a"), ScriptedEngine("b")]
    assert SearchService(engines).search(QUERY, engine="b").provider == "b"
    assert engines[0].calls == 0


def test_what_the_engine_could_not_use_is_counted_and_its_notes_are_kept() -> None:
    found = EngineResults(results_of(), skipped=4, notes=("部分引擎没有答复",))
    response = SearchService([ScriptedEngine("a", found)]).search(QUERY)
    assert (response.skipped, response.notes) == (4, ("部分引擎没有答复",))


def test_nothing_found_is_a_response_not_an_error() -> None:
    response = SearchService([ScriptedEngine("a", EngineTimeout()), ScriptedEngine("b", EngineResults())]).search(QUERY)
    assert response.results == ()
    assert response.provider == "b"
    assert [attempt.outcome for attempt in response.attempts] == [AttemptOutcome.FAILED, AttemptOutcome.EMPTY]


def test_all_failed_carries_the_attempts_and_names_the_cause() -> None:
    service = SearchService(
        [
            ScriptedEngine("a", EngineUnavailable()),
            ScriptedEngine("b", EngineUnavailable()),
            ScriptedEngine("c", EngineBlocked()),
        ]
    )
    with pytest.raises(AllEnginesFailed) as failure:
        service.search(QUERY)
    assert [attempt.engine for attempt in failure.value.attempts] == ["a", "b", "c"]
    assert failure.value.cause == "unavailable"
    assert "连不上" in failure.value.message


def test_the_cure_of_the_only_engine_reaches_the_reader() -> None:
    service = SearchService(
        [ScriptedEngine("a", EngineMisconfigured("JSON 没有打开。", cure="在 settings.yml 中加入 json。"))]
    )
    for _ in range(2):  # tried the first time, resting the second
        with pytest.raises(AllEnginesFailed, match="JSON 没有打开") as failure:
            service.search(QUERY)
        assert failure.value.cure == "在 settings.yml 中加入 json。"


def test_a_bug_is_raised_when_nobody_wins() -> None:
    with pytest.raises(KeyError):
        SearchService([ScriptedEngine("a", KeyError("bug")), ScriptedEngine("b", EngineResults())]).search(QUERY)


def test_the_states_of_the_engines_can_be_read() -> None:
    service = SearchService([ScriptedEngine("a", EngineBlocked("验证码。")), ScriptedEngine("b")])
    service.search(QUERY)
    states = service.engine_rests()
    assert states["b"] is None
    assert states["a"] is not None
    assert states["a"].kind == "blocked"


# ── Time ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_hung_fails_cleanly_at_the_deadline() -> None:
    service = SearchService(
        [ScriptedEngine(name, hung_until_cancelled) for name in "abc"], settings=settings(timeout=1.0, hedge_after=0.2)
    )
    began = time.monotonic()
    with pytest.raises(AllEnginesFailed, match="a 超时、b 超时、c 超时") as failure:
        service.search(QUERY)
    assert time.monotonic() - began < 10
    assert failure.value.cause == "timeout"


@pytest.mark.parametrize("behaviour", [silence, drip(head("Content-Length: 9999999")), drip(b"HTTP/1.1 200 OK\r\nX: ")])
def test_real_sockets_that_hang_or_drip_are_cut_at_the_deadline(behaviour: Any) -> None:
    class Wire(SearchEngine):
        name = "wire"

        def search(self, query: SearchQuery, num_results: int, *, deadline: Deadline | None = None) -> EngineResults:
            assert deadline is not None
            try:
                fetch(Request("GET", server.url), deadline=deadline)
            except HttpError as error:
                raise to_engine_error(error) from None
            return EngineResults()

    before = threading.active_count()
    with Server(behaviour) as server:
        began = time.monotonic()
        with pytest.raises(AllEnginesFailed, match="超时"):
            SearchService([Wire()], settings=settings(timeout=1.0)).search(QUERY)
        assert time.monotonic() - began < 10
    assert threads_back_to(before)


# ── Caches ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_second_search_comes_from_the_cache_and_says_so(cache: ResultCache, wall: Clock) -> None:
    engine = ScriptedEngine("a")
    service = SearchService([engine], cache=cache)
    first = service.search(QUERY)
    wall.pass_(30)
    second = service.search(SearchQuery(" 民法典　"))
    assert engine.calls == 1
    assert (second.from_cache, second.cache_age, second.stale, second.provider) == (True, 30.0, False, "a")
    assert second.results == first.results
    assert second.attempts == ()
    assert second.query.text == " 民法典　"


@pytest.mark.parametrize(
    "other",
    [
        SearchQuery("民法典 总则"),
        SearchQuery("民法典", type=SearchType.NEWS),
        SearchQuery("民法典", limit=5),
        SearchQuery("民法典", language="en"),
        SearchQuery("民法典", sites=("gov.cn",)),
    ],
)
def test_another_question_is_another_entry(cache: ResultCache, other: SearchQuery) -> None:
    engine = ScriptedEngine("a")
    service = SearchService([engine], cache=cache)
    service.search(QUERY)
    assert not service.search(other).from_cache
    assert engine.calls == 2


def test_a_named_engine_has_entries_of_its_own(cache: ResultCache) -> None:
    service = SearchService([ScriptedEngine("a"), ScriptedEngine("b")], cache=cache)
    assert service.search(QUERY).provider == "a"
    assert service.search(QUERY, engine="b").provider == "b"
    assert service.search(QUERY, engine="b").from_cache


@pytest.mark.parametrize("sort_words", [False, True])
def test_word_order_matters_unless_the_setting_says_otherwise(cache: ResultCache, sort_words: bool) -> None:
    engine = ScriptedEngine("a")
    service = SearchService([engine], cache=cache, settings=settings(sort_words=sort_words))
    service.search(SearchQuery("教程 Python"))
    assert service.search(SearchQuery("python 教程")).from_cache is sort_words
    assert engine.asked[0].text == "教程 Python", "the engine gets the words as they were written"


def test_failures_and_empty_results_are_never_kept(cache: ResultCache) -> None:
    engine = ScriptedEngine("a", EngineResults(), EngineTimeout(), results_of("a"))
    service = SearchService([engine], cache=cache)
    session = SessionCache()
    assert service.search(QUERY, session_cache=session).results == ()
    with pytest.raises(AllEnginesFailed):
        service.search(QUERY, session_cache=session)
    assert not service.search(QUERY, session_cache=session).from_cache
    assert service.search(QUERY, session_cache=session).from_cache


def test_fresh_passes_both_caches_by_and_fills_them(cache: ResultCache) -> None:
    engine = ScriptedEngine("a", results_of("old"), results_of("new"))
    service = SearchService([engine], cache=cache)
    session = SessionCache()
    service.search(QUERY, session_cache=session)
    new = service.search(QUERY, session_cache=session, skip_caches=True)
    assert not new.from_cache
    assert service.search(QUERY, session_cache=session).results == new.results
    assert service.search(QUERY).results == new.results
    assert engine.calls == 2


def test_the_session_comes_before_the_shared_cache_and_works_without_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    engine = ScriptedEngine("a")
    service = SearchService([engine])
    mine, yours = SessionCache(), SessionCache()
    service.search(QUERY, session_cache=mine)
    assert service.search(QUERY, session_cache=mine).from_cache
    assert "session cache hit" in caplog.text
    assert not service.search(QUERY, session_cache=yours).from_cache
    assert engine.calls == 2


def test_a_hit_of_the_shared_cache_keeps_its_age_in_the_session(cache: ResultCache, wall: Clock) -> None:
    service = SearchService([ScriptedEngine("a")], cache=cache)
    service.search(QUERY)
    wall.pass_(50)
    session = SessionCache()
    service.search(QUERY, session_cache=session)
    again = service.search(QUERY, session_cache=session)
    assert again.cache_age == pytest.approx(50, abs=1)


def test_expired_results_are_searched_anew_and_replaced(cache: ResultCache, wall: Clock) -> None:
    engine = ScriptedEngine("a", results_of("old"), results_of("new"))
    service = SearchService([engine], cache=cache)
    service.search(QUERY)
    wall.pass_(101)
    assert not service.search(QUERY).from_cache
    assert service.search(QUERY).results == tuple(results_of("new"))


def test_old_results_serve_when_every_engine_fails(cache: ResultCache, wall: Clock) -> None:
    service = SearchService(
        [ScriptedEngine("a", results_of("a"), EngineUnavailable()), ScriptedEngine("b", EngineTimeout())], cache=cache
    )
    service.search(QUERY)
    wall.pass_(200)
    session = SessionCache()
    old = service.search(QUERY, session_cache=session)
    assert (old.stale, old.from_cache, old.cache_age) == (True, True, 200.0)
    assert [attempt.engine for attempt in old.attempts] == ["a", "b"]
    assert len(session) == 0


def test_old_results_serve_when_one_engine_failed_and_the_others_know_nothing(cache: ResultCache, wall: Clock) -> None:
    service = SearchService(
        [ScriptedEngine("web", results_of("web"), EngineUnavailable()), ScriptedEngine("manual", EngineResults())],
        cache=cache,
    )
    service.search(QUERY)
    wall.pass_(200)
    assert service.search(QUERY).stale


def test_what_nobody_finds_any_more_is_not_served_from_the_past(cache: ResultCache, wall: Clock) -> None:
    service = SearchService([ScriptedEngine("a", results_of("a"), EngineResults())], cache=cache)
    service.search(QUERY)
    wall.pass_(200)
    assert service.search(QUERY).results == ()


def test_a_fresh_search_that_fails_falls_back_on_what_is_there(cache: ResultCache) -> None:
    service = SearchService([ScriptedEngine("a", results_of("a"), EngineUnavailable())], cache=cache)
    service.search(QUERY)
    kept = service.search(QUERY, skip_caches=True)
    assert kept.from_cache
    assert not kept.stale


def test_old_results_serve_when_the_quota_is_used_up(cache: ResultCache, wall: Clock) -> None:
    service = SearchService([ScriptedEngine("a")], cache=cache, limits=SearchLimits(per_visitor=100, per_engine=1))
    service.search(QUERY)
    wall.pass_(200)
    old = service.search(QUERY)
    assert old.stale
    assert old.attempts[0].kind == "rate_limited"
    with pytest.raises(AllEnginesFailed, match="上限"):
        service.search(SearchQuery("别的问题"))


def test_a_broken_cache_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    broken = ResultCache(DiskTtlCache(tmp_path / "file"), good_for=dict.fromkeys(SearchType, 1.0), keep_stale=1)
    service = SearchService([ScriptedEngine("a")], cache=broken)
    assert service.search(QUERY).provider == "a"
    assert service.warnings


# ── Limits ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_only_searches_that_leave_the_process_count(cache: ResultCache) -> None:
    service = SearchService([ScriptedEngine("a")], cache=cache, limits=SearchLimits(per_visitor=2, per_engine=100))
    session = SessionCache()
    for _ in range(5):
        service.search(QUERY)
        service.search(QUERY, session_cache=session)
    with pytest.raises(QueryError):
        service.search(SearchQuery(" "))
    service.search(SearchQuery("二"))
    with pytest.raises(RateLimited) as refusal:
        service.search(SearchQuery("三"))
    assert 1 <= refusal.value.retry_after <= 60
    assert service.search(QUERY).from_cache
    assert service.search(SearchQuery("三"), visitor=Visitor("别人")).provider == "a"


def test_the_operator_has_no_limit() -> None:
    service = SearchService([ScriptedEngine("a")], limits=SearchLimits(per_visitor=1, per_engine=100))
    for n in range(5):
        service.search(SearchQuery(str(n)), visitor=None)


# ── Identical searches at the same moment ─────────────────────────────────────────────────────────────────────────


def test_identical_searches_in_flight_share_one_request() -> None:
    engine = ScriptedEngine("a", slow(0.3, results_of("a")))
    service = SearchService([engine], limits=SearchLimits(per_visitor=1, per_engine=100))
    outcomes = together(20, lambda n: service.search(SearchQuery("民法典" + " " * n)))
    assert engine.calls == 1
    assert all(isinstance(outcome, SearchResponse) for outcome in outcomes)
    assert sorted(len(outcome.query.text) for outcome in outcomes) == list(range(3, 23))


def test_a_failure_reaches_everybody_who_waits() -> None:
    engine = ScriptedEngine("a", slow(0.3, EngineBlocked()))
    service = SearchService([engine])
    outcomes = together(10, lambda _: service.search(QUERY))
    assert engine.calls == 1
    assert all(isinstance(outcome, AllEnginesFailed) for outcome in outcomes)


def test_a_search_after_the_flight_is_a_new_one() -> None:
    engine = ScriptedEngine("a")
    service = SearchService([engine])
    service.search(QUERY)
    service.search(QUERY)
    assert engine.calls == 2


def test_one_users_limit_is_not_anothers(cache: ResultCache) -> None:
    limits = SearchLimits(per_visitor=1, per_engine=100)
    service = SearchService([ScriptedEngine("a", slow(0.1, results_of("a")))], limits=limits)
    limits.admit(Visitor("poor"))
    outcomes = together(12, lambda n: service.search(QUERY, visitor=Visitor("poor" if n % 2 else f"rich {n}")))
    assert all(isinstance(outcome, SearchResponse) for outcome in outcomes[::2])
    assert all(isinstance(outcome, SearchResponse | RateLimited) for outcome in outcomes[1::2])


# ── The asynchronous door ─────────────────────────────────────────────────────────────────────────────────────────


def test_asearch_answers_and_raises_like_search() -> None:
    async def ask(service: SearchService) -> SearchResponse:
        return await service.asearch(QUERY)

    assert asyncio.run(ask(SearchService([ScriptedEngine("a")]))).provider == "a"
    with pytest.raises(AllEnginesFailed):
        asyncio.run(ask(SearchService([ScriptedEngine("a", EngineTimeout())])))


def test_a_hundred_asearches_run_side_by_side() -> None:
    service = SearchService([ScriptedEngine("a", slow(0.2, results_of("a")))])

    async def ask() -> list[SearchResponse]:
        return await asyncio.gather(*(service.asearch(SearchQuery(str(n))) for n in range(100)))

    before = threading.active_count()
    began = time.monotonic()
    assert len(asyncio.run(ask())) == 100
    assert time.monotonic() - began < 8, "one after the other would take twenty seconds"
    assert threads_back_to(before)


def test_cancelling_the_task_cancels_the_search() -> None:
    engine = ScriptedEngine("a", hung_until_cancelled)
    service = SearchService([engine], settings=settings(timeout=30.0))

    async def ask() -> None:
        task = asyncio.create_task(service.asearch(QUERY))
        await asyncio.to_thread(engine.was_asked.wait, 5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    before = threading.active_count()
    asyncio.run(ask())
    assert engine.deadlines[0] is not None
    assert engine.deadlines[0].cancelled
    assert threads_back_to(before)


def test_cancelling_one_of_two_who_share_a_search_leaves_the_other_alone() -> None:
    engine = ScriptedEngine("a", hung_until_cancelled, results_of("a"))
    service = SearchService([engine], settings=settings(timeout=10.0))

    async def ask() -> SearchResponse:
        leader = asyncio.create_task(service.asearch(QUERY))
        await asyncio.to_thread(engine.was_asked.wait, 5)
        follower = asyncio.create_task(service.asearch(QUERY))
        await asyncio.sleep(0.1)
        leader.cancel()
        return await follower

    assert asyncio.run(ask()).provider == "a"
    assert engine.calls == 2


def test_cancelling_a_follower_does_not_end_the_shared_search() -> None:
    engine = ScriptedEngine("a", slow(0.4, results_of("a")))
    service = SearchService([engine])

    async def ask() -> SearchResponse:
        leader = asyncio.create_task(service.asearch(QUERY))
        await asyncio.to_thread(engine.was_asked.wait, 5)
        follower = asyncio.create_task(service.asearch(QUERY))
        await asyncio.sleep(0.1)
        follower.cancel()
        return await leader

    assert asyncio.run(ask()).provider == "a"


# ── Many at once ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_hundred_searches_of_fifty_users(cache: ResultCache) -> None:
    """Nothing lost, limits exact, every thread gone: with one engine that hangs, one that fails, one that answers."""
    before = threading.active_count()
    stuck = Stuck()
    engines: list[SearchEngine] = [
        ScriptedEngine("stuck", stuck),
        ScriptedEngine("down", EngineUnavailable()),
        ScriptedEngine("good", slow(0.02, results_of("good"))),
    ]
    service = SearchService(
        engines,
        settings=settings(hedge_after=0.3),
        cache=cache,
        limits=SearchLimits(per_visitor=3, per_engine=100_000),
    )
    outcomes = together(200, lambda n: service.search(SearchQuery(f"问题 {n}"), visitor=Visitor(f"用户 {n % 50}")))
    kinds = Counter(type(outcome).__name__ for outcome in outcomes)
    assert kinds == {"SearchResponse": 150, "RateLimited": 50}
    answered = [outcome for outcome in outcomes if isinstance(outcome, SearchResponse)]
    assert {response.provider for response in answered} == {"good"}
    assert all(response.total_results == 3 for response in answered)
    stuck.release.set()
    assert threads_back_to(before)


# ── Wired ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_app_wires_settings_into_the_room() -> None:
    engine = ScriptedEngine("a")
    app = build_app(loaded(SEARCH_RATE_LIMIT="1", SEARCH_CACHE_TTL="0"), engines=[engine])
    try:
        app.search.search(QUERY)
        with pytest.raises(RateLimited):
            app.search.search(QUERY)
    finally:
        app.close()


def test_the_app_caches_in_its_data_directory() -> None:
    values = loaded()
    engine = ScriptedEngine("a")
    for from_cache in (False, True):
        app = build_app(values, engines=[engine])
        try:
            assert app.search.search(QUERY).from_cache is from_cache
            assert app.search.warnings == ()
        finally:
            app.close()
    assert (values.values.data_dir / "cache" / "cache.db").exists()


def test_an_engine_that_asks_not_to_be_cached_is_not(tmp_path: Path) -> None:
    class Uncacheable(ScriptedEngine):
        is_cacheable = False

    engine = Uncacheable("fake")
    cache = ResultCache.from_settings(loaded(DATA_DIR=str(tmp_path)).values)
    service = SearchService([engine], cache=cache)
    service.search(SearchQuery("问题"))
    assert not service.search(SearchQuery("问题")).from_cache
    assert engine.calls == 2
    service.close()


# ── Failed is failed ──────────────────────────────────────────────────────────────────────────────────────────────


class Manual(ScriptedEngine):
    reaches_web = False
    label = "内置手册"


def web_down(*found: SearchResult) -> SearchService:
    refusing = ScriptedEngine("searxng", EngineBlocked("不让看。", cure="打开 JSON。", status=403))
    return SearchService([refusing, ScriptedEngine("google", EngineUnavailable()), Manual("m", list(found))])


def test_the_manual_is_no_proof_that_the_web_was_searched() -> None:
    with pytest.raises(AllEnginesFailed) as failure:
        web_down().search(QUERY)
    assert failure.value.message == "联网搜索没有成功：searxng 拒绝访问（403）、google 连不上；只查了内置手册。"
    assert failure.value.cure == "打开 JSON。"
    assert [attempt.outcome.value for attempt in failure.value.attempts] == ["failed", "failed", "empty"]


@pytest.mark.parametrize("sentence", ["拒绝（500）。", "换一句话。"])
def test_the_status_is_told_from_its_field_whatever_the_sentence_says(sentence: str) -> None:
    service = SearchService(
        [ScriptedEngine("a", EngineBlocked(sentence, status=403)), ScriptedEngine("b", EngineBlocked(sentence))]
    )
    told: list[str] = []
    for _ in range(2):  # the second time both rest
        with pytest.raises(AllEnginesFailed) as failure:
            service.search(QUERY)
        told += map(describe_attempt, failure.value.attempts, "ab")
    assert told[:2] == ["a 拒绝访问（403）", "b 拒绝访问"]
    assert told[2:] == ["a 暂停中，没有再问（上次拒绝访问 403）", "b 暂停中，没有再问（上次拒绝访问）"]
    assert failure.value.message == f"联网搜索没有成功：{'、'.join(told[2:])}。"
    assert [attempt.outcome.value for attempt in failure.value.attempts] == ["skipped", "skipped"]


def test_what_the_manual_found_comes_with_the_failure() -> None:
    response = web_down(*results_of("m", 2)).search(QUERY)
    assert (response.provider, len(response.results)) == ("m", 2)
    assert response.failure.startswith("联网搜索没有成功：searxng 拒绝访问（403）")
    assert response.to_json()["failure"] == response.failure


def test_a_manual_alone_fails_nobody() -> None:
    assert SearchService([Manual("m", results_of("m", 1))]).search(QUERY).failure == ""


def test_the_manual_never_outruns_the_web() -> None:
    web = ScriptedEngine("web", slow(0.3, results_of("web", 1)))
    chain = [web, Manual("m", results_of("m", 1))]
    answered = SearchService(chain, settings=settings(hedge_after=0.1)).search(QUERY)
    assert (answered.provider, answered.failure) == ("web", "")
