"""The pictures of the README, taken from the running app in a real browser: `make screenshots`."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.app_server import app_server  # noqa: E402
from support.visitor import ARGUMENTS, CHROMIUM, Visitor  # noqa: E402

IMAGES = ROOT / "docs" / "images"


def main() -> None:
    with app_server(SEARCH_PROVIDER_PRIORITY="bundled") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for name, dark, width, height in (
            ("chat-light", False, 1280, 1040),
            ("chat-dark", True, 1280, 1040),
            ("chat-phone", False, 390, 844),
        ):
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                locale="zh-CN",
                device_scale_factor=1.5,
            )
            visitor = Visitor(context.new_page(), server.url)
            visitor.page.get_by_text("SearXNG 返回 403").click()
            visitor.answered("参考文献")
            visitor.page.get_by_test_id("stChatMessage").first.scroll_into_view_if_needed()
            visitor.page.wait_for_timeout(800)
            visitor.page.screenshot(path=IMAGES / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
