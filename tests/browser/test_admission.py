"""Whom the real server lets in, and when: over real connections, with headers that a browser would never send."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from support import invented
from support.app_server import AppServer
from support.openai_server import OpenAIServer
from support.waiting import until
from support.wire import Wire

Serve = Callable[..., AppServer]
Tabs = Callable[..., Wire]

ANSWERED, REFUSED = "tokens（估算）", "提问次数已达到每分钟的上限，这条消息没有发送。"
LIMITED = {
    "SEARCH_PROVIDER_PRIORITY": "bundled",
    "LIMITS_ANSWERS_PER_MINUTE": "2",
    "LIMITS_VISITORS_PER_ADDRESS": "2",
}


def new_mark() -> str:
    return secrets.token_urlsafe(24)


def is_answered(server: AppServer, *, mark: str = "", told: str = "") -> bool:
    headers = {"X-Forwarded-For": told} if told else {}
    with Wire(server.url, mark=mark, headers=headers) as tab:
        tab.ask("你是谁？")
        shown = tab.settle()
        assert (ANSWERED in shown) != (REFUSED in shown), shown
        return ANSWERED in shown


# ── Who is counted as whom ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_limit_does_not_begin_anew_without_the_cookie(serve: Serve) -> None:
    server = serve(**LIMITED)
    assert [is_answered(server, mark=new_mark()) for _ in range(3)] == [True, True, True]
    assert [is_answered(server) for _ in range(3)] == [True, False, False]


def test_nor_in_another_tab_of_the_same_browser(serve: Serve) -> None:
    server, mark = serve(**LIMITED, FORWARDED_ALLOW_IPS="127.0.0.1"), new_mark()
    assert [is_answered(server, mark=mark) for _ in range(3)] == [True, True, False]
    assert is_answered(server, mark=new_mark())


@pytest.mark.parametrize("named", [{}, {"FORWARDED_ALLOW_IPS": "192.0.2.1"}])
def test_nor_with_an_invented_address(serve: Serve, named: Mapping[str, str]) -> None:
    server = serve(**LIMITED, **named, LIMITS_ANSWERS_AT_ONCE="59")  # with counters of its own
    told = ["203.0.113.1", "203.0.113.2, 203.0.113.3", "[2001:db8::1]:80", "203.0.113.4:4444", "x", "127.0.0.1"]
    answered = [is_answered(server, mark=new_mark(), told=each) for each in told]
    assert answered == [True, True, True, True, False, False]
    assert ("FORWARDED_ALLOW_IPS names no proxy" in server.log) == (not named)


def test_a_named_proxy_is_believed_and_only_what_it_says_itself(serve: Serve) -> None:
    """A proxy appends whom it has met to what that one has sent."""
    server = serve(**LIMITED, FORWARDED_ALLOW_IPS="127.0.0.1")
    told = [f"198.51.100.{n}, 203.0.113.7" for n in range(6)]
    assert [is_answered(server, mark=new_mark(), told=each) for each in told].count(True) == 4
    assert is_answered(server, mark=new_mark(), told="203.0.113.8")


def test_neighbours_in_an_ipv6_network_count_as_one(serve: Serve) -> None:
    server = serve(**LIMITED, FORWARDED_ALLOW_IPS="127.0.0.1")
    assert [is_answered(server, told=f"2001:db8:0:1::{n:x}") for n in range(1, 7)].count(True) == 4
    assert is_answered(server, told="2001:db8:0:2::1")


# ── Answers at once ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def tabs(serve: Serve, model_server: OpenAIServer) -> Iterator[Tabs]:
    environ = {
        "SEARCH_PROVIDER_PRIORITY": "bundled",
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": model_server.url,
        "LLM_MODEL": "openai:as-asked",
        "LIMITS_ANSWERS_PER_MINUTE": "1000",
        "LIMITS_ANSWERS_AT_ONCE": "4",
        "LIMITS_ANSWERS_AT_ONCE_PER_VISITOR": "3",
    }
    model_server.requests.clear()
    with ExitStack() as stack:
        yield lambda mark: stack.enter_context(Wire(serve(**environ).url, mark=mark))
        model_server.released.set()
    model_server.released.clear()


def test_who_comes_too_late_is_told_their_place_and_moves_up(tabs: Tabs, model_server: OpenAIServer) -> None:
    busy = [tabs(new_mark()) for _ in range(4)]
    for tab in busy:
        tab.ask("占住 hang")
        tab.wait_for("正在等待模型…")
    first, second, third = (tabs(new_mark()) for _ in range(3))
    first.ask("第一个 ok")
    first.wait_for("正在排队，下一个就是这个问题…")
    second.ask("第二个 ok")
    second.wait_for("正在排队，前面还有 1 个问题…")
    third.ask("第三个 ok")
    third.wait_for("正在排队，前面还有 2 个问题…")
    second.close()
    third.wait_for("正在排队，前面还有 1 个问题…")
    first.click("停止回答")
    assert "已停止" in first.settle()
    third.wait_for("正在排队，下一个就是这个问题…")
    until(lambda: len(model_server.requests) == 4)
    busy[0].click("停止回答")
    assert "第二句话说明细节" in third.settle()
    assert len(model_server.requests) == 5


def test_many_tabs_of_one_browser_wait_for_each_other_and_push_nobody_back(
    tabs: Tabs, model_server: OpenAIServer
) -> None:
    mark = new_mark()
    many = [tabs(mark) for _ in range(8)]
    for tab in many[:3]:
        tab.ask("占住 hang")
        tab.wait_for("正在等待模型…")
    for tab in many[3:]:
        tab.ask("还有一个 ok")
        tab.wait_for("正在排队，")
    other = tabs(new_mark())
    other.ask("我只有一个问题 ok")
    assert "第二句话说明细节" in other.settle()
    assert len(model_server.requests) == 4
    many[0].click("停止回答")
    assert "第二句话说明细节" in many[3].settle()


# ── Uploads ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def memory(server: AppServer) -> int:
    """MB that the server holds."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def choose(tab: Wire, view: str) -> None:
    tab.use("button_group", view, string_array_value={"data": [view]})
    tab.settle()


def test_a_session_without_a_field_takes_no_upload(serve: Serve) -> None:
    server = serve(**LIMITED)
    with Wire(server.url, page="help") as manual, Wire(server.url, page="legal") as laws:
        before = memory(server)
        assert [tab.upload(45_000_000) for _ in range(6) for tab in (manual, laws)] == [403] * 12
        assert memory(server) - before < 45


def test_the_chat_takes_what_may_be_attached_and_keeps_no_more(serve: Serve) -> None:
    server = serve(**LIMITED)
    with Wire(server.url) as chat:
        assert chat.upload(11_000_000) == 413
        before = memory(server)
        assert [chat.upload(10_000_000) for _ in range(20)] == [204] * 20
        assert memory(server) - before < 12 * 10


def test_a_field_takes_what_it_is_for_and_keeps_no_more(serve: Serve) -> None:
    server = serve(**LIMITED)
    own_page = {"Origin": server.url}
    with Wire(server.url, page="legal", headers=own_page) as tab, Wire(server.url, page="legal") as other:
        choose(tab, "导入")
        assert tab.upload(53_000_000) == 413
        assert tab.upload(100, length=False) == 411
        before = memory(server)
        assert [tab.upload(40_000_000) for _ in range(8)] == [204] * 8
        assert memory(server) - before < 4 * 45
        assert other.upload(100) == 403


def test_each_field_has_its_own_limit(serve: Serve, tmp_path: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    server = serve(**LIMITED, DATA_DIR=str(tmp_path / "data"))
    with Wire(server.url, page="legal") as tab:
        choose(tab, "核验文稿")
        assert tab.upload(11_000_000) == 413
        assert tab.upload(1_000_000) == 204
