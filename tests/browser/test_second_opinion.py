"""让模型复核 on the page: asked for, waited for while the page stays alive, and there again after a reload."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, expect

from support.app_server import AppServer
from support.found_pages import FoundPages, found_pages, reading_environment
from support.openai_server import OpenAIServer, in_turn
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

ANSWER = "今年前三季度全市供水总量为 1.2 亿立方米[1]。换水表的费用由财政出，居民不用付费[1]。"
QUOTE = "费用由市财政承担，居民不需要付费"


@pytest.fixture(scope="module")
def world() -> Iterator[FoundPages]:
    with found_pages() as world:
        world.open.set()
        yield world


def last(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stChatMessage").last


def marks(visitor: Visitor) -> Locator:
    return last(visitor).locator(".wy-answer sup.cite")


def test_a_model_is_asked_and_its_word_stays_its_word(
    serve: Callable[..., AppServer], model_server: OpenAIServer, world: FoundPages, visit: Visit
) -> None:
    go_on = threading.Event()
    model_server.reply = in_turn([ANSWER], [go_on, f"1｜支持｜「{QUOTE}」"])
    visitor = visit(serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply")), watched=True)
    visitor.search_on()
    visitor.ask("前三季度供水量是多少？")
    visitor.answered("居民不用付费")
    expect(marks(visitor)).to_have_class(["cite supported", "cite unchecked"])
    last(visitor).get_by_text("核验 · 1 处有据 · 1 处未核").click()
    last(visitor).get_by_role("button", name="让模型复核").click()
    expect(last(visitor).get_by_text("模型正在复核引用…")).to_be_visible()
    go_on.set()
    expect(last(visitor).get_by_text("核验 · 1 处有据 · 1 处有据（模型复核）")).to_be_visible()
    expect(last(visitor).locator(".wy-claims")).to_be_visible()
    expect(last(visitor).get_by_text("看了 2 处，采纳 1 处")).to_be_visible()
    expect(marks(visitor)).to_have_class(["cite supported", "cite model"])
    chip = last(visitor).locator(".wy-answer sup.cite.model")
    chip.hover()
    expect(chip.locator(".wy-card")).to_contain_text("◇ 有据（模型复核）")
    expect(chip.locator(".wy-card q").last).to_contain_text(QUOTE)
    visitor.page.reload()
    visitor.answered("居民不用付费")
    expect(last(visitor).get_by_text("1 处有据（模型复核）")).to_be_visible()
    expect(marks(visitor)).to_have_class(["cite supported", "cite model"])
    assert visitor.foreign == []


def test_it_comes_by_itself_and_nobody_waits_for_it(
    serve: Callable[..., AppServer], model_server: OpenAIServer, world: FoundPages, visit: Visit
) -> None:
    go_on = threading.Event()
    model_server.reply = in_turn([ANSWER], [go_on, f"1｜支持｜「{QUOTE}」"])
    server = serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply", CHECKS_JUDGE="auto"))
    visitor = visit(server, watched=True)
    visitor.search_on()
    visitor.ask("前三季度供水量是多少？")
    visitor.answered("居民不用付费")
    expect(marks(visitor)).to_have_class(["cite supported", "cite unchecked"])
    expect(visitor.page.get_by_role("button", name="停止回答")).to_have_count(0)
    expect(last(visitor).get_by_role("button", name="重新回答")).to_be_visible()
    expect(last(visitor).get_by_text("模型正在复核引用…")).to_be_visible()
    go_on.set()
    expect(marks(visitor)).to_have_class(["cite supported", "cite model"])
    expect(last(visitor).get_by_text("模型正在复核引用…")).to_have_count(0)
    last(visitor).get_by_role("button", name="更多").click()
    expect(visitor.page.locator(".wy-menu").filter(has_text="复核另用")).to_be_visible()
    visitor.page.keyboard.press("Escape")
    visitor.page.reload()
    visitor.answered("居民不用付费")
    expect(marks(visitor)).to_have_class(["cite supported", "cite model"])


def test_a_question_that_is_being_changed_stays_when_it_comes(
    serve: Callable[..., AppServer], model_server: OpenAIServer, world: FoundPages, visit: Visit
) -> None:
    go_on = threading.Event()
    model_server.reply = in_turn([ANSWER], [go_on, f"1｜支持｜「{QUOTE}」"])
    server = serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply", CHECKS_JUDGE="auto"))
    visitor = visit(server)
    visitor.search_on()
    visitor.ask("前三季度供水量是多少？")
    visitor.answered("居民不用付费")
    expect(last(visitor).get_by_text("模型正在复核引用…")).to_be_visible()
    last(visitor).get_by_role("button", name="更多").click()
    visitor.page.get_by_role("button", name="修改问题").click()
    box = visitor.page.get_by_role("dialog").get_by_role("textbox")
    box.fill("写到一半的新问题")
    go_on.set()
    expect(marks(visitor)).to_have_class(["cite supported", "cite model"])
    visitor.settled()
    expect(box).to_have_value("写到一半的新问题")
    visitor.page.get_by_role("dialog").get_by_role("button", name="关闭").click()
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    visitor.flip("联网")
    visitor.settled()
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)


def test_another_version_is_shown_as_a_difference_adopted_and_taken_back(
    serve: Callable[..., AppServer], model_server: OpenAIServer, world: FoundPages, visit: Visit
) -> None:
    wrong = "全市将在十一月底以前更换老旧水表九千只[1]。\n\n水价将在 2027 年上涨 20%。"
    right = "全市将在十一月底以前更换老旧水表八千只[1]。"
    model_server.reply = in_turn([wrong], [right])
    visitor = visit(serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply")))
    visitor.search_on()
    visitor.ask("今年换多少水表？")
    visitor.answered("水价将在")
    last(visitor).get_by_text("核验 ·").click()
    last(visitor).get_by_role("button", name="按核验结果改写").click()
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog.locator(".wy-diff del").first).to_contain_text("九千只")
    expect(dialog.locator(".wy-diff ins")).to_contain_text("八千只")
    expect(dialog.get_by_text("改写后：1 处有据")).to_be_visible()
    dialog.get_by_role("button", name="采用").click()
    expect(dialog).to_have_count(0)
    expect(last(visitor).locator(".wy-answer").first).to_contain_text("八千只")
    expect(last(visitor).get_by_text("核验 · 1 处有据")).to_be_visible()
    visitor.page.reload()
    visitor.answered("改写前的回答")
    expect(marks(visitor).first).to_have_class("cite supported")
    last(visitor).get_by_text("改写前的回答").click()
    last(visitor).get_by_role("button", name="恢复").click()
    expect(last(visitor).locator(".wy-answer").first).to_contain_text("九千只")
    expect(last(visitor).get_by_text("核验 · 1 处不符 · 1 句无出处")).to_be_visible()
    expect(last(visitor).get_by_text("改写前的回答")).to_have_count(0)
