"""A conversation that was not shared, and a stranger at the wire with its address."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from core import VISITOR_COOKIE
from support.app_server import AppServer
from support.forked_server import forked_server
from support.wire import Wire

MINE, YOURS = "m" * 32, "y" * 32
SECRET = "只有我知道的灯塔"
REFUSED = "这个对话没有分享给你，或者已经不存在"


@pytest.fixture(scope="module")
def app() -> Iterator[AppServer]:
    with forked_server(SEARCH_PROVIDER_PRIORITY="bundled") as running:
        yield running


@pytest.fixture(scope="module")
def talk(app: AppServer) -> Iterator[tuple[Wire, str]]:
    """The owner's page, which stays open, and the address of the conversation."""
    with Wire(app.url, mark=MINE) as mine:
        mine.ask(SECRET)
        mine.settle()
        yield mine, mine.query


@pytest.mark.parametrize("mark", [YOURS, "", MINE.upper(), "x"])
def test_the_address_alone_draws_nothing_of_it(app: AppServer, talk: tuple[Wire, str], mark: str) -> None:
    _, address = talk
    with Wire(app.url, mark=mark, query=address) as stranger, Wire(app.url, mark=mark, query=f"c={'A' * 24}") as nobody:
        assert REFUSED in stranger.news
        assert SECRET not in stranger.news
        assert _notes(stranger.news) == _notes(nobody.news)
        assert "导出" not in stranger.news
    with Wire(app.url, mark=MINE, query=address) as owner:
        assert SECRET in owner.news


def test_a_share_opens_it_and_is_no_longer_a_way_in_when_withdrawn(app: AppServer, talk: tuple[Wire, str]) -> None:
    mine, _ = talk
    mine.click("分享")
    shown = mine.settle()
    share = shown.partition("?s=")[2][:24]
    assert len(share) == 24
    with Wire(app.url, mark=YOURS, query=f"s={share}") as reader:
        assert SECRET in reader.news
        mine.click("撤回")
        mine.settle()
        reader.look()
        news = reader.settle()
        assert "这个分享链接已经失效" in news
        assert SECRET not in news.partition("这个分享链接已经失效")[2]
    with Wire(app.url, mark=YOURS, query=f"s={share}") as late:
        assert SECRET not in late.news


def test_another_browser_that_reconnects_to_the_session_sees_nothing_of_it(app: AppServer) -> None:
    with Wire(app.url, mark=MINE) as mine:
        mine.ask(SECRET)
        mine.settle()
        session, address = mine.session_id, mine.query
    protocols = [Subprotocol(name) for name in ("streamlit", "x", session)]
    headers = {"Cookie": f"{VISITOR_COOKIE}={YOURS}"}
    with connect(
        f"{app.url.replace('http', 'ws')}/_stcore/stream",
        additional_headers=headers,
        subprotocols=protocols,
        max_size=None,
    ) as socket:
        message = BackMsg()
        message.rerun_script.query_string = address
        socket.send(message.SerializeToString())
        news = ""
        while True:
            answer = ForwardMsg.FromString(socket.recv(timeout=40))
            news += str(answer)
            if answer.HasField("new_session"):
                assert answer.new_session.initialize.session_id == session, "or nothing was tried"
            if answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and answer.HasField("script_finished"):
                break
    assert SECRET not in news
    assert REFUSED in news


def test_an_idle_page_costs_no_reruns(talk: tuple[Wire, str]) -> None:
    mine, _ = talk
    assert mine.silence(3.0) == 0


def _notes(news: str) -> list[str]:
    return [line for line in news.splitlines() if REFUSED in line]
