"""联网搜索 in Chat mode (seed 000), scenario by scenario, against a SearXNG that a test plays on loopback."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from urllib.parse import parse_qs, urlsplit

import langchain_openai  # noqa: F401 - its import takes seconds, which are not a search's
import pytest
from streamlit.testing.v1 import AppTest

import core.app
from core.answer.events import Answer, Notice, RunEvent, SearchFinished, SearchStarted
from core.app import App
from core.reading.settings import ReadingSettings
from core.run.question import AnswerOptions
from support import pages
from support.base import ROOT, loaded
from support.engines import granted_seconds
from support.faults import (
    Behaviour,
    Peer,
    Server,
    full_backlog,
    head,
    json_answer,
    keep_alive,
    message,
    send_and_close,
    send_and_reset,
    unused_port,
)
from support.found_pages import found_pages
from support.openai_server import openai_server
from support.reading import kept_workers
from support.scripted import ScriptedChatModel
from support.scripted_app import scripted_app
from support.web_pages import STORY

__all__ = ["kept_workers"]

SEARCH = AnswerOptions(search=True)
QUESTION = "离婚冷静期是多久"


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


@contextmanager
def searching_app(url: str, says: str, **environ: str) -> Iterator[tuple[App, ScriptedChatModel]]:
    environ |= {"SEARCH_PROVIDER_PRIORITY": "searxng", "SEARXNG_URL": url}
    with scripted_app(says=[[says]], engines=None, **environ) as (app, model):
        yield app, model


def ask(
    url: str, says: str = "回答[1]。", *, options: AnswerOptions = SEARCH, **environ: str
) -> tuple[list[RunEvent], str]:
    """Every event of one question, and the prompt that the model got."""
    with searching_app(url, says, **environ) as (app, model):
        events = list(app.chat.stream(QUESTION, options=options))
        return events, str(model.asked[0][-1].content)


@contextmanager
def answered_page(url: str, says: str = "照常回答", **environ: str) -> Iterator[AppTest]:
    """The page after a question was asked there with the search on. No search of it was given more than the limit: what
    a request is given is known before any time has passed, so that it says more than a clock does on a busy machine."""
    with searching_app(url, says, **environ) as (app, _), pages.page_of(app) as page:
        granted = granted_seconds(app.chain.engines)
        yield pages.ask(pages.search(page, on=True), QUESTION)
        assert granted
        assert max(granted) <= app.settings.search.timeout


def only(events: list[RunEvent], kind: type[RunEvent]) -> Any:
    (event,) = [event for event in events if isinstance(event, kind)]
    return event


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")
    return pages.open_page()


# ── 搜索开关控制 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_user_enables_search(page: AppTest) -> None:
    pages.search(page, on=True)
    assert page.toggle[0].label == "联网 已启用"
    pages.ask(page, "怎么打开联网搜索")
    assert page.session_state["chat"].messages[-1].searches


def test_user_disables_search(page: AppTest) -> None:
    for on in (True, False):
        pages.search(page, on=on)
    assert page.toggle[0].label == "联网 已禁用"
    pages.ask(page, "怎么打开联网搜索")
    assert not page.session_state["chat"].messages[-1].searches


def test_search_is_off_by_default(page: AppTest) -> None:
    """With an engine that reaches the web, as well as without."""
    assert page.toggle[0].value is False
    with pages.serving() as app:
        assert app.search.is_web_ready
        web = pages.open_page()
        assert not web.toggle[0].disabled
        assert (web.toggle[0].value, web.toggle[0].label) == (False, "联网 已禁用")


# ── SearXNG 集成 ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_successful_search(searxng: Server) -> None:
    with searching_app(searxng.url, "回答[1]。") as (app, _):
        granted = granted_seconds(app.chain.engines)
        events = list(app.chat.stream(QUESTION, options=SEARCH))
    found = only(events, SearchFinished).response
    assert (found.provider, found.total_results) == ("searxng", 10)
    first = found.results[0]
    assert (first.title, first.url, first.source) == ("结果1", "https://site1.example/page", "site1.example")
    assert first.snippet.startswith("第1条的摘要")
    sent = parse_qs(urlsplit(searxng.requests[0].split()[1].decode()).query)
    assert sent["q"] == ["离婚冷静期是多久"]
    assert sent["format"] == ["json"]
    (seconds,) = granted
    assert 0 < seconds <= 5, "as long as the requirements allow it to take"


def silent_to_searches(peer: Peer) -> None:
    """Hangs up on the check at the start, so that `hung_up` speaks of a search."""
    if b"q=" in peer.read_request():
        peer.wait_for_hang_up()


def test_search_timeout() -> None:
    with Server(silent_to_searches) as server, answered_page(server.url, SEARCH_TIMEOUT="2") as page:
        assert server.hung_up.wait(20), "the request has been ended"
        assert "搜索超时：2 秒内" in pages.values(page.info)
        assert "没有搜到内容" in pages.values(page.info)
        assert "照常回答" in pages.html(page.chat_message[-1])


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (send_and_close(b"\x00 not http"), "不符合 HTTP 协议"),
        (send_and_close(b""), "中断了连接"),
        (send_and_reset(head("Content-Length: 9000")), "中断了连接"),
        (keep_alive(message(b"", status="500 Internal Server Error")), "内部出错（500）"),
        (keep_alive(message(b"", status="403 Forbidden")), "403"),
        (keep_alive(message(b"", status="429 Too Many Requests")), "429"),
        (keep_alive(message("<h1>登录</h1>".encode(), "Content-Type: text/html")), "不是有效的 JSON"),
        (keep_alive(json_answer({"results": "nonsense"})), "无法读取"),
    ],
    ids=["garbage", "closed", "reset", "500", "403", "429", "html", "json"],
)
def test_service_unavailable(behaviour: Behaviour, words: str) -> None:
    with Server(behaviour) as server, answered_page(server.url) as page:
        (told,) = [info.value for info in page.info]
        assert words in told
        assert "没有搜到内容" in told
        assert "照常回答" in pages.html(page.chat_message[-1])
        assert "重新搜索" in [button.label for button in page.button]


@pytest.mark.parametrize(
    ("status", "lines"),
    [("403 Forbidden", "search:\n  formats: [html, json]"), ("429 Too Many Requests", "server:\n  limiter: false")],
)
def test_the_lines_of_a_cure_stand_in_a_box_of_their_own(status: str, lines: str) -> None:
    with Server(keep_alive(message(b"", status=status))) as server, answered_page(server.url) as page:
        (told,) = [info.value for info in page.info]
        boxes = pages.last_answer(page).xpath("//*[@class='wy-paste'][button[. = '复制']]/pre")
        assert {box.text_content() for box in boxes} == {lines}, "as they are pasted into the file"
        assert [box for box in boxes if not box.xpath("ancestor::details")], "below the sentence, not only in the step"
        assert "limiter" not in told
        assert "formats" not in told
        assert told.rstrip().endswith("重启：")


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
    with openai_server() as model:
        environ = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k", "LLM_MODEL": "openai:ok"}
        app = core.app.build_app(loaded(SEARCH_PROVIDER_PRIORITY="searxng", SEARXNG_URL=searxng.url, **environ))
        list(app.chat.stream(QUESTION, options=SEARCH))
        app.close()
    system, user = model.requests[0]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert "程序检索到的资料" in system["content"]
    assert "引用资料时，在相应句子末尾用方括号写出来源编号" in system["content"]
    results, question = user["content"].split("</sources>")
    assert results.startswith("<sources>\n[1] 结果1\nURL: https://site1.example/page\n摘要: 第1条的摘要。")
    assert question.strip() == f"问题：{QUESTION}"


def test_pages_are_read_before_the_answer() -> None:
    """As users have it: the first results are opened, and the model reads their text where it could be had."""
    reading = {"READING_TIMEOUT": "30", "SEARCH_TIMEOUT": "30"}  # a busy machine is not what this is about
    with found_pages() as web:
        web.open.set()
        reading |= {"READING_PAGES": str(ReadingSettings().pages), "READING_ALLOW_HOSTS": web.address}
        searching = searching_app(f"http://{web.address}", "居民不需要付费[1]。", **reading)
        with searching as (app, model), pages.page_of(app) as page:
            pages.ask(pages.search(page, on=True), "更换老旧水表要居民付费吗？")
            assert "阅读 3 个网页 · 1 个已读全文，2 个仅摘要" in pages.steps(page)
            (cited,) = pages.references(page)
            assert cited.address == f"http://{web.address}/news"
            assert cited.about.startswith("2024-10-12 · 已读全文")
    first, second, third = re.split(r"^(?=\[\d\])", str(model.asked[0][-1].content), flags=re.MULTILINE)[1:]
    assert "\n正文节选: " in first
    assert all(paragraph in first for paragraph in STORY)
    assert "\n摘要: 今年前三季度全市供水总量\n" in second
    assert "\n摘要: 今年前三季度全市供水总量\n" in third


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


def test_sources_are_listed_below_the_answer(searxng: Server) -> None:
    with answered_page(searxng.url, "三十日[1]，见[3]。") as page:
        for _ in range(2):  # while it is answered, and drawn again
            first, third = pages.references(page)
            assert (first.number, first.title, first.address) == ("1", "结果1", "https://site1.example/page")
            assert (third.number, third.title, third.address) == ("3", "结果3", "https://site3.example/page")
            assert first.summary.startswith("第1条的摘要。")
            pages.rerun(page)
    assert not hiding_rules("summary"), "the style sheet shows it"


BESIDE_THE_DESK = r"\s*(?:/\*[^*]*\*/\s*)?body:has\(\.wy-sources\) "
"""Where the reading desk is open, which has the same beside the answer (tests/browser/test_desk.py)."""


def hiding_rules(name: str) -> list[str]:
    """The rules of the page's style sheet about this class that take it out of sight where nothing else shows it."""
    sheet = (ROOT / "core" / "ui" / "style.css").read_text("utf-8")
    rules = re.findall(rf"[^{{}}]*\.{name}\b[^{{}}]*{{[^{{}}]*}}", sheet)
    assert rules
    rules = [rule for rule in rules if not re.match(BESIDE_THE_DESK, rule)]
    return [rule for rule in rules if re.search(r"display:\s*none|visibility:\s*hidden|opacity:\s*0\s*;", rule)]


def test_no_sources_no_list(searxng: Server, page: AppTest) -> None:
    """Searched, found and not cited; then not searched at all."""
    with answered_page(searxng.url, "没有用到它们。") as searched:
        drawn = pages.html(searched.main)
        assert "没有用到它们。" in drawn
        assert "参考文献" not in drawn
        assert 'class="cite"' not in drawn
        assert pages.html(pages.open_sources(searched)).count("未引用 · ") == 5, "what was found is not called cited"
    assert "wy-refs" not in pages.html(pages.ask(page, "你是谁").main)


def test_citations_are_superscripts_with_the_number_in_the_list(searxng: Server) -> None:
    with answered_page(searxng.url, "结论[2]。另见[4]。") as page:
        for _ in range(2):
            assert pages.citations(page) == [("2", "https://site2.example/page"), ("4", "https://site4.example/page")]
            listed = [(reference.number, reference.address) for reference in pages.references(page)]
            assert listed == pages.citations(page)
            pages.rerun(page)


# ── 搜索配置 ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_searxng_address_is_configured() -> None:
    from core.search.engines.searxng import SearxngSettings
    from core.search.registry import build_chain

    (own,) = build_chain(loaded(SEARCH_PROVIDER_PRIORITY="searxng", SEARXNG_URL="http://127.0.0.1:8888").values).engines
    assert own.servers[0]._url.startswith("http://127.0.0.1:8888/")  # type: ignore[attr-defined]
    settings = loaded(SEARCH_PROVIDER_PRIORITY="searxng").values
    (public,) = build_chain(settings).engines
    assert public.servers[0]._url.startswith(settings.section(SearxngSettings).public_url)  # type: ignore[attr-defined]
    bad = loaded(SEARCH_PROVIDER_PRIORITY="searxng", SEARXNG_URL="not an address")
    assert [problem.key for problem in bad.problems] == ["SEARXNG_URL"]
    chain = build_chain(bad.values)
    assert chain.engines == (), "what was meant for an own server goes to nobody else's"
    (left_out,) = chain.unavailable
    assert "SearXNG 的地址无法使用" in left_out.reason
    assert "SEARXNG_URL" in left_out.cure_for_administrators


def test_search_parameters_are_configured() -> None:
    search = loaded().values.search
    assert (search.result_count, search.timeout, search.language, search.snippet_length) == (5, 5.0, "auto", 200)
    changed = loaded(
        SEARCH_RESULT_COUNT="3", SEARCH_TIMEOUT="8", SEARCH_LANGUAGE="en", SEARCH_SNIPPET_LENGTH="120"
    ).values.search
    assert (changed.result_count, changed.timeout, changed.language, changed.snippet_length) == (3, 8.0, "en", 120)


def test_configuration_is_validated(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """As the page meets it when the program starts."""
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")
    monkeypatch.setenv("SEARCH_RESULT_COUNT", "99")
    monkeypatch.setenv("SEARCH_TIMEOUT", "soon")
    monkeypatch.setenv("SEARCH_SNIPPET_LENGTH", "120")
    with caplog.at_level(logging.WARNING):
        pages.open_page()
    search = core.app.shared_app().settings.search
    assert (search.result_count, search.timeout, search.snippet_length) == (5, 5.0, 120)
    assert "SEARCH_RESULT_COUNT" in caplog.text
    assert "SEARCH_TIMEOUT" in caplog.text
    assert "SEARCH_SNIPPET_LENGTH" not in caplog.text


# ── 错误处理与降级 ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_failed_search_degrades(caplog: pytest.LogCaptureFixture) -> None:
    with Server(keep_alive(json_answer({"results": "nonsense"}))) as server, caplog.at_level(logging.WARNING):
        events, _ = ask(server.url, says="照常回答")
    assert "searxng" in caplog.text
    assert "没有搜到内容" in only(events, Notice).text
    assert only(events, Answer).text == "照常回答"


def test_partly_broken_results_are_skipped(caplog: pytest.LogCaptureFixture) -> None:
    broken = [result(1), result(2, url=None), {"title": 3}, "nonsense", result(5, url="javascript:alert(1)"), result(6)]
    with Server(keep_alive(json_answer(searxng_answer(*broken)))) as server, caplog.at_level(logging.WARNING):  # type: ignore[arg-type]
        events, prompt = ask(server.url)
    assert [entry.title for entry in only(events, SearchFinished).response.results] == ["结果1", "结果6"]
    assert "[2] 结果6" in prompt
    for problem in ("no address", "the address is not one of the web"):
        assert re.search(rf"engine searxng: \d results could not be read.*result \d: {problem}", caplog.text)
    assert only(events, Notice).kind == "partial"


@pytest.mark.parametrize(
    ("host", "port", "seconds", "words"),
    [
        ("127.0.0.1", full_backlog, "2", "搜索超时：2 秒内"),
        ("127.0.0.1", lambda: nullcontext(unused_port()), "20", "拒绝了连接"),
        ("nosuchhost", lambda: nullcontext(80), "20", "找不到 nosuchhost"),
    ],
    ids=["black hole", "refused", "no such name"],
)
def test_network_problem(host: str, port: Callable[[], AbstractContextManager[int]], seconds: str, words: str) -> None:
    with port() as number, answered_page(f"http://{host}:{number}", SEARCH_TIMEOUT=seconds) as page:
        (told,) = [info.value for info in page.info]
        assert words in told
        assert "检查网络" in told
        assert "关闭联网搜索" in told
        assert "照常回答" in pages.html(page.chat_message[-1])
