"""A real Chromium and the real app. Skipped, with the reason, where there is no Chromium."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from support.app_server import AppServer
from support.forked_server import forked_server
from support.openai_server import OpenAIServer, openai_server
from support.visitor import ARGUMENTS, CHROMIUM, Visitor

expect.set_options(timeout=20_000)  # on a busy machine; nobody waits longer than needed

PROGRAM = shutil.which("chromium-headless-shell") or CHROMIUM
"""The same engine without the windows, tabs and menus that nobody looks at: a visit takes it two thirds of the time."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip("no Chromium here: sudo apt-get install -y chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=PROGRAM, args=ARGUMENTS)
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
                running[key] = stack.enter_context(forked_server(**environ))
            return running[key]

        yield start
        for server in running.values():  # all at once: each takes a second to end
            server.process.send_signal(signal.SIGINT)


@pytest.fixture(scope="session")
def model_server() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        yield server


@pytest.fixture
def two_models(serve: Callable[..., AppServer], model_server: OpenAIServer) -> AppServer:
    """The default one repeats its prompt, so that the answer shows what reached it."""
    return serve(
        SEARCH_PROVIDER_PRIORITY="bundled",
        OPENAI_API_KEY="k",
        OPENAI_BASE_URL=model_server.url,
        LLM_MODEL="openai:echo",
        LLM_MODELS="openai:ok",
    )


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visitor]]:
    with ExitStack() as stack:

        def open_page(
            server: AppServer,
            *,
            path: str = "",
            width: int = 1280,
            height: int = 844,
            scale: int = 1,
            dark: bool = False,
            zone: str | None = None,
            touch: bool = False,
            watched: bool = False,
        ) -> Visitor:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                device_scale_factor=scale,
                color_scheme="dark" if dark else "light",
                locale="zh-CN",
                timezone_id=zone,
                has_touch=touch,
                is_mobile=touch,
            )
            stack.callback(context.close)
            return Visitor(context.new_page(), server.url, path, watched=watched)

        yield open_page
