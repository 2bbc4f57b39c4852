"""What a trial of a model finds out, from a real server through the real client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from core.llm.call_limit import ModelCallLimit
from core.llm.connection_test import ConnectionTestResult, run_connection_test
from core.llm.errors import ModelAuthError, ModelNotFound, ModelUnavailable, TooManyCalls
from support.base import loaded
from support.faults import unused_port
from support.openai_server import OpenAIServer, Thinks, in_turn, openai_server


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


def tried(server: OpenAIServer, model: str, *, limit: ModelCallLimit | None = None) -> ConnectionTestResult:
    settings = loaded(LLM_MODEL=f"openai:{model}", OPENAI_BASE_URL=server.url, OPENAI_API_KEY="some-key").values
    return asyncio.run(run_connection_test(settings, limit=limit))


def test_what_came_back_how_fast_and_what_it_can(server: OpenAIServer) -> None:
    server.first_pause, server.calls_tools = 0.2, True
    trial = tried(server, "ok")
    assert trial.answer.startswith("问源的回答")
    assert 0.2 <= trial.first_seconds <= trial.seconds
    assert (trial.streams, trial.thinks, trial.calls_tools) == (True, False, True)
    assert len(server.requests) == 2


def test_thinking_is_seen_and_is_no_part_of_what_was_said(server: OpenAIServer) -> None:
    trial = tried(server, "think")
    assert trial.thinks
    assert "先想一想" not in trial.answer


def test_reasoning_in_a_field_of_its_own_is_thinking_too(server: OpenAIServer) -> None:
    server.reply = in_turn([Thinks("先想一想"), "我是", "模型。"])
    trial = tried(server, "reply")
    assert trial.thinks
    assert trial.answer == "我是模型。"


def test_an_answer_in_one_piece_does_not_stream_and_tools_may_be_ignored(server: OpenAIServer) -> None:
    server.script = ["全部在这里。"]
    trial = tried(server, "script:one")
    assert (trial.streams, trial.calls_tools) == (False, False)


def test_a_long_answer_is_not_waited_for(server: OpenAIServer) -> None:
    server.script, server.pause = ["很长的一段话。" * 20] * 1_000, 0.01
    trial = tried(server, "script:long")
    assert trial.seconds < 5
    assert len(trial.answer) <= 121


def test_what_goes_wrong_is_what_a_reader_would_meet(server: OpenAIServer) -> None:
    server.api_key = "another-key"
    with pytest.raises(ModelAuthError):
        tried(server, "ok")
    server.api_key = None
    with pytest.raises(ModelNotFound):
        tried(server, "404")
    settings = loaded(LLM_MODEL="openai:x", OPENAI_BASE_URL=f"http://127.0.0.1:{unused_port()}/v1").values
    with pytest.raises(ModelUnavailable):
        asyncio.run(run_connection_test(settings))


def test_a_trial_counts_as_calls(server: OpenAIServer) -> None:
    limit = ModelCallLimit(2)
    tried(server, "ok", limit=limit)
    with pytest.raises(TooManyCalls):
        tried(server, "ok", limit=limit)
    assert len(server.requests) == 2
