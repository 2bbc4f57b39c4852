"""What the pages of Chrome can reach, with a real Chrome: the engine's own origins and nothing else of this machine."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from core.base.http import Deadline
from core.base.http.errors import HttpConnectError, HttpRedirect
from core.search import chrome as module
from core.search.chrome import Browser
from core.search.chrome_network import DEAD_PROXY, WebOrigin, foreign_request_pattern, network_arguments
from support.chrome import CHROME, NO_CHROME
from support.faults import Peer, Server, self_signed, unused_port
from support.google_site import GoogleSite, google_results, google_site, page
from support.hostile_page import Canary, canary, set_up

needs_chrome = pytest.mark.skipif(bool(NO_CHROME), reason=NO_CHROME)
SETTLED = ":not(*)"
"""Nothing matches it: a page is read only when it has settled, and its scripts have had their time."""


@pytest.fixture(scope="module")
def bird() -> Iterator[Canary]:
    with canary() as bird:
        yield bird


@pytest.fixture(scope="module")
def site(bird: Canary) -> Iterator[GoogleSite]:
    with google_site() as site:
        set_up(site, bird)
        yield site


@pytest.fixture(scope="module")
def browser(site: GoogleSite) -> Iterator[Browser]:
    browser = Browser(CHROME, origins=(site.url,))
    yield browser
    browser.close()


NOTHING = re.compile("(?!)")
"""In the place of what leads elsewhere it takes the first wall away."""


def opened(browser: Browser, url: str) -> str:
    html = browser.get_page(url, Deadline(60), ready=SETTLED).html
    time.sleep(1.0)  # for what a page leaves behind: beacons, workers
    return html


# ── A page that tries everything ──────────────────────────────────────────────────────────────────────────────────


@needs_chrome
def test_the_scripts_of_a_hostile_page_reach_nothing(browser: Browser, site: GoogleSite, bird: Canary) -> None:
    assert "结果 10" in opened(browser, f"{site.url}/search?q=hostile")
    assert "/worker.js" in [path for path, _ in site.requests], "it is the site's own, and its workers did run"
    assert bird.seen == []


@needs_chrome
def test_the_second_wall_stands_alone(
    browser: Browser, site: GoogleSite, bird: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "_foreign_requests", NOTHING)
    assert "结果 10" in opened(browser, f"{site.url}/search?q=hostile")
    assert bird.seen == []


@needs_chrome
def test_without_walls_the_canary_sings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "network_arguments", lambda *_: [])
    with canary() as bird, google_site() as site:
        set_up(site, bird)
        browser = Browser(CHROME, origins=(site.url,))
        browser._foreign_requests = NOTHING
        opened(browser, f"{site.url}/search?q=hostile")
        browser.close()
        assert len(bird.seen) > 100
        assert "datagram" in bird.seen


# Chrome takes a question of ours for a click, and from then on lets the page open a window.
WINDOW = """<script async src="/search?q=silent"></script><script>
const waiting = setInterval(() => {
  if (!navigator.userActivation.isActive) return
  clearInterval(waiting)
  const opened = open("/search?q=x")
  setInterval(() => { if (opened.closed) document.body.id = "closed" }, 20)
}, 20)</script>"""


@needs_chrome
def test_a_window_is_closed_again(browser: Browser, site: GoogleSite) -> None:
    site.pages["window"] = page(WINDOW)
    assert browser.get_page(f"{site.url}/search?q=window", Deadline(20), ready="#closed").finished


# ── A page that leaves ────────────────────────────────────────────────────────────────────────────────────────────

LEAVING = {
    "script": page("<script>location = '{there}'</script>"),
    "later": google_results(before="<script>setTimeout(() => {{ location = '{there}' }}, 300)</script>"),
    "refresh": page("", head='<meta http-equiv="refresh" content="0;url={there}">'),
    "form": page('<form id="f" method="post" action="{there}"></form><script>f.submit()</script>'),
    "frame": page("<iframe srcdoc=\"<script>top.location = '{there}'</script>\"></iframe>"),
    "bounced": page("<script>location = '/bounce?to={there}'</script>"),
}


@needs_chrome
@pytest.mark.parametrize("word", ["redirect", *LEAVING])
def test_a_page_that_leaves_is_the_end_of_the_visit(
    browser: Browser, site: GoogleSite, bird: Canary, word: str
) -> None:
    there = f"http://{bird.place}/{word}"
    if word in LEAVING:
        site.pages[word] = LEAVING[word].format(there=there)
    address = f"{site.url}/search?q={word}" if word in LEAVING else f"{site.url}/bounce?to={there}"
    began = time.monotonic()
    with pytest.raises(HttpRedirect) as caught:
        browser.get_page(address, Deadline(60), ready=SETTLED)
    assert time.monotonic() - began < 30, "not only when the time is up"
    assert caught.value.target == bird.place
    assert caught.value.host in site.url
    assert bird.seen == []


# ── Behind the installation's proxy ───────────────────────────────────────────────────────────────────────────────


def proxy_to(site: GoogleSite, peer: Peer) -> None:
    """Connects with whatever it is asked for, as proxies do; `search.example` is the site."""
    place = peer.read_request().split(b" ")[1].decode()
    host, _, port = (site.url.partition("//")[2] if place == "search.example:443" else place).rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port))) as beyond:
        peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
        back = threading.Thread(target=pour, args=(beyond, peer.sock), daemon=True)
        back.start()
        pour(peer.sock, beyond)
        back.join()


def pour(source: socket.socket, into: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            into.sendall(data)
    with suppress(OSError):
        into.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ARGUMENTS", [*module.ARGUMENTS, "--ignore-certificate-errors"])


def use_proxy(monkeypatch: pytest.MonkeyPatch, proxy: str, exceptions: str = "") -> None:
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, exceptions)


@needs_chrome
def test_the_proxy_is_asked_for_the_engine_alone(
    tmp_path: Path, trusting: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls, _ = self_signed(tmp_path)
    with canary() as bird, google_site(tls) as site, Server(lambda peer: proxy_to(site, peer)) as proxy:
        set_up(site, bird, "https")
        use_proxy(monkeypatch, f"http://user:p%40ss@{proxy.host}")
        browser = Browser(CHROME, origins=("https://search.example",))
        assert "结果 10" in opened(browser, "https://search.example/search?q=hostile")
        with pytest.raises(HttpRedirect):
            opened(browser, f"https://search.example/bounce?to=https://{bird.place}/redirect")
        browser._foreign_requests = NOTHING
        opened(browser, "https://search.example/search?q=hostile")
        browser.close()
        assert bird.seen == []
        assert {request.split(b"\r\n")[0] for request in proxy.requests} == {b"CONNECT search.example:443 HTTP/1.1"}
        assert all(b"Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in request for request in proxy.requests)


@needs_chrome
def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    use_proxy(monkeypatch, f"http://127.0.0.1:{unused_port()}")
    browser = Browser(CHROME, origins=("https://search.example",))
    with pytest.raises(HttpConnectError) as caught:
        opened(browser, "https://search.example/")
    browser.close()
    assert caught.value.reason == "proxy"


def test_who_is_reached_without_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    use_proxy(monkeypatch, "http://proxy.example:3128", exceptions="inside.example")
    proxies = [
        WebOrigin.from_url(url).proxy
        for url in ("https://a.example", "https://inside.example", "https://127.0.0.1:1", "http://a.example")
    ]
    assert proxies == ["http://proxy.example:3128", "", "", ""]
    use_proxy(monkeypatch, "proxy.example:3128")
    assert WebOrigin.from_url("https://a.example").proxy == "http://proxy.example:3128"
    use_proxy(monkeypatch, "")
    assert WebOrigin.from_url("https://a.example").proxy == ""


# ── In words ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("url", "origin", "place"),
    [
        ("https://www.google.com/search?q=x", "https://www.google.com", "www.google.com:443"),
        ("https://www.Google.com:443", "https://www.google.com", "www.google.com:443"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080", "[::1]:8080"),
    ],
)
def test_an_origin(url: str, origin: str, place: str) -> None:
    assert str(WebOrigin.from_url(url)) == origin
    assert WebOrigin.from_url(url).host_port == place


@pytest.mark.parametrize(
    ("url", "is_elsewhere"),
    [
        ("https://www.google.com/", False),
        ("https://www.google.com/search?q=x", False),
        ("http://127.0.0.1:8080/x", False),
        ("data:text/html,x", False),
        ("blob:https://www.google.com/1", False),
        ("http://www.google.com/", True),
        ("https://www.google.com:8443/", True),
        ("https://www.google.com.evil.example/", True),
        ("https://wwwxgoogle.com/", True),
        ("https://www.google.com@evil.example/", True),
        ("https://evil.example/https://www.google.com/", True),
        ("http://127.0.0.1:80801/", True),
        ("http://127.0.0.1/", True),
        ("http://localhost:8080/", True),
        ("file:///etc/passwd", True),
    ],
)
def test_elsewhere_is_everywhere_but_there(url: str, is_elsewhere: bool) -> None:
    origins = [WebOrigin.from_url("https://www.google.com"), WebOrigin.from_url("http://127.0.0.1:8080")]
    assert bool(foreign_request_pattern(origins).match(url)) is is_elsewhere


def test_chrome_has_no_exception_for_loopback() -> None:
    told = network_arguments(
        [WebOrigin.from_url("http://127.0.0.1:8080"), WebOrigin.from_url("https://www.google.com")], DEAD_PROXY
    )
    assert f"--proxy-server={DEAD_PROXY}" in told
    assert "--proxy-bypass-list=<-loopback>;127.0.0.1:8080;www.google.com:443" in told
    assert "--host-resolver-rules=MAP * ~NOTFOUND,EXCLUDE 127.0.0.1,EXCLUDE www.google.com" in told
