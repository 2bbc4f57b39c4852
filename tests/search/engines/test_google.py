"""Google's pages in shapes that this project wrote itself; pages as Google sent them are in test_google_recorded.py."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from core.base.chinese.calendar import iso_day
from core.base.http import Deadline
from core.base.http.errors import HttpCancelled, HttpConnectError, HttpRedirect, HttpTimeout
from core.base.settings import SearchSettings
from core.search.chrome import RenderedPage
from core.search.engine import SearchEngine
from core.search.engines.google import (
    GoogleCaptcha,
    GoogleConsent,
    GoogleEngine,
    GoogleJavaScriptWall,
    GoogleLayoutChanged,
    parse_results,
)
from core.search.errors import EngineBlocked, EngineMisconfigured, EngineParseError, EngineTimeout, EngineUnavailable
from core.search.query import effective_query
from core.search.registry import ENGINES, build_chain
from core.search.service import SearchService
from core.search.types import SearchQuery, SearchType, TimeRange
from support.base import loaded
from support.google_site import (
    CAPTCHA,
    CONSENT,
    NOSCRIPT,
    ROWS,
    SCRIPT_WALL,
    Row,
    google_results,
    item,
    news,
    nothing,
    nothing_below,
    nothing_in_a_banner,
    page,
    without_javascript,
)

URL = "https://www.google.com/search?q=x"


def urls(html: str, url: str = URL) -> list[str]:
    return [result.url for result in parse_results(html, url)]


def links(rows: list[Row] = ROWS) -> list[str]:
    return [url for _, url, _ in rows]


# ── Results ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("layout", [google_results, without_javascript], ids=["desktop", "without JavaScript"])
def test_ten_results_with_everything_that_belongs_to_them(layout: Any) -> None:
    found = parse_results(layout(), URL)
    assert [(result.title, result.url, result.snippet) for result in found] == ROWS
    assert [result.source for result in found] == [f"site{n}.example" for n in range(1, 11)]
    assert [result.rank for result in found] == list(range(1, 11))
    assert {result.engine for result in found} == {"google"}


def test_a_large_page_is_read_quickly() -> None:
    html = google_results(size=400_000)
    parse_results(html, URL)
    began = time.process_time()
    assert len(parse_results(html, URL)) == 10
    assert time.process_time() - began < 1


def test_results_inside_a_panel_count() -> None:
    inner = "".join(item(*row) for row in ROWS[:3])
    html = page(f'<div id="search"><div id="rso"><div id="kp-wp-tab-overview">{inner}</div></div></div>')
    assert urls(html) == links(ROWS[:3])


def test_the_page_of_news() -> None:
    found = parse_results(news(), URL + "&tbm=nws")
    assert [result.url for result in found] == links()
    assert (found[0].title, found[0].snippet) == ROWS[0][::2]
    assert found[0].published == iso_day("3 小时前")
    with pytest.raises(GoogleLayoutChanged):  # on other pages these are "top stories", which are no results
        parse_results(news(), URL)


OTHER = item("别的", "https://other.example/", "摘要")


@pytest.mark.parametrize(
    "part",
    [
        f'<div class="cUnQKe"><div class="wQiwMc related-question-pair">{OTHER}</div></div>',
        f'<div id="tads">{OTHER}</div>',
        f'<div class="uEierd">{OTHER}</div>',
        f'<div data-text-ad="1">{OTHER}</div>',
        f"<g-scrolling-carousel>{OTHER}</g-scrolling-carousel>",
        f'<div data-attrid="SrpGenSumSummary">{OTHER}</div>',
        f'<div class="PmEWq">{OTHER}</div>',
        f'<div id="rhs">{OTHER}</div>',
        item("图片", "/search?q=x&tbm=isch", ""),
        item("地图", "https://www.google.com/maps?q=x", ""),
        item("地图", "https://maps.google.com.hk/maps?q=x", ""),
        item("搜索", "https://www.google.com.hk/search?q=x", ""),
        item("广告", "https://www.google.com/aclk?sa=l&adurl=https://ad.example/", ""),
        item("广告", "https://www.googleadservices.com/pagead/aclk?x", ""),
        item("没有去处", "#", ""),
        item("脚本", "javascript:void(0)", ""),
        item("坏的", "http://[", ""),
        '<a href="https://no-heading.example/">没有标题</a>',
    ],
)
def test_what_is_no_result_is_left_out(part: str) -> None:
    assert urls(google_results(inside=part)) == links()
    assert urls(google_results(before=part)) == links()


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("/url?q=https://a.example/%3Fb%3D1%26c%3D%25E4%25B8%25AD&sa=U&ved=x", "https://a.example/?b=1&c=%E4%B8%AD"),
        ("https://www.google.com/url?sa=t&url=https%3A%2F%2Fa.example%2F%23part", "https://a.example/#part"),
        ("https://www.google.co.uk/url?q=http://a.example/", "http://a.example/"),
        ("https://translate.google.com/translate?u=https://a.example/&hl=zh-CN", "https://a.example/"),
        ("https://a.example/page#:~:text=%E4%B8%AD,x", "https://a.example/page"),
        ("//a.example/", "https://a.example/"),
        ("https://a.example/url?q=https://b.example/", "https://a.example/url?q=https://b.example/"),
        ("https://support.google.com/chrome/answer/1", "https://support.google.com/chrome/answer/1"),
        ("https://www.google.com/intl/zh-CN/chrome/", "https://www.google.com/intl/zh-CN/chrome/"),
    ],
)
def test_a_link_is_followed_to_where_it_leads(href: str, target: str) -> None:
    assert urls(google_results([("标题", href, "摘要")])) == [target]


@pytest.mark.parametrize("href", ["/url?q=/search%3Fq%3Dx", "/url?sa=U", "/url?q=javascript:alert(1)"])
def test_a_wrapper_without_an_address_is_no_result(href: str) -> None:
    assert urls(google_results([*ROWS, ("标题", href, "")])) == links()


def test_one_address_is_one_result() -> None:
    assert urls(google_results([*ROWS, *ROWS])) == links()


@pytest.mark.parametrize(
    "url", ["", "about:blank", "https://www.google.com.hk/search?q=x", "http://127.0.0.1:1/search"]
)
def test_the_results_do_not_depend_on_the_address(url: str) -> None:
    assert urls(google_results(), url) == links()
    assert urls(without_javascript(), url) == links()


# ── Nothing found, walls, and pages nobody knows ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("sentence", ["找不到“{}”。", "Your search - {} - did not match any documents.", "« {} »"])
def test_nothing_found_is_an_empty_list_in_any_language(sentence: str) -> None:
    assert parse_results(nothing("qxzv 123", sentence), URL) == []
    hidden = NOSCRIPT + '<div style="display:none"><form action="https://consent.google.com/save"></form></div>'
    assert parse_results(nothing("qxzv 123", sentence).replace("</body>", hidden + "</body>"), URL) == []


@pytest.mark.parametrize("layout", [nothing_below, nothing_in_a_banner])
def test_nothing_found_in_the_layouts_of_2026(layout: Any) -> None:
    html = layout("qxzv  <123>")
    assert "enablejs" in html, "as every page of Google has it since 2025"
    assert parse_results(html, URL) == []
    assert parse_results(html.replace("</body>", CONSENT + "</body>"), URL) == []


def test_nothing_found_is_told_by_the_query_in_a_sentence_among_the_results() -> None:
    html = page(f'{NOSCRIPT}<div id="search"><div>« <em>qxzv</em> »</div></div>', query="qxzv")
    assert parse_results(html, URL) == []
    with pytest.raises(GoogleLayoutChanged):
        parse_results(html.replace("<em>qxzv</em>", "<a href='/search?q=qxzv'><em>qxzv</em></a>"), URL)


@pytest.mark.parametrize(
    "html",
    [
        nothing_in_a_banner("qxzv", among='<a href="https://a.example/"><span>A new kind of result</span></a>'),
        nothing_below("qxzv").replace("- qxzv -", "- <a href='/search?q=qxzv'>qxzv</a> -"),
        nothing_below("qxzv").replace("- qxzv -", "- something else -"),
        page(f'{NOSCRIPT}<div id="search"><div id="rso"></div></div>{CONSENT}'),
    ],
)
def test_a_page_with_a_place_for_results_is_no_wall(html: str) -> None:
    with pytest.raises(GoogleLayoutChanged) as caught:
        parse_results(html, URL)
    assert caught.value.rest <= 60, "one odd page is not an hour without Google for everybody"


def test_after_a_search_that_found_nothing_google_is_asked_again() -> None:
    browser = ScriptedBrowser(RenderedPage(nothing_in_a_banner("qxzv"), URL, 200))
    service = SearchService([GoogleEngine(browser)], settings=SearchSettings(hedge_after=60))
    for words in ("qxzv", "qxzw"):
        assert service.search(SearchQuery(words)).results == ()
    assert len(browser.asked) == 2


def test_nothing_found_without_javascript() -> None:
    footer = '<footer><a href="/url?q=https://support.google.com/websearch">?</a></footer>'
    card = '<div><span>Your search - </span><span class="JZCD0c">qxzv</span><span> - did not match</span></div>'
    html = f'<html><body><form><input name="q" value="qxzv"></form><div id="main">{card}{footer}</div></body></html>'
    assert parse_results(html, URL) == []
    assert parse_results(html.replace(' value="qxzv"', ""), "https://www.google.com/search?q=qxzv") == []
    with pytest.raises(GoogleLayoutChanged):  # a page that leads elsewhere has found something
        parse_results(html.replace(card, card + '<a href="https://a.example/">x</a>'), URL)


WALLS = [
    (CAPTCHA, URL, GoogleCaptcha),
    ("<html><body>…</body></html>", "https://www.google.com/sorry/index?continue=x", GoogleCaptcha),
    (google_results(), "https://www.google.com/sorry/index", GoogleCaptcha),
    (CONSENT, URL, GoogleConsent),
    ("<html><body>Avant d'accéder</body></html>", "https://consent.google.com/m?continue=x", GoogleConsent),
    ("<html><body>…</body></html>", "https://consent.google.co.uk/ml", GoogleConsent),
    (SCRIPT_WALL, URL, GoogleJavaScriptWall),
]


@pytest.mark.parametrize(("html", "url", "wall"), WALLS)
def test_every_wall_is_its_own_error_and_says_what_a_person_can_do(
    html: str, url: str, wall: type[EngineBlocked]
) -> None:
    with pytest.raises(wall) as caught:
        parse_results(html, url)
    assert isinstance(caught.value, EngineBlocked)
    assert "人工处理" in str(caught.value)
    assert caught.value.rest >= 3600


def test_hidden_parts_of_walls_do_not_hide_results() -> None:
    hidden = f'{NOSCRIPT}<div style="display:none">{CONSENT}</div>'
    assert urls(google_results(before=hidden)) == links()


@pytest.mark.parametrize(
    "html",
    [
        "",
        " ",
        "<!-- -->",
        "\x00",
        "plain text",
        "<html></html>",
        page("<main>Something new</main>"),
        page(
            '<div id="search"><div id="rso"><a href="https://a.example/"><span>A new kind of title</span></a></div></div>'
        ),
        page('<div id="topstuff"></div><div id="search"></div>'),
        "<div>" * 100_000,
        '<?xml version="1.0" encoding="gb2312"?><html><body>中</body></html>',
        "\ud800",
    ],
)
def test_a_page_that_nobody_knows_is_never_taken_for_no_results(html: str) -> None:
    with pytest.raises(GoogleLayoutChanged) as caught:
        parse_results(html, URL)
    assert isinstance(caught.value, EngineParseError)
    assert caught.value.cure


def test_hostile_text_is_cleaned() -> None:
    rows = [
        ("<script>alert(1)</script>\u202e标题", "https://a.example/", "x" * 100_000),
        ("\x00", "https://b.example/", ""),
    ]
    first, second = parse_results(google_results(rows), URL)
    assert first.title == "<script>alert(1)</script>标题"
    assert len(first.snippet) <= 1000
    assert second.title


# ── The engine ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class ScriptedBrowser:
    answer: RenderedPage | Exception
    asked: list[str] = field(default_factory=list)
    locales: list[str | None] = field(default_factory=list)

    def get_page(self, url: str, deadline: Deadline, *, ready: str = "", locale: str | None = None) -> RenderedPage:
        self.asked.append(url)
        self.locales.append(locale)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self) -> None:
        self.asked.append("closed")


def ask(query: SearchQuery | str, answer: RenderedPage | Exception | None = None) -> tuple[Any, dict[str, str]]:
    browser = ScriptedBrowser(answer or RenderedPage(google_results(), URL, 200))
    found = GoogleEngine(browser).search(query, 10)
    (url,) = browser.asked
    assert url.isascii()
    assert url.startswith("https://www.google.com/search?q=")
    return found, {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


TRICKY = '“引号” "a b" +&#=%?/\\ 你好 👩‍👩‍👧 ２０２６'


def test_the_query_arrives_as_it_was_written() -> None:
    found, sent = ask(TRICKY)
    assert len(found) == 10
    assert sent == {"q": TRICKY}
    assert ask("lone \ud800 surrogate")[1] == {"q": "lone surrogate"}


def test_language_time_type_and_sites() -> None:
    _, sent = ask(SearchQuery("x", SearchType.NEWS, language="zh-CN", time_range=TimeRange.WEEK, sites=("gov.cn",)))
    assert sent == {
        "q": "x site:gov.cn",
        "hl": "zh-CN",
        "lr": "lang_zh-CN|lang_zh-TW",
        "tbs": "qdr:w",
        "tbm": "nws",
    }
    assert ask(SearchQuery("x", language="en"))[1] == {"q": "x", "hl": "en", "lr": "lang_en"}
    for kind in (SearchType.REGULATION, SearchType.CASE):
        assert "site:pkulaw.com" in ask(effective_query(SearchQuery("劳动合同", kind), loaded().values))[1]["q"]


def test_the_browser_is_told_the_language() -> None:
    browser = ScriptedBrowser(RenderedPage(google_results(), URL, 200))
    GoogleEngine(browser).search(SearchQuery("x", language="zh-CN"), 10)
    GoogleEngine(browser).search("x", 10)
    assert browser.locales == ["zh-CN", None]


def test_no_more_than_was_asked_for() -> None:
    browser = ScriptedBrowser(RenderedPage(google_results(), URL, 200))
    assert len(GoogleEngine(browser).search("x", 3)) == 3


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (HttpTimeout(host="www.google.com"), EngineTimeout, "5.0 秒"),
        (HttpConnectError(host="www.google.com", reason="reset"), EngineUnavailable, "代理"),
        (HttpCancelled(host="www.google.com"), EngineTimeout, "取消"),
        (HttpRedirect(host="www.google.com", target="consent.google.de"), GoogleConsent, "同意"),
        (HttpRedirect(host="www.google.com", target="ipv4.google.com"), GoogleCaptcha, "验证码"),
        (HttpRedirect(host="www.google.com", target="portal.example"), EngineUnavailable, "portal.example.*登录"),
        (RenderedPage("<html><body>Error</body></html>", URL, 500), EngineUnavailable, "500"),
        (RenderedPage("<html><body>Error</body></html>", URL, 403), EngineBlocked, "403"),
        (RenderedPage("<html><body>", URL, 200, finished=False), EngineTimeout, "5.0 秒"),
        (RenderedPage("<html><body>", URL, 200), GoogleLayoutChanged, "换了样子"),
        (RenderedPage(CAPTCHA, "https://www.google.com/sorry/index", 429), GoogleCaptcha, "验证码"),
    ],
)
def test_what_goes_wrong_is_told_in_the_words_of_engines(
    answer: RenderedPage | Exception, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        ask("x", answer)


def test_results_count_even_when_the_page_is_cut_short() -> None:
    assert len(ask("x", RenderedPage(google_results(), URL, 200, finished=False))[0]) == 10


def test_its_place_and_its_settings(tmp_path: Any) -> None:
    names = list(ENGINES)
    assert names[names.index("google") - 1 : names.index("google") + 2] == ["searxng", "google", "tavily_keyless"]
    chrome = tmp_path / "chrome"
    chrome.touch(mode=0o755)
    engine = GoogleEngine.from_settings(
        loaded(GOOGLE_CHROME=str(chrome), GOOGLE_PAGES="2", GOOGLE_BASE_URL="https://www.google.com.hk").values
    )
    assert isinstance(engine, SearchEngine)
    assert engine.search_url(SearchQuery("x")) == "https://www.google.com.hk/search?q=x"
    engine.close()


def test_without_chrome_it_is_left_out_with_the_cure() -> None:
    settings = loaded(GOOGLE_CHROME="/nonexistent/chrome", SEARCH_PROVIDER_PRIORITY="google").values
    with pytest.raises(EngineMisconfigured):
        GoogleEngine.from_settings(settings)
    (entry,) = build_chain(settings).unavailable
    assert entry.name == "google"
    assert entry.cure
