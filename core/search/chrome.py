"""One Chrome without a window, for the engines that read result pages: `Browser.get_page` gives a page's HTML.

Chrome starts with the first page, stays for the next ones and goes when nobody has wanted it for a while. It talks to
Playwright's driver over a pipe, so it has no open port; and the driver, a child of this process, closes Chrome and removes
its profile folder as soon as its own pipe to this process breaks, however this process ended.

The scripts of a page are not ours and run on this machine. So there is no network for them but the origins that the
browser was made for, behind two walls: requests for anything else are aborted as they are made, and Chrome itself has no
way to another host (`core.search.chrome_network`). The second wall is for what never comes to the first: redirects, shared workers,
WebSockets, WebRTC, connections in advance. A page that leaves for elsewhere is the end of the visit.

Everything about pages happens on a loop thread of its own. Failures are the `HttpError`s that `core.base.http` raises.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import platform
import re
import shutil
import sys
from collections.abc import Collection, Coroutine, Iterator
from concurrent.futures import CancelledError, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from core.base.http import Deadline
from core.base.http.errors import ConnectFailure, HttpCancelled, HttpConnectError, HttpError, HttpRedirect, HttpTimeout
from core.base.settings import child_environment
from core.base.threads import LoopThread
from core.base.tuning import use_all_cores
from core.search.chrome_network import ProxyGate, WebOrigin, foreign_request_pattern, network_arguments
from core.search.errors import EngineMisconfigured, EngineUnavailable

if TYPE_CHECKING:  # importing Playwright takes a while
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, Playwright, Request, Route
    from playwright.async_api import Page as PlaywrightPage

T = TypeVar("T")
log = logging.getLogger(__name__)

MAX_CHARACTERS = 8_000_000
READING_SECONDS = 0.5
"""Seconds of a deadline that are kept for reading and parsing a page that does not finish loading."""
SETTLE_SECONDS = 1.0
"""Seconds after loading in which a script may still redirect the page, as Google's JavaScript check does."""
PROFILE_CLEANUP_SECONDS = 1.0
"""Seconds in which the driver removes the profile folder of a Chrome that died. It does not report the end."""
POLL_SECONDS = 0.05
NO_SELECTOR = ":not(*)"
"""A selector that never matches: with it, a call waits until the page has settled."""

# The first two lines halve what a page costs: every window would bring a process for suggestions below its address bar,
# and every page one more in reserve. The others are Playwright's own choice, which this list replaces: Chrome reads only
# the last one on its command line.
_FEATURES_OFF = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    "SpareRendererForSitePerProcess",
    *("AimEnabled", "PreconnectToSearch", "OptimizationHints", "NetworkTimeServiceQuerying", "MediaRouter"),
    *("HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "PaintHolding"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "ThirdPartyStoragePartitioning"),
    *("AvoidCorsURLLoaderRestartOnRedirect", "TcpPortRandomizationWin"),
)
# Chrome would otherwise call its maker. Images and fonts are switched off inside Chrome, because a filter in front of
# every request would cost a round trip for each; for sound and film, which are rare, there is no such switch.
ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(_FEATURES_OFF)}",
    "--blink-settings=imagesEnabled=false,downloadableBinaryFontsEnabled=false",
]


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page at the moment it was read, with the changes that its scripts had made until then."""

    html: str
    url: str
    """Address after all redirects."""
    status: int
    finished: bool = True
    """False if the time was over while the page still loaded; then `html` is what had arrived."""


@dataclass(frozen=True, slots=True)
class _Visit:
    url: str
    deadline: Deadline
    foreign_requests: re.Pattern[str]
    ready: str = NO_SELECTOR
    locale: str | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


class Browser:
    """A Chrome that threads can share; `close` is final. At most `pages` are open at once, others wait. Its pages can
    reach only the `origins` (scheme://host:port, or an address there)."""

    def __init__(self, chrome: str, *, origins: Collection[str], pages: int = 4, idle_seconds: float = 120.0) -> None:
        self._chrome = chrome
        self._origins = [WebOrigin.from_url(url) for url in origins]
        self._foreign_requests = foreign_request_pattern(self._origins)
        self._idle_seconds = idle_seconds
        self._loop = LoopThread()
        self._closed = False
        self._used = False
        # Used on the loop thread only.
        self._places = asyncio.Semaphore(pages)
        self._process: asyncio.Task[_ChromeProcess] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._visits = 0
        self._open = 0

    def get_page(
        self, url: str, deadline: Deadline, *, ready: str = NO_SELECTOR, locale: str | None = None
    ) -> RenderedPage:
        """Open the page and return it once something matches the CSS selector `ready`, or it has settled. `locale` is
        the language that the page is told its reader prefers."""
        visit = _Visit(url, deadline, self._foreign_requests, ready, locale)
        if self._closed:
            raise HttpCancelled(host=visit.host)
        self._used = True
        future = self._loop.submit(self._get(visit))
        while not wait([future], timeout=POLL_SECONDS).done:
            if visit.deadline.cancelled:
                future.cancel()
        try:
            return future.result()
        except CancelledError:
            raise HttpCancelled(host=visit.host) from None

    def close(self) -> None:
        """End Chrome and the driver. Searches that still run fail as cancelled."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        if self._used:
            with suppress(TimeoutError, CancelledError):
                self._loop.submit(self._stop()).result(timeout=3)
            self._loop.stop()

    # ── On the loop thread: one visit ─────────────────────────────────────────────────────────────────────────────

    async def _get(self, visit: _Visit) -> RenderedPage:
        from playwright.async_api import Error

        host = visit.host
        if visit.deadline.cancelled:
            raise HttpCancelled(host=host)
        try:
            async with asyncio.timeout(visit.deadline.remaining()):
                for last_try in (False, True):
                    life = await self._start_or_reuse()
                    try:
                        return await self._visit(life.browser, visit)
                    except Error as error:
                        if self._closed:
                            raise HttpCancelled(host=host) from None
                        if last_try or not _DIED.search(error.message):
                            raise _to_http_error(error, host) from None
                        log.warning("Chrome or its page died in a search; trying once more")
                        if "closed" in error.message:  # nobody else closes pages, so the browser or the driver is gone
                            self._end_process(life)
        except TimeoutError:
            raise HttpTimeout(host=host) from None
        raise AssertionError("unreachable")

    async def _visit(self, browser: PlaywrightBrowser, visit: _Visit) -> RenderedPage:
        """Open the page in a context of its own, so that no cookie of one search is sent with the next."""
        await self._places.acquire()
        self._visits += 1
        self._open += 1
        opening = asyncio.ensure_future(
            browser.new_context(locale=visit.locale, accept_downloads=False, service_workers="block")
        )
        try:
            context = await asyncio.shield(opening)
            # Playwright can route WebSockets too, but it replaces the page's own class by one of its own, which
            # a check for robots can see. They end at the second wall.
            await context.route(visit.foreign_requests, _refuse)
            page = await context.new_page()
            # Chrome opens windows only after a click, but it takes each call that Playwright makes in the page for one.
            context.on("page", lambda window: self._spawn(window.close()))
            await _refuse_media(page)
            return await _load_page(page, visit)
        finally:
            self._spawn(self._close_page(opening))  # nobody has to wait for it, cancelled or not

    async def _close_page(self, opening: asyncio.Future[BrowserContext]) -> None:
        try:
            await (await opening).close()
        except Exception as error:  # it may be gone already, with its browser
            log.debug("closing a page: %s", error)
        finally:
            self._open -= 1
            self._places.release()
            asyncio.get_running_loop().call_later(self._idle_seconds, self._close_if_idle, self._visits)

    # ── On the loop thread: Chrome's life ─────────────────────────────────────────────────────────────────────────

    async def _start_or_reuse(self) -> _ChromeProcess:
        """Return the running Chrome, started if necessary. One start serves all callers, even if one gives up."""
        if self._process is not None and self._process.done():
            life = _started_process(self._process)
            if life is None or not life.browser.is_connected():
                self._end_process()
        if self._process is None:
            atexit.register(self.close)
            self._process = self._spawn(_ChromeProcess.start(self._chrome, self._origins))
        return await asyncio.shield(self._process)

    def _close_if_idle(self, visits: int) -> None:
        if visits == self._visits and not self._open:
            log.info("nobody has searched for %g s: closing Chrome", self._idle_seconds)
            self._end_process()

    def _end_process(self, only_this: _ChromeProcess | None = None) -> None:
        """End Chrome. With `only_this`, a Chrome that was started since stays."""
        life = self._process
        if life is not None and (only_this is None or _started_process(life) is only_this):
            self._process = None
            self._spawn(_end(life))

    async def _stop(self) -> None:
        self._end_process()
        if self._tasks:
            await asyncio.wait(self._tasks.copy())

    def _spawn(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)  # a loop holds its tasks weakly
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # a caller that awaits the task has it; without one, nobody needs it


@dataclass(frozen=True, slots=True)
class _ChromeProcess:
    """A driver, its Chrome and Chrome's gate to the installation's proxy, from start to end."""

    driver: Playwright
    browser: PlaywrightBrowser
    gate: ProxyGate

    @classmethod
    async def start(cls, chrome: str, origins: Collection[WebOrigin]) -> _ChromeProcess:
        """Start the driver, the gate and Chrome. Raise EngineUnavailable with the cure."""
        from playwright.async_api import async_playwright

        with use_all_cores():
            driver = await async_playwright().start()
        gate = ProxyGate(origins)
        try:
            reach = network_arguments(origins, await gate.open())
            return cls(driver, await _launch(driver, chrome, [*ARGUMENTS, *reach], sandbox=not _is_root()), gate)
        except Exception as error:
            gate.close()
            await driver.stop()
            log.error("Chrome did not start: %s", error)
        raise EngineUnavailable(
            "浏览器没有能启动。", cure=f"请在终端中运行 {chrome} 查看原因，或重新安装：{install_command()}"
        )

    async def end(self) -> None:
        if not self.browser.is_connected():
            await asyncio.sleep(PROFILE_CLEANUP_SECONDS)
        with suppress(Exception):
            await asyncio.wait_for(self.browser.close(), 2)
        with suppress(Exception):
            await asyncio.wait_for(self.driver.stop(), 1)
        self.gate.close()


async def _launch(driver: Playwright, chrome: str, args: list[str], *, sandbox: bool) -> PlaywrightBrowser:
    """Start Chrome and return it; without a sandbox if the system offers none."""
    from playwright.async_api import Error

    try:
        return await driver.chromium.launch(
            executable_path=chrome,
            args=args,
            ignore_default_args=["--disable-popup-blocking"],
            chromium_sandbox=sandbox,
            env=dict[str, str | float | bool](child_environment()),
        )
    except Error as error:
        # Containers and hardened kernels have no user namespaces; Chrome then refuses to start with its sandbox.
        if not sandbox or not re.search("No usable sandbox|sandboxing failed|SUID sandbox", error.message):
            raise
        log.warning("this system offers Chrome no sandbox: starting without")
        return await _launch(driver, chrome, args, sandbox=False)


async def _end(life: asyncio.Task[_ChromeProcess]) -> None:
    with suppress(Exception):  # it had not begun
        await (await life).end()


def _started_process(life: asyncio.Task[_ChromeProcess]) -> _ChromeProcess | None:
    """Return the process; None while it is starting, or if it failed to start."""
    return life.result() if life.done() and not life.cancelled() and life.exception() is None else None


def _is_root() -> bool:
    """Return whether this process runs as root. Chrome has no sandbox for root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


# ── One page ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def _refuse(route: Route) -> None:
    from playwright.async_api import Error

    with suppress(Error):  # the page has gone meanwhile
        await route.abort()


async def _load_page(page: PlaywrightPage, visit: _Visit) -> RenderedPage:
    """Load and read the page. A page that is redirected to another origin is given up."""
    target: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def look(request: Request) -> None:
        away = (
            request.is_navigation_request()
            and request.frame == page.main_frame
            and visit.foreign_requests.match(request.url)
        )
        if away and not target.done():
            target.set_result(urlsplit(request.url).netloc)

    page.on("requestfailed", look)
    reading = asyncio.ensure_future(_read_loaded_page(page, visit))
    try:
        await asyncio.wait((reading, target), return_when=asyncio.FIRST_COMPLETED)
        if target.done():
            raise HttpRedirect(host=visit.host, target=target.result())
        return reading.result()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read_loaded_page(page: PlaywrightPage, visit: _Visit) -> RenderedPage:
    await page.goto(visit.url, wait_until="commit", timeout=0)
    finished = await _wait_until_settled(page, visit.ready, visit.deadline.remaining() - READING_SECONDS)
    return await _read(page, finished=finished)


async def _refuse_media(page: PlaywrightPage) -> None:
    session = await page.context.new_cdp_session(page)

    def refuse(event: dict[str, Any]) -> None:
        answer = session.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "BlockedByClient"})
        asyncio.ensure_future(answer).add_done_callback(lambda done: done.cancelled() or done.exception())

    session.on("Fetch.requestPaused", refuse)
    await session.send("Fetch.enable", {"patterns": [{"resourceType": "Media"}]})


async def _wait_until_settled(page: PlaywrightPage, ready: str, seconds: float) -> bool:
    """Return whether the page settled in time. It is read in both cases."""
    waiting = {
        asyncio.ensure_future(page.wait_for_selector(ready, state="attached", timeout=0)),
        asyncio.ensure_future(_wait_for_final_load(page)),
    }
    try:
        done, _ = await asyncio.wait(waiting, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        return bool(done)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _wait_for_final_load(page: PlaywrightPage) -> None:
    before = None
    while page.url != before:
        before = page.url
        await page.wait_for_load_state("load", timeout=0)
        await asyncio.sleep(SETTLE_SECONDS)


async def _read(page: PlaywrightPage, *, finished: bool) -> RenderedPage:
    from playwright.async_api import Error

    while True:
        try:
            html, url, status = await page.evaluate(
                """limit => [document.documentElement?.outerHTML.slice(0, limit) ?? "", location.href,
                             performance.getEntriesByType("navigation")[0]?.responseStatus ?? 0]""",
                MAX_CHARACTERS,
            )
        except Error as error:
            if "context was destroyed" not in error.message:  # it went elsewhere just now
                raise
        else:
            return RenderedPage(html, url, status, finished)


# ── What goes wrong, in our words ─────────────────────────────────────────────────────────────────────────────────


# The last one is a page whose process was killed before anything had arrived.
_DIED = re.compile(r"has been closed|connection closed|crashed|net::ERR_ABORTED", re.IGNORECASE)
_REASONS: tuple[tuple[str, ConnectFailure], ...] = (
    (r"NAME_NOT_RESOLVED|NAME_RESOLUTION", "dns"),
    (r"PROXY|TUNNEL|SOCKS", "proxy"),
    (r"CERT|SSL", "tls"),
    (r"CONNECTION_REFUSED", "refused"),
    (r"EMPTY_RESPONSE|CONNECTION_(RESET|CLOSED|ABORTED)|INCOMPLETE|HTTP2", "reset"),
)


def _to_http_error(error: Exception, host: str) -> HttpError:
    code = re.search(r"net::ERR_(\w+)", str(error))
    if code is None:
        log.warning("Chrome failed: %s", str(error).partition("\n")[0])
        return HttpConnectError(host=host, reason="unreachable")
    if "TIMED_OUT" in code[1]:
        return HttpTimeout(host=host)
    reasons = [reason for pattern, reason in _REASONS if re.search(pattern, code[1])]
    return HttpConnectError(host=host, reason=reasons[0] if reasons else "unreachable")


# ── Where Chrome is ───────────────────────────────────────────────────────────────────────────────────────────────

_COMMANDS = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome")
_USUAL_PLACES = {
    "linux": ("/opt/google/chrome/chrome", "/usr/lib/chromium/chromium", "/snap/bin/chromium"),
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ),
    "win32": (
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
        r"~\AppData\Local\Google\Chrome\Application\chrome.exe",
        r"~\AppData\Local\Chromium\Application\chrome.exe",
    ),
}


def find_chrome(setting: str = "") -> str:
    """Return the browser to start. Raise EngineMisconfigured with the command that installs one."""
    if setting:
        if found := shutil.which(os.path.expanduser(setting)):
            return found
        raise EngineMisconfigured(
            "设置中指定的 Chrome 不存在，或不能运行。",
            cure="请改为 Chrome 或 Chromium 的完整路径，或留空让程序自己查找。",
            state="缺少 Chrome",
        )
    if found := next(_chromes(), None):
        return found
    raise EngineMisconfigured(
        "没有找到 Chrome 或 Chromium。", cure=f"请安装后重启问源：{install_command()}", state="缺少 Chrome"
    )


def _chromes() -> Iterator[str]:
    places = (os.path.expanduser(place) for place in _USUAL_PLACES.get(sys.platform, ()))
    yield from filter(None, map(shutil.which, (*_COMMANDS, *places)))


_INSTALLERS = {
    "apt-get": "sudo apt-get install -y chromium",
    "dnf": "sudo dnf install -y chromium",
    "pacman": "sudo pacman -S chromium",
    "zypper": "sudo zypper install chromium",
    "apk": "sudo apk add chromium",
}


def install_command() -> str:
    """Return the command that installs Chrome or Chromium on this system."""
    if sys.platform == "darwin":
        return "brew install --cask google-chrome"
    if sys.platform == "win32":
        return "winget install -e --id Google.Chrome"
    with suppress(OSError):
        if platform.freedesktop_os_release().get("ID") == "ubuntu":  # its chromium is a snap and no package
            return "sudo snap install chromium"
    return next((command for tool, command in _INSTALLERS.items() if shutil.which(tool)), "https://www.chromium.org")
