"""What a reader sees while it happens: engine and model go on only when the page has shown what came before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Event

import pytest
from playwright.sync_api import expect

from core.ui.chat.actions import AGENT_ON
from support.app_server import AppServer
from support.faults import Peer, Server, json_answer
from support.openai_server import Call, OpenAIServer, in_turn, openai_server
from support.visitor import Visitor

pytestmark = pytest.mark.browser

FOUND = [{"title": f"结果{n}", "url": f"https://site{n}.example/", "content": "摘要"} for n in range(1, 11)]


@dataclass
class Held:
    """The app, its model, and a SearXNG that has found everything but says so when `found` is set."""

    app: AppServer
    model: OpenAIServer
    found: Event = field(default_factory=Event)


@pytest.fixture(scope="module")
def world(serve: Callable[..., AppServer]) -> Iterator[Held]:
    def searxng(peer: Peer) -> None:
        while request := peer.read_request():
            if b"q=" in request:  # not the check at the start
                running.found.wait(60)
            peer.send(json_answer({"results": FOUND, "unresponsive_engines": []}))

    with openai_server() as model, Server(searxng) as server:
        environ = {"SEARCH_PROVIDER_PRIORITY": "searxng", "SEARXNG_URL": server.url, "SEARCH_TIMEOUT": "60"}
        connected = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:reply"}
        running = Held(serve(**environ, **connected, AGENT_STRATEGY="tools"), model)
        yield running


@pytest.fixture
def held(world: Held) -> Held:
    world.found.clear()
    return world


def test_a_search_is_shown_while_it_runs(held: Held, visit: Callable[..., Visitor]) -> None:
    held.model.reply = in_turn(["三十日[1]。"])
    visitor = visit(held.app)
    visitor.search_on()
    visitor.ask("离婚冷静期是多久")
    line = visitor.page.locator(".wy-step")
    expect(line).to_have_text(re.compile("搜索「离婚冷静期是多久」 · 进行中"))
    assert "三十日" not in visitor.last_answer
    held.found.set()
    visitor.answered("tokens")
    expect(line.locator("> summary")).to_have_text(
        re.compile(r"搜索「离婚冷静期是多久」 · SearXNG · 10 条，取用 5 条 · [\d.]+ 秒")
    )


def test_the_steps_of_an_agent_are_shown_while_they_happen(held: Held, visit: Callable[..., Visitor]) -> None:
    thought, written = Event(), Event()
    calls = [Call("web_search", json.dumps({"query": city})) for city in ("北京人口", "上海人口", "广州人口")]
    beginning = "三个城市都有两千万上下的人口。" * 10
    held.model.reply = in_turn(
        ["<think>先想一想要查哪几个城市，", thought, "再去查。</think>", *calls],
        [beginning, written, "结尾在这里[1]。"],
    )
    visitor = visit(held.app)
    page = visitor.page
    visitor.flip("Agent")
    page.get_by_text(AGENT_ON).last.wait_for()
    visitor.settled()
    visitor.ask("三个城市各有多少人口？")
    lines = page.locator(".wy-step > summary")
    expect(lines).to_have_text(["思考中"])
    expect(page.get_by_text("先想一想")).to_be_visible()
    thought.set()
    expect(lines).to_have_text([re.compile("人口」 · 进行中")] * 3)
    held.found.set()
    expect(lines).to_have_text([re.compile("人口」 · SearXNG · 10 条")] * 3)
    expect(page.get_by_text(re.compile("10 个来源|5 个来源"))).to_be_visible()
    expect(page.get_by_text("三个城市都有两千万上下的人口。").first).to_be_visible()
    expect(page.get_by_text("停止回答")).to_be_visible()
    assert "结尾在这里" not in visitor.last_answer
    written.set()
    visitor.answered("tokens")
    assert "结尾在这里" in visitor.last_answer
