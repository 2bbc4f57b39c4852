"""A reader of server-sent events: it takes bytes, cut at any point, and yields the data of each event.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

from collections.abc import Iterator


class EventReader:
    """Yields the data of events. Names and ids of events are ignored: services that stream chat completions send none."""

    def __init__(self) -> None:
        self._line = bytearray()
        """The beginning of an unfinished line. A bytearray: an endless line must not be copied each time."""
        self._data: list[str] = []

    def feed(self, received: bytes) -> Iterator[str]:
        """Take the next bytes and yield the data of each event that is now complete."""
        if b"\n" not in received and b"\r" not in received and not self._line.endswith(b"\r"):
            self._line += received
            return
        text = bytes(self._line) + received
        # A carriage return at the very end may be half of a line end.
        end = max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1)) + 1
        self._line = bytearray(text[end:])
        for line in text[:end].decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]:
            name, _, value = line.partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
            elif not line and self._data:
                yield "\n".join(self._data)
                self._data.clear()
