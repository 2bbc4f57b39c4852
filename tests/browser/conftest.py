"""A real Chromium and the real app. Skipped, with the reason, where there is no Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from support.app_server import AppServer, app_server
from support.openai_server import OpenAIServer, openai_server

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)

# As root Chromium has no sandbox to offer; the rest keeps it from calling its maker.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here: sudo apt-get install -y chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[..., AppServer]]:
    """Starts the app with an environment; the same environment is served once for all tests."""
    running: dict[tuple[tuple[str, str], ...], AppServer] = {}
    with ExitStack() as stack:

        def start(**environ: str) -> AppServer:
            key = tuple(sorted(environ.items()))
            if key not in running:
                running[key] = stack.enter_context(app_server(**environ))
            return running[key]

        yield start


@pytest.fixture(scope="session")
def model_server() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


class Visitor:
    """A person at the page: what they do, and every request that their browser makes to a foreign host."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.foreign: list[str] = []
        page.set_default_timeout(15_000)
        page.on("request", self._note)
        page.goto(url)
        self.settled()

    def _note(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.foreign.append(request.url)

    def settled(self) -> None:
        """The script has run to its end and the page shows it."""
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")

    def ask(self, question: str) -> None:
        box = self.page.get_by_test_id("stChatInputTextArea")
        box.fill(question)
        box.press("Enter")

    def answered(self, text: str) -> None:
        self.page.get_by_test_id("stChatMessage").last.get_by_text(text).filter(visible=True).first.wait_for()
        self.settled()

    def search_on(self) -> None:
        self.page.get_by_test_id("stSidebar").get_by_text("联网搜索", exact=True).click()
        self.page.get_by_text("已启用").wait_for()
        self.settled()

    @property
    def last_answer(self) -> str:
        return self.page.get_by_test_id("stChatMessage").last.inner_text()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visitor]]:
    with ExitStack() as stack:

        def open_page(server: AppServer, *, path: str = "", width: int = 1280, dark: bool = False) -> Visitor:
            context = browser.new_context(
                viewport={"width": width, "height": 844}, color_scheme="dark" if dark else "light", locale="zh-CN"
            )
            stack.callback(context.close)
            return Visitor(context.new_page(), server.url + path)

        yield open_page
