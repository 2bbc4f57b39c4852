"""Where the page is while an answer grows and when it ends: at the question or the answer's first line, and where its reader went."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from support import axe
from support.app_server import AppServer
from support.faults import Server, json_answer, keep_alive
from support.openai_server import Call, OpenAIServer, in_turn, openai_server
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

FOUND = [{"title": f"结果{n}", "url": f"https://site{n}.example/", "content": "摘要"} for n in range(1, 6)]
SHORT = "预计 2027 年[1]。"
BEGINNING, END = (
    "".join(f"第 {n} 段：各家的路线不同，硫化物和氧化物各有取舍，量产的时间取决于良率[1]。\n\n" for n in numbers)
    for numbers in (range(1, 16), range(16, 31))
)
LINE = 28
"""Height of a line of an answer."""
VIEWS = {
    "desk": {"width": 1440, "height": 900},
    "window": {"width": 900, "height": 800},
    "phone": {"width": 390, "height": 844, "touch": True},
    "zoomed": {"width": 720, "height": 450, "scale": 2},
}
EVERY_VIEW = pytest.mark.parametrize("view", VIEWS.values(), ids=list(VIEWS))


@dataclass
class World:
    app: AppServer
    model: OpenAIServer


@pytest.fixture(scope="module")
def world(serve: Callable[..., AppServer]) -> Iterator[World]:
    with openai_server() as model, Server(keep_alive(json_answer({"results": FOUND}))) as searxng:
        found = {"SEARCH_PROVIDER_PRIORITY": "searxng", "SEARXNG_URL": searxng.url}
        connected = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url, "LLM_MODEL": "openai:reply"}
        yield World(serve(**found, **connected, AGENT_STRATEGY="tools"), model)


def in_pieces(text: str) -> list[str]:
    return re.findall(r".{1,40}", text, re.DOTALL)


class Screen:
    """What a reader of the page has before them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.questions = page.locator("[data-testid=stChatMessage]:has(.wy-question)")
        self.first_line = page.get_by_test_id("stChatMessage").last.locator(".wy-answer").first

    @property
    def scrolled(self) -> float:
        return float(self.page.get_by_test_id("stMain").evaluate("main => main.scrollTop"))

    @property
    def above(self) -> float:
        """The lower edge of the header."""
        header = self.page.get_by_test_id("stHeader").bounding_box()
        assert header
        return header["y"] + header["height"]

    @property
    def below(self) -> float:
        """The upper edge of the input."""
        return top(self.page.get_by_test_id("stBottom"))

    def is_landed(self) -> bool:
        """The last question stands below the header."""
        return abs(top(self.questions.last) - self.above - 16) < 2

    def shows(self, place: Locator) -> bool:
        return self.above <= top(place) <= self.below - LINE

    def scroll(self, by: int) -> None:
        """As a reader does. What follows has heard of it."""
        self.page.get_by_test_id("stMain").evaluate(
            """(main, by) => new Promise(resolve => {
                main.addEventListener("scroll", () => requestAnimationFrame(resolve), {once: true})
                main.scrollBy(0, by)
            })""",
            by,
        )


def top(place: Locator) -> float:
    box = place.bounding_box()
    assert box
    return box["y"]


def paragraph(page: Page, words: str) -> Locator:
    """Not its sentence in the card of a citation."""
    return page.locator(".wy-answer > p").filter(has_text=words)


def begun(visitor: Visitor, question: str, written: str) -> None:
    """The question is asked, and its answer has come so far."""
    asked = visitor.page.locator(".wy-question").count()
    visitor.ask(question)
    expect(visitor.page.locator(".wy-question")).to_have_count(asked + 1)
    visitor.page.get_by_test_id("stChatMessage").nth(2 * asked + 1).wait_for()
    paragraph(visitor.page, written).last.wait_for()


def complete(visitor: Visitor) -> None:
    expect(visitor.page.locator("[class*=st-key-stop-]").filter(visible=True)).to_have_count(0)
    visitor.answered("tokens")


@EVERY_VIEW
def test_an_answer_ends_with_its_first_line_in_view(world: World, visit: Visit, view: dict[str, int]) -> None:
    visitor = visit(world.app, **view)
    page, screen = visitor.page, Screen(visitor.page)
    is_low = view["height"] < 500
    assert screen.scrolled == 0, "the first screen begins with its title"
    visitor.search_on()
    for number in (1, 2):
        written = Event()
        world.model.reply = in_turn([*in_pieces(BEGINNING), written, *in_pieces(END)])
        begun(visitor, f"第 {number} 个问题", "第 15 段")
        before = top(screen.first_line)
        assert screen.is_landed() or is_low, "where the steps leave too little room they are left above"
        assert screen.shows(screen.first_line)
        written.set()
        complete(visitor)
        assert top(screen.first_line) == pytest.approx(before, abs=2), "the page has not gone on"
        assert screen.shows(screen.first_line)
        assert not screen.shows(page.locator(".wy-refs").last)

    way, composer = page.get_by_role("button", name="回到底部").bounding_box(), screen.below
    assert way
    assert way["y"] + way["height"] <= composer
    assert way["y"] >= screen.above
    assert 0 <= way["x"] <= way["x"] + way["width"] <= view["width"]
    page.get_by_role("button", name="回到底部").click()
    expect(page.get_by_role("button", name="回到底部")).to_be_hidden()
    assert top(page.get_by_text("tokens").last) < composer

    world.model.reply = in_turn([SHORT])
    visitor.ask("简短地说")
    paragraph(page, "预计 2027 年").wait_for()
    complete(visitor)
    assert screen.shows(screen.first_line)
    assert screen.is_landed() or is_low
    expect(page.get_by_role("button", name="回到底部")).to_be_hidden()
    before = screen.scrolled
    visitor.flip("联网")
    page.get_by_text("联网 已禁用").wait_for()
    visitor.settled()
    assert screen.scrolled == before
    page.reload()
    paragraph(page, "预计 2027 年").wait_for()
    visitor.settled()
    assert screen.shows(screen.first_line)


@EVERY_VIEW
def test_more_steps_than_the_screen_holds_end_with_the_answer_in_view(
    world: World, visit: Visit, view: dict[str, int]
) -> None:
    searches = [Call("web_search", json.dumps({"query": f"方面 {n}"})) for n in range(12)]
    world.model.reply = in_turn(["先查这些。", *searches], searches, in_pieces(BEGINNING))
    visitor = visit(world.app, **view)
    screen = Screen(visitor.page)
    visitor.flip("Agent")
    visitor.page.get_by_text("自动决策搜索").wait_for()
    visitor.ask("详细研究")
    paragraph(visitor.page, "第 1 段").first.wait_for()
    complete(visitor)
    steps = visitor.page.locator(".wy-step")
    expect(steps.nth(23)).to_be_attached()
    assert top(steps.first) < screen.above
    assert screen.shows(screen.first_line)
    assert top(screen.first_line) < screen.above + (screen.below - screen.above) / 2, "and some of what follows"
    assert visitor.page.get_by_test_id("stBottom").get_by_text("停止回答").count() == 0


SAMPLE = """() => {
    const line = () => Array.from(document.querySelectorAll("[data-testid=stChatMessage]")).at(-1).querySelector(".wy-answer > p");
    window.samples = [];
    const sample = () => {
        const words = line()?.textContent ? line().getBoundingClientRect().top : null;
        window.samples.push(words);
        requestAnimationFrame(sample);
    };
    sample();
}"""


@pytest.mark.parametrize("mode", ["联网", "Agent"])
def test_the_text_does_not_move_when_its_answer_ends(world: World, visit: Visit, mode: str) -> None:
    """In no frame from its last word until everything around it is drawn."""
    visitor = visit(world.app, **VIEWS["desk"])
    page, ends = visitor.page, Event()
    visitor.flip(mode)
    page.get_by_text(f"{mode} 已启用").wait_for()
    visitor.settled()
    answer = [*in_pieces(BEGINNING + END), ends]
    search = Call("web_search", json.dumps({"query": "固态电池"}))
    world.model.reply = in_turn([search], answer) if mode == "Agent" else in_turn(answer)
    begun(visitor, "详细地说", "第 30 段")
    page.evaluate(SAMPLE)
    ends.set()
    complete(visitor)
    tops = page.evaluate("window.samples")
    assert None not in tops
    assert max(tops) - min(tops) <= 2, sorted(set(tops))


def test_a_reader_who_scrolls_is_not_moved(world: World, visit: Visit) -> None:
    visitor = visit(world.app, **VIEWS["phone"])
    page, screen = visitor.page, Screen(visitor.page)
    visitor.search_on()
    for number, (by, words) in enumerate([(400, "第 5 段"), (-1200, "第 28 段")]):
        written = Event()
        world.model.reply = in_turn([*in_pieces(BEGINNING), written, *in_pieces(END)])
        begun(visitor, f"问题 {number}", "第 15 段")
        screen.scroll(by)
        place = paragraph(page, words).first  # below in the same answer, and above in the one before
        before = top(place)
        visitor.flip("联网")
        page.get_by_text("联网 已").filter(visible=True).wait_for()
        assert top(place) == pytest.approx(before, abs=2)
        written.set()
        complete(visitor)
        assert top(place) == pytest.approx(before, abs=2)


def test_what_is_asked_again_is_landed_on_and_folds_and_pages_leave_the_reader_alone(
    world: World, visit: Visit
) -> None:
    visitor = visit(world.app, **VIEWS["desk"])
    page, screen = visitor.page, Screen(visitor.page)
    visitor.search_on()
    world.model.reply = in_turn(in_pieces(BEGINNING + END))
    begun(visitor, "原来的问题", "第 30 段")
    complete(visitor)
    begun(visitor, "后来的问题", "第 30 段")
    complete(visitor)
    screen.scroll(99_999)
    world.model.reply = in_turn(in_pieces("换一种说法。\n\n" + BEGINNING))
    page.get_by_role("button", name="重新回答").click()
    paragraph(page, "换一种说法").wait_for()
    complete(visitor)
    assert screen.is_landed()
    page.get_by_role("button", name="更多").last.click()
    page.get_by_role("button", name="修改问题").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("改过的问题")
    page.get_by_text("重新发送").click()
    changed = page.locator(".wy-question").get_by_text("改过的问题")
    changed.wait_for()
    complete(visitor)
    assert screen.is_landed()

    fold = page.get_by_test_id("stChatMessage").last.locator("summary").first
    before = top(fold)
    fold.click()
    visitor.settled()
    assert top(fold) == pytest.approx(before, abs=2)
    screen.scroll(700)
    before = screen.scrolled
    visitor.ask("/help")
    page.get_by_text("可以使用的命令").wait_for()
    visitor.settled()
    assert screen.scrolled > before
    assert top(page.get_by_text("可以使用的命令")) < screen.below, "what a command answers is seen"

    sidebar = page.get_by_test_id("stSidebar")
    sidebar.get_by_text("法规与案例", exact=True).click()
    expect(page.get_by_role("radio", name="核验文稿")).to_be_visible()
    visitor.settled()
    assert screen.scrolled == 0
    expect(page.locator(".wy-to-bottom")).to_have_count(0)
    sidebar.get_by_text("对话", exact=True).click()
    changed.wait_for()
    visitor.settled()
    assert screen.is_landed(), "a conversation is opened at its last question"
    page.get_by_role("button", name="新对话").click()
    page.get_by_text("提出问题，得到每句话都能查到来源的回答。").wait_for()
    visitor.settled()
    assert screen.scrolled == 0
    sidebar.get_by_text("原来的问题", exact=True).click()
    changed.wait_for()
    visitor.settled()
    assert screen.is_landed()
    page.mouse.move(700, 400)
    assert axe.judge(visitor) == [], "with the way to the end"


def test_older_messages_come_above_what_is_read(world: World, visit: Visit) -> None:
    visitor = visit(world.app, **VIEWS["window"])
    page, screen = visitor.page, Screen(visitor.page)
    for number in range(12):
        world.model.reply = in_turn([f"回答 {number}。" * 60])
        visitor.ask(f"问题 {number}。")
        paragraph(page, f"回答 {number}。").wait_for()
        complete(visitor)
    assert screen.is_landed()
    visitor.flip("Agent")  # only now are there no more than twenty messages again
    page.get_by_text("自动决策搜索").wait_for()
    visitor.settled()
    assert screen.is_landed()
    screen.scroll(-99_999)
    first = page.locator(".wy-question").first.inner_text()
    read = page.locator(".wy-question").get_by_text(first, exact=True)
    before = top(read)
    page.get_by_role("button", name="显示更早的消息").click()
    page.get_by_text("问题 0。").last.wait_for()
    visitor.settled()
    assert top(read) == pytest.approx(before, abs=2)
    assert screen.scrolled > 0


def test_the_cards_of_a_row_are_equally_high_and_a_low_window_has_one_row_for_the_input(
    world: World, visit: Visit
) -> None:
    visitor = visit(world.app, **VIEWS["zoomed"])
    page = visitor.page
    for width in (1440, 1280, 720, 390):
        page.set_viewport_size({"width": width, "height": 844})
        heights: dict[float, set[float]] = {}
        for card in page.locator(".st-key-jobs button").all():
            box = card.bounding_box()
            assert box
            heights.setdefault(box["y"], set()).add(round(box["height"]))
        assert [len(row) for row in heights.values()] == [1] * len(heights), width
        assert width < 700 or max(map(max, heights.values())) < 80, "a name, and one line of what it does"
    page.set_viewport_size({"width": 720, "height": 450})
    visitor.flip("Agent")
    words = page.get_by_test_id("stBottom").get_by_text("Agent 模式下由 AI 自动决策搜索")
    expect(words).to_be_visible()
    visitor.settled()
    bottom = page.get_by_test_id("stBottom").bounding_box()
    assert bottom
    assert bottom["height"] < 80, "one row"


def test_a_phone_has_room_and_its_sidebar_closes_after_a_choice(world: World, visit: Visit) -> None:
    visitor = visit(world.app, **VIEWS["phone"])
    page, box = visitor.page, visitor.page.get_by_test_id("stChatInputTextArea")
    expect(box).to_have_attribute("placeholder", "问一个问题")
    sidebar = page.get_by_test_id("stSidebar")

    def choose(name: str) -> None:
        page.get_by_test_id("stExpandSidebarButton").click()
        expect(sidebar).to_be_in_viewport()
        sidebar.get_by_text(name, exact=True).click()

    choose("搜索设置")
    visitor.settled()
    expect(sidebar, "a fold leads nowhere").to_be_in_viewport()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    for name, shown in (("帮助", "查找文章"), ("对话", "看看怎么用"), ("新对话", "看看怎么用")):
        choose(name)
        expect(sidebar).not_to_be_in_viewport()
        expect(page.get_by_text(shown)).to_be_visible()

    written = Event()
    calls = [Call("web_search", json.dumps({"query": "方面"}))]
    world.model.reply = in_turn(calls, [*in_pieces(BEGINNING), written])
    visitor.flip("Agent")
    page.get_by_text("自动决策搜索").wait_for()
    begun(visitor, "详细研究", "第 15 段")
    stop, switch = page.get_by_text("停止回答").bounding_box(), page.get_by_text("Agent 已启用").bounding_box()
    written.set()
    assert stop
    assert switch
    assert abs(stop["y"] - switch["y"]) < 12, "the switches and the button are in one row"
    complete(visitor)


def test_the_placeholder_names_keys_where_there_are_some(world: World, visit: Visit) -> None:
    visitor = visit(world.app, **VIEWS["zoomed"])
    box = visitor.page.get_by_test_id("stChatInputTextArea")
    expect(box).to_have_attribute("placeholder", "问一个问题")
    screen = Screen(visitor.page)
    assert screen.below - screen.above > 330, "of 450"
    visitor.page.set_viewport_size({"width": 1280, "height": 844})
    visitor.page.reload()
    expect(box).to_have_attribute("placeholder", "问一个问题，Enter 发送，Shift+Enter 换行")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_that_loads_says_so_until_streamlit_draws(world: World, browser: Browser, dark: bool) -> None:
    context = browser.new_context(color_scheme="dark" if dark else "light")
    page, held = context.new_page(), list[Route]()
    page.route(re.compile(r"/static/js/index\.\w+\.js"), lambda route: held.append(route))
    page.goto(world.app.url, wait_until="commit")
    opening = page.get_by_text("问源 · 正在打开…")
    expect(opening).to_be_visible()
    expect(opening.locator("svg")).to_be_visible()
    expect(opening).to_have_css("background-color", "rgb(23, 25, 28)" if dark else "rgb(255, 254, 251)")
    for route in held:
        route.continue_()
    expect(page.get_by_test_id("stChatInputTextArea")).to_be_visible()
    expect(opening).to_be_hidden()
    assert page.evaluate("document.querySelector('.wy-opening').getClientRects().length") == 0
    context.close()
