"""A search engine that failed is paused: the page says until when, and a person's 重新搜索 goes through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from core.answer.message import Message, Mode
from core.app import App, build_app
from core.search.types import SearchQuery
from core.ui.advice import NO_RETRY, RETRY
from core.ui.chat.search_offer import PAUSED_OFFER
from support.base import loaded
from support.pages import ask, choose, html, open_page, rerun, search, values
from support.scripted_searxng import ScriptedSearxng, scripted_searxng
from support.shared import shared_and_closed

QUESTION = "全固态电池什么时候量产"


@contextmanager
def world(
    status: int = 200, *, headers: dict[str, str] | None = None, **environ: str
) -> Iterator[tuple[App, ScriptedSearxng]]:
    with scripted_searxng(status, **(headers or {})) as searxng:
        app = build_app(loaded(SEARCH_PROVIDER_PRIORITY="searxng", SEARXNG_URL=searxng.url, **environ))
        with shared_and_closed(app):
            yield app, searxng


def press_search_again(page: AppTest) -> AppTest:
    next(button for button in page.button if button.key and button.key.startswith("search-again-")).click()
    return rerun(page)


def press_search_again_in_record(page: AppTest) -> AppTest:
    """In the record of the searches, which stands with every answer."""
    page.session_state[f"sources-{last(page).id}"] = True
    rerun(page)
    next(button for button in page.button if button.label == "重新搜索").click()
    return rerun(page)


def last(page: AppTest) -> Message:
    message: Message = page.session_state["chat"].messages[-1]
    return message


def opened(mode: Mode) -> AppTest:
    page = choose(open_page(), mode)
    return search(page, on=True) if mode == "chat" else page


@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_search_again_reaches_a_paused_engine_and_ends_the_pause_for_everybody(mode: Mode) -> None:
    with world(403) as (app, searxng):
        page = ask(opened(mode), QUESTION)
        assert searxng.asked, "it was asked"
        searxng.status = 200
        before = len(searxng.asked)
        page = ask(page, f"{QUESTION}，成本多少")
        assert len(searxng.asked) == before, "it is paused"
        (first, *_) = (attempt for found in last(page).searches for attempt in found.response.attempts)
        assert first.was_paused
        assert "暂停中" in values(page.info)
        assert "搜索引擎刚才失败过，暂停到 " in html(page)
        assert RETRY in html(page)
        assert "引擎暂停中，没有联网搜索" in html(page), "not as if it had been tried"

        page = press_search_again(page)
        assert len(searxng.asked) > before
        assert [found.response.provider for found in last(page).searches][-1] == "searxng"
        assert app.search.is_web_ready
        someone = ask(opened(mode), "别的问题 钠离子电池")
        assert last(someone).searches[-1].response.provider == "searxng"


@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_search_again_is_not_answered_by_a_cache(mode: Mode) -> None:
    with world() as (_, searxng):
        page = ask(opened(mode), QUESTION)
        asked = list(searxng.asked)
        page = ask(page, QUESTION)
        assert searxng.asked == asked, "a cache answers the same words"
        press_search_again_in_record(page)
        assert searxng.asked == [*asked, *asked], "all of its searches again"


def test_an_engine_that_names_its_time_is_not_hammered() -> None:
    with world(429, headers={"Retry_After": "900"}) as (_, searxng):
        page = ask(opened("chat"), QUESTION)
        assert len(searxng.asked) == 1
        for _ in range(5):
            page = press_search_again(page)
        assert len(searxng.asked) == 1
        assert NO_RETRY in html(page)
        assert RETRY not in html(page)


def test_who_asks_again_and_again_is_limited() -> None:
    with world(403, SEARCH_RATE_LIMIT="2") as (_, searxng):
        page = ask(opened("chat"), QUESTION)
        for _ in range(5):
            page = press_search_again(page)
        assert len(searxng.asked) <= 2
        assert "搜索次数已达到每分钟的上限" in values(page.info)


def test_the_lines_to_paste_stand_alone_in_notice_and_record() -> None:
    with world(403) as (_, _searxng):
        page = ask(opened("chat"), QUESTION)
        block = '<pre tabindex="0">search:\n  formats: [html, json]</pre><button type="button" class="wy-paste-copy">'
        assert html(page).count(block) >= 2, "in the notice, and in the record"
        assert "写入下面两行并重启：" in values(page.info)
        assert "formats" not in values(page.info)
        assert '<div class="wy-line">也可以先关闭联网搜索。</div>' in html(page)


def test_a_new_visitor_is_told_why_the_search_is_off_and_until_when() -> None:
    with world(403, CHAT_SEARCH_DEFAULT="auto") as (app, _):
        with pytest.raises(Exception, match="403"):
            app.search.search(SearchQuery(QUESTION))
        page = open_page()
        assert page.toggle[0].label == "联网 已禁用"
        (told,) = (caption.value for caption in page.main.caption if PAUSED_OFFER in caption.value)
        assert "失败过，暂停到 " in told
