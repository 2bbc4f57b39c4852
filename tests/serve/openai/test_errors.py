"""Errors as OpenAI's clients expect them: a status and their shape before the answer begins, an event after that."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest

from support.openai_protocol import Served, serving
from support.openai_server import DISCONNECT, HANG, Fail, in_turn

ASKED: Any = [{"role": "user", "content": "问题"}]
CHAT: dict[str, Any] = {"model": "wenyuan-plain", "messages": ASKED}
RESPONSE: dict[str, Any] = {"model": "wenyuan-plain", "input": "问题"}
PNG = "data:image/png;base64,iVBORw0KGgo="


def error_of(answer: httpx.Response) -> dict[str, Any]:
    """Return the error in an answer, which has all fields of OpenAI's."""
    body: dict[str, dict[str, Any]] = answer.json()
    assert list(body) == ["error"]
    assert set(body["error"]) == {"message", "type", "code", "param"}
    assert body["error"]["message"].endswith("。")
    return body["error"]


def with_part(part: dict[str, Any]) -> dict[str, Any]:
    return {**CHAT, "messages": [{"role": "user", "content": [{"type": "text", "text": "这是什么？"}, part]}]}


# ── Before the answer ─────────────────────────────────────────────────────────────────────────────────────────────────

NOT_DONE: dict[str, dict[str, Any]] = {
    "n": {"n": 2},
    "stop": {"stop": ["。"]},
    "logprobs": {"logprobs": True},
    "modalities": {"modalities": ["text", "audio"]},
    "response_format": {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}},
    "tool_choice": {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"},
    "function_call": {"function_call": {"name": "f"}},
}
RESPONSES_NOT_DONE: dict[str, dict[str, Any]] = {
    "previous_response_id": {"previous_response_id": "resp_1"},
    "conversation": {"conversation": "conv_1"},
    "prompt": {"prompt": {"id": "pmpt_1"}},
    "background": {"background": True},
    "top_logprobs": {"top_logprobs": 3},
    "text.format": {"text": {"format": {"type": "json_schema", "name": "a", "schema": {}}}},
    "tool_choice": {"tool_choice": {"type": "function", "name": "f"}},
}


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [("/chat/completions", CHAT | fields, param) for param, fields in NOT_DONE.items()]
    + [("/responses", RESPONSE | fields, param) for param, fields in RESPONSES_NOT_DONE.items()],
)
def test_what_would_promise_more_than_is_done_is_refused(
    served: Served, path: str, body: dict[str, Any], param: str
) -> None:
    with served.http() as client:
        answer = client.post(path, json=body)
    error = error_of(answer)
    assert answer.status_code == 400
    assert (error["type"], error["code"], error["param"]) == ("invalid_request_error", "invalid_request", param)
    assert served.model.requests == []


def test_what_clients_commonly_send_has_no_effect(served: Served) -> None:
    harmless = {
        "temperature": 0.2,
        "top_p": 1,
        "max_tokens": 5,
        "max_completion_tokens": 5,
        "seed": 1,
        "user": "u",
        "n": 1,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "logit_bias": {},
        "logprobs": False,
        "stop": [],
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "tool_choice": "auto",
        "store": True,
        "response_format": {"type": "text"},
        "reasoning_effort": "low",
        "metadata": {"a": "b"},
        "stream_options": None,
    }
    with served.http() as client:
        assert client.post("/chat/completions", json=CHAT | harmless).status_code == 200
        assert (
            client.post("/responses", json=RESPONSE | {"store": True, "temperature": 1, "tools": []}).status_code == 200
        )


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, "不打开请求里的网址"),
        ({"type": "file", "file": {"file_id": "file-1"}}, "请把内容放在请求里"),
        ({"type": "file", "file": {"filename": "合同.pdf", "file_data": "%%%"}}, "不是 base64"),
        ({"type": "file", "file": {"filename": "a.exe", "file_data": "TVo="}}, "不是能读的文件"),
        ({"type": "image_url", "image_url": {"url": PNG}}, "「图片 2.png」"),
        ({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}, "不支持「input_audio」"),
    ],
)
def test_a_file_that_is_not_read_is_named(served: Served, part: dict[str, Any], told: str) -> None:
    with served.http() as client:
        answer = client.post("/chat/completions", json=with_part(part))
    assert answer.status_code == 400
    assert told in error_of(answer)["message"]


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([{"role": "assistant", "content": "好"}], "最后一条消息"),
        ([*ASKED, {"role": "assistant", "content": "好"}], "最后一条消息"),
        ([*ASKED, {"role": "tool", "content": "好", "tool_call_id": "1"}], "最后一条消息"),
        ([{"role": "system", "content": "短"}], "最后一条消息"),
        ([{"role": "user", "content": " \n"}], "消息是空的"),
        ([{"role": "user", "content": "问" * 2_000_000}], "超过了"),
        ([{"role": "system", "content": "要" * 20_000}, *ASKED], "系统消息有 20,000 个字符"),
    ],
)
def test_a_conversation_without_a_question_is_refused(served: Served, messages: Any, told: str) -> None:
    with served.http() as client:
        answer = client.post("/chat/completions", json={**CHAT, "messages": messages})
    assert answer.status_code == 400
    assert told in error_of(answer)["message"]


def test_an_unknown_model_is_answered_with_those_that_there_are(served: Served) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        served.client().chat.completions.create(model="gpt-5", messages=ASKED)
    assert (refused.value.code, refused.value.param) == ("model_not_found", "model")
    assert "wenyuan-chat、wenyuan-agent、wenyuan-plain" in str(refused.value)
    with pytest.raises(openai.NotFoundError):
        served.client().models.retrieve("gpt-5")


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/embeddings", 404), ("GET", "/chat/completions", 405)])
def test_other_addresses_and_methods_have_the_same_shape(served: Served, method: str, path: str, status: int) -> None:
    with served.http() as client:
        answer = client.request(method, path)
    assert answer.status_code == status
    assert error_of(answer)["type"] == "invalid_request_error"


def test_a_token_that_is_wrong_is_refused_in_the_same_shape(served: Served) -> None:
    client = openai.OpenAI(base_url=served.url, api_key="wy-invented", max_retries=0)
    with pytest.raises(openai.AuthenticationError) as refused:
        client.models.list()
    assert refused.value.code == "invalid_api_key"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_model_that_fails_before_its_first_word_is_a_status(served: Served, streamed: bool) -> None:
    served.model.reply = in_turn([Fail(401)])
    with pytest.raises(openai.InternalServerError) as failed:
        served.client(retries=2).chat.completions.create(
            model="wenyuan-plain",
            messages=ASKED,
            stream=streamed,
        )
    assert (failed.value.status_code, failed.value.code, failed.value.type) == (502, "model_auth", "server_error")
    assert "sk-" not in str(failed.value)
    assert len(served.model.requests) == 1, "the client was told not to try again: the program has done that"


def test_too_many_questions_say_when_to_ask_again() -> None:
    """A token has limits, the operator has none: so the limit on the calls of the model is what is reached here."""
    with serving(LIMITS_MODEL_CALLS_PER_MINUTE="1") as served:
        served.model.reply = in_turn(["好。"])
        client = served.client()
        client.chat.completions.create(model="wenyuan-plain", messages=ASKED)
        with pytest.raises(openai.RateLimitError) as refused:
            client.chat.completions.create(model="wenyuan-plain", messages=ASKED)
    assert refused.value.code == "too_many_calls"
    assert refused.value.type == "rate_limit_error"


# ── After it has begun ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_that_breaks_off_keeps_its_text_and_ends_with_the_error(served: Served) -> None:
    served.model.reply = in_turn(["前半句", DISCONNECT])
    text = ""
    with pytest.raises(openai.APIError) as failed:  # noqa: PT012
        for chunk in served.client().chat.completions.create(model="wenyuan-plain", messages=ASKED, stream=True):
            text += chunk.choices[0].delta.content or ""
    assert text == "前半句"
    assert failed.value.code == "model_disconnected"
    assert "断开" in failed.value.message


def test_a_model_that_fails_after_the_search_ends_the_stream(served: Served) -> None:
    served.model.reply = in_turn([Fail(500)])
    with served.http() as client:
        answer = client.post("/chat/completions", json=CHAT | {"model": "wenyuan-chat", "stream": True})
    assert answer.status_code == 200, "the steps were on their way"
    *steps, last = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]
    assert "搜索「问题」" in "".join(step["choices"][0]["delta"].get("reasoning_content", "") for step in steps)
    assert last["error"]["code"] == "model_fault"
    assert "[DONE]" not in answer.text


def test_an_answer_that_takes_too_long_is_cut_off_or_an_error() -> None:
    def ask(**options: Any) -> httpx.Response:
        return httpx.post(f"{served.url}/chat/completions", json=CHAT | options, timeout=60)

    def endless_or_silent(asked: dict[str, Any]) -> list[Any]:
        return [HANG] if asked["messages"][-1]["content"] == "沉默" else ["慢慢", 0.2] * 100

    with serving(API_TIMEOUT="5") as served, ThreadPoolExecutor() as threads:
        served.model.reply = endless_or_silent
        streaming, waiting = threads.submit(ask, stream=True), threads.submit(ask)
        silent = threads.submit(ask, messages=[{"role": "user", "content": "沉默"}], stream=True)
        chunks = [json.loads(line) for line in streaming.result().text.split("data: ")[1:-1]]
    (choice,) = waiting.result().json()["choices"]
    assert choice["message"]["content"].startswith("慢慢慢慢")
    assert choice["finish_reason"] == chunks[-1]["choices"][0]["finish_reason"] == "length"
    assert silent.result().status_code == 504
    assert error_of(silent.result())["code"] == "timed_out"
