"""A visitor without a browser: the messages that Streamlit's front end and server exchange, sent and read by hand.

What nobody changed in the page is left out of the messages to the server, and none of the front end's files are fetched.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlencode

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

from bench.load_world import TOKENS, answer, last_word, words

CHIP = re.compile(r"<sup class=\"cite.*?</sup>", re.DOTALL)
"""A citation's number with its card, which repeats the sentence."""
TAG = re.compile(r"<[^>]*>")
ANSWERS = ('<div class="wy-answer">', '<div class="wy-answer fresh">')
"""How a piece of an answer begins; the second one, where it has just been written."""
PATIENCE = 120.0
"""Seconds until a page that does not come to rest counts as broken."""
RESTING_PATIENCE = 20.0
"""The same for one that rests without showing what was waited for."""


class _Counting(ClientConnection):
    received = 0

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        super().data_received(data)


@dataclass
class Visitor:
    number: int
    url: str
    agent: bool = False
    tokens: int = TOKENS
    asked_at: float = 0.0
    rested_at: float = 0.0
    arrived: list[tuple[int, float]] = field(default_factory=list)
    """When the page showed the answer up to which word. Nought is the salutation."""
    bytes: int = 0
    """That came through the websocket, compressed as for a browser."""
    bytes_before: int = 0
    """Those of them that had come when the question was asked."""
    cited: bool = False
    conversation: str = ""
    remark: str = ""
    """The last one in the page: where there is no answer, it says why."""
    _websocket: _Counting = field(init=False)
    _page: str = ""
    _query: str = ""
    _chat_input: str = ""
    _search_toggle: str = ""
    _search_is_on: bool = False
    _enabled: bool = False
    _answer: dict[tuple[int, ...], str] = field(default_factory=dict)
    _repeating: list[asyncio.Task[None]] = field(default_factory=list)
    _cached: dict[str, ForwardMsg] = field(default_factory=dict)
    """Large messages, by their hash: as long as a browser says that it has one, the server only names it."""

    @property
    def name(self) -> str:
        return f"访客{self.number:04d}"

    @property
    def question(self) -> str:
        return f"{self.name}想知道：用人单位没有按时支付劳动报酬，劳动者可以怎么办？"

    @property
    def answered(self) -> bool:
        """Every word is there, once and in order, and it is the answer to this visitor's question."""
        return self._is_whole("".join(self._answer[path] for path in sorted(self._answer)))

    def _is_whole(self, html: str) -> bool:
        text = TAG.sub("", CHIP.sub("", html))
        return answer(self.name)[0] in text and words(text) == list(range(1, self.tokens))

    @property
    def first_at(self) -> float:
        return self.arrived[0][1] if self.arrived else 0.0

    @property
    def last_at(self) -> float:
        return next((at for word, at in self.arrived if word == self.tokens - 1), 0.0)

    async def open(self) -> None:
        """Until the page has been drawn for the first time."""
        cookies = await self._fetch_cookies()
        websocket = await connect(
            f"{self.url.replace('http', 'ws', 1)}/_stcore/stream",
            origin=self.url,  # type: ignore[arg-type]
            subprotocols=["streamlit", cookies["_streamlit_xsrf"]],  # type: ignore[list-item]
            additional_headers={"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())},
            max_size=None,
            open_timeout=PATIENCE,
            ping_interval=None,
            create_connection=_Counting,
        )
        assert isinstance(websocket, _Counting)
        assert websocket.protocol.extensions, "the server compresses nothing"
        self._websocket = websocket
        await self._rerun()
        await self._until(lambda: bool(self._chat_input))

    async def _fetch_cookies(self) -> dict[str, str]:
        """As the front end: the page itself, whether the server is well, and how it wants to be talked to."""
        found: dict[str, str] = {}
        async with httpx.AsyncClient(base_url=self.url, timeout=PATIENCE) as client:
            for path in ("/", "/_stcore/health", "/_stcore/host-config"):
                response = await client.get(path)
                for line in response.headers.get_list("set-cookie"):
                    found |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        return found

    async def get_ready(self) -> None:
        """Switches search on, or the agent."""
        if self.agent:
            await self._rerun(self._typed("/mode agent"))
            await self._until(lambda: True)
        else:
            self._search_is_on = True
            await self._rerun()
            await self._until(lambda: self._enabled)

    async def ask(self) -> None:
        """Asks, and reads until the answer is complete and the page at rest."""
        self.asked_at, self.bytes_before = time.monotonic(), self._websocket.received
        await self._rerun(self._typed(self.question))
        await self._until(lambda: self.answered)
        self.rested_at, self.bytes = time.monotonic(), self._websocket.received

    async def leave(self) -> None:
        self._stop_repeating()
        await self._websocket.close()

    # ── To the server ─────────────────────────────────────────────────────────────────────────────────────────────

    def _typed(self, text: str) -> WidgetState:
        state = WidgetState(id=self._chat_input)
        state.chat_input_value.data = text
        return state

    async def _rerun(self, *changed: WidgetState, fragment: str = "") -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self._query, self._page
        state.fragment_id, state.is_auto_rerun = fragment, bool(fragment)
        state.widget_states.widgets.extend(changed)
        if self._search_is_on:
            state.widget_states.widgets.append(WidgetState(id=self._search_toggle, bool_value=True))
        state.context_info.timezone, state.context_info.locale = "Asia/Shanghai", "zh-CN"
        state.context_info.url = self.url
        state.cached_message_hashes.extend(self._cached)
        await self._websocket.send(message.SerializeToString())

    async def _repeat(self, fragment: str, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            await self._rerun(fragment=fragment)

    def _stop_repeating(self) -> None:
        for task in self._repeating:
            task.cancel()
        self._repeating.clear()

    # ── From the server ───────────────────────────────────────────────────────────────────────────────────────────

    async def _until(self, reached: Callable[[], bool]) -> None:
        """Reads until a run of the whole page has come to its end and shows what was waited for."""
        async with asyncio.timeout(PATIENCE) as limit:
            while True:
                data = await self._websocket.recv()
                assert isinstance(data, bytes)
                message = self._whole(ForwardMsg.FromString(data))
                self._take(message)
                if message.HasField("script_finished") and message.script_finished == message.FINISHED_SUCCESSFULLY:
                    if reached():
                        return
                    limit.reschedule(asyncio.get_running_loop().time() + RESTING_PATIENCE)

    def _whole(self, message: ForwardMsg) -> ForwardMsg:
        if message.metadata.cacheable:
            self._cached[message.hash] = message
        if message.WhichOneof("type") != "ref_hash":
            return message
        named = ForwardMsg()
        named.CopyFrom(self._cached[message.ref_hash])
        named.metadata.CopyFrom(message.metadata)
        return named

    def _take(self, message: ForwardMsg) -> None:
        match message.WhichOneof("type"):
            case "delta":
                self._draw(message)
            case "new_session" if not message.metadata.run.fragment_ids:
                self._stop_repeating()
                self._answer.clear()
            case "navigation":
                self._page = message.navigation.page_script_hash
            case "page_info_changed":
                self._query = message.page_info_changed.query_string
                self.conversation = parse_qs(self._query).get("c", [""])[0]
            case "auto_rerun":
                again = message.auto_rerun
                self._repeating.append(asyncio.create_task(self._repeat(again.fragment_id, again.interval)))

    def _draw(self, message: ForwardMsg) -> None:
        path, element = tuple(message.metadata.delta_path), message.delta.new_element
        kind = element.WhichOneof("type")
        for drawn in [drawn for drawn in self._answer if drawn[: len(path)] == path]:
            del self._answer[drawn]
        match kind:
            case "html" if element.html.body.startswith(ANSWERS):
                self._read(path, element.html.body)
            case "chat_input":
                self._chat_input = element.chat_input.id
            case "checkbox" if element.checkbox.label.startswith("联网"):
                self._search_toggle = element.checkbox.id
                self._enabled = element.checkbox.label.endswith("已启用")
            case "alert":
                self.remark = element.alert.body

    def _read(self, path: tuple[int, ...], html: str) -> None:
        self._answer[path] = html
        self.cited = self.cited or 'class="cite"' in html
        word = last_word(html)
        if word is None and self.name in html:
            word = 0
        if word is not None and (not self.arrived or word > self.arrived[-1][0]):
            self.arrived.append((word, time.monotonic()))


class StockVisitor(Visitor):
    """Of a page that answers in plain `st.markdown`, without switches."""

    @property
    def answered(self) -> bool:
        """An agent's page may show it twice: while it is written, and as the result."""
        return any(map(self._is_whole, self._answer.values()))

    async def get_ready(self) -> None:
        """There is nothing to switch on."""

    def _draw(self, message: ForwardMsg) -> None:
        super()._draw(message)
        element = message.delta.new_element
        if element.WhichOneof("type") == "markdown" and answer(self.name)[0] in element.markdown.body:
            self._read(tuple(message.metadata.delta_path), element.markdown.body)


class StreamVisitor(Visitor):
    """Of `bench/apps/bare_stream.py`: asks, and reads an event stream."""

    async def open(self) -> None:
        """There is no page."""

    async def get_ready(self) -> None:
        """There is nothing to switch on."""

    async def ask(self) -> None:
        host, port = self.url.removeprefix("http://").split(":")
        self.asked_at = time.monotonic()
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /?{urlencode({'q': self.question})} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        pieces: list[str] = []
        async for line in reader:
            self.bytes += len(line)
            if line.startswith(b"data: {"):
                self.arrived.append((len(pieces), time.monotonic()))
                pieces.append(json.loads(line.removeprefix(b"data: "))["text"])
            elif line.startswith(b"data: [DONE]"):
                break
        writer.close()
        self._answer[()] = "".join(pieces)
        self.rested_at = time.monotonic()

    async def leave(self) -> None:
        """It hung up when it had read all."""
