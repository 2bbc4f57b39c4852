"""One operation of the HTTP API: its address, what it is asked for, what it returns, and the service that does it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from core.serve.access import Scope
from core.serve.http.request_models import ApiRequest
from core.serve.schemas import Result

Serve = Callable[..., dict[str, Any]]
"""A service: gets the App, the caller and the fields of the request by their names, and returns JSON."""


@dataclass(frozen=True)
class Operation:
    """One method of one address. Fields of the request that the path does not name are in the query of a GET or DELETE, and
    in the JSON body of a POST. A PUT has its file as body."""

    method: str
    path: str
    summary: str
    request: type[ApiRequest]
    result: type[Result]
    scope: Scope | None
    """What the caller must be allowed to do."""
    serve: Serve | None = None
    """None for those that are no plain function of their request: an answer, which is a stream, and an upload."""
    takes_deadline: bool = False
    """True if the service fetches something, and ends when its `deadline` is cancelled."""

    @property
    def name(self) -> str:
        """A name for generated clients: GET /law/article is get_law_article."""
        words = re.sub("[{}]", "", self.path).strip("/").replace("/", "_")
        return f"{self.method.lower()}_{words}".rstrip("_")

    @property
    def has_json_body(self) -> bool:
        return self.method == "POST"

    @property
    def path_fields(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """The path as it is requested, percent-encoded. A file's name may have folders."""
        parts = {name: r"(?P<name>.+)" if name == "name" else f"(?P<{name}>[^/]+)" for name in self.path_fields}
        return re.compile(re.sub(r"{(\w+)}", lambda found: parts[found[1]], self.path))

    def match(self, path: str) -> dict[str, str] | None:
        """Return the fields of the request that a path has; None for another operation's path."""
        found = self._pattern.fullmatch(path)
        return {name: unquote(text) for name, text in found.groupdict().items()} if found else None
