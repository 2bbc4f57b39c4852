"""Pages are read before the answer: seen while it happens, afterwards, and when the page is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, expect

from support.app_server import AppServer
from support.found_pages import FoundPages, found_pages, reading_environment
from support.openai_server import Call, OpenAIServer, in_turn
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

PAYS_NOTHING = "费用由市财政承担，居民不需要付费"


@pytest.fixture(scope="module")
def world() -> Iterator[FoundPages]:
    with found_pages() as world:
        yield world


@pytest.fixture
def reading_app(serve: Serve, model_server: OpenAIServer, world: FoundPages) -> AppServer:
    return serve(**reading_environment(model_server, world, LLM_MODEL="openai:ok"))


@pytest.fixture
def agent_app(serve: Serve, model_server: OpenAIServer, world: FoundPages) -> AppServer:
    return serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply", AGENT_STRATEGY="tools"))


def last(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stChatMessage").last


def texts(visitor: Visitor) -> Locator:
    last(visitor).get_by_role("button", name="来源原文").click()
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def test_pages_tick_off_are_marked_kept_and_can_be_read_later(
    reading_app: AppServer, visit: Visit, world: FoundPages
) -> None:
    world.open.clear()
    world.refuses = True
    visitor = visit(reading_app, watched=True)
    visitor.search_on()
    visitor.ask("更换老旧水表要居民付费吗？")
    rows = last(visitor).locator(".wy-reading li")
    expect(last(visitor).locator(".wy-step.running > summary")).to_have_text("阅读 3 个网页 · 进行中")
    expect(rows.nth(1)).to_have_class("unread")
    expect(rows.nth(1)).to_contain_text("仅摘要（拒绝访问）")
    expect(rows.nth(0)).to_have_class("waiting")
    world.open.set()
    visitor.answered("问源的回答")
    expect(last(visitor).locator("summary").filter(has_text="1 个已读全文，2 个仅摘要")).to_be_visible()
    cited = last(visitor).locator("ol.wy-refs li")
    expect(cited.filter(has_text="供水量增加").last).to_contain_text("2024-10-12 · 已读全文 · ")
    expect(cited.filter(has_text="第二条").last).to_contain_text("日期不详 · 仅摘要（拒绝访问）")
    expect(texts(visitor)).to_contain_text(PAYS_NOTHING)

    world.open.clear()  # the page is gone; what it said is not
    visitor.page.reload()
    visitor.answered("问源的回答")
    dialog = texts(visitor)
    expect(dialog).to_contain_text(PAYS_NOTHING)
    expect(dialog).to_contain_text("校验值")
    world.open.set()

    world.refuses = False  # an unread source is read on demand
    dialog.get_by_role("combobox").click()
    visitor.page.get_by_role("option", name="第二条").click()
    expect(dialog).to_contain_text("没有读到这个网页的全文：拒绝访问。")
    dialog.get_by_role("button", name="阅读", exact=True).click()
    expect(dialog).to_be_hidden()
    visitor.answered("问源的回答")
    expect(last(visitor).locator("summary").filter(has_text="2 个已读全文，1 个仅摘要")).to_be_visible()
    assert visitor.foreign == []


def test_the_agent_reads_before_all_eyes_and_its_pages_are_kept(
    agent_app: AppServer, visit: Visit, world: FoundPages, model_server: OpenAIServer
) -> None:
    world.open.clear()
    world.refuses = True
    model_server.reply = in_turn(
        [Call("web_search", '{"query": "水表 付费"}')],
        [Call("read_page", '{"sources": [1, 2]}')],
        ["不需要付费[1]，另见[2]。"],
    )
    visitor = visit(agent_app, watched=True)
    visitor.flip("Agent")
    visitor.page.get_by_text("已切换到 Agent 模式").last.wait_for()
    visitor.settled()
    visitor.ask("更换老旧水表要居民付费吗？")
    rows = last(visitor).locator(".wy-reading li")
    expect(last(visitor).locator(".wy-step.running > summary")).to_contain_text("进行中")
    expect(rows.nth(1)).to_contain_text("仅摘要（拒绝访问）")
    expect(rows.nth(0)).to_have_class("waiting")
    world.open.set()
    visitor.answered("另见")
    see_what_the_agent_read(visitor)

    world.open.clear()
    visitor.page.reload()
    visitor.answered("另见")
    see_what_the_agent_read(visitor)
    dialog = texts(visitor)
    expect(dialog).to_contain_text(PAYS_NOTHING)
    world.open.set()

    world.refuses = False
    model_server.reply = in_turn(["读过了，不需要[1]。"])
    dialog.get_by_role("combobox").click()
    visitor.page.get_by_role("option", name="第二条").click()
    dialog.get_by_role("button", name="阅读", exact=True).click()
    expect(dialog).to_be_hidden()
    visitor.answered("读过了")
    expect(last(visitor).locator("summary").filter(has_text="阅读 1 个网页 · 1 个已读全文")).to_be_visible()
    expect(last(visitor).locator("ol.wy-refs li").last).to_contain_text("已读全文 · ")
    assert PAYS_NOTHING in str(model_server.requests[-1]["messages"])
    assert visitor.foreign == []


def see_what_the_agent_read(visitor: Visitor) -> None:
    read = last(visitor).locator("summary").filter(has_text="阅读 [1][2] · 1 个已读全文，1 个仅摘要")
    expect(read).to_be_visible()
    cited = last(visitor).locator("ol.wy-refs li")
    expect(cited.filter(has_text="供水量增加").last).to_contain_text("2024-10-12 · 已读全文 · ")
    expect(cited.filter(has_text="第二条").last).to_contain_text("日期不详 · 仅摘要（拒绝访问）")
