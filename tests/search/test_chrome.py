"""Chrome's life, with a real Chrome: on time, in bounds, and gone afterwards whatever happens."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from core.base.http import Deadline
from core.base.http.errors import HttpCancelled, HttpConnectError, HttpTimeout
from core.search import chrome as module
from core.search.chrome import Browser, RenderedPage, find_chrome, install_command
from core.search.errors import EngineMisconfigured, EngineUnavailable
from support.base import ROOT
from support.chrome import CHROME, NO_CHROME, Watched, watched
from support.faults import unused_port
from support.google_site import GoogleSite, google_site
from support.waiting import until

pytestmark = pytest.mark.skipif(bool(NO_CHROME), reason=NO_CHROME)

READY = "#botstuff, #captcha-form"
PATIENT = 30.0
"""Seconds for what has no time to keep: the machine may be busy. What must be quick is measured by `make bench`."""

NOBODY = f"http://127.0.0.1:{unused_port()}/"

Get = Callable[..., RenderedPage]


@pytest.fixture(scope="module")
def running_site() -> Iterator[GoogleSite]:
    with google_site() as site:
        yield site


@pytest.fixture
def site(running_site: GoogleSite) -> GoogleSite:
    running_site.released.clear()
    return running_site


@pytest.fixture(scope="module")
def shared_browser(running_site: GoogleSite) -> Iterator[Browser]:
    """For the tests that leave it as it was."""
    browser = Browser(CHROME, origins=(running_site.url, NOBODY))
    yield browser
    browser.close()


@pytest.fixture
def kept(shared_browser: Browser, site: GoogleSite) -> Get:
    return getter(shared_browser, site)


@pytest.fixture
def watch() -> Iterator[Watched]:
    with watched() as watch:
        yield watch
        until(lambda: not watch.processes())
        assert not watch.profiles()


@pytest.fixture
def fresh(watch: Watched, site: GoogleSite) -> Iterator[Browser]:
    browser = Browser(CHROME, origins=(site.url,))
    yield browser
    browser.close()


def getter(browser: Browser, site: GoogleSite) -> Get:
    def get(query: str, deadline: Deadline | float = PATIENT, **options: str) -> RenderedPage:
        deadline = deadline if isinstance(deadline, Deadline) else Deadline(deadline)
        return browser.get_page(f"{site.url}/search?q={query}", deadline, **{"ready": READY, **options})

    return get


def seconds(do: Callable[[], object]) -> float:
    began = time.monotonic()
    do()
    return time.monotonic() - began


# ── What a page is ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_page_is_read_with_where_it_led_and_its_status(kept: Get, site: GoogleSite) -> None:
    page = kept("x")
    assert "结果 10" in page.html
    assert (page.url, page.status, page.finished) == (f"{site.url}/search?q=x", 200, True)
    page = kept("captcha")
    assert page.url.startswith(f"{site.url}/sorry/index")
    assert page.status == 429
    assert "captcha-form" in page.html
    assert kept("broken").status == 500


def test_a_script_may_send_the_page_elsewhere_before_it_is_read(kept: Get, site: GoogleSite) -> None:
    before = len(site.searches)
    assert "结果 10" in kept("check").html
    assert len(site.searches) == before + 2
    assert "结果 10" in kept("check", ready=":not(*)").html, "also when nobody said what to wait for"


def test_no_cookie_of_one_search_is_sent_with_the_next(kept: Get, site: GoogleSite) -> None:
    kept("check")
    before = len(site.requests)
    kept("check")
    assert "cookie" not in site.requests[before][1]


def test_the_language_is_told(kept: Get, site: GoogleSite) -> None:
    kept("language", locale="zh-CN")
    assert site.requests[-1][1]["accept-language"].startswith("zh-CN")


def test_no_image_font_sound_or_film_is_asked_for(kept: Get, site: GoogleSite) -> None:
    before = len(site.requests)
    kept("heavy", ready=":not(*)")
    assert [path for path, _ in site.requests[before:] if path != "/favicon.ico"] == ["/search?q=heavy"]


def test_a_server_that_hangs_up(kept: Get) -> None:
    with pytest.raises(HttpConnectError) as caught:
        kept("hangup")
    assert caught.value.reason == "reset"


def test_a_server_that_is_not_there(shared_browser: Browser) -> None:
    with pytest.raises(HttpConnectError) as caught:
        shared_browser.get_page(NOBODY, Deadline(PATIENT))
    assert caught.value.reason == "refused"


# ── On time ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_silence_ends_with_the_deadline(kept: Get, site: GoogleSite) -> None:
    def ask() -> None:
        with pytest.raises(HttpTimeout):
            kept("silent", 1.5)

    assert 1.4 < seconds(ask) < PATIENT
    assert site.wait_until_given_up()


def test_a_page_that_never_ends_is_read_as_far_as_it_is_there(kept: Get, site: GoogleSite) -> None:
    for time_enough in (2.0, 6.0, 18.0):  # for a page with results, on a busy machine too
        with suppress(HttpTimeout):
            page = kept("endless", time_enough)
            break
    assert "结果 10" in page.html
    assert not page.finished
    assert site.wait_until_given_up()


def test_what_comes_behind_the_results_is_not_waited_for(kept: Get, site: GoogleSite) -> None:
    kept("x")
    assert seconds(lambda: kept("ready", 2 * PATIENT)) < PATIENT
    assert site.wait_until_given_up()


def test_a_script_that_never_lets_go_holds_nobody_up(watch: Watched, site: GoogleSite) -> None:
    browser = Browser(CHROME, origins=(site.url,), pages=1)
    get = getter(browser, site)
    get("x")

    def ask() -> None:
        with pytest.raises(HttpTimeout):
            get("busy", 2.0)

    assert seconds(ask) < PATIENT
    assert "结果 10" in get("x").html, "its place is free again"
    browser.close()


def test_cancelling_closes_the_page_at_once(kept: Get, site: GoogleSite) -> None:
    deadline = Deadline(20.0)

    def cancel_when_running() -> None:
        until(lambda: site.running > 0)
        deadline.cancel()

    threading.Thread(target=cancel_when_running).start()
    with pytest.raises(HttpCancelled):
        kept("silent", deadline)
    assert site.wait_until_given_up()
    with pytest.raises(HttpCancelled):
        kept("x", deadline)


# ── Start, stay, go ───────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_started_before_the_first_search(fresh: Browser, watch: Watched) -> None:
    assert not watch.processes()


def test_the_second_search_uses_the_same_chrome(fresh: Browser, watch: Watched, site: GoogleSite) -> None:
    get = getter(fresh, site)
    get("x")
    first = watch.chrome()
    get("x")
    assert first is not None
    assert watch.chrome() == first


def test_chrome_has_no_open_port_and_no_key(
    fresh: Browser, watch: Watched, site: GoogleSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    monkeypatch.setenv("WHATEVER", "sk-secret-0123456789")
    getter(fresh, site)("x")
    chromes = {pid: command for pid, command in watch.processes().items() if "run-driver" not in command}
    assert len(chromes) > 2
    for pid, command in chromes.items():
        assert "--remote-debugging-port" not in command
        with suppress(OSError):  # the page's process has ended meanwhile
            assert b"sk-secret" not in Path(f"/proc/{pid}/environ").read_bytes()
            assert not listening(pid)


def listening(pid: int) -> bool:
    inodes = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    return any(row[3] == "0A" and f"socket:[{row[9]}]" in inodes for row in rows)


def test_it_goes_when_nobody_wants_it_and_comes_back(watch: Watched, site: GoogleSite) -> None:
    browser = Browser(CHROME, origins=(site.url,), idle_seconds=0.5)
    get = getter(browser, site)
    get("slow")  # longer than the idle time: a page that is open keeps Chrome
    until(lambda: not watch.processes())
    assert not watch.profiles()
    assert "结果 10" in get("x").html
    browser.close()


def test_killed_between_searches_it_is_started_again(fresh: Browser, watch: Watched, site: GoogleSite) -> None:
    get = getter(fresh, site)
    get("x")
    first = watch.chrome()
    assert first
    os.kill(first, signal.SIGKILL)
    assert "结果 10" in get("x").html
    assert watch.chrome() not in (None, first)


def test_killed_during_a_search_the_search_is_done_again(fresh: Browser, watch: Watched, site: GoogleSite) -> None:
    get = getter(fresh, site)
    get("x")
    before = len(site.searches)
    with ThreadPoolExecutor() as pool:
        searches = [pool.submit(get, "held") for _ in range(2)]
        until(lambda: len(site.searches) == before + 2)
        os.kill(watch.chrome() or 0, signal.SIGKILL)
        site.released.set()
        assert all("结果 10" in search.result().html for search in searches)


def test_a_killed_driver_is_replaced_too(fresh: Browser, watch: Watched, site: GoogleSite) -> None:
    get = getter(fresh, site)
    get("x")
    os.kill(watch.driver(), signal.SIGKILL)
    assert "结果 10" in get("x").html
    fresh.close()
    for name in watch.profiles():  # what a driver that was killed could not clear away
        Path(watch.folder, name).rename(Path(watch.folder, f"left-{name}"))


def test_a_killed_page_is_opened_again(fresh: Browser, watch: Watched, site: GoogleSite) -> None:
    get = getter(fresh, site)
    get("x")
    before = len(site.searches)
    with ThreadPoolExecutor() as pool:
        search = pool.submit(get, "held")
        until(lambda: len(site.searches) == before + 1)
        for pid, command in watch.processes().items():
            if "--type=renderer" in command:
                os.kill(pid, signal.SIGKILL)
        site.released.set()
        assert "结果 10" in search.result().html


def test_four_at_once_and_no_more_than_allowed(watch: Watched, site: GoogleSite) -> None:
    browser = Browser(CHROME, origins=(site.url,), pages=2)
    get = getter(browser, site)
    get("x")
    before = len(site.searches)
    with ThreadPoolExecutor(4) as pool:
        searches = [pool.submit(get, "held") for _ in range(4)]
        until(lambda: len(site.searches) == before + 2)
        time.sleep(0.5)  # in which others would come
        assert len(site.searches) == before + 2, "the others wait for their turn"
        site.released.set()
        assert all("结果 10" in search.result().html for search in searches)
    browser.close()


def test_close_ends_what_is_running_and_is_final(fresh: Browser, watch: Watched, site: GoogleSite) -> None:
    get = getter(fresh, site)
    get("x")
    with ThreadPoolExecutor() as pool:
        search = pool.submit(get, "silent")
        until(lambda: site.running > 0)
        assert seconds(fresh.close) < PATIENT / 2
        with pytest.raises(HttpCancelled):
            search.result()
    until(lambda: not watch.processes())
    assert not os.listdir(watch.folder)
    fresh.close()
    with pytest.raises(HttpCancelled):
        get("x")


OWNER = """
import sys, time
sys.path[:0] = [{root!r}]
from core.base.http import Deadline
from core.search.chrome import Browser, find_chrome
browser = Browser(find_chrome(), origins=({url!r},))
print(len(browser.get_page({url!r}, Deadline(30)).html), flush=True)
{then}
"""


def owner(site: GoogleSite, then: str) -> subprocess.Popen[str]:
    code = OWNER.format(root=str(ROOT), url=f"{site.url}/search?q=x", then=then)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    assert process.stdout
    assert int(process.stdout.readline()) > 1000
    return process


@pytest.mark.parametrize("then", ["", "raise SystemExit(3)", "raise RuntimeError"], ids=["end", "exit", "error"])
def test_an_owner_that_forgot_to_close_leaves_nothing(watch: Watched, site: GoogleSite, then: str) -> None:
    process = owner(site, then)
    process.communicate(timeout=60)
    until(lambda: not watch.processes())
    assert not os.listdir(watch.folder)


def test_an_owner_that_was_killed_leaves_nothing(watch: Watched, site: GoogleSite) -> None:
    process = owner(site, "time.sleep(60)")
    assert watch.chrome()
    process.kill()
    process.communicate()
    until(lambda: not watch.processes())
    until(lambda: not os.listdir(watch.folder))


# ── Starting it ───────────────────────────────────────────────────────────────────────────────────────────────────


def script(folder: Path, text: str) -> str:
    path = folder / "chrome"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_without_a_usable_sandbox_it_starts_without(
    watch: Watched, site: GoogleSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picky = f'case "$*" in *--no-sandbox*) exec {CHROME} "$@";; esac\necho "No usable sandbox!" >&2; exit 1'
    monkeypatch.setattr(module, "_is_root", lambda: False)
    browser = Browser(script(tmp_path, picky), origins=(site.url,))
    assert "结果 10" in getter(browser, site)("x").html
    browser.close()


def test_the_sandbox_is_on_for_everyone_but_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = script(tmp_path, f'echo "$*" >> {tmp_path}/arguments; exit 1')
    for root in (True, False):
        monkeypatch.setattr(module, "_is_root", lambda root=root: root)
        with pytest.raises(EngineUnavailable):
            Browser(recorder, origins=(NOBODY,)).get_page(NOBODY, Deadline(PATIENT))
    as_root, as_user = (tmp_path / "arguments").read_text().splitlines()
    assert "--no-sandbox" in as_root
    assert "--no-sandbox" not in as_user


def test_a_chrome_that_does_not_start_says_what_to_do(watch: Watched, tmp_path: Path) -> None:
    browser = Browser(script(tmp_path, "exit 1"), origins=(NOBODY,))
    for _ in range(2):
        with pytest.raises(EngineUnavailable, match="没有能启动") as caught:
            browser.get_page(NOBODY, Deadline(PATIENT))
        assert install_command() in caught.value.cure
    browser.close()


def test_chrome_is_found_by_setting_or_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chrome = script(tmp_path, "")
    assert find_chrome(chrome) == chrome
    with pytest.raises(EngineMisconfigured, match="设置中指定的 Chrome"):
        find_chrome(str(tmp_path / "nothing"))
    (tmp_path / "chrome").rename(tmp_path / "chromium")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chrome() == str(tmp_path / "chromium")


@pytest.mark.parametrize(
    ("system", "command"), [("darwin", "brew install"), ("win32", "winget install"), ("linux", "chromium")]
)
def test_without_chrome_the_command_that_installs_it(
    system: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(EngineMisconfigured, match="没有找到") as caught:
        find_chrome()
    assert command in caught.value.cure


def test_ubuntu_has_it_as_a_snap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "ubuntu"})
    assert install_command() == "sudo snap install chromium"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("net::ERR_NAME_NOT_RESOLVED at http://x", "dns"),
        ("net::ERR_TUNNEL_CONNECTION_FAILED", "proxy"),
        ("net::ERR_CERT_DATE_INVALID", "tls"),
        ("net::ERR_CONNECTION_CLOSED", "reset"),
        ("net::ERR_ADDRESS_UNREACHABLE", "unreachable"),
        ("Protocol error (Page.navigate): something new", "unreachable"),
    ],
)
def test_what_chrome_says_in_our_words(said: str, reason: str) -> None:
    error = module._to_http_error(RuntimeError(said), "www.google.com")
    assert isinstance(error, HttpConnectError)
    assert error.reason == reason


def test_a_timeout_of_chromes_is_one() -> None:
    assert isinstance(module._to_http_error(RuntimeError("net::ERR_CONNECTION_TIMED_OUT"), "x"), HttpTimeout)
