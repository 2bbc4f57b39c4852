"""The context length that a model is believed to have, from servers on loopback that answer like the real ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from core.llm.context_length import OLLAMA_LENGTH, UNKNOWN_LENGTH
from core.llm.model import Model
from support.base import loaded
from support.faults import Peer, Server, ignore, message, silence

Answers = Mapping[str, Any]
"""What a server answers at an address: JSON, or bytes as they are; 404 elsewhere."""


def serving(answers: Answers) -> Server:
    def behave(peer: Peer) -> None:
        while request := peer.read_request():
            path = request.split(b" ")[1].decode()
            found = answers.get(path)
            body = found if isinstance(found, bytes) else json.dumps(found or {"error": "not found"}).encode()
            status = "200 OK" if path in answers else "404 Not Found"
            peer.send(message(body, "Content-Type: application/json", status=status))

    return Server(behave)


def length_at(url: str, *, model: str = "m", **environ: str) -> int:
    address = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{url}v1", "LLM_MODEL": f"openai:{model}"}
    return asyncio.run(Model(loaded(**address, **environ).values).context_length())


def listing(**entry: Any) -> Answers:
    return {"/v1/models": {"object": "list", "data": [{"id": "m", "object": "model", **entry}]}}


OLLAMA = listing(created=1_730_000_000, owned_by="library")
LM_STUDIO = listing(owned_by="organization_owner")
LLAMA_CPP = listing(owned_by="llamacpp", meta={"vocab_type": 2, "n_ctx_train": 131_072, "n_params": 7})


def running(**entry: Any) -> Answers:
    return {"/api/ps": {"models": [{"name": "m", "model": "m", "size": 5, **entry}]}}


def shown(parameters: str) -> Answers:
    trained = {"general.architecture": "qwen2", "qwen2.context_length": 131_072}
    return {"/api/show": {"parameters": parameters, "model_info": trained, "capabilities": ["completion"]}}


def loaded_in_lm_studio(**entry: Any) -> Answers:
    return {"/api/v0/models": {"object": "list", "data": [{"id": "m", "max_context_length": 131_072, **entry}]}}


SERVICES: dict[str, tuple[Answers, int]] = {
    "OpenRouter": (listing(context_length=200_000, top_provider={"context_length": 200_000}), 200_000),
    "vLLM": (listing(owned_by="vllm", root="m", max_model_len=40_960), 40_960),
    "Groq": (listing(owned_by="Meta", context_window=131_072), 131_072),
    "Ollama, loaded": ({**OLLAMA, **running(context_length=8_192), **shown("")}, 8_192),
    "Ollama, not loaded, set by its file": (
        {**OLLAMA, "/api/ps": {"models": []}, **shown('stop    "<|im_end|>"\nnum_ctx                        24576')},
        24_576,
    ),
    "Ollama, not loaded": ({**OLLAMA, "/api/ps": {"models": []}, **shown("temperature 0.7")}, OLLAMA_LENGTH),
    "Ollama of long ago": ({**OLLAMA, **running(), **shown("num_ctx 2048")}, 2_048),
    "LM Studio, loaded": (
        {**LM_STUDIO, **loaded_in_lm_studio(state="loaded", loaded_context_length=12_288)},
        12_288,
    ),
    "LM Studio, not loaded": ({**LM_STUDIO, **loaded_in_lm_studio(state="not-loaded")}, UNKNOWN_LENGTH),
    "llama.cpp": ({**LLAMA_CPP, "/props": {"default_generation_settings": {"n_ctx": 8_192}, "total_slots": 1}}, 8_192),
    "llama.cpp without its properties": (LLAMA_CPP, UNKNOWN_LENGTH),
    "llama.cpp, newer": (listing(owned_by="llamacpp", meta={"n_ctx": 32_768, "n_ctx_train": 131_072}), 32_768),
    "a service that says nothing of it": (listing(owned_by="somebody"), UNKNOWN_LENGTH),
    "a service that lists other models": (
        {"/v1/models": {"data": [{"id": name, "context_length": 9_000} for name in "ab"]}},
        UNKNOWN_LENGTH,
    ),
    "a service with one model, under another name": ({"/v1/models": {"data": [{"id": "x", "max_model_len": 9_000}]}}, 9_000),
    "a service without a list": ({}, UNKNOWN_LENGTH),
}  # fmt: skip


@pytest.mark.parametrize("service", SERVICES)
def test_it_is_what_the_service_was_started_with(service: str) -> None:
    answers, length = SERVICES[service]
    with serving(answers) as server:
        assert length_at(server.url) == length
        assert length_at(server.url, LLM_CONTEXT_TOKENS="6000") == min(length, 6_000)
        assert length_at(server.url, LLM_CONTEXT_TOKENS="300000") == (300_000 if length == UNKNOWN_LENGTH else length)


def test_ollama_adds_the_tag_that_nobody_writes() -> None:
    entry = {"/v1/models": {"data": [{"id": name, "owned_by": "library"} for name in ("other", "m:latest")]}}
    here = {"/api/ps": {"models": [{"model": "m:latest", "context_length": 6_144}]}}
    with serving({**entry, **here}) as server:
        assert length_at(server.url) == 6_144


LIES: list[Any] = ["131072", "viele", -1, 0, 10**12, 8_192.5, True, None, [], {"n": 1}, float("nan")]


@pytest.mark.parametrize("lie", LIES, ids=repr)
def test_a_length_that_cannot_be_is_not_believed(lie: Any) -> None:
    with serving(listing(context_length=lie, max_model_len=lie, meta={"n_ctx": lie}, token_limits=lie)) as server:
        assert length_at(server.url) == UNKNOWN_LENGTH
    with serving({**OLLAMA, **running(context_length=lie), "/api/show": {"parameters": lie}}) as server:
        assert length_at(server.url) == OLLAMA_LENGTH
    with serving({**LM_STUDIO, **loaded_in_lm_studio(loaded_context_length=lie)}) as server:
        assert length_at(server.url) == UNKNOWN_LENGTH
    with serving({**LLAMA_CPP, "/props": {"default_generation_settings": {"n_ctx": lie}}}) as server:
        assert length_at(server.url) == UNKNOWN_LENGTH


@pytest.mark.parametrize("garbage", [b"", b"\x00\xff", b"[[[[", b"null", b'"models"', b"[1, 2]", b"<html>"], ids=repr)
def test_garbage_says_nothing(garbage: bytes) -> None:
    behind = dict.fromkeys(("/api/ps", "/api/show", "/api/v0/models", "/props"), garbage)
    for service, length in ((OLLAMA, OLLAMA_LENGTH), (LM_STUDIO, UNKNOWN_LENGTH), (LLAMA_CPP, UNKNOWN_LENGTH)):
        with serving({**service, **behind}) as server:
            assert length_at(server.url) == length
    with serving({"/v1/models": garbage}) as server:
        assert length_at(server.url) == UNKNOWN_LENGTH


@pytest.mark.parametrize("behave", [silence, ignore], ids=["never answers", "never reads"])
def test_a_silent_service_is_not_waited_for(behave: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.llm.context_length.LOOKUP_SECONDS", 0.2)
    with Server(behave) as server:
        assert length_at(server.url) == UNKNOWN_LENGTH
        assert server.connections == 1, "asked once, and not for ever"


def test_a_service_that_is_gone_says_nothing() -> None:
    with serving({}) as server:
        url = server.url
    assert length_at(url) == UNKNOWN_LENGTH


@pytest.mark.parametrize(("model", "least"), [("gpt-4o", 128_000), ("gpt-unheard-of", UNKNOWN_LENGTH)])
def test_of_openais_own_models_the_package_knows_it(model: str, least: int) -> None:
    settings = loaded(OPENAI_API_KEY="k", LLM_MODEL=f"openai:{model}").values
    assert asyncio.run(Model(settings).context_length()) == least
