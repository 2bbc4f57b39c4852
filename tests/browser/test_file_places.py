"""From a file at the input to the cited place in it: the chip says where, and a click shows the passage there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from support.app_server import AppServer
from support.office_files import KnownFile, known_files
from support.openai_server import OpenAIServer, in_turn
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

AT_ONCE = 5
"""Files that go with one question."""
FILES = known_files()


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
