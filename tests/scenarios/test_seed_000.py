"""联网搜索 in Chat mode (seed 000), scenario by scenario, against a SearXNG that a test plays on loopback."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.events import Answer, Notice, RunEvent, SearchFinished, SearchStarted
from core.answer.message import message_from_run
from core.base.settings import load_settings
from core.run.question import AnswerOptions
from support.base import ROOT, loaded
from support.faults import Server, json_answer, keep_alive, send_and_close, silence
from support.worlds import world

SEARCH = AnswerOptions(search=True)
HOME = str(ROOT / "Home.py")


def result(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "title": f"结果{number}",
        "url": f"https://site{number}.example/page",
        "content": f"第{number}条的摘要。" + "长" * 300,
        "engine": "baidu",
        **changes,
    }


def searxng_answer(*results: dict[str, Any]) -> dict[str, Any]:
    return {"query": "q", "results": list(results), "answers": [], "infoboxes": [], "unresponsive_engines": []}


@pytest.fixture
def searxng() -> Iterator[Server]:
    with Server(keep_alive(json_answer(searxng_answer(*(result(n) for n in range(1, 11)))))) as server:
        yield server


def ask(
    url: str, says: str = "回答[1]。", *, options: AnswerOptions = SEARCH, **environ: str
) -> tuple[list[RunEvent], str]:
    """Every event of one question, and the prompt that the model got."""
    with world(says=[[says]], engines=None, SEARCH_PROVIDER_PRIORITY="searxng", SEARXNG_URL=url, **environ) as (
        app,
        model,
    ):
        events = list(app.chat.stream("离婚冷静期是多久", options=options))
        return events, str(model.asked[0][-1].content)


def only(events: list[RunEvent], kind: type[RunEvent]) -> Any:
    (event,) = [event for event in events if isinstance(event, kind)]
    return event


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")
    return AppTest.from_file(HOME, default_timeout=30).run()


# ── 搜索开关控制 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_user_enables_search(page: AppTest) -> None:
    page.toggle[0].set_value(True)
    page._page_hash = page._finished_page_script_hash = ""
    page.run()
    assert any("已启用" in caption.value for caption in page.sidebar.caption)
    page.chat_input[0].set_value("怎么打开联网搜索").run()
    assert page.session_state["chat"].messages[-1].searches


def test_user_disables_search(page: AppTest) -> None:
    for value in (True, False):
        page._page_hash = page._finished_page_script_hash = ""
        page.toggle[0].set_value(value).run()
    assert any("已禁用" in caption.value for caption in page.sidebar.caption)
    page.chat_input[0].set_value("怎么打开联网搜索").run()
    assert not page.session_state["chat"].messages[-1].searches


def test_search_is_off_by_default(page: AppTest) -> None:
    assert page.toggle[0].value is False


# ── SearXNG 集成 ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_successful_search(searxng: Server) -> None:
    events, _ = ask(searxng.url)
    found = only(events, SearchFinished).response
    assert (found.provider, found.total_results) == ("searxng", 10)
    first = found.results[0]
    assert (first.title, first.url, first.source) == ("结果1", "https://site1.example/page", "site1.example")
    assert first.snippet.startswith("第1条的摘要")
    sent = parse_qs(urlsplit(searxng.requests[0].split()[1].decode()).query)
    assert sent["q"] == ["离婚冷静期是多久"]
    assert sent["format"] == ["json"]


def test_search_timeout() -> None:
    with Server(silence) as server:
        started = time.monotonic()
        events, prompt = ask(server.url, SEARCH_TIMEOUT="1")
        assert time.monotonic() - started < 4
    assert "搜索超时" in only(events, Notice).text
    assert isinstance(events[-2], Answer)
    assert "没有任何搜索结果" in prompt


def test_service_unavailable() -> None:
    with Server(send_and_close(b"\x00 not http")) as server:
        events, _ = ask(server.url)
    notice = only(events, Notice)
    assert notice.kind == "unavailable"
    assert "没有使用搜索结果" in notice.text
    assert isinstance(events[-2], Answer)


# ── 搜索触发机制 ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_sending_a_message_triggers_a_search(searxng: Server) -> None:
    events, _ = ask(searxng.url)
    assert events[0] == SearchStarted("离婚冷静期是多久")
    assert len(searxng.requests) == 1


def test_no_search_when_not_enabled(searxng: Server) -> None:
    events, prompt = ask(searxng.url, options=AnswerOptions(search=False))
    assert searxng.requests == []
    assert prompt == "离婚冷静期是多久"
    assert not [event for event in events if isinstance(event, SearchStarted | SearchFinished)]


# ── 搜索结果处理 ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_results_are_injected_into_the_prompt(searxng: Server) -> None:
    _, prompt = ask(searxng.url)
    assert "[1] 结果1" in prompt
    assert "https://site1.example/page" in prompt
    assert "第1条的摘要" in prompt
    assert prompt.endswith("问题：离婚冷静期是多久")


def test_no_results() -> None:
    with Server(keep_alive(json_answer(searxng_answer()))) as server:
        events, prompt = ask(server.url, says="凭已有知识回答")
    assert "没有找到相关结果" in prompt
    assert "根据自己的知识回答" in prompt
    assert only(events, Notice).kind == "empty"


def test_number_and_length_of_results_are_limited(searxng: Server) -> None:
    _, prompt = ask(searxng.url)
    assert "[5]" in prompt
    assert "[6]" not in prompt
    summaries = [line.removeprefix("摘要: ") for line in prompt.splitlines() if line.startswith("摘要: ")]
    assert len(summaries) == 5
    assert all(len(summary) <= 200 for summary in summaries)


# ── 搜索源展示 ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_sources_are_listed_below_the_answer(page: AppTest) -> None:
    page.toggle[0].set_value(True).run()
    page.chat_input[0].set_value("怎么打开联网搜索").run()
    drawn = " ".join(element.proto.body for element in page.main.get("html"))
    assert "参考文献" in drawn
    assert '<ol class="wy-refs"><li value="1"' in drawn
    assert 'href="/help?article=search-toggle"' in drawn
    assert 'class="summary"' in drawn


def test_no_sources_no_list(page: AppTest) -> None:
    page.chat_input[0].set_value("你是谁").run()
    drawn = " ".join(element.proto.body for element in page.main.get("html"))
    assert "参考文献" not in drawn
    assert "wy-refs" not in drawn


def test_citations_are_superscripts_with_the_number_in_the_list(searxng: Server) -> None:
    from core.answer.markdown import references_html, render_html

    events, _ = ask(searxng.url, says="结论[2]。")
    message = message_from_run(events, seconds=1)
    assert '<sup class="cite"><a href="https://site2.example/page"' in render_html(message.text, message.found)
    assert '<li value="2">' in references_html(message.cited)


# ── 搜索配置 ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_searxng_address_is_configured() -> None:
    from core.search.engines.searxng import SearxngSettings
    from core.search.registry import build_chain

    (own,) = build_chain(loaded(SEARCH_PROVIDER_PRIORITY="searxng", SEARXNG_URL="http://127.0.0.1:8888").values).engines
    assert own.servers[0]._url.startswith("http://127.0.0.1:8888/")  # type: ignore[attr-defined]
    settings = loaded(SEARCH_PROVIDER_PRIORITY="searxng").values
    (public,) = build_chain(settings).engines
    assert public.servers[0]._url.startswith(settings.section(SearxngSettings).public_url)  # type: ignore[attr-defined]
    bad = loaded(SEARXNG_URL="not an address")
    assert [problem.key for problem in bad.problems] == ["SEARXNG_URL"]


def test_search_parameters_are_configured() -> None:
    search = loaded().values.search
    assert (search.result_count, search.timeout, search.language, search.snippet_length) == (5, 5.0, "auto", 200)
    changed = loaded(
        SEARCH_RESULT_COUNT="3", SEARCH_TIMEOUT="8", SEARCH_LANGUAGE="en", SEARCH_SNIPPET_LENGTH="120"
    ).values.search
    assert (changed.result_count, changed.timeout, changed.language, changed.snippet_length) == (3, 8.0, "en", 120)


def test_configuration_is_validated(caplog: pytest.LogCaptureFixture) -> None:
    from core.base.settings import report_problems

    bad = load_settings(ROOT / "nosuch.yaml", {"SEARCH_RESULT_COUNT": "99", "SEARCH_TIMEOUT": "soon"}, sections=())
    assert (bad.values.search.result_count, bad.values.search.timeout) == (5, 5.0)
    with caplog.at_level(logging.WARNING):
        report_problems(bad.problems)
    assert "SEARCH_RESULT_COUNT" in caplog.text
    assert "SEARCH_TIMEOUT" in caplog.text


# ── 错误处理与降级 ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_failed_search_degrades(caplog: pytest.LogCaptureFixture) -> None:
    with Server(keep_alive(json_answer({"results": "nonsense"}))) as server, caplog.at_level(logging.WARNING):
        events, _ = ask(server.url, says="照常回答")
    assert "searxng" in caplog.text
    assert "没有使用搜索结果" in only(events, Notice).text
    assert only(events, Answer).text == "照常回答"


def test_partly_broken_results_are_skipped(caplog: pytest.LogCaptureFixture) -> None:
    broken = [result(1), result(2, url=None), {"title": 3}, "nonsense", result(5, url="javascript:alert(1)"), result(6)]
    with Server(keep_alive(json_answer(searxng_answer(*broken)))) as server, caplog.at_level(logging.WARNING):  # type: ignore[arg-type]
        events, prompt = ask(server.url)
    assert [entry.title for entry in only(events, SearchFinished).response.results] == ["结果1", "结果6"]
    assert "[2] 结果6" in prompt
    assert "skipped" in caplog.text
    assert only(events, Notice).kind == "partial"


def test_network_problem() -> None:
    started = time.monotonic()
    events, _ = ask("http://127.0.0.1:9")
    assert time.monotonic() - started < 5
    text = only(events, Notice).text
    assert "检查网络" in text or "确认服务已启动" in text
    assert "关闭联网搜索" in text
