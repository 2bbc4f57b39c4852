"""Answers over HTTP: the same events as those of the command line, or one document; errors before and within."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from core.answer.events import RunStopped
from core.app import App
from core.base.errors import InputError
from core.run import Run
from core.serve import OPERATOR, Ask, answers, event_stream
from core.serve import Scope as May
from support.command import Core, core
from support.filled_collections import LEASE
from support.http_api import HttpApi, error_of, events_in, http_api
from support.openai_server import ANSWER, HANG, OpenAIServer, in_turn, openai_server
from support.reading import kept_workers
from support.waiting import until

__all__ = ["core", "kept_workers"]

QUESTION = "怎么打开联网搜索？"
TIMES = {"searchTime", "seconds", "cacheAge", "fromCache", "callId"}
"""What differs from one answer to the next."""


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


def connected(server: OpenAIServer, name: str = "ok", **environ: str) -> dict[str, Any]:
    """Return the environment of an App with this model and the manual to search in."""
    address = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": f"openai:{name}"}
    return {**address, "SEARCH_PROVIDER_PRIORITY": "bundled", "CHECKS_JUDGE": "auto", **environ}


def wait_until_read(api: HttpApi, token: str = "") -> None:
    until(lambda: all(not one["unfinished"] for one in api.get("/documents", token).json()["collections"]))


def timeless(document: Any) -> Any:
    if isinstance(document, dict):
        return {name: timeless(value) for name, value in document.items() if name not in TIMES}
    return [timeless(one) for one in document] if isinstance(document, list) else document


def joined(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events with pieces of one text together: where they are cut depends on how fast they come."""
    whole: list[dict[str, Any]] = []
    for event in events:
        if whole and event["type"] == whole[-1]["type"] in ("text_delta", "thought"):
            whole[-1] = {**whole[-1], "text": whole[-1]["text"] + event["text"]}
        else:
            whole.append(event)
    return whole


@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_the_events_are_those_that_the_command_line_prints(core: Core, model: OpenAIServer, mode: str) -> None:
    """With the review that follows the end."""
    environ = connected(model)
    done = core("ask", QUESTION, "--mode", mode, "--search", "--json", **environ)
    with http_api(engines=None, **environ) as api:
        reply = api.post("/ask", question=QUESTION, mode=mode, search=True)
    assert reply.headers["content-type"].startswith("text/event-stream")
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert joined(timeless(events_in(reply))) == joined(timeless(printed))
    assert [event["type"] for event in printed].count("checked") == 2


def test_the_document_is_what_the_events_add_up_to(core: Core, model: OpenAIServer) -> None:
    environ = connected(model)
    with http_api(engines=None, **environ) as api:
        by_header = api(
            "POST", "/ask", json={"question": QUESTION, "search": True}, headers={"Accept": "application/json"}
        )
        by_field = api.post("/ask", question=QUESTION, search=True, stream=False)
    assert by_header.headers["content-type"] == by_field.headers["content-type"] == "application/json"
    done = core("ask", QUESTION, "--search", "--json-answer", **environ)
    assert timeless(by_header.json()) == timeless(by_field.json()) == timeless(json.loads(done.stdout))
    assert by_field.json()["text"] == ANSWER
    assert by_field.json()["complete"]


def test_a_client_gets_events_unless_it_takes_json_alone() -> None:
    with http_api() as api:
        for accepted, stream, kind in (
            ("*/*", None, "text/event-stream"),
            ("text/event-stream, application/json", None, "text/event-stream"),
            ("application/json", None, "application/json"),
            ("application/json", True, "text/event-stream"),
            ("text/event-stream", False, "application/json"),
        ):
            fields = {"question": "你好", "stream": stream}
            reply = api("POST", "/ask", json=fields, headers={"Accept": accepted})
            assert reply.headers["content-type"].startswith(kind), (accepted, stream)


def test_everything_that_is_asked_for_reaches_the_model(model: OpenAIServer) -> None:
    """Model, history, instructions, a file and a collection."""
    model.models = ["ok", "other"]
    file = {"name": "lease.txt", "content": base64.b64encode(LEASE.encode()).decode()}
    history = [{"role": "user", "text": "我叫阿灯。"}, {"role": "assistant", "text": "你好，阿灯。"}]
    with http_api(**connected(model, LLM_MODELS="openai:ok,openai:other")) as api:
        assert (
            api("PUT", "/documents/制度/files/leave.txt", content="年假十天，由部门经理批准。".encode()).status_code
            == 200
        )
        wait_until_read(api)
        fields = {"question": "年假几天？月租金多少？", "model": "openai:other", "stream": False}
        beside = {"history": history, "files": [file], "collections": ["制度"], "instructions": "用三句话。"}
        reply = api("POST", "/ask", json={**fields, **beside})
    assert reply.json()["complete"], reply.text
    asked = max(model.requests, key=lambda one: len(str(one["messages"])))  # shorter ones prepare it
    sent = json.dumps(asked["messages"], ensure_ascii=False)
    assert [words for words in ("我叫阿灯", "用三句话", "八千六百元", "年假十天") if words not in sent] == []
    assert asked["model"] == "other"


def test_what_is_refused_before_the_answer_is_an_error_and_no_stream(model: OpenAIServer) -> None:
    with http_api(**connected(model, LIMITS_ANSWERS_PER_MINUTE="1")) as api:
        token = api.new_token("a")
        assert error_of(api.post("/ask", token, question="x", collections=["none"]))[:2] == (
            404,
            "collection_not_found",
        )
        assert api.post("/ask", token, question="你好").status_code == 200
        refused = api.post("/ask", token, question="你好")
        assert error_of(refused)[:2] == (429, "too_many_questions")
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        without_documents = api.new_token("b", May.ASK)
        assert error_of(api.post("/ask", without_documents, question="x", collections=["a"]))[:2] == (
            403,
            "scope_missing",
        )


def test_what_fails_within_the_answer_is_its_last_event(model: OpenAIServer) -> None:
    with http_api(**connected(model, "disconnect")) as api:
        events = events_in(api.post("/ask", question="问"))
        document = api.post("/ask", question="问", stream=False)
    assert events[0] == {"type": "text_delta", "text": "前半句已经写出"}
    assert (events[-1]["type"], events[-1]["kind"]) == ("run_failed", "model_disconnected")
    assert document.status_code == 200
    assert document.json()["error"]["kind"] == "model_disconnected"
    assert (document.json()["text"], document.json()["complete"]) == ("前半句已经写出", False)


def test_a_failure_that_is_no_event_of_the_answer_ends_the_stream_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(self: Run) -> Any:
        if self:
            raise InputError("出错了。")
        yield []

    monkeypatch.setattr(Run, "follow_async", fails)
    with http_api() as api:
        events = events_in(api.post("/ask", question="你好"))
    assert events == [{"type": "run_failed", "kind": "input", "message": "出错了。"}]


def test_an_answer_whose_client_goes_before_it_begins_is_stopped(
    monkeypatch: pytest.MonkeyPatch, model: OpenAIServer
) -> None:
    """The client goes while its files are being read, or while the first answer of all loads what it needs."""
    has_begun, client_has_gone, runs = threading.Event(), threading.Event(), list[Run]()

    def start_late(*args: Any) -> Run:
        has_begun.set()
        assert client_has_gone.wait(60)
        runs.append(start_answer(*args))
        return runs[-1]

    async def come_and_go(app: App) -> None:
        starting = asyncio.create_task(answers.start_in_thread(app, OPERATOR, lambda: Ask("问")))
        await asyncio.to_thread(has_begun.wait, 60)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        client_has_gone.set()
        await asyncio.to_thread(until, lambda: bool(runs) and runs[0].done)

    start_answer = answers.start_answer
    monkeypatch.setattr(answers, "start_answer", start_late)
    model.reply = in_turn([HANG])
    with http_api(**connected(model, "reply")) as api:
        asyncio.run(come_and_go(api.app))
    assert runs[0].message().ending == RunStopped("user")


def test_half_a_character_of_a_model_breaks_nothing(model: OpenAIServer) -> None:
    model.reply = in_turn(["灯\ud83c", "塔。"])
    with http_api(**connected(model, "reply")) as api:
        events = events_in(api.post("/ask", question="问"))
        document = api.post("/ask", question="问", stream=False).json()
    assert document["text"] == "灯塔。"
    assert [event["text"] for event in events if event["type"] == "answer"] == ["灯塔。"]


def test_a_silent_stream_is_kept_open_by_comments(monkeypatch: pytest.MonkeyPatch, model: OpenAIServer) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT", 0.05)
    model.reply = in_turn([0.5, "好。"])
    with http_api(**connected(model, "reply")) as api:
        reply = api.post("/ask", question="问")
    assert reply.text.count("\n: ping") + reply.text.startswith(": ping") >= 3
    assert events_in(reply)[-1]["type"] == "usage"


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_that_takes_too_long_is_ended_with_what_there_is(
    monkeypatch: pytest.MonkeyPatch, model: OpenAIServer, stream: bool
) -> None:
    monkeypatch.setattr(answers, "LAST_SECONDS", 4.0)
    model.reply = in_turn(["前半句。", HANG])
    with http_api(**connected(model, "reply", API_TIMEOUT="5")) as api:
        reply = api.post("/ask", question="问", stream=stream)
    assert reply.status_code == 200
    if stream:
        assert events_in(reply)[-1] == {"type": "run_stopped", "reason": "time"}
    else:
        assert reply.json()["stopped"] == "time"
        assert reply.json()["text"] in ("", "前半句。"), "it depends on how busy the machine is"


def test_a_file_that_cannot_be_read_is_named() -> None:
    blank = {"name": "空.txt", "content": base64.b64encode(b"  ").decode()}
    with http_api() as api:
        status, kind, message = error_of(api.post("/ask", question="问", files=[blank]))
    assert (status, kind) == (422, "file")
    assert "空.txt" in message


def test_a_token_asks_in_its_own_collections_only(api_with_two: tuple[HttpApi, str, str]) -> None:
    api, mine, theirs = api_with_two
    assert (
        "八千六百" in api.post("/ask", mine, question="月租金多少？", collections=["合同"], stream=False).json()["text"]
    )
    assert error_of(api.post("/ask", theirs, question="月租金多少？", collections=["合同"]))[0] == 404


@pytest.fixture
def api_with_two() -> Iterator[tuple[HttpApi, str, str]]:
    """An API with a collection of the first of two makers of tokens."""
    with http_api() as api:
        mine, theirs = api.new_token("m"), api.new_token("t")
        assert api("PUT", "/documents/合同/files/lease.txt", token=mine, content=LEASE.encode()).status_code == 200
        wait_until_read(api, mine)
        yield api, mine, theirs
