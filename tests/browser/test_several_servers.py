"""Two app servers behind a real nginx with deploy/nginx.conf, a real PostgreSQL and a real Redis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from prometheus_client.parser import text_string_to_metric_families

from core import VISITOR_COOKIE
from support.app_server import AppServer
from support.faults import Server, json_answer, keep_alive
from support.forked_server import forked_server
from support.nginx import SERVED_BY, nginx
from support.postgres import running_postgres
from support.redis_server import RedisServer, needs_redis
from support.visitor import Visitor
from support.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("postgres")]

QUESTION = "离婚冷静期有多长？"
FOUND = {
    "results": [{"title": "民法典", "url": "https://law.example/1077", "content": "离婚冷静期为三十日。"}],
    "answers": [],
    "infoboxes": [],
    "unresponsive_engines": [],
}


@dataclass
class Cluster:
    url: str
    servers: dict[str, AppServer]
    """By the address under which nginx knows them."""
    searxng: Server

    @property
    def searches(self) -> int:
        return sum(b"q=" in request.partition(b"\r\n")[0] for request in self.searxng.requests)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    needs_redis()
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as stack:
        searxng = stack.enter_context(Server(keep_alive(json_answer(FOUND))))
        redis = RedisServer(str(folder))
        redis.start()
        stack.callback(redis.kill)
        shared = {
            "DATABASE_URL": stack.enter_context(running_postgres()).new_database(),
            "CACHE_URL": redis.url,
            "METRICS_PROMETHEUS": "true",
            "SEARCH_PROVIDER_PRIORITY": "searxng",
            "SEARXNG_URL": searxng.url,
            "STREAMLIT_SERVER_COOKIE_SECRET": "the-same-on-each-of-the-servers",
            "FORWARDED_ALLOW_IPS": "127.0.0.1",
        }
        servers = [stack.enter_context(forked_server(**shared)) for _ in range(2)]
        url = stack.enter_context(nginx(folder, servers))
        yield Cluster(url, {server.url.removeprefix("http://"): server for server in servers}, searxng)


@dataclass
class Guest:
    """A browser that has been at the page once, and the server that nginx has chosen for it."""

    context: BrowserContext
    server: str

    def open(self, url: str) -> tuple[Visitor, list[str]]:
        """The page, and who answers each of its websockets."""
        page = self.context.new_page()
        answered: list[str] = []
        devtools = self.context.new_cdp_session(page)
        devtools.on(
            "Network.webSocketHandshakeResponseReceived",
            lambda event: answered.append(event["response"]["headers"][SERVED_BY]),
        )
        devtools.send("Network.enable")
        return Visitor(page, url), answered


@pytest.fixture
def invite(browser: Browser, cluster: Cluster) -> Iterator[Callable[..., Guest]]:
    with ExitStack() as stack:

        def invite(*, not_to: str = "") -> Guest:
            """Somebody new; whom chance brings to that server has to leave and come back as somebody else."""
            for _ in range(30):
                context = browser.new_context(ignore_https_errors=True, locale="zh-CN")
                stack.callback(context.close)
                context.request.get(cluster.url)
                server = context.request.get(f"{cluster.url}/healthz").headers[SERVED_BY.lower()]
                if server != not_to:
                    return Guest(context, server)
            raise AssertionError("nginx sends everybody to the same server")

        yield invite


def ask_with_search(visitor: Visitor) -> None:
    visitor.search_on()
    visitor.ask(QUESTION)
    visitor.answered("参考文献")


def answers_counted(cluster: Cluster) -> list[float]:
    """What Prometheus reads at the port of each process."""
    texts = [urlopen(f"{server.url}/metrics").read().decode() for server in cluster.servers.values()]
    return [
        sum(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == "wenyuan_answers_total"
        )
        for text in texts
    ]


def test_a_visitor_stays_with_one_server_and_all_servers_share_what_they_know(
    cluster: Cluster, invite: Callable[..., Guest]
) -> None:
    guest = invite()
    (cookie,) = [cookie for cookie in guest.context.cookies() if cookie["name"] == VISITOR_COOKIE]
    assert cookie["secure"], "the app server believes nginx that the visitor came by HTTPS"
    visitor, answered = guest.open(cluster.url)
    ask_with_search(visitor)
    visitor.page.wait_for_url("**/?c=*")
    address = visitor.page.url
    visitor.page.reload()
    visitor.answered("参考文献")
    assert answered == [guest.server] * 2
    assert cluster.searches == 1

    other = invite(not_to=guest.server)
    elsewhere, answered = other.open(address)
    expect(elsewhere.page.get_by_text("这个对话没有分享给你")).to_be_visible()
    elsewhere.page.get_by_text("新对话").click()
    expect(elsewhere.page.get_by_test_id("stChatMessage")).to_have_count(0)
    ask_with_search(elsewhere)
    expect(elsewhere.page.get_by_text("缓存 · ").first).to_be_attached()
    assert set(answered) == {other.server} != {guest.server}
    assert cluster.searches == 1, "what one server has found the other one knows"
    until(lambda: answers_counted(cluster) == [1, 1])
    assert guest.context.request.get(f"{cluster.url}/metrics").status == 404


def test_when_a_server_dies_its_visitors_go_on_with_another(cluster: Cluster, invite: Callable[..., Guest]) -> None:
    """The page outlives its session: what is typed next begins a new one, on the server that is left."""
    guest = invite()
    visitor, answered = guest.open(cluster.url)
    visitor.ask("第一个问题")
    visitor.answered("内置摘录模型")
    visitor.page.wait_for_url("**/?c=*")
    assert answered == [guest.server]
    with visitor.page.expect_websocket():
        cluster.servers[guest.server].process.kill()
    visitor.page.wait_for_selector("[data-testid=stApp][data-test-connection-state=CONNECTED]")
    visitor.settled()
    visitor.ask("第二个问题")
    messages = visitor.page.get_by_test_id("stChatMessage")
    expect(messages).to_have_count(4)
    expect(messages.nth(0)).to_contain_text("第一个问题")
    expect(messages.nth(2)).to_contain_text("第二个问题")
    assert answered[-1] != guest.server
