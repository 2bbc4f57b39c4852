"""Settings that are saved while the program runs: other configured parts in the same App, for the next question."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.answer.events import Answer, TextDelta
from core.app import App, build_app, shared_app
from core.base.settings import SavedSettingsFile
from core.search.engines.exa import ExaEngine
from core.search.errors import RateLimited
from core.search.types import SearchQuery
from support.base import ROOT, loaded
from support.openai_server import ANSWER, OpenAIServer, openai_server
from support.shared import shared_and_closed
from support.waiting import until

KEY = "key-of-the-page-0123456789"
SHOWN = ANSWER.replace("[1]", "").replace("[2]", "")
"""The answer as it is given to readers: nothing was searched, so there is nothing that its numbers cite."""


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        running.api_key = KEY
        yield running


@pytest.fixture
def app() -> Iterator[App]:
    with shared_and_closed(build_app(loaded(SEARCH_PROVIDER_PRIORITY="exa,bundled"))) as made:
        yield made


def connect(server: OpenAIServer, model: str = "ok") -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url, "LLM_MODEL": f"openai:{model}"}


def answered(app: App, question: str = "你好") -> str:
    return next(event.text for event in app.chat.stream(question) if isinstance(event, Answer))


def test_the_next_question_is_answered_by_the_new_model(app: App, server: OpenAIServer) -> None:
    assert shared_app() is app
    assert app.model.choice.is_embedded
    app.saved_settings.change(connect(server))
    assert answered(shared_app()) == SHOWN
    assert shared_app() is app
    assert shared_app().configured is shared_app().configured, "not again without a change"
    shared_app().saved_settings.change(dict.fromkeys(connect(server), ""))
    assert shared_app().model.choice.is_embedded
    assert shared_app().loaded_settings.origins["OPENAI_API_KEY"] == "default"


def test_what_must_last_goes_on_and_the_rest_is_new(app: App, server: OpenAIServer) -> None:
    before, desk, agent = app.configured, app.legal, app.agent
    findings = app.diagnosis.run()
    assert app.diagnosis.run() is findings, "of the last half minute"
    app.saved_settings.change(connect(server) | {"EXA_API_KEY": KEY})
    assert shared_app() is app
    assert app.legal is desk
    assert app.agent is agent
    assert app.diagnosis.last is None, "it was about other settings"
    assert app.model is not before.model
    for service in (app.chat, app.agent):
        question = service.accept_question("你好")
        assert question.model is app.model
        assert question.configured is app.configured
    assert [engine.name for engine in before.chain.engines] == ["bundled"]
    exa, _ = app.chain.engines
    assert isinstance(exa, ExaEngine)
    assert app.search.engine_rests().keys() == {"exa", "bundled"}


def test_a_question_from_before_the_page_has_looked_is_under_the_new_settings_too(
    app: App, server: OpenAIServer
) -> None:
    app.saved_settings.change(connect(server))
    assert answered(app) == SHOWN


def test_what_the_library_lacks_is_searched_with_the_engines_of_now(app: App) -> None:
    assert not app.legal.searches_web
    app.saved_settings.change({"EXA_API_KEY": KEY})
    assert shared_app().legal.searches_web


def test_an_answer_under_way_ends_on_the_old_model(app: App, server: OpenAIServer) -> None:
    app.saved_settings.change(connect(server, "script:slow"))
    server.script, server.pause = ["一", "二", "三"], 0.2
    events = app.chat.stream("你好")
    next(event for event in events if isinstance(event, TextDelta))
    app.saved_settings.change(connect(server, "ok"))
    assert answered(shared_app()) == SHOWN
    assert next(event.text for event in events if isinstance(event, Answer)) == "一二三"


def test_a_search_limit_does_not_begin_anew() -> None:
    made = build_app(loaded(SEARCH_RATE_LIMIT="1", SEARCH_PROVIDER_PRIORITY="bundled"))
    with shared_and_closed(made):
        made.search.search(SearchQuery("怎么打开联网搜索？"))
        made.saved_settings.change({"LLM_MODEL": "embedded"})
        before = made.search
        assert shared_app().search is not before
        with pytest.raises(RateLimited):
            made.search.search(SearchQuery("怎么导入法律文本？"))


def test_another_process_saves_and_this_one_notices(app: App) -> None:
    code = "import sys, pathlib; from core.base.settings import SavedSettingsFile; SavedSettingsFile(pathlib.Path(sys.argv[1])).change({'LLM_MODEL': 'openai:theirs'})"
    subprocess.run([sys.executable, "-c", code, os.environ["DATA_DIR"]], cwd=ROOT, check=True)
    assert shared_app().settings.llm.model == "openai:theirs"


def test_the_command_line_uses_it_too(server: OpenAIServer) -> None:
    SavedSettingsFile(Path(os.environ["DATA_DIR"])).change(connect(server))
    done = subprocess.run(
        [sys.executable, "-m", "core", "ask", "你好"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ANSWER[:8] in done.stdout
    assert KEY not in done.stdout + done.stderr


def test_a_new_key_is_hidden_in_the_log(capsys: pytest.CaptureFixture[str], app: App, server: OpenAIServer) -> None:
    app.saved_settings.change(connect(server))
    shared_app()
    logging.getLogger("x").warning("the service says: %s is no good", KEY)
    told = capsys.readouterr().err
    assert "is no good" in told
    assert KEY not in told


def test_a_damaged_file_stops_nobody(app: App) -> None:
    app.saved_settings.change({"LLM_MODEL": "openai:x"})
    assert shared_app().settings.llm.model == "openai:x"
    SavedSettingsFile(app.settings.data_dir).path.write_text("{", "utf-8")
    until(lambda: shared_app().model.choice.is_embedded)
    assert "已损坏" in str(shared_app().loaded_settings.problems[0])
