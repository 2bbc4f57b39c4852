"""法条核验 below an answer as a reader meets it: the marks, one click to the article, and all of it after a reload."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from legal import invented
from playwright.sync_api import Locator, expect

from support.app_server import AppServer
from support.openai_server import OpenAIServer
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

ANSWER = """守塔人应当在日落前点灯（《灯塔法》第三条）。有人说《灯塔法》第九十九条另有规定。

《浮标法》第二条规定：“浮标由船长登记，登记满三年的，应当重新登记。”
"""
CHIPS = ["✓ 《灯塔法》第三条", "✗ 《灯塔法》第九十九条", "≠ 《浮标法》第二条"]


@pytest.fixture(scope="session")
def lawful(serve: Serve, model_server: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> AppServer:
    folder = tmp_path_factory.mktemp("statutes")
    invented.library(folder / "data", invented.lawrefbook(folder / "laws"))
    model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model_server.url, "LLM_MODEL": "openai:as-asked"}
    return serve(**model, SEARCH_PROVIDER_PRIORITY="bundled", DATA_DIR=str(folder / "data"))


def chips(visitor: Visitor) -> Locator:
    answer = visitor.page.get_by_test_id("stChatMessage").last
    return answer.get_by_test_id("stPopover").filter(has_text="法》第")


def test_marks_and_articles_before_and_after_a_reload(
    lawful: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    model_server.script = list(ANSWER)
    visitor = visit(lawful)
    visitor.ask("守塔人要做什么？ script:laws")
    visitor.answered("tokens")
    for _ in range(2):
        expect(chips(visitor)).to_have_count(3)
        for number, chip in enumerate(CHIPS):
            expect(chips(visitor).nth(number)).to_contain_text(chip)
        chips(visitor).nth(2).get_by_role("button").click()
        article = visitor.page.get_by_test_id("stPopoverBody")
        expect(article).to_contain_text("引文与条文不一致")
        expect(article.locator("del")).to_have_text("三")
        expect(article.locator("ins")).to_have_text("五")
        visitor.page.keyboard.press("Escape")
        visitor.page.reload()
        visitor.answered("tokens")
    assert visitor.foreign == []
