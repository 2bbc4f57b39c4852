"""Google's result page, read in a real browser. Its walls are recognised, never fought: the next engine takes over.

Google has no API without a key. Class names change every year and the nesting every month, so the parser depends on
little: a result is a link around a heading inside `#search`. The rest is decided by the targets of the links.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, Self
from urllib.parse import SplitResult, parse_qs, urlencode, urljoin, urlsplit

from pydantic import Field

from core.base.extras import GOOGLE
from core.base.http import Deadline, Response
from core.base.http.errors import HttpConnectError, HttpError, HttpRedirect, HttpTimeout
from core.base.settings import Address, Count, Seconds, Settings, Word
from core.base.text import one_line
from core.search.chrome import Browser, RenderedPage, find_chrome
from core.search.engine import DEFAULT_SECONDS, EngineSection, SearchEngine, raise_for_status, to_engine_error
from core.search.errors import (
    EngineBlocked,
    EngineError,
    EngineMisconfigured,
    EngineParseError,
    EngineTimeout,
    EngineUnavailable,
)
from core.search.query import google_languages, language_code, text_with_sites
from core.search.results import EngineResults, RawResult, clean_results
from core.search.types import SearchQuery, SearchType

if TYPE_CHECKING:
    from lxml.html import HtmlElement

log = logging.getLogger(__name__)

ANOTHER_WAY = "也可以改用其他搜索引擎。"
PROXY = "在中国大陆连接 Google 需要代理；" + ANOTHER_WAY
MAX_RESULTS = 100

# What the browser may reach besides the address in the settings: where Google sends those who ask one of its other
# addresses, and where the scripts of its pages are. The rest (advertising, accounts, maps) is not needed for results.
ORIGINS = ("https://www.google.com", "https://www.gstatic.com", "https://ssl.gstatic.com")

# Elements after the results, or instead of them: what a page loads later is not worth waiting for.
READY = "#botstuff, footer, #captcha-form, form[action*='//consent.google.']"


class GoogleCaptcha(EngineBlocked):
    default_message = "Google 要求输入验证码。"
    default_cure = (
        "需要人工处理：请在同一网络中用浏览器打开 Google，完成验证后再搜索；程序不会反复尝试，一小时后再用。"
        + ANOTHER_WAY
    )


class GoogleConsent(EngineBlocked):
    default_message = "Google 要求先同意它的条款。"
    default_cure = "需要人工处理：欧洲的网络出口才有这一页，请换一个网络出口或代理地区；" + ANOTHER_WAY


class GoogleJavaScriptWall(EngineBlocked):
    default_message = "Google 的脚本检查没有放行这个浏览器。"
    default_cure = "需要人工处理：请把 Chrome 更新到新版本，或换一个网络出口；" + ANOTHER_WAY


class GoogleLayoutChanged(EngineParseError):
    default_message = "Google 的结果页换了样子，程序读不出结果。"
    default_cure = "请更新问源；更新之前请改用其他搜索引擎。"


class PageSource(Protocol):
    def get_page(self, url: str, deadline: Deadline, *, ready: str = ..., locale: str | None = ...) -> RenderedPage: ...

    def close(self) -> None: ...


class GoogleSettings(EngineSection):
    name = "google"
    chrome: Word = Field("", description="Chrome 或 Chromium 的路径；未设置则自动寻找")
    pages: Count = Field(4, ge=1, le=32, description="同时打开的页面数")
    idle_seconds: Seconds = Field(120.0, ge=1, le=86400, description="空闲多久后关闭浏览器")
    base_url: Address = Field(
        "https://www.google.com", description="Google 的网址，可以换成能访问的 Google 域名，或自己的反向代理"
    )


class GoogleEngine(SearchEngine):
    name = "google"
    label = "Google"
    section = GoogleSettings
    is_set_up = False

    def __init__(self, browser: PageSource, *, base_url: str = "https://www.google.com") -> None:
        self._browser = browser
        self._base_url = base_url

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        if not GOOGLE.is_installed:
            raise EngineMisconfigured(GOOGLE.missing, cure=GOOGLE.cure, state="缺少 Playwright")
        options = settings.section(GoogleSettings)
        browser = Browser(
            find_chrome(options.chrome),
            origins=(options.base_url, *ORIGINS),
            pages=options.pages,
            idle_seconds=options.idle_seconds,
        )
        return cls(browser, base_url=options.base_url)

    def search(self, query: SearchQuery | str, num_results: int, *, deadline: Deadline | None = None) -> EngineResults:
        """Search in the browser and return the results of the page. Raise an `EngineError`."""
        query = SearchQuery(query) if isinstance(query, str) else query
        deadline = deadline or Deadline(DEFAULT_SECONDS)
        seconds = deadline.remaining()
        locale = query.language if language_code(query) else None
        try:
            page = self._browser.get_page(self.search_url(query), deadline, ready=READY, locale=locale)
        except HttpTimeout as error:
            raise EngineTimeout(f"{error.host} 没有在 {seconds:.1f} 秒内打开结果页。", cure=PROXY) from None
        except HttpConnectError as error:
            raise EngineUnavailable(error.message, cure=f"请检查网络和代理；{PROXY}") from None
        except HttpRedirect as error:
            raise _redirect_error(error.target) from None
        except HttpError as error:
            raise to_engine_error(error) from None
        found = _parse_page(page, seconds)
        del found[num_results:]
        return found

    def search_url(self, query: SearchQuery) -> str:
        """Return the URL of the result page. Google has dropped the number of results: a page has about ten."""
        params = {"q": one_line(text_with_sites(query))}
        if language := language_code(query):
            params["hl"] = query.language
            params["lr"] = google_languages(language)
        if query.time_range:
            params["tbs"] = f"qdr:{query.time_range[0]}"
        if query.type is SearchType.NEWS:
            params["tbm"] = "nws"
        return f"{self._base_url}/search?{urlencode(params)}"

    def close(self) -> None:
        self._browser.close()


def _parse_page(page: RenderedPage, seconds: float) -> EngineResults:
    try:
        return parse_results(page.html, page.url)
    except GoogleLayoutChanged:
        if page.status >= 400:
            raise_for_status(Response(page.status, {}, b"", urlsplit(page.url).netloc))
        if not page.finished:
            raise EngineTimeout(f"Google 的结果页在 {seconds:.1f} 秒内没有载入完。", cure=PROXY) from None
        raise


_CONSENT = re.compile(r"consent\.(google|youtube)\.")
_CAPTCHA = re.compile(r"(ipv4|ipv6|sorry)\.google\.com")


def _redirect_error(host: str) -> EngineError:
    """Return the error for a redirect, which is not followed. Google's walls are known by name and rest an hour, others
    less."""
    if _CONSENT.match(host):
        return GoogleConsent()
    if _CAPTCHA.match(host):
        return GoogleCaptcha()
    return EngineUnavailable(
        f"Google 的结果页要转到 {host}，没有跟随。",
        cure=f"请检查这个网络是否要先登录；如果是 Google 换了地址，请管理员修改设置中 Google 的地址；{ANOTHER_WAY}",
    )


# ── From a page to its results ────────────────────────────────────────────────────────────────────────────────────


def parse_results(html: str, url: str) -> EngineResults:
    """Return the organic results of a page that was read at `url`; an empty list if Google says there are none. Raise
    GoogleCaptcha, GoogleConsent, GoogleJavaScriptWall or GoogleLayoutChanged if it is another page."""
    address = urlsplit(url)
    page = _parse_html(html)
    # Pages of all kinds carry hidden parts of the walls (a consent dialog, a <noscript> for those without JavaScript):
    # these are walls only where there is no place for results. A form to be solved is always one.
    if address.path.startswith("/sorry/") or page.xpath('//form[@id="captcha-form"]'):
        raise GoogleCaptcha
    if _CONSENT.match(address.hostname or ""):
        raise GoogleConsent
    found = clean_results(
        _organic_results(page, address), engine=GoogleEngine.name, limit=MAX_RESULTS, total=_estimate(page)
    )
    if found or _says_nothing_found(page, address):
        return found
    if page.xpath(f"//*[{_PLACES}]"):
        raise GoogleLayoutChanged
    if page.xpath('//form[contains(@action, "//consent.google.")]'):
        raise GoogleConsent
    if page.xpath('//noscript//*[contains(@content | @href, "/httpservice/retry/enablejs")]'):
        raise GoogleJavaScriptWall
    raise GoogleLayoutChanged


def _estimate(page: HtmlElement) -> int | None:
    """Return the number in `About 2,300,000 results`, `Aproximadamente 3.250.000 resultados`, `找到约 1,230 条结果`."""
    said = re.search(r"\d[\d.,\u00a0\u202f]*", "".join(page.xpath('//*[@id="result-stats"]/text()')))
    return int("".join(filter(str.isdecimal, said[0]))) if said else None


def _parse_html(html: str) -> HtmlElement:
    from lxml import html as lxml_html  # takes a while to import
    from lxml.etree import ParserError

    # As bytes: a declaration of another encoding inside the text then means nothing, and lone surrogates are gone.
    try:
        return lxml_html.document_fromstring(
            html.encode("utf-8", "replace"), parser=lxml_html.HTMLParser(encoding="utf-8")
        )
    except ParserError:  # not a single element
        raise GoogleLayoutChanged from None


def _has_class(*names: str) -> str:
    return " or ".join(f'contains(concat(" ", @class, " "), " {name} ")' for name in names)


# People also ask · ads · AI overview · rows that scroll sideways · cards that play a video · the panel on the right
_NOT_ORGANIC = (
    f"ancestor::*[{_has_class('related-question-pair', 'uEierd', 'PmEWq')}"
    ' or @id="tads" or @id="tadsb" or @id="bottomads" or @id="rhs" or @id="m-x-content"'
    ' or @data-text-ad or starts-with(@data-attrid, "SrpGenSum") or self::g-scrolling-carousel]'
)
_LINK = f"a[@href][.//h3][not({_NOT_ORGANIC})]"
# On the news page a headline is a <div role="heading">; on others these are "top stories" and the like.
_NEWS_LINK = f'a[@href][.//h3 or .//*[@role="heading"]][not({_NOT_ORGANIC})]'


def _organic_results(page: HtmlElement, address: SplitResult) -> Iterator[RawResult]:
    link = _NEWS_LINK if parse_qs(address.query).get("tbm") == ["nws"] else _LINK
    links = page.xpath(f'//*[@id="search" or @id="rso"]//{link}')
    if not links:  # the layout for browsers without JavaScript: no containers, every link wrapped
        links = page.xpath(f'//{link}[starts-with(@href, "/url?")]')
    shared = Counter(ancestor for link in links for ancestor in link.iterancestors())
    for link in links:
        if target := _target(link.get("href"), address):
            heading = link.xpath('(.//h3 | .//*[@role="heading"])[1]')[0]
            block = [link, *(ancestor for ancestor in link.iterancestors() if shared[ancestor] == 1)][-1]
            yield RawResult(heading.text_content(), target, _snippet(link, block), _date(block))


# Where Google leads a reader through a page of its own, and the parameter with the real address.
_WRAPPERS = {"/url": ("q", "url"), "/translate": ("u",)}
_OWN_HOST = re.compile(r"(www\.)?google\.(com?\.)?[a-z]{2,3}")
_OWN_SERVICE = re.compile(r"(maps|accounts|policies|consent)\.google\.[a-z.]+|.*\.googleadservices\.com|webcache\..*")
_OWN_PATH = re.compile(
    r"/(search|url|aclk|maps|imgres|preferences|advanced_search|setprefs|sorry|httpservice|async|travel|shopping)\b"
)


def _target(href: str, page: SplitResult) -> str | None:
    """Return the final target of a link; None if it is Google itself. `www.google.com/chrome/` is a page like others."""
    try:
        parts = urlsplit(urljoin(page.geturl(), href))
        host = parts.hostname or ""
    except ValueError:
        return None
    relative = not urlsplit(href).netloc
    own = relative or host == page.hostname or _OWN_HOST.fullmatch(host) is not None
    if parts.path in _WRAPPERS and (own or host.startswith("translate.google.")):
        wrapped = parse_qs(parts.query)
        targets = (wrapped[name][0] for name in _WRAPPERS[parts.path] if name in wrapped)
        return next((target for target in targets if target.startswith(("http://", "https://"))), None)
    if relative or _OWN_SERVICE.fullmatch(host) or (own and _OWN_PATH.match(parts.path)):
        return None
    return parts.geturl().partition("#:~:text=")[0]  # a mark for the browser, no part of the address


# The text of a result on ordinary pages and on the news page. Links in it are "read more" and the like.
_TEXT = f"(.//*[{_has_class('VwiC3b', 'GI74Re')}])[1]"
_WORDS = ".//text()[count(ancestor::a) = $links][not(ancestor::script or ancestor::style)]"


def _snippet(link: HtmlElement, block: HtmlElement) -> str:
    if marked := block.xpath(_TEXT):
        return _words(marked[0])
    # Without the known names: the first thing behind the link that is not the address once more.
    for ancestor in (link, *link.iterancestors()):
        if ancestor is block:
            break
        for sibling in ancestor.itersiblings("div", "span"):
            words = _words(sibling)
            if words and not sibling.xpath(".//cite"):
                return words
    return ""


def _words(element: HtmlElement) -> str:
    return "".join(element.xpath(_WORDS, links=element.xpath("count(ancestor::a)"))).strip()


def _date(block: HtmlElement) -> str | None:
    found = block.xpath(f"(.//*[{_has_class('LEwnzc', 'LfVVr')}])[1]")
    return found[0].text_content().strip(" —\xa0") or None if found else None


_PLACES = '@id="search" or @id="rso" or @id="topstuff" or @id="botstuff"'
_HELP = re.compile(r"(https:)?//support\.google\.com/websearch\b")
# A sentence above where the results would be; since 2025 also a banner in their place, with other searches to try.
_NOTHING = f'//*[@id="topstuff"]//*[@role="heading"][.//em or .//b] | //*[{_PLACES}]//*[{_has_class("v3jTId")}]'
_QUOTED = "*[self::em or self::b or self::span][not(ancestor::a)]"
_CARD = f"*[{_has_class('card-section')}]//p"


def _says_nothing_found(page: HtmlElement, address: SplitResult) -> bool:
    """Return whether the page says that nothing was found. The sentence is in the reader's language; only its position
    is known, or that it quotes the query."""
    places, links = _PLACES, '//*[@id="search" or @id="rso"]//a'
    if not page.xpath(f"//*[{places}]"):  # without JavaScript
        places, links = '@id="main"', '//*[@id="main"]//a[not(ancestor::footer)]'
    if any(_target(href, address) and not _HELP.match(href) for href in page.xpath(f"{links}/@href")):
        return False
    if page.xpath(_NOTHING):
        return True
    asked = one_line(page.xpath('string((//*[@name="q"])[1]/@value | (//textarea[@name="q"])[1])'))
    asked = asked or one_line(parse_qs(address.query).get("q", [""])[0])
    quoted = map(one_line, page.xpath(f"//*[{places}]//{_QUOTED}/text()"))
    paragraphs = (one_line(_words(paragraph)) for paragraph in page.xpath(f"//*[{places}]//{_CARD}"))
    return bool(asked) and (asked in quoted or any(asked in words for words in paragraphs))
