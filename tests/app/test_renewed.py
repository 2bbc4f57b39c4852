"""Settings that are saved while the program runs: another App of the same parts, for the next question."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import core.app
from core.answer.events import Answer, TextDelta
from core.app import App, build_app, shared_app
from core.base.http import Deadline
from core.base.settings import SavedFile
from core.search.engine import SearchEngine
from core.search.engines.exa import ExaEngine
from core.search.registry import Chain
from core.search.types import SearchQuery, SearchResult
from support.base import ROOT, loaded
from support.openai_server import ANSWER, OpenAIServer, openai_server
from support.waiting import until

KEY = "key-of-the-page-0123456789"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        running.api_key = KEY
        yield running


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    made = build_app(loaded(SEARCH_PROVIDER_PRIORITY="exa,bundled"))
    monkeypatch.setattr(core.app, "_shared", made)
    yield made
    core.app.close_shared_app()


def connect(server: OpenAIServer, model: str = "ok") -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url, "LLM_MODEL": f"openai:{model}"}


def answered(app: App, question: str = "你好") -> str:
    return next(event.text for event in app.chat.stream(question) if isinstance(event, Answer))


def test_the_next_question_is_answered_by_the_new_model(app: App, server: OpenAIServer) -> None:
    assert shared_app() is app
    assert app.model.choice.embedded
    app.saved.change(connect(server))
    assert answered(shared_app()) == ANSWER
    assert shared_app() is shared_app(), "not again without a change"
    shared_app().saved.change(dict.fromkeys(connect(server), ""))
    assert shared_app().model.choice.embedded
    assert shared_app().loaded.origins["OPENAI_API_KEY"] == "default"


def test_what_must_last_goes_on_and_the_rest_is_new(app: App, server: OpenAIServer) -> None:
    desk = app.legal
    app.saved.change(connect(server) | {"EXA_API_KEY": KEY})
    renewed = shared_app()
    for part in ("loop", "database", "store", "outbox", "keeper", "metrics", "calls", "saved"):
        assert getattr(renewed, part) is getattr(app, part), part
    assert renewed.chat.admission is app.chat.admission
    assert renewed.legal.importer is desk.importer
    assert renewed.agent.model is renewed.model is renewed.chat.model is not app.model
    assert [engine.name for engine in app.chain.engines] == ["bundled"]
    exa, _ = renewed.chain.engines
    assert isinstance(exa, ExaEngine)
    assert renewed.search.states().keys() == {"exa", "bundled"}


class RenderingEngine(SearchEngine):
    name = "exa"

    def search(self, query: SearchQuery, num_results: int, *, deadline: Deadline | None = None) -> list[SearchResult]:
        return []

    def render(self, url: str, deadline: Deadline, *, public_only: bool, unsandboxed: bool) -> str | None:
        return None

    def close(self) -> None: ...


def test_pages_are_opened_in_the_browser_of_the_chain_as_it_is(app: App, server: OpenAIServer) -> None:
    assert app.reader._render is None
    with_browser = replace(app, chain=Chain((RenderingEngine(),), left_out=()))
    with_browser.saved.change({"EXA_API_KEY": KEY})
    renewed = with_browser.renewed()
    assert renewed.reader._render == with_browser.chain.engines[0].render  # type: ignore[attr-defined]
    assert renewed.chat.reader is renewed.reader is renewed.agent.reader
    assert renewed.reader._workers is app.reader._workers
    assert renewed.reader._cache is app.reader._cache
    renewed.saved.change({"EXA_API_KEY": ""})
    assert renewed.renewed().reader._render is None


def test_an_answer_under_way_ends_on_the_old_model(app: App, server: OpenAIServer) -> None:
    app.saved.change(connect(server, "script:slow"))
    server.script, server.pause = ["一", "二", "三"], 0.2
    events = shared_app().chat.stream("你好")
    next(event for event in events if isinstance(event, TextDelta))
    shared_app().saved.change(connect(server, "ok"))
    assert answered(shared_app()) == ANSWER
    assert next(event.text for event in events if isinstance(event, Answer)) == "一二三"


def test_a_search_limit_does_not_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    made = build_app(loaded(LIMITS_MODEL_CALLS_PER_MINUTE="7", SEARCH_PROVIDER_PRIORITY="bundled"))
    monkeypatch.setattr(core.app, "_shared", made)
    made.saved.change({"LLM_MODEL": "embedded"})
    assert shared_app().calls is made.calls
    assert shared_app().search._limits is made.search._limits
    core.app.close_shared_app()


def test_another_process_saves_and_this_one_notices(app: App) -> None:
    code = "import sys, pathlib; from core.base.settings import SavedFile; SavedFile(pathlib.Path(sys.argv[1])).change({'LLM_MODEL': 'openai:theirs'})"
    subprocess.run([sys.executable, "-c", code, os.environ["DATA_DIR"]], cwd=ROOT, check=True)
    assert shared_app().settings.llm.model == "openai:theirs"


def test_the_command_line_uses_it_too(server: OpenAIServer) -> None:
    SavedFile(Path(os.environ["DATA_DIR"])).change(connect(server))
    done = subprocess.run(
        [sys.executable, "-m", "core", "ask", "你好"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ANSWER[:8] in done.stdout
    assert KEY not in done.stdout + done.stderr


def test_a_new_key_is_hidden_in_the_log(capsys: pytest.CaptureFixture[str], app: App, server: OpenAIServer) -> None:
    app.saved.change(connect(server))
    shared_app()
    logging.getLogger("x").warning("the service says: %s is no good", KEY)
    told = capsys.readouterr().err
    assert "is no good" in told
    assert KEY not in told


def test_a_damaged_file_stops_nobody(app: App) -> None:
    app.saved.change({"LLM_MODEL": "openai:x"})
    assert shared_app().settings.llm.model == "openai:x"
    SavedFile(app.settings.data_dir).path.write_text("{", "utf-8")
    until(lambda: shared_app().model.choice.embedded)
    assert "已损坏" in str(shared_app().loaded.problems[0])
