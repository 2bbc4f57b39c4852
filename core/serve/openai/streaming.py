"""Events and documents of both interfaces as bytes."""

from __future__ import annotations

from typing import Any

from core.serve.json_document import encode_json


def encode_event(data: dict[str, Any], name: str = "") -> bytes:
    """Return one server-sent event. `name`: its type, where the interface has names."""
    return (b"event: %b\n" % name.encode() if name else b"") + b"data: %b\n\n" % encode_json(data)
