"""The pictures of the README, taken from the running app in a real browser: `make screenshots`.

The embedded model answers, from the built-in manual and from a few invented statutes about lighthouses.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from core.legal.page_addresses import law_address  # noqa: E402
from support import invented  # noqa: E402
from support.app_server import app_server  # noqa: E402
from support.visitor import ARGUMENTS, CHROMIUM, Visitor  # noqa: E402

IMAGES = ROOT / "docs" / "images"
DESK, PHONE = (1280, 1040), (390, 844)


def chat(visitor: Visitor) -> None:
    visitor.search_on()
    visitor.ask("SearXNG 返回 403 怎么办？")
    visitor.answered("参考文献")
    visitor.page.get_by_test_id("stChatMessage").first.scroll_into_view_if_needed()


def agent(visitor: Visitor) -> None:
    visitor.ask("/mode agent")
    visitor.page.get_by_text("已切换到 Agent 模式").wait_for()
    visitor.ask("《灯塔法》第三条怎么规定？")
    visitor.answered("参考文献")
    visitor.page.get_by_text("已切换到 Agent 模式").scroll_into_view_if_needed()


def article(visitor: Visitor) -> None:
    visitor.page.goto(visitor.url + law_address("中华人民共和国灯塔法", "第三条之一"))
    visitor.page.get_by_text("提到的条文").wait_for()
    visitor.settled()


def dashboard(visitor: Visitor) -> None:
    visitor.page.goto(f"{visitor.url}/dashboard")
    visitor.page.locator("[data-testid=stVegaLiteChart] svg").nth(1).wait_for()
    visitor.settled()


SHOTS: tuple[tuple[str, Callable[[Visitor], None], tuple[int, int], bool], ...] = (
    ("chat-light", chat, DESK, False),
    ("chat-dark", chat, DESK, True),
    ("chat-phone", chat, PHONE, False),
    ("agent-light", agent, DESK, False),
    ("agent-dark", agent, DESK, True),
    ("legal-light", article, DESK, False),
    ("legal-dark", article, DESK, True),
    ("dashboard-light", dashboard, DESK, False),
    ("dashboard-dark", dashboard, DESK, True),
)


@contextmanager
def visiting(browser: Browser, url: str, size: tuple[int, int], *, dark: bool) -> Iterator[Visitor]:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        locale="zh-CN",
        device_scale_factor=1.5,
    )
    yield Visitor(context.new_page(), url)
    context.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        data = Path(folder) / "data"
        invented.library(data, invented.lawrefbook(Path(folder) / "laws"))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        with app_server(SEARCH_PROVIDER_PRIORITY="bundled", DATA_DIR=str(data)) as server:
            for name, prepare, size, dark in SHOTS:
                with visiting(browser, server.url, size, dark=dark) as visitor:
                    prepare(visitor)
                    visitor.page.wait_for_timeout(1_000)  # what folds and fades has done so
                    visitor.page.screenshot(path=IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
