"""Addresses that lead elsewhere than they say: what becomes of them as a result, on the page and in an export."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlsplit

import pytest

from core.answer.html.markdown import render_html
from core.answer.html.source_html import references_html, results_html
from core.base.inert_markdown import link_target
from core.base.web_addresses import host_of
from core.search.results import RawResult, clean_results
from core.search.types import SearchResult, Source

OTHER_SCHEMES = [
    *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "javascript://a.example/%0aalert(1)", "java\nscript:alert(1)"),
    *(" javascript:alert(1)", "\x01javascript:alert(1)", "javascript\t:alert(1)", "&#106;avascript:alert(1)"),
    *("data:text/html,<script>", "data:text/html;base64,PHNjcmlwdD4=", "vbscript:x", "file:///etc/passwd"),
    *(
        "blob:https://a.example/x",
        "view-source:https://a.example/",
        "about:blank",
        "chrome://settings",
        "ws://a.example/",
    ),
    *("ftp://a.example/", "mailto:a@a.example", "tel:110", "intent://a#Intent;end", "ms-word:ofe|u|https://a.example"),
    *(
        "https:/a.example",
        "https:a.example",
        "https:\\\\a.example\\",
        "//a.example/",
        "\\\\a.example\\x",
        "/a",
        "a.example",
    ),
    *(
        "ht\ntps://a.example/",
        "https\u200b ://a.example/",
        "hxxps://a.example/",
        "https;//a.example/",
        "httpſ://a.example/",
    ),
]
NO_HOST = [
    *(
        "https://",
        "https:///a.example/",
        "https://:80/",
        "https://@/",
        "https://a.example@/",
        "https://#a",
        "https://?a",
    ),
    *("https://[", "https://[::1", "https://[a]b.example/", "https://]a.example/"),
    *("https://a.example\\.b.example/", "https://a.example%00.b.example/", "https://a.example%2f.b.example/"),
    *("https://a b.example/", "https://a\tb.example/", "https://<script>/", 'https://"a.example/', "https://a|b/"),
    *("https://a^b.example/", "https://{a}.example/", "https://`a`.example/", "https://a.example\u3000b/"),
    *("https://a\u2100b.example/", "https://a\uff0fb.example/"),
]


def result(url: object) -> SearchResult | None:
    return next(iter(clean_results([RawResult("标题", url)], engine="e", limit=1)), None)


@pytest.mark.parametrize("url", [*OTHER_SCHEMES, *NO_HOST])
def test_what_is_no_address_of_the_web_is_no_result_and_no_link(url: str) -> None:
    assert result(url) is None
    for html in _drawn(url):
        assert "href=" not in html


def _drawn(url: str) -> list[str]:
    """A source with this address, as one may come from an older database, in all places of the page."""
    source = Source(1, "标题", url, "摘要")
    return [
        references_html([source]),
        results_html([SearchResult("标题", url, "摘要", "a.example")]),
        render_html(f"甲[1] [乙](<{url}>) [丙]({url})", [source]),
    ]


DECEIVING = [
    ("https://google.com@evil.example/", "https://evil.example/", "evil.example"),
    ("https://google.com%2f@evil.example/", "https://evil.example/", "evil.example"),
    ("https://google.com:443@evil.example/", "https://evil.example/", "evil.example"),
    ("https://a:b@c:d@evil.example/", "https://evil.example/", "evil.example"),
    ("https://google.com;@evil.example/", "https://evil.example/", "evil.example"),
    ("https://ａ@evil.example/", "https://evil.example/", "evil.example"),
    ("https://evil.example#@google.com/", "https://evil.example#@google.com/", "evil.example"),
    ("https://evil.example?@google.com/", "https://evil.example?@google.com/", "evil.example"),
    ("https://evil.example/@google.com/", "https://evil.example/@google.com/", "evil.example"),
    ("https://evil.example/\\@google.com", "https://evil.example/\\@google.com", "evil.example"),
    ("HTTPS://GOOGLE.COM.evil.example/", "HTTPS://GOOGLE.COM.evil.example/", "google.com.evil.example"),
    ("https://www.www.evil.example/", "https://www.www.evil.example/", "www.evil.example"),
    ("https://\u0430pple.com/", "https://\u0430pple.com/", "xn--pple-43d.com"),
    ("https://g\u03bfogle.com/", "https://g\u03bfogle.com/", "xn--gogle-rce.com"),
    ("https://go\u043egle.com/", "https://go\u043egle.com/", "xn--gogle-kye.com"),
    ("https://ｇoogle.com/", "https://ｇoogle.com/", "xn--oogle-dq33a.com"),
    (
        "https://google.com\u2044evil.example/",
        "https://google.com\u2044evil.example/",
        "google.xn--comevil-3d7c.example",
    ),
    (
        "https://google.com\u3002evil.example/",
        "https://google.com\u3002evil.example/",
        "google.xn--comevil-8o3f.example",
    ),
    ("https://google.comノa.evil.example/", "https://google.comノa.evil.example/", "google.xn--coma-xq4c.evil.example"),
    ("https://google一com.example/", "https://google一com.example/", "xn--googlecom-075n.example"),
    ("https://google・com.example/", "https://google・com.example/", "xn--googlecom-gl5h.example"),
    ("https://goog丨e.example/", "https://goog丨e.example/", "xn--googe-en1h.example"),
    ("https://xn--80ak6aa92e.com/", "https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"),
    ("https://ß.example/", "https://ß.example/", "xn--zca.example"),
    ("https://😀.example/", "https://😀.example/", "xn--e28h.example"),
    ("https://中国.example/", "https://中国.example/", "中国.example"),
    ("https://日本ノ一.example/", "https://日本ノ一.example/", "日本ノ一.example"),
    ("https://a\u00adb.example/", "https://ab.example/", "ab.example"),
    ("https://\u200ba.example/", "https://a.example/", "a.example"),
    ("https://a.example/\u202egnp.exe", "https://a.example/gnp.exe", "a.example"),
    ("https://a.example/x\x00y", "https://a.example/xy", "a.example"),
    ("https://a.example/x\ud800y", "https://a.example/xy", "a.example"),
    (" \n https://a.example/ \t", "https://a.example/", "a.example"),
    ("https://a.example/x\ny", "https://a.example/x%20y", "a.example"),
    ("https://2130706433/", "https://2130706433/", "2130706433"),
    ("https://[::1]/", "https://[::1]/", "::1"),
]


@pytest.mark.parametrize(("written", "url", "shown"), DECEIVING)
def test_a_link_shows_where_it_leads(written: str, url: str, shown: str) -> None:
    found = result(written)
    assert found is not None
    assert (found.url, found.source) == (url, shown)
    for html in _drawn(found.url):
        links = [unescape(link) for link in re.findall(r'href="([^"]*)"', html)]
        assert set(links) == {url}
    assert shown in references_html([Source(1, "标题", url, "")])


BREAKING_OUT = [
    'https://a.example/"onmouseover="alert(1)',
    "https://a.example/'onmouseover='alert(1)",
    "https://a.example/><script>alert(1)</script>",
    "https://a.example/&quot;&gt;",
    "https://a.example/) [x](javascript:alert(1)",
    "https://a.example/>) <img src=x>",
    "https://a.example/`x`",
    "https://a.example/\\) \\",
    "https://a.example/?a=1&copy;=2",
    "https://a.example/#\u2028x",
]


@pytest.mark.parametrize("url", BREAKING_OUT)
def test_no_address_breaks_out_of_its_link(url: str) -> None:
    found = result(url)
    assert found is not None
    for html in _drawn(found.url):
        assert set(re.findall(r"<(/?\w+)", html)) <= {
            "ol",
            "/ol",
            "ul",
            "/ul",
            "li",
            "/li",
            "a",
            "/a",
            "span",
            "/span",
        } | {*("p", "/p", "sup", "/sup")}
        assert set(re.findall(r'\s([\w-]+)="', html)) <= {"class", "value", "href", "rel", "target", "title"}
    exported = link_target(found.url)
    assert not re.search(r"[\s<>()\\\"`]", exported)
    assert urlsplit(exported).hostname == "a.example"


@pytest.mark.parametrize(
    "url",
    [None, True, 5, 1e400, [], ["https://a.example/"], {}, {"url": "https://a.example/"}, b"https://a.example/"],
    ids=repr,
)
def test_what_is_no_text_is_no_address(url: object) -> None:
    assert result(url) is None


@pytest.mark.parametrize(
    "text",
    [
        "https://" + "a." * 50_000,
        "https://" + "a" * 2000 + ".example/",
        "https://" + "\u0430" * 100_000,
        "http://[" * 50_000,
    ],
)
def test_a_long_address_takes_no_time_and_is_none(text: str) -> None:
    assert result(text) is None
    host_of(text[:2000])
