"""From a file at the input to the cited place in it: the chip says where, and a click shows the passage there."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from support.app_server import AppServer
from support.axe import judge
from support.office_files import KnownFile, known_files
from support.openai_server import OpenAIServer, in_turn
from support.pdf_files import pdf_file
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

AT_ONCE = 5
"""Files that go with one question."""
FILES = known_files()

RENT, PENALTY = "租金每月 4,200 元，每季度第一个月的五日以前支付。", "逾期付款的，每日按未付金额的万分之五支付违约金。"
LEASE = pdf_file(
    ["海州港灯塔租约", *(f"第 {line} 款，另行约定。" for line in range(1, 20))], ["第二条", RENT], ["第三条", PENALTY]
)
ABOUT_LEASE = f"{RENT.removesuffix('。')}[1]。{PENALTY.removesuffix('。')}[1]。"


@pytest.fixture
def server(serve: Serve, model_server: OpenAIServer) -> AppServer:
    model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model_server.url, "LLM_MODEL": "openai:reply"}
    return serve(SEARCH_PROVIDER_PRIORITY="bundled", CHAT_FOLLOW_UPS="0", READING_FILES=str(AT_ONCE), **model)


def ask_about(visitor: Visitor, folder: Path, files: list[tuple[str, bytes]], question: str) -> None:
    """Attach the files at the input and ask."""
    for name, body in files:
        (folder / name).write_bytes(body)
    page = visitor.page
    page.get_by_test_id("stChatInput").locator("input[type=file]").set_input_files([folder / name for name, _ in files])
    expect(page.get_by_test_id("stFileChip")).to_have_count(len(files))
    page.get_by_test_id("stChatInputTextArea").fill(question)
    expect(page.get_by_role("button", name="发送")).to_be_enabled()
    visitor.ask(question)


def chips(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stChatMessage").last.locator(".wy-answer sup.cite")


def dialog(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("dialog", name="来源原文")


def is_in_box(mark: Locator) -> bool:
    """Within what the box of the text shows."""
    box, around = (
        mark.bounding_box(),
        mark.locator("xpath=ancestor::*[contains(@class, 'wy-page-text')]").bounding_box(),
    )
    assert box is not None
    assert around is not None
    return around["y"] <= box["y"] and box["y"] + box["height"] <= around["y"] + around["height"]


def close(visitor: Visitor) -> None:
    dialog(visitor).get_by_role("button", name="关闭").click()
    expect(dialog(visitor)).to_have_count(0)
    visitor.settled()


def see_the_place(visitor: Visitor, number: int, file: KnownFile) -> None:
    chip = chips(visitor).nth(number)
    if file.label:
        expect(chip.locator(":scope > small")).to_have_text(file.label)
    chip.locator(":scope > button").click()
    wanted = dialog(visitor).locator("mark.wanted")
    expect(wanted).to_contain_text(file.fact)
    visitor.settled()
    assert is_in_box(wanted), file.name
    if file.name.endswith(".pdf"):
        dialog(visitor).get_by_role("button", name="看这一页").click()
        picture = dialog(visitor).get_by_role("img")
        expect(picture).to_have_attribute(
            "alt", re.compile(f"「{file.name}」{file.label}的图片，标出了：.*{file.fact}")
        )
        assert picture.evaluate("async image => { await image.decode(); return image.naturalHeight }") > 1_500
    close(visitor)


@pytest.mark.parametrize("files", [FILES[at : at + AT_ONCE] for at in range(0, len(FILES), AT_ONCE)])
def test_the_chip_of_each_kind_of_file_says_the_place_and_opens_it(
    server: AppServer, model_server: OpenAIServer, visit: Visit, tmp_path: Path, files: list[KnownFile]
) -> None:
    said = "".join(f"{file.fact.rstrip('。')}[{number}]。\n\n" for number, file in enumerate(files, 1))
    model_server.reply = in_turn([said])
    visitor = visit(server, width=1100)
    ask_about(visitor, tmp_path, [(file.name, file.body) for file in files], "这些文件里说了什么？")
    visitor.answered("参考文献")
    expect(chips(visitor)).to_have_count(len(files))
    for number, file in enumerate(files):
        see_the_place(visitor, number, file)


@pytest.fixture
def with_lease(server: AppServer, model_server: OpenAIServer, visit: Visit, tmp_path: Path) -> Callable[..., Visitor]:
    """A visitor with an answer about pages 2 and 3 of a lease."""

    def open_page(*, width: int) -> Visitor:
        model_server.reply = in_turn([ABOUT_LEASE])
        visitor = visit(server, width=width)
        ask_about(visitor, tmp_path, [("租约.pdf", LEASE)], "租金怎么付？")
        visitor.answered("参考文献")
        return visitor

    return open_page


def picture(visitor: Visitor, alt: str) -> Locator:
    return dialog(visitor).get_by_role("img", name=re.compile(alt))


def test_pages_are_turned_enlarged_and_left_by_the_keyboard(with_lease: Callable[..., Visitor]) -> None:
    visitor = with_lease(width=390)
    page = visitor.page
    chips(visitor).nth(1).locator(":scope > button").press("Enter")
    expect(dialog(visitor).locator("mark.wanted")).to_contain_text(PENALTY)
    assert judge(visitor, ((390, "dark"), (390, "light")), within="[role=dialog]") == []
    page.set_viewport_size({"width": 390, "height": 844})
    dialog(visitor).get_by_role("button", name="看这一页").press("Enter")
    expect(picture(visitor, "第 3 页的图片，标出了：逾期付款的")).to_be_visible()
    expect(dialog(visitor).get_by_role("button", name="下一页")).to_be_disabled()
    dialog(visitor).get_by_role("button", name="上一页").press("Enter")
    expect(picture(visitor, "第 2 页的图片，标出了：租金每月")).to_be_visible()
    box = dialog(visitor).get_by_role("region", name="第 2 页")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    dialog(visitor).get_by_role("button", name="放大").press("Enter")
    expect(dialog(visitor).get_by_role("button", name="缩小")).to_have_attribute("aria-pressed", "true")
    assert box.evaluate("box => box.scrollWidth > 2 * box.clientWidth")
    assert judge(visitor, ((390, "dark"), (390, "light")), within="[role=dialog]") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 390, "height": 844})
    dialog(visitor).get_by_role("button", name="看文字").press("Enter")
    expect(dialog(visitor).locator(".place").filter(has_text="第 2 页")).to_be_visible()
    expect(dialog(visitor).get_by_role("button", name="看文字")).to_have_count(0)
    # The focus goes with the button, and is put back a moment later.
    expect(dialog(visitor).locator(":focus")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(dialog(visitor)).to_have_count(0)


def test_a_picture_has_no_address_that_anybody_else_could_ask_for(
    with_lease: Callable[..., Visitor], server: AppServer
) -> None:
    visitor = with_lease(width=1100)
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    chips(visitor).nth(1).locator(":scope > button").click()
    dialog(visitor).get_by_role("button", name="看这一页").click()
    address = picture(visitor, "第 3 页").get_attribute("src") or ""
    assert address.startswith("data:image/png;base64,")
    assert not [url for url in asked if not url.startswith(("data:", f"{server.url}/static/"))]
    png = b64decode(address.partition(",")[2])
    id = MemoryMediaFileStorage("/media").load_and_get_id(png, "image/png", MediaFileKind.MEDIA)
    with pytest.raises(
        urllib.error.HTTPError, match="404"
    ):  # where Streamlit would have it, for whoever has the same page
        urllib.request.urlopen(f"{server.url}/media/{id}.png")


def test_the_desk_goes_to_the_passage_and_shows_its_page(with_lease: Callable[..., Visitor]) -> None:
    visitor = with_lease(width=1440)
    page = visitor.page
    page.locator(".st-key-desk-switch button").click()
    desk = page.get_by_role("complementary", name="来源")
    expect(desk.get_by_role("listitem")).to_have_count(1)
    visitor.settled()
    page.set_viewport_size({"width": 1440, "height": 520})
    page.locator(".st-key-desk").evaluate("desk => { desk.scrollTop = 0 }")
    chips(visitor).nth(1).locator(":scope > button").click()
    expect(desk.locator("mark.lit")).to_contain_text(PENALTY)
    expect(desk.locator("mark.lit")).to_be_in_viewport()
    expect(dialog(visitor)).to_have_count(0)
    expect(desk.locator(".place")).to_have_text([re.compile(f"第 {number} 页") for number in (1, 2, 3)])
    assert judge(visitor, ((1440, "light"), (1440, "dark"))) == []
    page.set_viewport_size({"width": 1440, "height": 844})
    desk.locator(".place").filter(has_text="第 2 页").get_by_role("button", name="看这一页").click()
    expect(picture(visitor, "第 2 页的图片，标出了：租金每月")).to_be_visible()


def test_of_a_long_text_the_rest_is_a_click_away(
    server: AppServer, model_server: OpenAIServer, visit: Visit, tmp_path: Path
) -> None:
    lines = [f"第 {number} 款，双方另行约定的事项之{number}，以书面为准。" for number in range(1, 3_001)]
    lines[2_000] = PENALTY
    model_server.reply = in_turn([f"{PENALTY.removesuffix('。')}[1]。"])
    visitor = visit(server, width=1100)
    ask_about(visitor, tmp_path, [("租约.txt", "\n".join(lines).encode())], "违约金怎么算？")
    visitor.answered("参考文献")
    chips(visitor).first.locator(":scope > button").click()
    text = dialog(visitor).get_by_role("region", name="来源 1 的原文")
    expect(text.locator("mark.wanted")).to_be_in_viewport()
    expect(text).not_to_contain_text("第 3000 款")
    for _ in range(3):
        shown = text.inner_text()
        dialog(visitor).get_by_role("button", name="后面还有").click()
        expect(text).not_to_have_text(shown, use_inner_text=True)
        visitor.settled()
        if not dialog(visitor).get_by_role("button", name="后面还有").count():
            break
    expect(text).to_contain_text("第 3000 款")
    dialog(visitor).get_by_role("button", name="前面还有").click()
    expect(text).not_to_contain_text("第 3000 款")


def test_a_tap_shows_the_card_and_the_button_in_it_the_passage(
    server: AppServer, model_server: OpenAIServer, visit: Visit, tmp_path: Path
) -> None:
    model_server.reply = in_turn([ABOUT_LEASE])
    visitor = visit(server, width=390, touch=True)
    ask_about(visitor, tmp_path, [("租约.pdf", LEASE)], "租金怎么付？")
    visitor.answered("参考文献")
    chip = chips(visitor).nth(1)
    chip.tap()
    expect(chip.locator(".wy-card")).to_be_visible()
    expect(chip.locator(".wy-card")).to_contain_text("第 3 页")
    expect(dialog(visitor)).to_have_count(0)
    chip.get_by_role("button", name="在原文中查看").tap()
    expect(dialog(visitor).locator("mark.wanted")).to_be_in_viewport()
    expect(dialog(visitor).locator("mark.wanted")).to_contain_text(PENALTY)
