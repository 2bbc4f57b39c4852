from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from core.base.settings import EMBEDDED, ModelChoice, choose_model
from core.base.threads import LoopThread
from core.llm.call_limit import ModelCallLimit
from core.llm.errors import ModelError, TooManyCalls, to_model_error
from core.llm.model import MAX_OTHER_MODELS, Model
from core.llm.pieces import Piece, TextPiece, ThoughtPiece, TokenUsage
from support.base import loaded
from support.openai_server import ANSWER, OpenAIServer, openai_server
from support.scripted import ScriptedChatModel
from support.waiting import until

PROMPT = [("system", "s"), ("human", "问题")]


@pytest.fixture(scope="module")
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.stop()


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


async def _no_sleep(_: float) -> None:
    pass


def ask(loop: LoopThread, model: Model) -> list[Piece]:
    pieces: list[Piece] = []

    async def collect() -> list[Piece]:
        async for piece in model.stream(PROMPT):
            pieces.append(piece)
        return pieces

    try:
        return loop.submit(collect()).result(30)
    except ModelError as error:
        error.pieces = pieces  # type: ignore[attr-defined]
        raise


def connected(server: OpenAIServer, name: str, **environ: str) -> Model:
    settings = loaded(
        OPENAI_API_KEY="sk-test", OPENAI_BASE_URL=server.url, LLM_MODEL=f"openai:{name}", **environ
    ).values
    return Model(settings, sleep=_no_sleep)


def said(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


def test_the_real_client_streams_and_reports_usage(loop: LoopThread, server: OpenAIServer) -> None:
    server.pause = 0.1
    pieces = ask(loop, connected(server, "ok"))
    assert said(pieces) == ANSWER
    assert pieces[-1] == TokenUsage(11, 7, estimated=False)
    assert len(pieces) > 2  # pieces that wait for a busy reader are joined


def test_usage_is_estimated_where_the_server_gives_none(loop: LoopThread, server: OpenAIServer) -> None:
    usage = ask(loop, connected(server, "no-usage"))[-1]
    assert isinstance(usage, TokenUsage)
    assert usage.estimated
    assert 5 < usage.output < 40


def test_reasoning_is_told_apart(loop: LoopThread, server: OpenAIServer) -> None:
    pieces = ask(loop, connected(server, "think"))
    assert said(pieces).strip() == ANSWER
    assert "".join(piece.text for piece in pieces if isinstance(piece, ThoughtPiece)) == "先想一想"


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("401", "model_auth"),
        ("403", "model_auth"),
        ("404", "model_not_found"),
        ("408", "model_timeout"),
        ("400", "model_refused"),
        ("429", "model_overloaded"),
        ("quota", "model_quota"),
        ("500", "model_fault"),
        ("empty", "model_empty"),
    ],
)
def test_every_refusal_has_its_sentence(loop: LoopThread, server: OpenAIServer, model: str, kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        ask(loop, connected(server, model))
    assert caught.value.kind == kind
    assert "sk-" not in str(caught.value)
    assert str(caught.value).endswith("。")


def test_garbage_becomes_a_model_error(loop: LoopThread, server: OpenAIServer) -> None:
    with pytest.raises(ModelError):
        ask(loop, connected(server, "garbage"))


def test_a_dead_server(loop: LoopThread) -> None:
    settings = loaded(OPENAI_API_KEY="k", OPENAI_BASE_URL="http://127.0.0.1:9/v1", LLM_MODEL="openai:x").values
    with pytest.raises(ModelError) as caught:
        ask(loop, Model(settings, sleep=_no_sleep))
    assert caught.value.kind == "model_unavailable"


def test_a_hung_server_ends_at_the_first_token_timeout(loop: LoopThread, server: OpenAIServer) -> None:
    before = time.monotonic()
    with pytest.raises(ModelError) as caught:
        ask(loop, connected(server, "hang", LLM_FIRST_TOKEN_TIMEOUT="1"))
    assert caught.value.kind == "model_timeout"
    assert time.monotonic() - before < 20


def test_a_trickling_server_ends_at_the_total_timeout(loop: LoopThread, server: OpenAIServer) -> None:
    with pytest.raises(ModelError) as caught:
        ask(loop, connected(server, "trickle", LLM_TOTAL_TIMEOUT="5"))
    assert caught.value.kind == "model_timeout"
    assert "慢慢慢" in said(caught.value.pieces)  # type: ignore[attr-defined]


@pytest.mark.parametrize("how", ["disconnect", "reset"])
def test_a_disconnect_in_mid_stream_keeps_the_text_and_is_not_retried(
    loop: LoopThread, server: OpenAIServer, how: str
) -> None:
    before = len(server.requests)
    with pytest.raises(ModelError) as caught:
        ask(loop, connected(server, how))
    assert caught.value.kind == "model_disconnected"
    assert said(caught.value.pieces) == "前半句已经写出"  # type: ignore[attr-defined]
    assert len(server.requests) == before + 1


def test_retry_before_the_first_token() -> None:
    with openai_server() as server:
        loop = LoopThread()
        assert said(ask(loop, connected(server, "flaky"))) == ANSWER
        assert len(server.requests) == 2
        loop.stop()


def test_no_retry_for_a_wrong_key(loop: LoopThread, server: OpenAIServer) -> None:
    before = len(server.requests)
    with pytest.raises(ModelError):
        ask(loop, connected(server, "401"))
    assert len(server.requests) == before + 1


def test_attempts_are_counted(loop: LoopThread, server: OpenAIServer) -> None:
    before = len(server.requests)
    with pytest.raises(ModelError):
        ask(loop, connected(server, "500", LLM_ATTEMPTS="4"))
    assert len(server.requests) == before + 4


def test_cancelling_closes_the_connection() -> None:
    with openai_server() as server:
        loop = LoopThread()
        model = connected(server, "slow")
        started = []

        async def collect() -> None:
            async for piece in model.stream(PROMPT):
                started.append(piece)

        future = loop.submit(collect())
        deadline = time.monotonic() + 10
        while len(started) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        future.cancel()
        while not server.broken_off and time.monotonic() < deadline:
            time.sleep(0.02)
        assert server.broken_off == 1
        loop.stop()


def test_a_silent_pause_in_mid_stream_times_out(loop: LoopThread) -> None:
    scripted = ScriptedChatModel(script=[["先说", 30]])
    model = Model(loaded(LLM_IDLE_TIMEOUT="1").values, build=lambda _: scripted)
    with pytest.raises(ModelError) as caught:
        ask(loop, model)
    assert caught.value.kind == "model_timeout"
    assert said(caught.value.pieces) == "先说"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("environ", "choice"),
    [
        ({}, ModelChoice(EMBEDDED, EMBEDDED)),
        ({"OPENAI_API_KEY": "k"}, ModelChoice("openai", "gpt-5-mini")),
        ({"OPENAI_API_KEY": "k", "LLM_MODEL": "embedded"}, ModelChoice(EMBEDDED, EMBEDDED)),
        ({"LLM_MODEL": "openai:gpt-x"}, ModelChoice("openai", "gpt-x")),
        ({"LLM_MODEL": "anthropic:claude-x"}, ModelChoice("anthropic", "claude-x")),
        (
            {"LLM_MODEL": "deepseek-chat", "OPENAI_BASE_URL": "https://api.deepseek.com"},
            ModelChoice("openai", "deepseek-chat"),
        ),
        ({"LLM_MODEL": "qwen3:8b", "OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"}, ModelChoice("openai", "qwen3:8b")),
        (
            {"LLM_MODEL": "openai:qwen3:8b", "OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"},
            ModelChoice("openai", "qwen3:8b"),
        ),
    ],
)
def test_which_model(environ: dict[str, str], choice: ModelChoice) -> None:
    assert choose_model(loaded(**environ).values) == choice


@pytest.mark.parametrize("name", ["anthropic:claude-x", "nosuchprovider:x"])
def test_a_provider_that_is_not_installed_is_explained(loop: LoopThread, name: str) -> None:
    with pytest.raises(ModelError) as caught:
        ask(loop, Model(loaded(LLM_MODEL=name).values))
    assert "请" in str(caught.value)


def test_probe_tells_the_seconds(loop: LoopThread, server: OpenAIServer) -> None:
    assert 0 < connected(server, "ok").probe(loop) < 20


def test_unknown_exceptions_do_not_carry_their_text() -> None:
    error: Any = to_model_error(ValueError("sk-secret"))
    assert "secret" not in str(error)


def test_every_request_counts_whoever_makes_it_and_with_whichever_model(loop: LoopThread, server: OpenAIServer) -> None:
    settings = loaded(OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:500").values
    model = Model(settings, sleep=_no_sleep, limit=ModelCallLimit(4))
    other = settings.model_copy(update={"llm": settings.llm.model_copy(update={"model": "openai:ok"})})
    with pytest.raises(ModelError, match="模型服务出错（500），重试后仍失败。可以换个模型，或稍后再问。"):
        ask(loop, model)  # three attempts
    assert said(ask(loop, model.for_settings(other))) == ANSWER
    asked = len(server.requests)
    with pytest.raises(TooManyCalls, match=r"已达到每分钟的上限。请在 (60|59) 秒后重试。"):
        ask(loop, model.for_settings(other))
    assert len(server.requests) == asked


def test_a_model_that_cannot_be_built_early_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    Model(loaded(LLM_MODEL="nosuchprovider:x", OPENAI_API_KEY="sk-verysecret").values).warm_up()
    until(lambda: "nosuchprovider" in caplog.text)
    assert "verysecret" not in caplog.text


def test_however_many_models_readers_choose_only_some_are_kept() -> None:
    settings = loaded().values
    model = Model(settings)
    for number in range(3 * MAX_OTHER_MODELS):
        model.for_settings(
            settings.model_copy(update={"llm": settings.llm.model_copy(update={"model": f"m:{number}"})})
        )
        assert len(model._others) <= MAX_OTHER_MODELS
