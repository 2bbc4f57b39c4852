"""What engines and models send as JSON, with something wrong in one place: over a real socket, through the real classes.

Every value of a good answer is replaced in turn. tests/search/test_contract.py does it with plainly wrong types; here are
the values that JSON allows and nobody expects.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.answer.events import Answer, RunEvent, RunFailed, TextDelta, Usage
from core.app import build_app
from core.base.http import Request, Response, fetch
from core.base.text import clean
from core.llm.model import Model
from core.search.errors import EngineError
from core.search.types import SearchResult
from support.agents import no_patience
from support.base import loaded
from support.engines import ENGINE_SAMPLES, KEY, usable
from support.fake_engines import FakeEngine, results
from support.faults import Peer, Server, message


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


ODD: dict[str, Any] = {
    "nothing": None,
    "true": True,
    "-1": -1,
    "a number of 400 digits": 10**400,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "empty": "",
    "blank": " \u3000\t",
    "100,000 letters": "x" * 100_000,
    "half a character": "\ud800",
    "backwards": "\u202eexe.gnp",
    "NUL": "\x00",
    "a terminal's command": "\x1b]0;x\x07",
    "a script": "javascript:alert(1)",
    "half an address": "http://[",
    "another's address": "http://evil.example\\.a.example/",
    "an address without a host": "http://.../",
    "tags": "<img src=x onerror=alert(1)>",
    "nested": nested(500),
    "a list of lists": [[], [[]], {}],
    "a list of nothing": [None],
    "an object": {"": {"__proto__": {}}},
}


class Answers:
    """A server with one answer at a time."""

    def __init__(self) -> None:
        self.raw = b""
        self.server = Server(self._serve)

    def _serve(self, peer: Peer) -> None:
        while peer.read_request():
            peer.send(self.raw)

    def fetch(self, request: Request, **options: Any) -> Response:
        """The engine's own request, sent here."""
        return fetch(replace(request, url=self.server.url), **options)


@pytest.fixture(scope="module")
def answers() -> Iterator[Answers]:
    running = Answers()
    with running.server:
        yield running


def damaged(value: Any, wrong: Any) -> Iterator[Any]:
    yield wrong
    if isinstance(value, dict):
        for key in value:
            for part in damaged(value[key], wrong):
                yield {**value, key: part}
    elif isinstance(value, list):
        for place in range(len(value)):
            for part in damaged(value[place], wrong):
                yield [*value[:place], part, *value[place + 1 :]]


def sound(found: list[SearchResult]) -> bool:
    """What anybody may show."""
    return all(
        result.url.startswith("http")
        and "\\" not in result.url
        and result.source
        and result.title == clean(result.title)
        and len(result.title) <= 200
        and len(result.snippet) <= 1000
        and isinstance(result.published, str | None)
        for result in found
    )


def searched(engine: str, answers: Answers) -> list[SearchResult] | None:
    """None: the engine says that it cannot answer, and for how long it should be left alone."""
    try:
        found: list[SearchResult] = usable(engine, answers.fetch).search("问题", 10)
    except EngineError as error:
        failed = error
    else:
        return found
    assert 1 <= failed.rest <= 3600
    assert failed.message == clean(failed.message)
    assert KEY not in f"{failed!r} {failed} {failed.__cause__!r}"
    return None


@pytest.mark.parametrize("engine", ENGINE_SAMPLES)
@pytest.mark.parametrize("wrong", ODD.values(), ids=ODD)
def test_no_odd_value_in_any_place_of_an_engines_answer(engine: str, wrong: Any, answers: Answers) -> None:
    good = ENGINE_SAMPLES[engine].payload([("标题", "https://a.example/", "摘要")])
    for status in ("200 OK", "429 Slow"):
        for document in damaged(good, wrong):
            answers.raw = message(json.dumps(document).encode(), status=status)
            found = searched(engine, answers)
            assert found is None if status[0] == "4" else found is None or sound(found)


@pytest.mark.parametrize("engine", ENGINE_SAMPLES)
@pytest.mark.parametrize("wrong", ODD.values(), ids=ODD)
def test_no_odd_value_in_an_engines_error(engine: str, wrong: Any, answers: Answers) -> None:
    explained = {"retry_after_seconds": wrong, "code": wrong, "message": wrong, "type": wrong}
    for error in (wrong, explained, [explained]):
        body = json.dumps({"error": error, "tag": wrong, "code": wrong, "msg": wrong, "detail": wrong}).encode()
        for status in (401, 402, 429, 500):
            answers.raw = message(body, f"Retry-After: {'9' * 400}", status=f"{status} X")
            assert searched(engine, answers) is None


BODIES: dict[str, bytes] = {
    "HTML": b"<!doctype html><title>Just a moment...</title>",
    "a BOM alone": b"\xef\xbb\xbf",
    "UTF-16": '{"results": []}'.encode("utf-16"),
    "two documents": b'{"results": []}{"results": []}',
    "JSON lines": b'{"results": []}\n{"results": []}\n',
    "JSONP": b'callback({"results": []})',
    "a guard before it": b")]}'\n" + b'{"results": []}',
    "single quotes": b"{'results': []}",
    "a comment": b'/* */ {"results": []} // x',
    "a trailing comma": b'{"results": [],}',
    "one digit too many": b'{"results": ' + b"1" * 5000 + b"}",
    "lists in lists": b"[" * 200_000 + b"]" * 200_000,
    "past the cap": b'{"results": ["' + b"x" * 5_000_000 + b'"]}',
    "control characters": b'{"results": "\x00\x01\x1b"}',
    "a stream": b"data: {}\n\ndata: [DONE]\n\n",
    "XML": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
}


@pytest.mark.parametrize("engine", ENGINE_SAMPLES)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_is_no_answer_is_none(engine: str, body: bytes, answers: Answers) -> None:
    answers.raw = message(body, "Content-Type: application/json")
    assert searched(engine, answers) is None


@pytest.mark.parametrize("engine", ENGINE_SAMPLES)
def test_the_last_of_two_equal_keys_counts(engine: str, answers: Answers) -> None:
    """As everywhere else; whoever checked the first one has checked nothing."""
    good = json.dumps(ENGINE_SAMPLES[engine].payload([("标题", "https://a.example/", "摘要")]))
    answers.raw = message(
        good.replace('"title": ', '"title": 5, "title": ').replace('"name": ', '"name": 5, "name": ').encode()
    )
    found = searched(engine, answers)
    assert found is not None
    assert [result.title for result in found] == ["标题"]


@pytest.mark.parametrize("engine", ENGINE_SAMPLES)
@pytest.mark.parametrize("encoding", ["gb18030", "big5", "utf-8-sig"])
def test_chinese_in_the_encoding_that_the_header_names(engine: str, encoding: str, answers: Answers) -> None:
    good = json.dumps(ENGINE_SAMPLES[engine].payload([("法律", "https://a.example/", "摘要")]), ensure_ascii=False)
    good = good.replace("甲乙。", "")
    answers.raw = message(good.encode(encoding), f"Content-Type: application/json; charset={encoding}")
    found = searched(engine, answers)
    assert found is not None
    assert [result.title for result in found] == ["法律"]


RECORDED = {"exa": "exa", "perplexity": "perplexity", "serpapi": "serpapi", "tavily": "tavily", "searxng": "searxng"}


@pytest.mark.shared
@pytest.mark.parametrize("engine", RECORDED)
def test_no_odd_value_in_any_place_of_a_recorded_answer(engine: str, shared: Path, answers: Answers) -> None:
    folder = shared / "data" / "payloads" / RECORDED[engine]
    for path in sorted(folder.glob("*.json"))[:4]:
        document = json.loads(path.read_text("utf-8"))
        if path.name.endswith(".meta.json") or not isinstance(document, dict):
            continue
        for wrong in map(ODD.get, ("nothing", "NaN", "half a character", "a list of lists", "a number of 400 digits")):
            for number, case in enumerate(damaged(document, wrong)):
                if number % 7 == 0:  # they are long, and much alike
                    answers.raw = message(json.dumps(case).encode())
                    found = searched(engine, answers)
                    assert found is None or sound(found)


# ── The model ─────────────────────────────────────────────────────────────────────────────────────────────────────


def chunk(delta: Any, ending: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": ending}]}


CALL = {"id": "c1", "type": "function", "function": {"name": "web_search", "arguments": '{"query": "法"}'}}
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "prompt_tokens_details": {"cached_tokens": 1}}
WORDS = [chunk({"role": "assistant", "content": "你好"}), chunk({}, "stop"), {"choices": [], "usage": USAGE}]
CALLS = [chunk({"content": None, "tool_calls": [{**CALL, "index": 0}]}), chunk({}, "tool_calls")]

Asked = Callable[[str, list[Any] | bytes], list[RunEvent]]


def stream(chunks: list[Any]) -> bytes:
    return ("".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n").encode()


@pytest.fixture(scope="module")
def asked(answers: Answers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """The events of a run in this mode whose model streams these chunks, or just these bytes, again and again."""
    settings = loaded(
        DATA_DIR=str(tmp_path_factory.mktemp("model")),
        OPENAI_BASE_URL=f"{answers.server.url}v1",
        LLM_MODEL="openai:m",
        LLM_ATTEMPTS="1",
        AGENT_STRATEGY="tools",
    )
    app = build_app(settings, model=Model(settings.values, sleep=no_patience), engines=[FakeEngine("fake", results(2))])

    def ask(mode: str, said: list[Any] | bytes) -> list[RunEvent]:
        body = said if isinstance(said, bytes) else stream(said)
        answers.raw = message(body, "Content-Type: text/event-stream")
        return list((app.agent if mode == "agent" else app.chat).stream("问题"))

    yield ask
    app.close()


def check(events: list[RunEvent]) -> None:
    """A run ends with an answer and its cost, or with a sentence; and everything it told can be told on."""
    last = events[-1]
    assert isinstance(last, Usage | RunFailed)
    for event in events:
        told = json.dumps(event.to_json(), ensure_ascii=False)
        told.encode()
        assert "\\u0000" not in told
        assert "\\u001b" not in told
        if isinstance(event, Usage):
            assert 0 <= event.input < 2**31
            assert 0 <= event.output < 2**31
        if isinstance(event, RunFailed):
            assert "Error" not in event.message or "（" in event.message


@pytest.mark.parametrize(("mode", "good"), [("chat", WORDS), ("agent", CALLS)], ids=["chat", "agent"])
@pytest.mark.parametrize(
    "odd", ["nothing", "-1", "NaN", "100,000 letters", "half a character", "nested", "a list of nothing"]
)
def test_no_odd_value_in_any_place_of_a_models_stream(mode: str, good: list[Any], odd: str, asked: Asked) -> None:
    for chunks in list(damaged(good, ODD[odd]))[1:]:
        check(asked(mode, chunks))


@pytest.mark.parametrize(
    ("usage", "estimated"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}, False),
        ({"prompt_tokens": -3, "completion_tokens": 2, "total_tokens": 5}, True),
        ({"prompt_tokens": 3, "completion_tokens": -2, "total_tokens": 1}, True),
        ({"prompt_tokens": 10**30, "completion_tokens": 2, "total_tokens": 5}, True),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, True),
        ({"prompt_tokens": None, "completion_tokens": None, "total_tokens": None}, True),
        ({}, True),
    ],
)
@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_counts_that_nobody_can_believe_are_estimated(
    mode: str, usage: dict[str, Any], estimated: bool, asked: Asked
) -> None:
    last = asked(mode, [*WORDS[:2], {"choices": [], "usage": usage}])[-1]
    assert isinstance(last, Usage)
    assert last.estimated is estimated


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (["a\x1b[31mb\x07"], "a[31mb"),
        (["a\ud83d", "\ude00b"], "ab"),
        (["\u202ea\u200bb"], "ab"),
        (["a\U000e0041b"], "ab"),
        (["👨", "\u200d", "👩 x"], "👨\u200d👩 x"),
        (["a\r", "\nb"], "a\r\nb"),
    ],
    ids=["terminal", "halves", "bidi", "tag", "joined", "line end"],
)
def test_what_nobody_sees_is_in_no_piece_of_an_answer(mode: str, said: list[str], shown: str, asked: Asked) -> None:
    events = asked(mode, [*(chunk({"content": piece}) for piece in said), chunk({}, "stop")])
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == shown
    assert [event.text for event in events if isinstance(event, Answer)] == [shown]


@pytest.mark.parametrize("arguments", ["x" * 100_000, '{"query": "' + "法" * 50_000, "[" * 100_000, '{"a":' * 50_000])
@pytest.mark.parametrize("pieces", [1, 50])
def test_a_tools_endless_arguments_hold_nobody_up(arguments: str, pieces: int, asked: Asked) -> None:
    size = len(arguments) // pieces
    parts = [arguments[start : start + size] for start in range(0, len(arguments), size)]
    calls = [{**CALL, "index": 0, "function": {"name": "web_search", "arguments": part}} for part in parts]
    started = time.monotonic()
    events = asked("agent", [*(chunk({"tool_calls": [call]}) for call in calls), chunk({}, "tool_calls")])
    assert time.monotonic() - started < 30
    assert isinstance(events[-1], RunFailed)
    assert "太长" in events[-1].message


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_model_service_that_sends_something_else(mode: str, body: bytes, asked: Asked) -> None:
    events = asked(mode, body)
    check(events)
    assert isinstance(events[-1], RunFailed)
