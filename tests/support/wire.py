"""A visitor without a browser: the page's own messages over a real websocket, with whatever headers somebody may forge."""

from __future__ import annotations

import socket
import time
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from core import VISITOR_COOKIE

PATIENCE = 40.0  # on a busy machine; nobody waits longer than needed


class Wire:
    """One tab."""

    def __init__(
        self,
        url: str,
        *,
        page: str = "",
        query: str = "",
        mark: str = "",
        host: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`host` is the name that is asked for, if it is not the one of `url`."""
        own = urlsplit(url)
        self._url = url
        self._page = page
        self._mark = mark
        self.query = query
        self.session_id = ""
        self.theme: Any = None
        self._elements: list[Any] = []
        self._fragments: dict[int, str] = {}
        """By the place of the element in that list."""
        self._connected = ExitStack()
        self._socket = self._connected.enter_context(
            connect(
                f"ws://{host or own.netloc}/_stcore/stream",
                address=(own.hostname, own.port),
                additional_headers={"Cookie": f"{VISITOR_COOKIE}={mark}", **(headers or {})},
                subprotocols=[Subprotocol("streamlit")],
                max_size=None,
                max_queue=None,
            )
        )
        self._rerun()
        self.news = self.settle()
        """What the first run of the page drew."""

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connected.close()

    def ask(self, question: str) -> None:
        """Does not wait for the answer."""
        self.use("chat_input", "问一个问题", chat_input_value={"data": question})

    def click(self, label: str) -> None:
        self.use("button", label, trigger_value=True)

    def use(self, kind: str, words: str, **value: Any) -> None:
        """Gives the newest widget of this kind, with these words on it, a value."""
        found = [(place, getattr(one, kind)) for place, one in enumerate(self._elements) if one.HasField(kind)]
        place, widget = next((place, one) for place, one in reversed(found) if words in str(one))
        self._rerun(WidgetState(id=widget.id, **value), fragment=self._fragments.get(place, ""))

    def look(self) -> None:
        """Asks for what was said elsewhere, as core/ui/scripts/tabs.js does it."""
        self.query += "&look=1"
        self._rerun()

    def silence(self, seconds: float) -> int:
        """How many messages come although nothing is asked for."""
        count, end = 0, time.monotonic() + seconds
        while True:
            try:
                message = ForwardMsg.FromString(self._socket.recv(timeout=max(end - time.monotonic(), 0)))
                count += not message.HasField("session_status_changed")  # it follows the end of the last run
            except TimeoutError:
                return count

    def settle(self) -> str:
        """Everything that comes until the script has run to its end, also what was replaced in the meantime."""
        return self._take_until(_is_the_end)

    def wait_for(self, text: str) -> None:
        self._take_until(lambda message: text in str(message.delta.new_element))

    def _take_until(self, last: Callable[[ForwardMsg], bool]) -> str:
        news, deadline = "", time.monotonic() + PATIENCE
        while True:
            try:
                message = ForwardMsg.FromString(self._socket.recv(timeout=deadline - time.monotonic()))
            except TimeoutError:
                raise AssertionError(f"it never came; what came was: {news}") from None
            if message.HasField("new_session"):
                self.session_id = message.new_session.initialize.session_id
                self.theme = message.new_session.custom_theme
            if message.HasField("page_info_changed"):
                self.query = message.page_info_changed.query_string
            if message.delta.HasField("new_element"):
                self._fragments[len(self._elements)] = message.delta.fragment_id
                self._elements.append(message.delta.new_element)
                news += f"{message.delta.new_element}\n"
            if last(message):
                return news

    def _rerun(self, *widgets: WidgetState, fragment: str = "") -> None:
        message = BackMsg()
        message.rerun_script.page_name = self._page
        message.rerun_script.query_string = self.query
        message.rerun_script.fragment_id = fragment
        message.rerun_script.widget_states.widgets.extend(widgets)
        self._socket.send(message.SerializeToString())

    def upload(self, size: int, *, length: bool = True) -> int:
        """The status of an upload into this session, whether its page has a field for that or not.

        The file is sent when the server says that it wants it, as `Expect` lets it say.
        """
        with urllib.request.urlopen(f"{self._url}/_stcore/health") as response:
            token = response.headers["Set-Cookie"].partition(";")[0].partition("=")[2]
        form = b'--form\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n%b\r\n--form--\r\n'
        body = form % (b"x" * size)
        address = urlsplit(self._url)
        head = (
            f"PUT /_stcore/upload_file/{self.session_id}/{uuid.uuid4()} HTTP/1.1",
            f"Host: {address.netloc}",
            "Content-Type: multipart/form-data; boundary=form",
            f"Content-Length: {len(body)}" if length else "Transfer-Encoding: chunked",
            f"Cookie: _streamlit_xsrf={token}; {VISITOR_COOKIE}={self._mark}",
            f"X-Xsrftoken: {token}",
            "Expect: 100-continue",
        )
        with socket.create_connection((address.hostname, address.port), PATIENCE) as connection:
            connection.sendall("\r\n".join((*head, "", "")).encode())
            answer = connection.makefile("rb")
            status = int(answer.readline().split()[1])
            if status != HTTPStatus.CONTINUE:
                return status
            answer.readline()
            connection.sendall(body)
            return int(answer.readline().split()[1])


def _is_the_end(message: ForwardMsg) -> bool:
    ends = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
    return message.HasField("script_finished") and message.script_finished in ends
