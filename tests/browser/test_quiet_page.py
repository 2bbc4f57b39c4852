"""What surrounds an answer is quiet: what is wrong is loud, one check, one row of icons, states in their colours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, expect

from core.ui.chat.actions import AGENT_ON
from support import invented
from support.app_server import AppServer
from support.axe import judge
from support.found_pages import FoundPages, found_pages, reading_environment
from support.openai_server import HANG, Call, Fail, OpenAIServer, in_turn
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Ask = Callable[..., Visitor]

ANSWER = (
    "今年前三季度全市供水总量为 1.2 亿立方米[1]。全市将在十一月底以前更换老旧水表九千只[1]。"
    "新水厂的设计由海外团队完成[2]。\n\n"
    "水价将在 2027 年上涨 20%。守塔人应当在日落前点灯（《灯塔法》第三条）。《灯塔法》第二条也有规定。"
)
NEXT = ("新水厂何时投入使用？", "更换水表要钱吗？", "水价什么时候调整，幅度是多少？")
RED, AMBER = re.compile("rgb\\((168, 50, 63|138, 90, 0)\\)"), "rgb(138, 90, 0)"


def say(answer: str) -> Callable[[dict[str, object]], list[object]]:
    """Every request of the app gets what it asks for: suggestions, no words of statutes, or this answer."""

    def reply(asked: dict[str, object]) -> list[object]:
        text = json.dumps(asked["messages"], ensure_ascii=False)
        if "最可能想问的问题" in text:
            return ["\n".join(NEXT)]
        return ["无"] if "查找答案用的词语" in text else [answer]

    return reply


@pytest.fixture(scope="module")
def world() -> Iterator[FoundPages]:
    with found_pages() as world:
        world.open.set()
        yield world


@pytest.fixture(scope="module")
def app(
    serve: Callable[..., AppServer],
    model_server: OpenAIServer,
    world: FoundPages,
    tmp_path_factory: pytest.TempPathFactory,
) -> AppServer:
    folder: Path = tmp_path_factory.mktemp("quiet")
    invented.library(folder / "data", invented.lawrefbook(folder / "laws"))
    environ = reading_environment(model_server, world, LLM_MODEL="openai:reply", DATA_DIR=str(folder / "data"))
    return serve(**environ | {"CHAT_FOLLOW_UPS": "1", "AGENT_STRATEGY": "tools"})


@pytest.fixture
def ask(app: AppServer, model_server: OpenAIServer, visit: Callable[..., Visitor]) -> Ask:
    def answered(**how: object) -> Visitor:
        model_server.reply = say(ANSWER)
        visitor = visit(app, **how)
        visitor.search_on()
        visitor.ask("前三季度供水量是多少？")
        visitor.answered("水价将在")
        expect(visitor.page.get_by_role("button", name=NEXT[0])).to_be_visible()
        visitor.settled()
        return visitor

    return answered


def last(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stChatMessage").last


def row(visitor: Visitor) -> Locator:
    return last(visitor).locator("[class*=st-key-actions-]")


def place(element: Locator) -> FloatRect:
    box = element.bounding_box()
    assert box is not None
    return box


def lines(elements: Locator) -> int:
    """On how many lines they stand, all seen at one moment."""
    middle = "one => { const box = one.getBoundingClientRect(); return Math.round(box.top + box.height / 2) }"
    return int(elements.evaluate_all(f"all => new Set(all.map({middle})).size"))


def test_what_is_wrong_is_loud_and_first_and_what_is_open_is_seen_on_hover(ask: Ask) -> None:
    visitor = ask()
    chips = last(visitor).locator(".wy-answer sup.cite")
    expect(chips).to_have_class(["cite supported", "cite contradicted", "cite unchecked"])
    expect(chips.nth(1)).to_have_css("background-color", "rgb(168, 50, 63)")
    word = chips.nth(1).locator("i").evaluate("sign => getComputedStyle(sign, '::after').content")
    assert word == '" 不符"', "colour is not the only sign"
    for calm in (chips.nth(0), chips.nth(2)):
        expect(calm).to_have_css("background-color", "rgba(128, 128, 128, 0.1)")
    expect(chips.nth(0).locator("> i")).to_have_text("✓")
    expect(chips.nth(2).locator("> i")).to_have_count(0)
    expect(chips.nth(2).get_by_text("未核")).to_be_hidden()
    chips.nth(2).hover()
    expect(chips.nth(2).locator(".wy-verdict")).to_contain_text("未核")

    marks = last(visitor).locator(".wy-uncited")
    expect(marks).to_have_count(3)
    expect(last(visitor).locator(".wy-uncited.green")).to_contain_text("✓", use_inner_text=True)
    unsourced = marks.nth(0).locator("span")
    assert place(unsourced)["width"] == 1, "for screen readers only"
    marks.nth(0).hover()
    assert place(unsourced)["width"] > 30
    expect(unsourced).to_have_text("无出处")

    # One line for all checks, red also when it is folded; a sentence whose article was verified is not without a source.
    title = last(visitor).locator("summary").filter(has_text="核验 ·")
    expect(title).to_have_count(1)
    expect(title).to_contain_text(
        "核验 · 1 处不符 · 1 处有据 · 法条 1 条一致 · 1 处未核 · 1 句无出处 · 法条 1 条未能比对", use_inner_text=True
    )
    expect(title.get_by_text("1 处不符")).to_have_css("color", "rgb(168, 50, 63)")
    title.click()
    fold = last(visitor).get_by_test_id("stExpander").filter(has_text="核验 ·")
    expect(fold.get_by_text("法条核验", exact=True)).to_be_visible()
    expect(fold.get_by_test_id("stPopover").filter(has_text="《灯塔法》")).to_have_text(
        [re.compile("✓ 《灯塔法》第三条"), re.compile("○ 《灯塔法》第二条")]
    )
    expect(fold.locator(".wy-claims li").first).to_contain_text("不符")
    expect(fold.locator(".wy-claims li").filter(has_text="点灯")).to_have_count(0)
    assert judge(visitor) == [], "the open check and the chips"
    marks.nth(1).hover()
    assert judge(visitor, within=".wy-answer") == [], "the words of a mark"


def test_the_actions_are_one_row_with_words_and_the_rest_behind_the_dots(ask: Ask) -> None:
    visitor = ask()
    names = ["重新回答", "复制", "来源原文", "分享", "导出", "更多"]
    for width in (390, 1280):
        visitor.page.set_viewport_size({"width": width, "height": 844})
        visitor.settled()
        buttons = row(visitor).get_by_role("button")
        expect(buttons).to_have_count(len(names))
        for number, name in enumerate(names):
            expect(buttons.nth(number)).to_have_accessible_name(name)
        assert lines(buttons) == 1
        total = place(row(visitor).locator(".wy-cost"))
        assert total["x"] + total["width"] <= width, "the total is in view"
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
    expect(row(visitor).locator(".wy-cost")).to_have_text("18 tokens")
    visitor.page.mouse.move(0, 0)
    button = row(visitor).get_by_role("button", name="来源原文")
    word = button.get_by_test_id("stMarkdownContainer")
    expect(word).to_have_css("clip-path", "inset(50%)")  # for screen readers only
    button.hover()
    expect(word).to_have_css("clip-path", "none")
    assert place(word)["width"] > 40

    row(visitor).get_by_role("button", name="更多").click()
    menu = visitor.page.get_by_test_id("stPopoverBody").filter(visible=True)
    expect(menu.get_by_role("button", name="修改问题")).to_be_visible()
    expect(menu.locator(".wy-menu")).to_contain_text("用时")
    assert judge(visitor) == [], "with the menu open"
    visitor.page.keyboard.press("Escape")

    # What may be asked next is one line, below the first word of the answer.
    chips = visitor.page.locator(".st-key-suggestions button")
    expect(chips).to_have_text(list(NEXT))
    assert lines(chips) == 1
    assert abs(place(chips.first)["x"] - place(last(visitor).locator(".wy-answer").first)["x"]) <= 2
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    visitor.settled()
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert lines(chips) == 1, "it scrolls in its own box"

    # An older answer keeps its row; its menu opens over it.
    visitor.page.set_viewport_size({"width": 1280, "height": 844})
    visitor.page.get_by_role("button", name=NEXT[0]).click()
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(4)
    visitor.answered("水价将在")
    older = visitor.page.get_by_test_id("stChatMessage").nth(1)
    older.locator(".wy-dots > summary").click()
    expect(older.locator(".wy-menu")).to_be_visible()
    expect(older.locator(".wy-menu")).to_contain_text("18 tokens")
    expect(older.locator(".wy-dots")).to_have_css("opacity", "1")
    expect(older.locator(".wy-menu > button").first).to_have_css("justify-content", "flex-start")
    assert judge(visitor) == [], "with the menu of an older answer open"


def test_of_an_answer_that_was_not_written_nothing_can_be_taken_along(
    app: AppServer, model_server: OpenAIServer, visit: Callable[..., Visitor]
) -> None:
    model_server.reply = in_turn([Fail(401)])
    visitor = visit(app)
    visitor.ask("前三季度供水量是多少？")
    expect(last(visitor).get_by_test_id("stAlert")).to_be_visible()
    visitor.settled()
    expect(last(visitor).get_by_role("button", name="重新回答")).to_have_count(1)  # among the next steps
    expect(row(visitor).get_by_role("button")).to_have_count(1)
    expect(row(visitor).get_by_role("button")).to_have_accessible_name("更多")


def test_own_stop_is_grey_snippets_are_amber_and_only_failures_are_red(
    app: AppServer, model_server: OpenAIServer, visit: Callable[..., Visitor]
) -> None:
    search = Call("web_search", '{"query": "供水 前三季度", "search_type": "news"}')
    read = Call("read_page", '{"sources": "1, 3", "focus": "供水总量"}')
    model_server.reply = in_turn(["先看看新闻。", search], [read], [Call("no_such_tool", "{}")], [HANG])
    visitor = visit(app)
    visitor.flip("Agent")
    visitor.page.get_by_text(AGENT_ON).last.wait_for()
    visitor.settled()
    visitor.ask("前三季度供水量是多少？")
    steps = last(visitor).locator(".wy-step")
    expect(steps).to_have_count(4)
    visitor.page.get_by_role("button", name="停止回答").click()
    expect(last(visitor).get_by_text("已停止，还没有写出内容。")).to_be_visible()
    visitor.settled()
    expect(steps.nth(0)).to_have_text("先看看新闻。")
    expect(steps.nth(1).locator("summary")).to_contain_text(re.compile("搜索「供水 前三季度」 新闻 · SearXNG"))
    expect(steps.nth(2).locator("summary")).to_contain_text("阅读 [1][3]：供水总量 · 1 个已读全文，1 个仅摘要")
    expect(steps.nth(2).locator("summary .facts")).to_have_css("color", AMBER)
    expect(steps.nth(3).locator(".facts").first).to_have_css("color", "rgb(168, 50, 63)")
    title = last(visitor).locator("summary").filter(has_text="已搜索 1 次")
    expect(title).to_contain_text("1 步没有成功：no_such_tool · 1 页仅摘要 · 已停止", use_inner_text=True)
    expect(title.get_by_text("1 页仅摘要")).to_have_css("color", AMBER)
    expect(title.get_by_text("已停止")).not_to_have_css("color", RED)
    assert judge(visitor) == [], "the steps in all their colours"


def test_a_tick_that_was_just_earned_moves_once_and_not_for_who_asked_for_less(ask: Ask) -> None:
    visitor = ask()
    tick = last(visitor).locator(".wy-answer sup.cite.supported > i")
    animation = "sign => getComputedStyle(sign).animationName + ' ' + getComputedStyle(sign).animationDuration"
    assert tick.evaluate(animation) == "wy-tick 0.45s"
    visitor.page.emulate_media(reduced_motion="reduce")
    assert tick.evaluate(animation).startswith("none")
    visitor.page.emulate_media(reduced_motion="no-preference")
    visitor.page.reload()
    visitor.answered("水价将在")
    assert tick.evaluate(animation).startswith("none"), "a stored answer has earned it before"
