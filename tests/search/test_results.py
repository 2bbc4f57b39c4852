"""What an engine sent, as a reader sees it."""

from __future__ import annotations

import random
import string
from typing import Any

import pytest

from core.search.results import RawResult, clean_results
from core.search.types import SearchQuery


def cleaned(title: str = "t", url: str = "https://a.example/", snippet: str = "s") -> tuple[str, str, str, str]:
    (result,) = clean_results([RawResult(title, url, snippet)], engine="x", limit=1)
    return result.title, result.url, result.snippet, result.source


def test_text_written_for_html_is_read_as_text() -> None:
    title, _, snippet, _ = cleaned(
        title="AT&amp;T &lt;新闻&gt; &#x4F60;&#22909;", snippet="a&nbsp;&nbsp;b &quot;c&quot; R&D"
    )
    assert title == "AT&T <新闻> 你好"
    assert snippet == 'a b "c" R&D'


@pytest.mark.parametrize(
    ("written", "url", "source"),
    [
        ("https://google.com@evil.test/", "https://evil.test/", "evil.test"),
        ("https://user:password@evil.test:8443/a?b#c", "https://evil.test:8443/a?b#c", "evil.test"),
        ("https://a@b@evil.test/", "https://evil.test/", "evil.test"),
        ("https://evil.test/@google.com", "https://evil.test/@google.com", "evil.test"),
    ],
)
def test_nobody_deceives_with_a_user_name_in_a_link(written: str, url: str, source: str) -> None:
    assert cleaned(url=written)[1::2] == (url, source)


def test_one_page_is_listed_once_and_another_server_on_the_same_host_is_another() -> None:
    one = ["http://wiki.test:80/a/", "https://www.wiki.test:443/a?utm_source=x#top", "https://wiki.test/a"]
    others = ["http://wiki.test:8080/a", "http://wiki.test:8081/a", "http://[::1]/a", "http://[::1]:8080/a"]
    found = clean_results([RawResult("t", url, "s") for url in (*one, *others)], engine="x", limit=9)
    assert [result.url for result in found] == [one[0], *others]


def test_two_different_queries_never_share_a_key() -> None:
    dice = random.Random(7)
    letters = string.ascii_lowercase[:3] + '|,"[] \\'

    def word() -> str:
        return "".join(dice.choices(letters, k=dice.randint(0, 3)))

    queries = {
        SearchQuery(word().strip(), language=word(), sites=tuple(word() for _ in range(dice.randint(0, 2))))
        for _ in range(3_000)
    }
    # What the cache takes for the same words is the same query.
    same = {(" ".join(query.text.split()), query.language, query.sites) for query in queries}
    assert len({query.key() for query in queries}) == len(same)


@pytest.mark.parametrize(
    ("said", "total"),
    [(192_000, 192_000), (0, None), (1, None), (None, None), ("many", None), (True, None), (-5, None)],
)
def test_the_total_is_what_the_engine_says_where_it_knows(said: Any, total: int | None) -> None:
    rows = [RawResult("标题", f"https://a{n}.example/") for n in range(3)]
    found = clean_results(rows, engine="e", limit=10, total=said)
    assert found.total == total
