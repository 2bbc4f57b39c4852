from __future__ import annotations

from typing import Any

import pytest

from core.base.settings import ModelChoice
from core.search.engines.native import NativeEngine
from core.search.errors import (
    EngineError,
    EngineMisconfigured,
    EngineParseError,
    EngineQuotaExceeded,
    EngineRefusedQuery,
    EngineThrottled,
    EngineUnavailable,
)
from core.search.registry import build_chain
from core.search.service import SearchService
from core.search.types import SearchQuery, SearchType
from support.base import loaded
from support.engines import KEY, answer, scripted, usable, wire

TEXT = (
    "查到的内容：\n"
    "- 新规自三月起施行。([gov.example](https://gov.example/a?utm_source=openai)) 另有细则。"
    "([law.example](https://law.example/b?id=1&utm_source=openai))\n"
)


def cite(url: str, title: str, marker: str) -> dict[str, Any]:
    start = TEXT.index(marker)
    return {"type": "url_citation", "url": url, "title": title, "start_index": start, "end_index": start + 9}


def response(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "output": list(output),
        **fields,
    }


def call(**action: Any) -> dict[str, Any]:
    return {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", **action}}


def message(text: str, *annotations: dict[str, Any], **fields: Any) -> dict[str, Any]:
    content = {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}
    return {"id": "msg_1", "type": "message", "status": "completed", "content": [content], **fields}


OPENAI = response(
    {"type": "reasoning", "summary": []},
    call(
        query="新规",
        sources=[
            {"type": "url", "url": "https://gov.example/a"},
            {"type": "url", "url": "https://other.example/c?utm_source=openai"},
        ],
    ),
    call(type="open_page", url="https://law.example/b?id=1"),
    message(
        TEXT,
        cite("https://gov.example/a?utm_source=openai", "政府网", "([gov"),
        cite("https://law.example/b?id=1&utm_source=openai", "法律网", "([law"),
        {"type": "file_citation", "file_id": "f"},
    ),
)
DEEPSEEK = response(
    call(query="新规", queries=["新规", "ws_call_id=7"]),
    message("我来搜索一下。", {"type": "url_citation", "url": "https://remark.example/"}, phase="commentary"),
    call(type="open_page", url="https://gov.example/a#ws_call_id=call_9"),
    call(type="open_page", url="https://law.example/b?id=1#ws_call_id=call_9"),
    message("新规自三月起施行。", phase="final_answer"),
)
THERE = {"OPENAI_BASE_URL": "https://api.deepseek.com", "LLM_MODEL": "deepseek-v4-flash"}


def asked(query: SearchQuery, **environ: str) -> Any:
    fetch = scripted(answer(OPENAI))
    usable("native", fetch, **environ).search(query, 10)
    return wire(fetch.asked[0])


def test_request_to_openai() -> None:
    sent = asked(
        SearchQuery("问题", SearchType.CASE, language="zh-CN", sites=("court.gov.cn",)), LLM_MODEL="openai:gpt-x"
    )
    assert (sent.method, sent.address) == ("POST", "https://api.openai.com/v1/responses")
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    assert sent.body.pop("instructions").startswith("Search the web")
    assert sent.body == {
        "model": "gpt-x",
        "input": "问题",
        "tools": [
            {
                "type": "web_search",
                "search_context_size": "low",
                "filters": {"allowed_domains": ["court.gov.cn"]},
                "user_location": {"type": "approximate", "country": "CN"},
            }
        ],
        "tool_choice": "required",
        "include": ["web_search_call.action.sources"],
        "store": False,
    }


def test_request_to_deepseek_is_bare() -> None:
    sent = asked(SearchQuery("问题", SearchType.NEWS, sites=("a.cn",)), **THERE)
    assert sent.address == "https://api.deepseek.com/responses"
    assert sent.body.pop("instructions").endswith("Only pages of the last month.")
    assert sent.body == {"model": "deepseek-v4-flash", "input": "问题 site:a.cn", "tools": [{"type": "web_search"}]}


def test_citations_come_first_then_the_other_sources() -> None:
    found = usable("native", scripted(answer(OPENAI))).search("x", 10)
    assert [(result.title, result.url, result.snippet) for result in found] == [
        ("政府网", "https://gov.example/a", "新规自三月起施行。"),
        ("法律网", "https://law.example/b?id=1", "新规自三月起施行。 另有细则。"),
        ("other.example", "https://other.example/c", ""),
    ]


def test_deepseek_names_only_the_pages_it_opened() -> None:
    found = usable("native", scripted(answer(DEEPSEEK)), **THERE).search("x", 10)
    assert [result.url for result in found] == ["https://gov.example/a", "https://law.example/b?id=1"]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, response(message("凭记忆回答")), EngineParseError),
        (200, response(call(query="x"), message("搜索过")), EngineParseError),
        (200, response(call(sources=[]), error={"code": "server_error"}), EngineUnavailable),
        (200, response(call(sources=[]), status="failed"), EngineUnavailable),
        (400, {"error": {"message": "Hosted tool 'web_search' is not supported with this model."}}, EngineMisconfigured),
        (400, {"error": {"message": "Invalid input"}}, EngineRefusedQuery),
        (404, b"404 page not found", EngineMisconfigured),
        (401, {"error": {"message": "Incorrect API key provided: sk-a***b", "code": "invalid_api_key"}}, EngineMisconfigured),
        (402, {"error": {"message": "Insufficient Balance"}}, EngineQuotaExceeded),
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, EngineQuotaExceeded),
        (429, {"error": {"message": "Rate limit reached for gpt-x", "code": "rate_limit_exceeded"}}, EngineThrottled),
    ],
)  # fmt: skip
def test_errors(status: int, body: Any, kind: type[EngineError]) -> None:
    with pytest.raises(kind):
        usable("native", scripted(answer(body, status))).search("x", 10)


def test_a_search_that_brought_nothing_up_is_empty() -> None:
    assert usable("native", scripted(answer(response(call(sources=[]), message("没有"))))).search("x", 10) == []


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({}, "内置摘录模型"),
        ({"LLM_MODEL": "anthropic:claude-x", "OPENAI_API_KEY": KEY}, "claude-x"),
        ({"LLM_MODEL": "openai:gpt-x"}, "密钥"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1", "LLM_MODEL": "qwen3:8b"}, "允许使用 native 的模型"),
        (
            {"OPENAI_BASE_URL": "https://api.openai.com.evil.example/v1", "OPENAI_API_KEY": KEY},
            "允许使用 native 的模型",
        ),
    ],
)
def test_without_a_model_that_searches_it_says_why(environ: dict[str, str], why: str) -> None:
    with pytest.raises(EngineMisconfigured) as caught:
        NativeEngine.from_settings(loaded(**environ).values)
    assert why in str(caught.value)


@pytest.mark.parametrize("models", ["qwen3:8b", "*", "other, qwen3:8b"])
def test_another_server_can_be_allowed_by_name(models: str) -> None:
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1", "LLM_MODEL": "qwen3:8b", "NATIVE_MODELS": models}
    engine = NativeEngine.from_settings(loaded(**environ).values)
    request = engine.build_request(SearchQuery("x"), 10)
    assert wire(request).address == "http://127.0.0.1:11434/v1/responses"
    assert "Authorization" not in request.headers


@pytest.mark.parametrize(
    ("order", "chosen", "asked"),
    [
        ({}, ModelChoice("openai", "gpt"), None),
        ({"SEARCH_PROVIDER_PRIORITY": "native, tavily"}, ModelChoice("openai", "gpt"), "gpt"),
        ({"SEARCH_PROVIDER_PRIORITY": "native, tavily"}, ModelChoice("openai", "gpt-other"), None),
        ({"SEARCH_PROVIDER_PRIORITY": "native, tavily"}, ModelChoice("anthropic", "gpt"), None),
    ],
)
def test_an_agent_uses_it_only_where_somebody_named_it_and_it_is_the_same_model(
    order: dict[str, str], chosen: ModelChoice, asked: str | None
) -> None:
    chain = build_chain(loaded(OPENAI_API_KEY=KEY, TAVILY_API_KEY=KEY, LLM_MODEL="openai:gpt", **order).values)
    service = SearchService(chain.engines).for_tools(chosen)
    models = [
        wire(engine.build_request(SearchQuery("x"), 10)).body["model"]
        for engine in service._engines
        if isinstance(engine, NativeEngine)
    ]
    assert models == ([asked] if asked else [])
    assert "tavily" in [engine.name for engine in service._engines]
    assert chain.engines[0].name == "native"  # Chat still hands its search over to the model
