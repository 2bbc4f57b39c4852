"""The page 帮助: the manual by address, by title and by keyword."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.search.manual import manual_articles
from core.ui.session import ROUTED
from support.base import ROOT


def opened(address: str | None = None) -> AppTest:
    page = AppTest.from_file(str(ROOT / "pages" / "help.py"), default_timeout=30)
    page.session_state[ROUTED] = True
    if address is not None:
        page.query_params["article"] = address
    page.run()
    assert not page.exception
    return page


def titles(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def test_every_article_is_listed_and_opens() -> None:
    page = opened()
    assert titles(page) == [article.title for article in manual_articles()]
    page.button[3].click().run()
    assert page.header[0].value == manual_articles()[3].title
    page.button[0].click().run()
    assert page.header[0].value == "帮助"


def test_an_address_opens_its_article() -> None:
    assert opened("search-toggle").header[0].value == "怎么打开联网搜索"


@pytest.mark.parametrize("address", ["nosuch", "../../settings", "/etc/passwd", "04-search-toggle", "<b>", "\x00"])
def test_an_address_that_names_no_article_shows_the_contents(address: str) -> None:
    page = opened(address)
    assert "没有这篇文章" in page.warning[0].value
    assert len(titles(page)) == len(manual_articles())


def test_articles_are_found_by_title_and_keyword() -> None:
    page = opened()
    page.text_input[0].set_value(" SEARXNG ").run()
    assert "SearXNG 报错 403 怎么办" in titles(page)
    assert 0 < len(titles(page)) < len(manual_articles())
    page.text_input[0].set_value("红烧肉").run()
    assert titles(page) == []
    assert "没有标题或关键词" in page.info[0].value
