"""SearXNG, self-hosted or public: no key, but it must allow JSON, and its limiter expects a browser."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import Field

from core import __version__
from core.base.http import Deadline, Request, Response, fetch
from core.base.http.errors import HttpError
from core.base.settings import EDITABLE, Address, Addresses, Names, Settings
from core.base.text import one_line, paste_lines, shorten
from core.base.web_addresses import host_of
from core.search.engine import (
    DEFAULT_SECONDS,
    EngineSection,
    HttpEngine,
    SearchEngine,
    dig,
    object_list,
    to_engine_error,
    told_seconds,
)
from core.search.errors import EngineError, EngineMisconfigured, EngineThrottled, EngineUnavailable
from core.search.query import language_code, text_with_sites
from core.search.results import EngineResults, RawResult, clean_results
from core.search.types import SearchQuery, SearchType

log = logging.getLogger(__name__)

ENABLE_JSON = "search:\n  formats: [html, json]"
DISABLE_LIMITER = "server:\n  limiter: false"
MAX_RESULTS = 100
NO_TIME_RANGE = "SearXNG 上的有些引擎不支持时间范围，会被悄悄跳过；可以放宽时间再试。"

# The limiter turns clients away that do not send what browsers send.
_HEADERS = {
    "User-Agent": f"Mozilla/5.0 (X11; Linux x86_64) Wenyuan/{__version__}",
    "Accept": "text/html,application/json;q=0.9,*/*;q=0.8",
    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8",
}


class SearxngSettings(EngineSection):
    name = "searxng"
    url: Annotated[Addresses, EDITABLE] = Field((), description="SearXNG 地址，可写多个，前一个失败时换下一个")
    public_url: Address = Field(
        "https://searx.be", description="没有设置 SEARXNG_URL 时使用的公共实例；公共实例大多不开放 JSON，建议自建"
    )
    engines_zh: Names = Field(
        ("baidu", "sogou", "360search", "bing"),  # SearXNG ships them switched off: they must be asked for by name
        description="中文问题在 SearXNG 上使用的引擎；在 settings.yaml 中写 [] 则用实例自己的设置",
    )


class SearxngEngine(SearchEngine):
    """Several servers, of which the first that answers is enough. It is asked first the next time."""

    name = "searxng"
    label = "SearXNG"
    section = SearxngSettings

    def __init__(self, servers: Sequence[SearxngServer], *, missing_setup: EngineMisconfigured | None = None) -> None:
        self.servers = tuple(servers)
        self.missing_setup = missing_setup
        self.is_set_up = missing_setup is None

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        options = settings.section(SearxngSettings)
        if "SEARXNG_URL" in settings.unusable:
            raise EngineMisconfigured(
                "SearXNG 的地址无法使用，没有改用公共实例：要搜索的内容只该去自己的服务器。",
                cure="请管理员改正这个地址（以 http:// 或 https:// 开头）后重启。",
                state="地址无法使用",
                setting="SEARXNG_URL",
            )
        if options.url:
            return cls([SearxngServer(address, engines_zh=options.engines_zh) for address in options.url])
        public = SearxngServer(options.public_url, engines_zh=options.engines_zh, public=True)
        return cls([public], missing_setup=_missing_own_server(options.public_url))

    def search(self, query: SearchQuery | str, num_results: int, *, deadline: Deadline | None = None) -> EngineResults:
        """Ask the servers in order until one answers. Raise the first error if none does."""
        deadline = deadline or Deadline(DEFAULT_SECONDS)
        servers, failures = self.servers, list[EngineError]()
        for place, server in enumerate(servers):
            try:
                found = server.search(query, num_results, deadline=deadline.equal_share(len(servers) - place))
            except EngineError as error:
                log.warning("searxng server %d of %d: %s", place + 1, len(servers), error.message)
                failures.append(error)
            else:
                self.servers = (server, *(other for other in servers if other is not server))
                return found
        raise failures[0]

    def check(self, deadline: Deadline) -> None:
        """Raise the error that a search on any of the servers would meet, without searching."""
        for place, server in enumerate(self.servers):
            server.check(deadline.equal_share(len(self.servers) - place))


def _missing_own_server(public_url: str) -> EngineMisconfigured:
    return EngineMisconfigured(
        f"没有自己的 SearXNG，暂用公共实例 {host_of(public_url)}；公共实例大多不开放 JSON。",
        cure="请自建 SearXNG，把地址填在「设置」页面的「引擎」里。",
        state="缺少服务器",
        setting="SEARXNG_URL",
    )


_BANG = re.compile(r"(?<!\S)(?:[!:<?]+(?=[^\s!:<?])|!+(?!\S))")


def strip_bangs(text: str) -> str:
    """Remove SearXNG's commands: `!!g 天气` would redirect to Google, `!images` search something else, `:en` change the
    language."""
    return _BANG.sub("", text) or f'"{text}"'


class SearxngServer(HttpEngine):
    name = "searxng"

    def __init__(
        self,
        address: str,
        *,
        engines_zh: Sequence[str] = (),
        public: bool = False,
        fetch: Callable[..., Response] = fetch,
    ) -> None:
        super().__init__(fetch=fetch)
        self._url = f"{address.removesuffix('/search')}/search"  # people paste what stands in their browser
        self._engines_zh = ",".join(engines_zh)
        self._public = public

    def build_request(self, query: SearchQuery, num_results: int) -> Request:
        params = {"q": text_with_sites(replace(query, text=strip_bangs(query.text))), "format": "json"}
        if query.type is SearchType.NEWS:
            params["categories"] = "news"
        elif language_code(query) == "zh" and self._engines_zh:  # names that the instance does not know are ignored
            params["engines"] = self._engines_zh
        if language_code(query):
            params["language"] = query.language
        if query.time_range:
            params["time_range"] = query.time_range.value
        return Request("GET", self._url, params=params, headers=_HEADERS)

    def search(self, query: SearchQuery | str, num_results: int, *, deadline: Deadline | None = None) -> EngineResults:
        found = super().search(query, num_results, deadline=deadline)
        if not found and isinstance(query, SearchQuery) and query.time_range:
            found.notes = (NO_TIME_RANGE,)
        return found

    def check(self, deadline: Deadline) -> None:
        """Send a request without a query. 403 and 429 come before the complaint about the missing query, which is the
        good answer."""
        try:
            response = self._fetch(
                Request("GET", self._url, params={"format": "json"}, headers=_HEADERS), deadline=deadline
            )
            if response.status == 400 and dig(response.json(), "error"):
                return
        except HttpError as error:
            raise to_engine_error(error) from None
        self.check_status(response)

    def check_status(self, response: Response) -> None:
        """Raise the error for a 403 or 429 with the cure for our own or a public server."""
        host = response.host
        if response.status == 403:
            own = f"请在 SearXNG 的 settings.yml 中写入下面两行并重启：{paste_lines(ENABLE_JSON)}"
            others = "公共实例通常不开放 JSON；请自建 SearXNG，把地址填在「设置」页面的「引擎」里。"
            raise EngineMisconfigured(
                f"SearXNG（{host}）没有开放 JSON 格式（403）。", cure=others if self._public else own, status=403
            )
        if response.status == 429:  # four requests an hour for anything but HTML; only proxies say when to come back
            own = f"自建的实例可以在 settings.yml 中写入下面两行，关闭限制器并重启：{paste_lines(DISABLE_LIMITER)}"
            others = "公共实例不适合程序使用；请自建 SearXNG，把地址填在「设置」页面的「引擎」里。"
            raise EngineThrottled(
                f"SearXNG（{host}）的限制器拦住了请求（429）。",
                cure=others if self._public else own,
                retry_after=told_seconds(response),
            )
        super().check_status(response)

    def parse_response(self, response: Response) -> EngineResults:
        """Return the results, with a note about the engines that did not respond."""
        data = response.json()
        # Tables of values have no address by their nature; answers and infoboxes repeat what is in the results.
        entries = [entry for entry in object_list(data, "results") if "kvmap" not in entry]
        silent = list(_unresponsive(data))
        if silent and not any(entry.get("url") for entry in entries):
            raise EngineUnavailable(
                f"SearXNG 上的搜索引擎都没有响应：{'、'.join(silent)}。",
                cure="请稍后重试，或在 SearXNG 中换用其他引擎。",
            )
        notes = (f"SearXNG 上没有响应的引擎：{'、'.join(silent)}。",) if silent else ()
        return clean_results(
            map(_result, entries), engine=self.name, limit=MAX_RESULTS, notes=notes, total=data.get("number_of_results")
        )


def _result(entry: dict[str, Any]) -> RawResult:
    return RawResult(entry.get("title"), entry.get("url"), entry.get("content"), entry.get("publishedDate"))


def _unresponsive(data: Any) -> Iterator[str]:
    """Yield the engines of `[[name, reason], …]`; the reason is in the language of our Accept-Language."""
    found = dig(data, "unresponsive_engines")
    for entry in found[:5] if isinstance(found, list) else ():
        name, reason, *_ = *(entry if isinstance(entry, list) else [entry]), "", ""
        yield shorten(one_line(f"{name}（{reason}）" if reason else str(name)), 60)
