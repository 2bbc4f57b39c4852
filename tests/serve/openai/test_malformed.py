"""Requests that are not what they should be: each gets an error of the client, in OpenAI's shape, and none a bug."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import AppError
from core.serve.openai.conversation import messages_of
from core.serve.openai.requests import ChatRequest, ResponseRequest, parse_request
from support.openai_protocol import Served

ASKED = '{"model": "wenyuan-plain", "messages": [{"role": "user", "content": %s}]}'
DEEP = "[" * 100_000

BODIES = {
    "nothing": b"",
    "no JSON": b"{model}",
    "half of it": b'{"model": "wenyuan-plain", "messages": [',
    "no object": b"[1, 2]",
    "a number": b"7",
    "null": b"null",
    "no UTF-8": b'{"model": "\xff\xfe"}',
    "half a character": (ASKED % '"\\ud800"').encode(),
    "half a character as the model": b'{"model": "\\ud800", "messages": [{"role": "user", "content": "a"}]}',
    "deep": DEEP.encode(),
    "deep in a field": b'{"model": "wenyuan-plain", "tool_choice": ' + DEEP.encode(),
    "deep and closed": (ASKED % f"{'[' * 500}{']' * 500}").encode(),
    "no messages": b'{"model": "wenyuan-plain"}',
    "empty messages": b'{"model": "wenyuan-plain", "messages": []}',
    "messages of another type": b'{"model": "wenyuan-plain", "messages": {"role": "user"}}',
    "a message of another type": b'{"model": "wenyuan-plain", "messages": ["question"]}',
    "an unknown role": b'{"model": "wenyuan-plain", "messages": [{"role": "king", "content": "a"}]}',
    "content of another type": (ASKED % "7").encode(),
    "no content": (ASKED % "null").encode(),
    "parts without a type": (ASKED % '[{"text": "a"}]').encode(),
    "a model of another type": b'{"model": 7, "messages": [{"role": "user", "content": "a"}]}',
    "no model": b'{"messages": [{"role": "user", "content": "a"}]}',
    "a stream of another type": (ASKED % '"a"').replace("}]}", '}], "stream": {}}').encode(),
    "a huge number": (ASKED % '"a"').replace("}]}", f'}}], "n": {"9" * 5_000}}}').encode(),
    "not a number": (ASKED % '"a"').replace("}]}", '}], "n": NaN}').encode(),
    "only what cannot be seen": (ASKED % '"\\u200b\\u2060 "').encode(),
}


@pytest.mark.parametrize("path", ["/chat/completions", "/responses"])
def test_no_body_is_a_bug(served: Served, path: str) -> None:
    with served.http() as client:
        for name, body in BODIES.items():
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 400, f"{name}: {answer.text[:200]}"
            error = answer.json()["error"]
            assert error["type"] == "invalid_request_error", name
            assert error["message"].endswith("。"), name
            assert len(error["message"]) < 300, name
    assert served.model.requests == []


def test_the_field_is_named(served: Served) -> None:
    with served.http() as client:
        missing, wrong = (
            client.post("/chat/completions", content=BODIES[name]).json()["error"]
            for name in ("no messages", "an unknown role")
        )
    assert (missing["param"], missing["message"]) == ("messages", "「messages」没有给出。")
    assert wrong["param"] == "messages[0].role"
    assert wrong["message"].startswith("「messages[0].role」只能是 system、developer、user")


def test_more_than_a_request_may_have_is_refused(served: Served) -> None:
    with served.http() as client:
        answer = client.post("/chat/completions", content=(ASKED % json.dumps("问" * 4_000_000)).encode())
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "too_large"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(st.sampled_from(["type", "text", "file"]), inside),
    max_leaves=3,
)
FIELDS = st.sampled_from(sorted({*ChatRequest.model_fields, *ResponseRequest.model_fields, "role", "content", "type"}))
ITEMS = st.lists(st.dictionaries(FIELDS, ANYTHING, max_size=3), max_size=2)


@settings(max_examples=100)
@given(st.dictionaries(FIELDS, ANYTHING | ITEMS, max_size=6))
def test_any_json_is_read_or_refused(document: dict[str, Any]) -> None:
    body = json.dumps(document).encode()
    with suppress(AppError):
        parse_request(ChatRequest, body)
    with suppress(AppError):
        messages_of(parse_request(ResponseRequest, body))
