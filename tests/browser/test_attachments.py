"""Files at the input, as a reader sends them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support.app_server import AppServer
from support.office_files import known_files
from support.visitor import Visitor
from support.word_files import word_file

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

RENT = "租金为每月 3,500 元，押二付一。"
PENALTY = "逾期付款的，每日按未付金额的万分之五支付违约金。"


@pytest.mark.parametrize("width", [1440, 390])
def test_a_file_goes_along_with_a_question_and_stays_with_it(
    two_models: AppServer, visit: Visit, tmp_path: Path, width: int
) -> None:
    lease = tmp_path / "租约.docx"
    lease.write_bytes(word_file(RENT, PENALTY))
    visitor = visit(two_models, width=width, watched=True)
    page = visitor.page
    page.get_by_test_id("stChatInput").locator("input[type=file]").set_input_files([lease])
    expect(page.get_by_test_id("stFileChip")).to_contain_text("租约.docx")
    page.get_by_test_id("stChatInputTextArea").fill("违约金怎么算？")
    expect(page.get_by_role("button", name="发送")).to_be_enabled()  # as soon as the file is there
    visitor.ask("违约金怎么算？")
    visitor.answered("参考文献")
    expect(page.get_by_test_id("stChatMessage").last).to_contain_text(PENALTY)  # the model says what it was told
    expect(page.locator(".wy-refs").last).to_contain_text("附件 · 44 字")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()
    visitor.settled()
    expect(page.locator(".wy-file")).to_have_text("附件 租约.docx")
    visitor.ask("租金是多少？")
    visitor.answered("参考文献")
    expect(page.get_by_test_id("stChatMessage").last).to_contain_text(RENT)
    expect(page.get_by_test_id("stFileChip")).to_have_count(0)
    assert not visitor.foreign


@pytest.mark.parametrize("name", ["计划.pptx", "潮汐.html", "雾.epub", "检修.eml"])
def test_a_file_of_another_kind_is_quoted_with_its_place(
    two_models: AppServer, visit: Visit, tmp_path: Path, name: str
) -> None:
    (known,) = (one for one in known_files() if one.name == name)
    file = tmp_path / name
    file.write_bytes(known.body)
    visitor = visit(two_models, watched=True)
    page = visitor.page
    page.get_by_test_id("stChatInput").locator("input[type=file]").set_input_files([file])
    expect(page.get_by_test_id("stFileChip")).to_contain_text(name)
    page.get_by_test_id("stChatInputTextArea").fill(f"{known.fact}是怎么写的？")
    expect(page.get_by_role("button", name="发送")).to_be_enabled()
    visitor.ask(f"{known.fact}是怎么写的？")
    visitor.answered("参考文献")
    expect(page.get_by_test_id("stChatMessage").last).to_contain_text(known.fact)
    expect(page.get_by_test_id("stChatMessage").last).to_contain_text(known.label)
    assert not visitor.foreign
