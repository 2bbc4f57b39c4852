from __future__ import annotations

import pytest

from core.base.web_addresses import find_urls, host_of


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://\u0430pple.com/", "xn--pple-43d.com"),
        ("https://\u0430\u0440\u0440\u04cf\u0435.com/", "xn--80ak6aa92e.com"),
        ("https://g\u043e\u043egle.com/", "xn--ggle-55da.com"),
        ("https://中文.example/", "中文.example"),
        ("https://www.中文ab.cn/", "中文ab.cn"),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"),
    ],
)
def test_a_host_that_looks_like_another_is_shown_as_it_is_spelled(url: str, shown: str) -> None:
    assert host_of(url) == shown


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("看看https://a.example/x讲了什么", ["https://a.example/x"]),
        ("https://zh.example/wiki/水表。", ["https://zh.example/wiki/水表"]),
        ("（见 https://a.example/b）", ["https://a.example/b"]),
        ("[文](https://a.example/b_(c)).", ["https://a.example/b_(c)"]),
        ("https://a.example/1，https://a.example/1#x 和 http://b.example", ["https://a.example/1", "http://b.example"]),
        ("<https://a.example/?q=1&p=2>", ["https://a.example/?q=1&p=2"]),
        ("https://google.com@evil.test/ ftp://a.example/ javascript://a.example/ https://", []),
    ],
)
def test_links_as_people_type_them(text: str, addresses: list[str]) -> None:
    assert list(find_urls(text)) == addresses
