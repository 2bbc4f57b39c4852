"""The registry of services, and lists of models from real servers, kind and hostile."""

from __future__ import annotations

import json
import re
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from core.base.http import Deadline
from core.llm import model_services
from core.llm.errors import (
    ModelAuthError,
    ModelError,
    ModelFault,
    ModelOverloaded,
    ModelRedirected,
    ModelTimeout,
    ModelUnavailable,
)
from core.llm.model_services import (
    SERVICES,
    ListedModel,
    LocalServices,
    ModelService,
    NoModelList,
    list_models,
    service_for_address,
)
from support.faults import Server, drip, json_answer, keep_alive, unused_port
from support.openai_server import OpenAIServer, openai_server


def test_each_service_has_one_line_and_an_address_of_its_own() -> None:
    named = "deepseek qwen kimi glm doubao minimax siliconflow openrouter openai ollama lmstudio vllm other"
    assert " ".join(entry.id for entry in SERVICES) == named
    addresses = [entry.base_url for entry in SERVICES if entry.base_url]
    assert len(set(addresses)) == len(addresses) == len(SERVICES) - 1
    for entry in SERVICES:
        assert entry.needs_key == bool(entry.key_page) != entry.is_self_hosted
        for address in filter(None, (entry.base_url, entry.key_page)):
            parts = urlsplit(address)
            assert parts.scheme == "https" or parts.hostname == "127.0.0.1"
            assert not address.endswith("/")


def test_an_address_tells_its_service() -> None:
    assert service_for_address("https://api.moonshot.cn/v1").label == "Kimi"
    assert service_for_address(None).id == "openai"
    assert service_for_address("http://10.0.0.7:8000/v1").id == "other"
    assert model_services.find_service("nosuch").id == "other"


def listed(server: OpenAIServer, document: Any, status: int = 200) -> tuple[ListedModel, ...]:
    server.listing = (status, document if isinstance(document, bytes) else json.dumps(document).encode())
    return list_models(server.url)


def test_models_that_answer_the_newest_first() -> None:
    entries = [
        {"id": "old", "created": 1},
        {"id": "text-embedding-3", "created": 9},
        {"id": "b-new", "created": 7, "context_length": 131072},
        {"id": "a-new", "created": 7, "token_limits": {"context_window": 256000}},
        {"id": "retired", "created": 8, "status": "Shutdown"},
        {"id": "old", "created": 1},
        {"id": "undated", "max_model_len": 4096},
    ]
    with openai_server() as server:
        found = listed(server, {"object": "list", "data": entries})
    assert [model.name for model in found] == ["a-new", "b-new", "old", "undated"]
    assert [model.context for model in found] == [256000, 131072, None, 4096]


def test_the_key_and_what_narrows_the_list_are_sent() -> None:
    with openai_server() as server:
        server.api_key, server.models = "right-key", ["b", "a"]
        found = list_models(f"{server.url}/", "right-key", params={"sub_type": "chat"})
        assert [model.name for model in found] == ["a", "b"]
        assert server.listed == ["/v1/models?sub_type=chat"]
        for wrong in ("", "wrong-key"):
            with pytest.raises(ModelAuthError) as refused:
                list_models(server.url, wrong)
            assert "密钥" in str(refused.value)
            assert "wrong-key" not in str(refused.value)
            assert "OPENAI_API_KEY" not in str(refused.value), "who reads this typed it into a form"


def test_four_hundred_models_and_many_more() -> None:
    with openai_server() as server:
        server.models = [f"vendor/model-{number:03}" for number in range(400)]
        assert len(list_models(server.url)) == 400
        server.models = [f"m{number}" for number in range(5_000)]
        assert len(list_models(server.url)) == model_services.MAX_MODELS


@pytest.mark.parametrize(
    "document",
    [
        {"data": [1, None, "x", [], {"id": 5}, {"id": ""}, {"id": "a\nb"}, {"id": "x" * 500}, {"id": "<i>\u202e"}, {}]},
        {"data": []},
        {"data": {"id": "x"}},
        {"data": None},
        {"object": "list"},
        "words",
        17,
        None,
        b"<html><body>Welcome</body></html>",
        b"",
        b"[" * 100_000,
        b"\x00\xff",
    ],
)
def test_what_is_no_list_is_said_and_nothing_else_happens(document: Any) -> None:
    with openai_server() as server, pytest.raises(NoModelList) as error:
        listed(server, document)
    assert "模型名" in str(error.value)


def test_odd_neighbours_do_not_spoil_a_list() -> None:
    odd = [None, {"id": "a"}, {"id": {"x": 1}}, {"id": "b", "created": "long ago", "context_length": True}]
    with openai_server() as server:
        assert listed(server, odd) == (ListedModel("a"), ListedModel("b")), "a bare list is one too"


@pytest.mark.parametrize(
    ("status", "kind"), [(403, ModelAuthError), (404, NoModelList), (405, NoModelList), (429, ModelOverloaded), (502, ModelFault)]
)  # fmt: skip
def test_each_refusal_has_its_error(status: int, kind: type[ModelError]) -> None:
    with openai_server() as server, pytest.raises(kind):
        listed(server, {"error": "the key sk-verysecretkey1234567890"}, status)


def test_nobody_there_and_nobody_who_answers() -> None:
    with pytest.raises(ModelUnavailable, match="拒绝了连接"):
        list_models(f"http://127.0.0.1:{unused_port()}/v1")
    with Server(drip(b"HTTP/1.1 200 OK\r\n", every=0.05)) as slow, pytest.raises(ModelTimeout):
        list_models(slow.url, deadline=Deadline(0.3))


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with openai_server() as target:
        answer = f"HTTP/1.1 302 Found\r\nLocation: {target.url}/models\r\nContent-Length: 0\r\n\r\n"
        with Server(keep_alive(answer.encode())) as gate, pytest.raises(ModelRedirected):
            list_models(gate.url, "secret-key")
        assert target.listed == []


def test_an_endless_list_is_cut_off() -> None:
    body = {"data": [{"id": f"m{number}", "padding": "x" * 1000} for number in range(6_000)]}
    with Server(keep_alive(json_answer(body))) as server, pytest.raises(ModelError, match="上限"):
        list_models(server.url)


# ── On this machine ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Where the services of this machine are looked for."""

    def at(**addresses: str) -> None:
        entries = tuple(ModelService(id, id, address, needs_key=False) for id, address in addresses.items())
        monkeypatch.setattr(model_services, "SERVICES", entries)
        monkeypatch.setattr(model_services, "DETECTED_SERVICES", tuple(addresses))

    return at


def test_what_runs_here_is_found_and_not_looked_for_again_at_once(local: Any) -> None:
    now = [0.0]
    with openai_server() as server:
        server.models = ["qwen3:8b"]
        local(ollama=server.url, lmstudio=f"http://127.0.0.1:{unused_port()}/v1")
        here = LocalServices(clock=lambda: now[0])
        (found,) = here.find(wait_seconds=10)
        assert found.service.id == "ollama"
        assert found.models == (ListedModel("qwen3:8b"),)
        for _ in range(50):
            here.find()
        assert len(server.listed) == 1
        now[0] += model_services.LOCAL_REFRESH_SECONDS + 1
        assert here.find(wait_seconds=10) == (found,)
        assert len(server.listed) == 2


def test_a_port_that_hangs_keeps_nobody_waiting(local: Any) -> None:
    with Server(drip(b"HTTP/1.1 200 OK\r\n", every=0.05)) as slow:
        local(ollama=slow.url)
        started = time.monotonic()
        assert LocalServices().find(wait_seconds=0.1) == ()
        assert time.monotonic() - started < 5


def test_the_registry_says_what_documents_say_and_no_more() -> None:
    """Unknown stays unknown: whoever collects other people's models cannot know what each of them can do."""
    for id in ("siliconflow", "openrouter", "vllm", "other"):
        entry = model_services.find_service(id)
        assert entry.thinks is None
        assert entry.calls_tools is None
    assert re.fullmatch(r"https://[\w.-]+\.cn/v1", model_services.find_service("kimi").base_url)


def test_threads_that_ask_together_look_once(local: Any) -> None:
    with openai_server() as server:
        local(ollama=server.url)
        here = LocalServices()
        threads = [threading.Thread(target=here.find) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        here.find(wait_seconds=10)
        assert len(server.listed) == 1
