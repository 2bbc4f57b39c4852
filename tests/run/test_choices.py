"""What a reader chooses for one question reaches the model, the engines and the agent, and nobody else's question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, get_args

import pytest

from core.answer.events import RunStopped, SearchFinished
from core.app import App, build_app
from core.base.settings import PanelControl, Settings
from core.llm.model import Model
from core.run.choices import NO_CHOICES, Choices
from core.run.question import AnswerOptions
from core.run.reader_controls import Control, control_groups, read_choices
from core.search.types import AttemptOutcome, SearchResult, TimeRange
from support.agents import agent, final, of, search_step
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.openai_server import OpenAIServer, in_turn, openai_server
from support.responses import Refuse, Search
from support.scripted_app import scripted_app

SEARCH = AnswerOptions(search=True)
LONG = SearchResult("标题", "https://a.example/", "字" * 900, "a.example", engine="fake")


def search(**chosen: Any) -> AnswerOptions:
    return replace(SEARCH, choices=Choices(**chosen))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


@pytest.fixture
def app(server: OpenAIServer) -> Iterator[App]:
    settings = loaded(
        OPENAI_API_KEY="k",
        OPENAI_BASE_URL=server.url,
        LLM_MODEL="openai:ok",
        LLM_MODELS="echo",
        NATIVE_MODELS="ok,echo",
    )
    running = build_app(settings, engines=[FakeEngine("native", results(2)), FakeEngine("fake", results(9))])
    yield running
    running.close()


# ── Reaching the services ─────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_chosen_changes_nothing() -> None:
    settings = loaded().values
    assert NO_CHOICES.apply_to(settings) == settings


def test_the_model_and_its_temperature(app: App, server: OpenAIServer) -> None:
    list(app.chat.stream("甲", options=AnswerOptions(choices=Choices(model="echo", temperature=0.4))))
    list(app.chat.stream("乙"))
    list(app.chat.stream("丙", options=AnswerOptions(choices=Choices(temperature=1.0))))
    asked = [(request["model"], request.get("temperature")) for request in server.requests]
    assert asked == [("echo", 0.4), ("ok", None), ("ok", 1.0)]


def test_a_chosen_model_is_built_once() -> None:
    settings = loaded(OPENAI_API_KEY="k", LLM_MODELS="other").values
    model = Model(settings)
    other = model.for_settings(Choices(model="other").apply_to(settings))
    assert (other.label, model.label) == ("other", "gpt-5-mini")
    assert model.for_settings(Choices(model="other").apply_to(settings)) is other
    assert model.for_settings(Choices(model="other", temperature=1.0).apply_to(settings)) is not other
    assert model.for_settings(Choices(result_count=3).apply_to(settings)) is model


def test_follow_ups_come_from_the_model_that_answered(server: OpenAIServer) -> None:
    running = build_app(loaded(OPENAI_BASE_URL=server.url, LLM_MODEL="openai:ok", CHAT_FOLLOW_UPS="true"), engines=[])
    running.chat.suggest_follow_ups("问", "答", Choices(model="echo"))
    running.close()
    assert [request["model"] for request in server.requests] == ["echo"]


def test_language_and_time_range_reach_the_engine_and_how_much_of_it_reaches_the_model() -> None:
    engine = FakeEngine("fake", [LONG, *results(9)])
    chosen = search(language="en", time_range=TimeRange.WEEK, result_count=3, snippet_length=100)
    with scripted_app(says=[["好"]], engines=[engine]) as (app, model):
        events = list(app.chat.stream("问题", options=chosen))
        list(app.chat.stream("问题", options=SEARCH))
    assert [(query.language, query.time_range, query.limit) for query in engine.queries] == [
        ("en", TimeRange.WEEK, 10),
        ("zh-CN", None, 10),
    ]
    prompt, untouched = (str(asked[-1].content) for asked in model.asked)
    assert "[3] " in prompt
    assert "[4] " not in prompt
    assert 90 <= prompt.count("字") <= 100
    assert "[5] " in untouched
    assert 190 <= untouched.count("字") <= 200
    (finished,) = of(events, SearchFinished)
    assert finished.response.query.time_range is TimeRange.WEEK
    assert finished.response.total_results == 10


def test_automatic_is_a_language_too() -> None:
    engine = FakeEngine("fake", results(3))
    with scripted_app(says=[["好"]], engines=[engine], SEARCH_LANGUAGE="ja") as (app, _):
        list(app.chat.stream("问题一", options=SEARCH))
        list(app.chat.stream("问题二", options=search(language="auto")))
    assert [query.language for query in engine.queries] == ["ja", "zh-CN"]


def test_the_prompt() -> None:
    with scripted_app(says=[["好"]]) as (app, model):
        for prompt in ("chinese", "english", "small"):
            list(app.chat.stream("问题", options=AnswerOptions(choices=Choices(prompt=prompt))))
    assert len({str(asked[0].content) for asked in model.asked}) == 3


def test_the_agent_searches_as_chosen_and_stops_at_the_chosen_round() -> None:
    engine = FakeEngine("fake", [LONG, *results(9)])
    steps = [search_step(f"第{n}次") for n in range(9)]
    chosen = Choices(
        max_iterations=2, language="en", time_range=TimeRange.DAY, result_count=4, snippet_length=50, prompt="english"
    )
    with agent(*steps, engines=[engine], environ={"AGENT_MAX_ITERATIONS": "5"}) as world:
        events = world.ask(options=AnswerOptions(choices=chosen))
        prompts = world.prompts
    assert [event.reason for event in of(events, RunStopped)] == ["iterations"]
    assert [(query.language, query.time_range) for query in engine.queries] == [("en", TimeRange.DAY)] * 2
    assert "[4] " in prompts[1]
    assert "[5] " not in prompts[1]
    assert prompts[1].count("字" * 10) <= 5
    assert "You are Wenyuan" in prompts[0]


def test_the_agent_has_the_chosen_time() -> None:
    with agent([30.0, "太晚了"], final("好")) as world:
        events = world.ask(options=AnswerOptions(choices=Choices(max_execution_time=0.5)))
    assert [event.reason for event in of(events, RunStopped)] == ["time"]


def test_the_agent_asks_the_chosen_model(app: App, server: OpenAIServer) -> None:
    server.reply = in_turn(["Final Answer: 好"])
    for name in ("reply", "echo"):
        list(app.agent.stream("问题", options=AnswerOptions(choices=Choices(model=name, temperature=0.6))))
    list(app.agent.stream("问题"))
    models = list(dict.fromkeys((request["model"], request.get("temperature")) for request in server.requests))
    assert models == [("reply", 0.6), ("echo", 0.6), ("ok", None)]


# ── The model's own search ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_answering_call_that_searches_is_made_by_the_chosen_model(app: App, server: OpenAIServer) -> None:
    server.searching = in_turn([Search("q", ["https://a.example/"]), "好"])
    list(
        app.chat.stream(
            "问题", options=search(model="echo", temperature=0.2, language="en", time_range=TimeRange.MONTH)
        )
    )
    (request,) = server.requests
    assert (request["model"], request["temperature"]) == ("echo", 0.2)
    assert "最近一月、英文" in str(request["input"])


def test_a_chosen_model_that_cannot_search_harms_nobody_else(app: App, server: OpenAIServer) -> None:
    server.searching = in_turn([Refuse(400)])
    chosen = search(model="echo")
    (finished,) = of(list(app.chat.stream("问题", options=chosen)), SearchFinished)
    assert [(attempt.engine, attempt.outcome) for attempt in finished.response.attempts] == [
        ("native", AttemptOutcome.FAILED),
        ("native", AttemptOutcome.OK),
    ]
    assert "echo" in finished.response.attempts[0].reason
    assert app.search.engine_rests() == {"native": None, "fake": None}
    before = len(server.requests)
    list(app.chat.stream("另一个问题", options=chosen))
    assert len(server.requests) == before + 1, "it is not asked to search again"


def test_a_chosen_model_without_such_a_service_is_not_asked_to_search(app: App, server: OpenAIServer) -> None:
    list(app.chat.stream("问题", options=search(model="think")))
    assert all("messages" in request for request in server.requests)


# ── What may be chosen ────────────────────────────────────────────────────────────────────────────────────────────────


def offered(picked: Mapping[str, str] | None = None, /, **environ: str) -> dict[str, Control]:
    found = control_groups(loaded(**environ).values, picked or {})
    return {control.name: control for group in found for control in group.controls}


def test_every_control_has_a_place_in_the_choices() -> None:
    assert tuple(field.name for field in fields(Choices)) == get_args(PanelControl)
    assert set(offered(LLM_MODELS="a,b")) == set(get_args(PanelControl))


def test_the_defaults_are_the_administrators_and_are_always_among_the_options() -> None:
    environ = {
        "SEARCH_RESULT_COUNT": "4",
        "SEARCH_LANGUAGE": "pt-BR",
        "SEARCH_SNIPPET_LENGTH": "333",
        "LLM_MODEL": "openai:one",
        "LLM_MODELS": "openai:one, openai:two, azure:one",
        "LLM_TEMPERATURE": "0.35",
        "AGENT_MAX_ITERATIONS": "3",
        "AGENT_MAX_EXECUTION_TIME": "70",
        "AGENT_PROMPT": "my.md",
    }
    controls = offered(**environ)
    assert all(control.default in control.options for control in controls.values())
    assert {name: control.default for name, control in controls.items()} == {
        "result_count": "4 条",
        "language": "pt-BR",
        "time_range": "不限",
        "snippet_length": "333 字",
        "standalone_queries": "补全后搜索",
        "model": "one",
        "temperature": "0.35",
        "max_iterations": "3 轮",
        "max_execution_time": "70 秒",
        "prompt": "管理员的设置",
    }
    assert controls["model"].options == {"one": "openai:one", "two": "openai:two", "azure:one": "azure:one"}
    settings = loaded(**environ).values
    untouched = {name: control.default for name, control in controls.items()}
    assert read_choices(control_groups(settings, untouched), untouched) == NO_CHOICES


def test_what_was_never_offered_cannot_be_chosen() -> None:
    settings = loaded().values
    picked = {"max_iterations": "10 轮", "model": "openai:expensive", "time_range": "最近一周", "language": "火星文"}
    assert read_choices(control_groups(settings, picked), picked) == Choices(time_range=TimeRange.WEEK)


@pytest.mark.parametrize(
    ("environ", "rounds", "seconds"),
    [
        ({}, 5, 60.0),
        ({"AGENT_MAX_ITERATIONS": "2", "AGENT_MAX_EXECUTION_TIME": "30"}, 2, 30.0),
        ({"PANEL_MAX_ITERATIONS": "10", "PANEL_MAX_EXECUTION_TIME": "200"}, 10, 200.0),
        ({"PANEL_MAX_ITERATIONS": "1", "PANEL_MAX_EXECUTION_TIME": "10"}, 5, 60.0),
    ],
)
def test_the_agents_limits_are_the_administrators(environ: dict[str, str], rounds: int, seconds: float) -> None:
    controls = offered(**environ)
    assert max(controls["max_iterations"].options.values()) == rounds
    assert max(controls["max_execution_time"].options.values()) == seconds
    assert min(controls["max_iterations"].options.values()) == 1
    assert min(controls["max_execution_time"].options.values()) == 10


def test_the_embedded_model_has_no_temperature() -> None:
    assert "内置摘录模型" in offered()["temperature"].blocked_reason
    assert offered(OPENAI_API_KEY="k")["temperature"].blocked_reason == ""
    both = {"OPENAI_API_KEY": "k", "LLM_MODELS": "embedded"}
    picked = {"model": "内置摘录模型", "temperature": "1"}
    assert offered(picked, **both)["temperature"].blocked_reason
    settings = loaded(**both).values
    assert read_choices(control_groups(settings, picked), picked) == Choices(model="embedded")


@pytest.mark.parametrize(
    ("allow", "names"),
    [
        ("language, prompt", {"language", "prompt"}),
        ("none", set()),
        ("model", set()),  # without LLM_MODELS there is nothing to choose
    ],
)
def test_only_what_is_allowed_is_offered(allow: str, names: set[str]) -> None:
    assert set(offered(PANEL_ALLOW=allow)) == names


def test_a_name_that_is_no_control_is_reported() -> None:
    found = loaded(PANEL_ALLOW="langauge")
    assert [problem.key for problem in found.problems] == ["PANEL_ALLOW"]
    assert found.values.panel == Settings().panel
