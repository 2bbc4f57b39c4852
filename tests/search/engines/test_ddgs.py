"""The wrapper around ddgs, with the library's own exceptions and a stand-in for its client: no test leaves the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ddgs.ddgs import DDGS
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

from core.base.http import Deadline
from core.search.engines import ddgs
from core.search.engines.ddgs import DdgsEngine
from core.search.errors import EngineError, EngineParseError, EngineThrottled, EngineTimeout, EngineUnavailable
from core.search.types import SearchQuery, SearchType, TimeRange
from support.base import loaded

TEXT = [
    {"title": "标题", "href": "https://a.example/", "body": "摘要"},
    {"title": "b", "href": "javascript:x", "body": ""},
]
NEWS = [
    {"date": "2026-11-01", "title": "新闻", "body": "正文", "url": "https://n.example/", "image": "", "source": "报"}
]


class Client:
    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome
        self.timeout = 0.0
        self.asked: list[tuple[str, str, dict[str, Any]]] = []

    def __call__(self, *, timeout: float) -> Client:
        self.timeout = timeout
        return self

    def _answer(self, kind: str, words: str, options: dict[str, Any]) -> Any:
        self.asked.append((kind, words, options))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def text(self, words: str, **options: Any) -> Any:
        return self._answer("text", words, options)

    def news(self, words: str, **options: Any) -> Any:
        return self._answer("news", words, options)


def search(client: Client, query: SearchQuery | str = "问题", seconds: float = 4.0) -> Any:
    engine = DdgsEngine(("duckduckgo", "brave", "startpage"), library=client)
    return engine.search(query, 10, deadline=Deadline(seconds))


def test_text() -> None:
    client = Client(TEXT)
    (result,) = search(client, SearchQuery("问题", language="zh-CN", time_range=TimeRange.WEEK, sites=("gov.cn",)))
    assert (result.title, result.url, result.snippet, result.engine) == ("标题", "https://a.example/", "摘要", "ddgs")
    assert client.asked == [
        ("text", "问题 site:gov.cn",
         {"region": "cn-zh", "timelimit": "w", "max_results": 10, "backend": "duckduckgo,brave,startpage"}),
    ]  # fmt: skip


def test_news() -> None:
    client = Client(NEWS)
    (result,) = search(client, SearchQuery("问题", SearchType.NEWS, language="fi"))
    assert (result.url, result.published) == ("https://n.example/", "2026-11-01")
    ((kind, _, options),) = client.asked
    assert (kind, options["region"], options["timelimit"]) == ("news", "wt-wt", None)


def test_its_rounds_fit_into_the_deadline() -> None:
    client = Client(TEXT)
    search(client, seconds=4.0)
    assert 1.0 < client.timeout <= 2.0


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (TimeoutException("timed out"), EngineTimeout),
        (RatelimitException("202"), EngineThrottled),
        (
            DDGSException(ConnectionError("error sending request for url (https://x.example/?q=secret)")),
            EngineUnavailable,
        ),
        (KeyError("html"), EngineParseError),
        (None, EngineParseError),
    ],
)
def test_errors(outcome: Any, kind: type[EngineError]) -> None:
    with pytest.raises(kind) as caught:
        search(Client(outcome))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("outcome", [DDGSException("No results found."), []])
def test_nothing_found(outcome: Any) -> None:
    assert search(Client(outcome)) == []


def test_the_library_still_has_what_is_used_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real client, up to where it would go out; its own engines are replaced."""
    from ddgs.engines import ENGINES

    for category, names in (
        ("text", DdgsEngine.from_settings(loaded().values)._backends),
        ("news", ddgs.NEWS_BACKENDS),
    ):
        assert set(names) <= set(ENGINES[category])
    asked: list[tuple[str, dict[str, Any]]] = []

    def engines(result: Callable[[], list[Any]]) -> Any:
        class Stub:
            name = provider = "stub"
            priority = 1

            def search(self, query: str, **options: Any) -> list[Any]:
                asked.append((query, options))
                return result()

        return lambda *_: [Stub()]

    def down() -> list[Any]:
        raise DDGSException("ConnectError: refused")

    engine = DdgsEngine.from_settings(loaded().values)
    monkeypatch.setattr(DDGS, "_get_engines", engines(list))
    assert engine.search("问题", 10) == []
    assert asked[0] == ("问题", {"region": "wt-wt", "safesearch": "moderate", "timelimit": None, "page": 1})
    monkeypatch.setattr(DDGS, "_get_engines", engines(down))
    with pytest.raises(EngineUnavailable):
        engine.search("问题", 10)
