"""依据核验 on the page: chips and their cards, the list below the answer, after a reload, on a phone, with the keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, expect

from support.app_server import AppServer
from support.axe import EVERY_VIEW, judge
from support.found_pages import FoundPages, found_pages, reading_environment
from support.openai_server import OpenAIServer, in_turn
from support.visitor import Visitor

pytestmark = pytest.mark.browser
ANY_FRAGMENT = re.compile(r"^http:.*/news#:~:text=")

Visit = Callable[..., Visitor]

ANSWER = (
    "今年前三季度全市供水总量为 1.2 亿立方米[1]。全市将在十一月底以前更换老旧水表九千只[1]。"
    "居民换水表以后可以领取一笔补贴，由各街道办事处按月发放到个人账户[1]。"
    "新水厂的设计由海外团队完成[2]。\n\n水价将在 2027 年上涨 20%。"
)


@pytest.fixture(scope="module")
def world() -> Iterator[FoundPages]:
    with found_pages() as world:
        world.open.set()
        yield world


@pytest.fixture
def answered(
    serve: Callable[..., AppServer], model_server: OpenAIServer, world: FoundPages, visit: Visit
) -> Callable[..., Visitor]:
    server = serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply"))

    def ask(**how: object) -> Visitor:
        model_server.reply = in_turn([ANSWER])
        visitor = visit(server, **how)
        visitor.search_on()
        visitor.ask("前三季度供水量是多少？")
        visitor.answered("水价将在")
        return visitor

    return ask


def last(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stChatMessage").last


def see_the_marks(visitor: Visitor) -> None:
    chips = last(visitor).locator(".wy-answer sup.cite")
    expect(chips).to_have_class(["cite supported", "cite contradicted", "cite absent", "cite unchecked"])
    expect(last(visitor).locator(".wy-uncited")).to_have_count(1)
    expect(last(visitor).locator("summary").filter(has_text="核验 ·")).to_contain_text(
        "核验 · 1 处不符 · 1 处未见 · 1 处有据 · 1 处未核 · 1 句无出处", use_inner_text=True
    )


def test_each_number_says_what_was_compared_and_shows_it_in_a_card_a_list_and_the_stored_text(
    answered: Callable[..., Visitor],
) -> None:
    visitor = answered(watched=True)
    see_the_marks(visitor)
    expect(last(visitor).get_by_text("水价将在 2027 年上涨")).to_have_count(1)  # nothing of the growing answer is left
    second = last(visitor).locator(".wy-answer sup.cite").nth(1)
    card = second.locator(".wy-card")
    expect(card).to_be_hidden()
    visitor.settled()  # or it moves away from below the mouse
    second.hover()
    expect(card).to_be_visible()
    expect(card).to_contain_text("供水量增加")
    expect(card).to_contain_text("2024-10-12 · 已读全文")
    expect(card).to_contain_text("八千只")
    expect(card.locator("q del")).to_have_text("九千只")
    expect(card.locator("q ins")).to_have_text("八千只")
    expect(card.get_by_role("link", name="在原文中查看")).to_have_attribute("href", ANY_FRAGMENT)
    box, size = card.bounding_box(), visitor.page.viewport_size
    assert box is not None
    assert size is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    visitor.page.reload()
    visitor.answered("水价将在")
    see_the_marks(visitor)

    # The keyboard opens a card, too.
    first = last(visitor).locator(".wy-answer sup.cite").first
    first.locator("> a").focus()
    expect(first.locator(".wy-card")).to_be_visible()

    # The list shows problems first, and one kind on demand.
    last(visitor).get_by_text("核验 ·").click()
    rows = last(visitor).locator(".wy-claims li")
    expect(rows).to_have_count(5)
    expect(rows.first).to_contain_text("不符")
    expect(rows.first).to_contain_text("回答说「九千只」，来源说「八千只」")
    last(visitor).get_by_role("radio", name="未见 1").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("补贴")

    # The marks are explained where they stand.
    last(visitor).get_by_role("button", name="这些标记怎么来的").click()
    expect(visitor.page.get_by_text("标记说的是「来源这样说」")).to_be_visible()
    visitor.page.keyboard.press("Escape")

    # The stored text shows where the check has looked.
    last(visitor).get_by_role("button", name="来源原文").click()
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog.locator(".wy-page-text mark.supported")).to_contain_text("一亿二千万立方米")
    expect(dialog.locator(".wy-page-text mark.contradicted")).to_contain_text("八千只")
    expect(dialog).to_contain_text("处已标出")
    dialog.locator(".wy-page-text").evaluate("text => { text.style.maxHeight = '3em'; text.scrollTop = 99999 }")
    expect(dialog.locator("mark.wanted")).not_to_be_in_viewport()
    dialog.get_by_role("button", name="下一处").click()
    expect(dialog.locator("mark.wanted")).to_be_in_viewport()
    expect(dialog.locator("mark.wanted")).to_contain_text("八千只")
    expect(dialog).to_be_visible()
    assert len(visitor.page.context.pages) == 1
    assert visitor.foreign == []


def test_on_a_phone_a_card_has_the_width_of_the_page(answered: Callable[..., Visitor]) -> None:
    visitor = answered(width=390)
    first = last(visitor).locator(".wy-answer sup.cite").first
    first.scroll_into_view_if_needed()
    first.click(position={"x": 2, "y": 2})
    card = first.locator(".wy-card")
    expect(card).to_be_visible()
    box = card.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390


UNNUMBERED = "位于东岸的新水厂已经通水试运行，预计明年三月正式投入使用。\n\n水价将在 2027 年上涨 20%。"
"""An answer as a small model writes it: one sentence as in the page, one from nowhere, no number."""


def test_a_sentence_without_a_number_that_the_page_says_has_a_dashed_chip_that_is_not_copied(
    answered: Callable[..., Visitor], model_server: OpenAIServer
) -> None:
    visitor = answered()
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    model_server.reply = in_turn([UNNUMBERED])
    visitor.ask("新水厂何时投入使用？")
    expect(last(visitor).locator("sup.cite")).to_have_class(["cite agreeing"])
    visitor.settled()
    chip = last(visitor).locator("sup.cite.agreeing")
    expect(chip.locator("> a")).to_have_text("未标注，与 [1] 相符")
    expect(chip).to_have_css("border-top-style", "dashed")
    chip.hover()
    expect(chip.locator(".wy-card")).to_contain_text("模型没有标注来源；原文与 [1] 相符。")
    expect(last(visitor).get_by_text("核验 · 1 句无出处 · 1 句未标注，与来源相符")).to_be_visible()
    last(visitor).get_by_role("button", name="复制", exact=True).click()
    expect(last(visitor).locator(".wy-copy")).to_have_attribute("data-said", "已复制")
    copied = visitor.page.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n")
    assert copied.startswith(
        f"{UNNUMBERED}\n\n与回答相符的来源（模型没有标注）\n[1] 供水量增加 · 127.0.0.1 · 2024-10-12 · http"
    )


TAB = "依据核验"


def go(visitor: Visitor, view: str) -> None:
    visitor.page.get_by_test_id("stMain").get_by_text(view, exact=True).first.click()
    visitor.settled()


def check_in_the_tab(visitor: Visitor, text: str, sources: str) -> None:
    page = visitor.page
    go(visitor, TAB)
    page.get_by_label("文字", exact=True).fill(text)
    page.get_by_label("来源", exact=True).fill(sources)
    page.keyboard.press("Tab")
    visitor.settled()  # a button that is just being replaced takes no click
    page.get_by_role("button", name="核验", exact=True).click()


def test_any_text_is_checked_against_addresses_and_keeps_its_place(
    serve: Callable[..., AppServer], model_server: OpenAIServer, world: FoundPages, visit: Visit
) -> None:
    server = serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply"))
    visitor = visit(server, path="/legal", width=390, watched=True)
    check_in_the_tab(visitor, ANSWER, f"http://{world.address}/news\nhttp://{world.address}/gone")
    page = visitor.page
    expect(page.get_by_text("1 处不符 · 1 处未见 · 1 处有据 · 1 处未核 · 1 句无出处")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("上没有这个网页了")).to_be_visible()
    expect(page.locator(".wy-answer sup.cite")).to_have_class(
        ["cite supported", "cite contradicted", "cite absent", "cite unchecked"]
    )
    visitor.settled()
    page.get_by_text("不符 1", exact=True).click()
    expect(page.locator(".wy-claims li")).to_have_count(1)
    expect(page.locator(".wy-answer sup.cite")).to_have_count(4)
    go(visitor, "查案例")
    expect(page.locator(".wy-answer")).to_have_count(0)
    go(visitor, TAB)
    expect(page.get_by_label("文字", exact=True)).to_have_value(ANSWER)
    expect(page.locator(".wy-answer sup.cite")).to_have_count(4)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        visitor.settled()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visitor.foreign == []


INVENTED = "今年前三季度全市供水总量为 1.2 亿立方米[1]。居民都很高兴[6]。新水厂的设计由海外团队完成[2][7]。"


def test_a_source_that_does_not_exist_is_said_at_its_place_and_below_and_after_a_reload(
    serve: Callable[..., AppServer], model_server: OpenAIServer, world: FoundPages, visit: Visit
) -> None:
    model_server.reply = in_turn([INVENTED])
    visitor = visit(serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply")))
    visitor.search_on()
    visitor.ask("前三季度供水量是多少？")
    visitor.answered("居民都很高兴")
    for _ in range(2):
        remarks = last(visitor).locator(".wy-answer .wy-remark")
        expect(remarks).to_have_text(["无出处（来源 6 不存在）", "来源 7 不存在"])
        expect(last(visitor).locator("div.wy-remark")).to_contain_text("模型引用了不存在的来源 6、7")
        expect(last(visitor).get_by_test_id("stAlert")).to_have_count(0)
        expect(last(visitor).locator(".wy-answer")).not_to_contain_text("[6]")
        visitor.page.reload()
        visitor.answered("居民都很高兴")
    assert judge(visitor, EVERY_VIEW, within=".wy-answer") == []
