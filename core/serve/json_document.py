"""JSON as the services send it."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response


class JsonDocument(Response):
    """A response of JSON, or of bytes that are JSON already."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else encode_json(content)


def encode_json(document: Any) -> bytes:
    """Return JSON as bytes. Half characters, which no bytes can hold, become question marks."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode(errors="replace")
