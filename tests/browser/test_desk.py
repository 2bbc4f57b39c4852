"""The reading desk: sources beside the answer in a wide window, linked with its sentences by pointer and by focus."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, WebSocket, expect

from support import invented
from support.app_server import AppServer
from support.axe import judge
from support.found_pages import FoundPages, found_pages, reading_environment
from support.openai_server import OpenAIServer, in_turn
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

WATER, METERS = "今年前三季度全市供水总量为 1.2 亿立方米", "全市将在十一月底以前更换老旧水表九千只"
ANSWER = f"{WATER}[1]。{METERS}[1]。新水厂的设计由海外团队完成[2]。"
LATER = "居民不需要付费[1]。另外没有说。"
IS_LIT = "words => Array.from(CSS.highlights.get('wy-lit') ?? [], range => range.toString()).join() === words"
MIDDLE = """(message, words) => {
    const texts = document.createTreeWalker(message, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const at = texts.currentNode.data.indexOf(words);
        if (at === -1) continue;
        const range = document.createRange();
        range.setStart(texts.currentNode, at);
        range.setEnd(texts.currentNode, at + words.length);
        const [place] = range.getClientRects();  // none in a card that is not open
        if (place) return [place.x + place.width / 2, place.y + place.height / 2];
    }
}"""


@pytest.fixture(scope="module")
def world() -> Iterator[FoundPages]:
    with found_pages() as world:
        world.open.set()
        yield world


@pytest.fixture
def server(serve: Serve, model_server: OpenAIServer, world: FoundPages) -> AppServer:
    return serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply"))


@pytest.fixture
def answered(server: AppServer, model_server: OpenAIServer, visit: Visit) -> Visitor:
    """A visitor with an answer, in a window with room for the desk."""
    model_server.reply = in_turn([ANSWER], [LATER])
    visitor = visit(server, width=1440)
    visitor.search_on()
    visitor.ask("前三季度供水量是多少？")
    visitor.answered("海外团队")
    return visitor


def switch(visitor: Visitor) -> Locator:
    return visitor.page.locator(".st-key-desk-switch button")


def desk(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("complementary", name="来源")


def open_desk(visitor: Visitor) -> None:
    switch(visitor).click()
    expect(desk(visitor).get_by_role("listitem").first).to_be_visible()
    visitor.settled()


def point_at(visitor: Visitor, words: str, *, answer: int = -1) -> None:
    """With the mouse, at words of an answer: the first is number 0, the last -1."""
    text = visitor.page.locator(".wy-answer").nth(answer)
    text.scroll_into_view_if_needed()
    visitor.page.mouse.move(*text.evaluate(MIDDLE, words))


def lit(visitor: Visitor) -> Locator:
    return desk(visitor).locator("mark.lit")


def edges(element: Locator) -> tuple[float, float]:
    """Where it begins, and how wide it is."""
    box = element.bounding_box()
    assert box is not None
    return box["x"], box["width"]


def listen(socket: WebSocket, received: list[bytes]) -> None:
    socket.on("framereceived", lambda data: received.append(data if isinstance(data, bytes) else data.encode()))


def is_in_view(passage: Locator) -> bool:
    """Within what the desk shows of itself."""
    box, around = passage.bounding_box(), passage.page.locator(".st-key-desk").bounding_box()
    assert box is not None
    assert around is not None
    return box["y"] >= around["y"] and box["y"] + box["height"] <= around["y"] + around["height"]


def test_a_sentence_lights_up_its_passage_and_a_passage_its_sentences(answered: Visitor) -> None:
    page = answered.page
    expect(desk(answered)).to_have_count(0)
    open_desk(answered)
    expect(desk(answered)).to_contain_text("前三季度供水量是多少？")
    rows = desk(answered).get_by_role("listitem")
    expect(rows).to_have_count(3)
    assert edges(rows.first)[1] >= 18 * 16
    expect(rows.first).to_contain_text("2024-10-12 · 已读全文 · 234 字")
    expect(rows.nth(1)).to_contain_text("仅摘要（拒绝访问）")
    expect(rows.first.get_by_role("link")).to_have_attribute("href", re.compile("^http:.*/news$"))

    page.set_viewport_size({"width": 1440, "height": 480})
    answered.settled()
    page.locator(".st-key-desk").evaluate("desk => { desk.scrollTop = 99999 }")
    assert not is_in_view(desk(answered).locator("mark").first)
    point_at(answered, "供水总量为")
    expect(lit(answered)).to_contain_text("一亿二千万立方米")
    assert is_in_view(lit(answered))
    page.wait_for_function(IS_LIT, arg=WATER)
    expect(answered.page.locator(".wy-answer .wy-card").first).to_be_hidden()

    page.locator(".wy-answer sup.cite").nth(1).hover()
    expect(lit(answered)).to_contain_text("八千只")
    expect(desk(answered).get_by_text("✗ 不符 [1]：回答说「九千只」，来源说「八千只」。")).to_be_visible()

    desk(answered).locator("mark").first.hover()
    page.wait_for_function(IS_LIT, arg=WATER)


def test_it_leaves_room_for_the_answer_and_the_input(answered: Visitor) -> None:
    open_desk(answered)
    for width in (1440, 1280):
        answered.page.set_viewport_size({"width": width, "height": 844})
        answered.settled()
        left, wide = edges(answered.page.locator(".st-key-desk"))
        assert wide >= 23 * 16
        for name in ("stChatInput", "stMainBlockContainer", "stChatMessage"):
            begins, wide = edges(answered.page.get_by_test_id(name).last)
            assert begins + wide <= left + 1, (width, name)
            assert wide >= 36 * 16 - 1, (width, name)
        assert answered.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    message = answered.page.get_by_test_id("stChatMessage").last
    reference = message.locator(".wy-refs-title + ol.wy-refs li").first
    expect(reference.locator(".summary")).to_be_hidden()
    expect(reference.locator(".about")).to_be_hidden()
    message.locator("details.wy-step > summary").first.click()
    expect(message.locator(".wy-step .wy-refs .summary").first).to_be_visible()


def test_it_is_remembered_and_a_narrow_window_gets_nothing_of_it(
    answered: Visitor, server: AppServer, visit: Visit
) -> None:
    open_desk(answered)
    page, received = answered.page, list[bytes]()
    page.reload()
    expect(desk(answered).get_by_role("listitem").first).to_be_visible()
    address = page.url

    tab = Visitor(page.context.new_page(), address)
    tab.page.set_viewport_size({"width": 1440, "height": 844})
    expect(desk(tab).get_by_role("listitem").first).to_be_visible()

    narrow = page.context.new_page()
    narrow.set_viewport_size({"width": 1200, "height": 844})
    narrow.on("websocket", lambda socket: listen(socket, received))
    late = Visitor(narrow, address)
    expect(narrow.locator(".wy-answer")).to_contain_text("海外团队")
    late.settled()
    assert not narrow.get_by_text("收起来源").is_visible()
    assert narrow.locator(".wy-sources").count() == 0
    assert received
    assert not [data for data in received if b"wy-sources" in data]
    expect(narrow.get_by_test_id("stExpander").filter(has_text="3 个来源")).to_be_visible()
    expect(narrow.get_by_role("button", name="来源原文")).to_be_visible()

    answered.page.set_viewport_size({"width": 1270, "height": 844})
    expect(answered.page.locator(".wy-sources")).to_have_count(0)
    answered.page.set_viewport_size({"width": 1440, "height": 844})
    expect(desk(answered)).to_be_visible()
    switch(answered).click()
    expect(desk(answered)).to_have_count(0)
    expect(page.get_by_role("button", name="来源原文")).to_be_visible()


def test_an_older_answer_comes_to_the_desk_when_it_is_pointed_at(answered: Visitor) -> None:
    open_desk(answered)
    answered.ask("要付费吗？")
    answered.answered("另外没有说")
    expect(desk(answered)).to_contain_text("要付费吗？")
    answered.page.mouse.move(600, 400)
    answered.page.mouse.wheel(0, -3_000)  # as a reader scrolls: the page would go back to its end after a script
    expect(answered.page.locator(".wy-answer").first).to_be_in_viewport()
    answered.settled()
    point_at(answered, "供水总量为", answer=0)
    expect(desk(answered)).to_contain_text("前三季度供水量是多少？")
    expect(lit(answered)).to_contain_text("一亿二千万立方米")
    answered.page.locator("[class*=st-key-sources-] summary").last.click()
    expect(desk(answered)).to_contain_text("要付费吗？")


def test_the_keyboard_does_the_same(answered: Visitor) -> None:
    open_desk(answered)
    page = answered.page
    chips = page.locator(".wy-answer sup.cite > a")
    chips.first.focus()
    page.keyboard.press("Tab")
    expect(chips.nth(1)).to_be_focused()
    expect(lit(answered)).to_contain_text("八千只")
    expect(page.locator(".wy-sources-said")).to_contain_text("来源原文：为应对冬季低温")
    desk(answered).get_by_role("link", name="供水量增加").focus()
    page.keyboard.press("Tab")
    expect(desk(answered).locator("mark").first).to_be_focused()
    page.wait_for_function(IS_LIT, arg=WATER)


def test_axe_finds_nothing_on_it(answered: Visitor) -> None:
    open_desk(answered)
    page = answered.page
    page.locator(".wy-answer sup.cite").nth(1).hover()
    expect(lit(answered)).to_be_visible()
    assert judge(answered, ((1440, "light"), (1440, "dark"))) == []


def test_a_shared_conversation_has_it_for_its_readers_alone(
    answered: Visitor, server: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    answered.page.get_by_role("button", name="分享").first.click()
    link = answered.page.get_by_role("dialog").get_by_text(re.compile(r"\?s=")).inner_text()
    reader = visit(server, width=1440, path="/" + link.partition("/?")[2].join(["?", ""]))
    expect(reader.page.get_by_text("这个对话只能阅读").first).to_be_visible()
    open_desk(reader)
    point_at(reader, "供水总量为")
    expect(lit(reader)).to_contain_text("一亿二千万立方米")
    wanted = desk(reader).get_attribute("data-answer")

    model_server.reply = in_turn(["没有什么可说的[1]。"])
    stranger = visit(server, width=1440)
    stranger.search_on()
    stranger.ask("别的问题")
    stranger.answered("没有什么可说的")
    open_desk(stranger)
    stranger.page.locator(".st-key-desk-wanted input").evaluate(
        """(field, wanted) => {
            Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, wanted);
            field.dispatchEvent(new Event("input", {bubbles: true}));
        }""",
        f"{wanted}/1",
    )
    stranger.settled()
    expect(stranger.page.locator(f".wy-sources[data-answer='{wanted}']")).to_have_count(0)


LAW_ANSWER = "守塔人应当在日落前点灯[1]。"


def test_a_law_stands_at_its_article(
    serve: Serve, model_server: OpenAIServer, visit: Visit, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lighthouses")
    invented.library(folder / "data", invented.lawrefbook(folder / "laws"))
    model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model_server.url, "LLM_MODEL": "openai:reply"}
    server = serve(**model, SEARCH_PROVIDER_PRIORITY="bundled", DATA_DIR=str(folder / "data"), CHAT_FOLLOW_UPS="0")
    model_server.reply = in_turn([LAW_ANSWER])
    visitor = visit(server, width=1440)
    visitor.search_on()
    visitor.ask("《灯塔法》规定守塔人应当在什么时候点灯？")
    visitor.answered("日落前点灯")
    open_desk(visitor)
    row = desk(visitor).get_by_role("listitem").first
    expect(row).to_contain_text("本地法规库")
    expect(row.get_by_role("link", name="在法规库中查看这一条")).to_have_attribute(
        "href", re.compile(r"/legal\?law=.*article=")
    )
    point_at(visitor, "日落前点灯")
    expect(lit(visitor)).to_contain_text("日落前")


def test_a_long_attachment_is_cut_around_its_passage_and_shown_whole_on_demand(
    server: AppServer, model_server: OpenAIServer, visit: Visit, tmp_path: Path
) -> None:
    lines = [f"第 {number} 款，双方另行约定的事项之{number}。" for number in range(1, 2_001)]
    lines[1_500] = "逾期付款的，每日按未付金额的万分之五支付违约金。"
    lease = tmp_path / "租约.txt"
    lease.write_text("\n".join(lines), "utf-8")
    model_server.reply = in_turn(["逾期付款的，每日按未付金额的万分之五支付违约金[1]。"])
    visitor = visit(server, width=1440)
    page = visitor.page
    page.get_by_test_id("stChatInput").locator("input[type=file]").set_input_files([lease])
    expect(page.get_by_test_id("stFileChip")).to_contain_text("租约.txt")
    page.get_by_test_id("stChatInputTextArea").fill("违约金怎么算？")
    expect(page.get_by_role("button", name="发送")).to_be_enabled()
    visitor.ask("违约金怎么算？")
    visitor.answered("违约金")
    open_desk(visitor)
    row = desk(visitor).get_by_role("listitem").first
    expect(row).to_contain_text("附件")
    expect(row).to_contain_text(re.compile(r"略去 \d\d,\d{3} 字"))
    expect(row).not_to_contain_text("第 2 款")
    point_at(visitor, "万分之五")
    expect(lit(visitor)).to_contain_text("万分之五")
    row.get_by_role("button", name="显示全文").click()
    expect(row).to_contain_text("第 2 款")
    point_at(visitor, "违约金")
    expect(lit(visitor)).to_contain_text("万分之五")
    assert is_in_view(lit(visitor))
    row.get_by_role("button", name="只看比较过的段落").click()
    expect(row).not_to_contain_text("第 2 款")
