"""资料库 on app servers that share a PostgreSQL: what one was given, the others have, also when it is gone with its disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from support.app_server import AppServer
from support.forked_server import forked_server
from support.pdf_files import pdf_file
from support.postgres import Postgres
from support.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("postgres")]

LEASE = pdf_file(["租赁合同"], ["第一条 租金为每月三千五百元。"], ["第九条 逾期付款的，每日支付违约金。"])


@pytest.fixture
def start(postgres: Postgres, tmp_path: Path) -> Iterator[Callable[[str], AppServer]]:
    """Starts an app server whose data is in a folder with its name."""
    shared = {
        "DATABASE_URL": postgres.new_database(),
        "STREAMLIT_SERVER_COOKIE_SECRET": "the-same-on-each-of-the-servers",
        "SEARCH_PROVIDER_PRIORITY": "bundled",
    }
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(forked_server(**shared, DATA_DIR=str(tmp_path / name)))


def row(page: Page, name: str) -> Locator:
    return page.locator(".wy-files-list li").filter(has_text=name)


def find(page: Page, words: str) -> None:
    page.get_by_placeholder("查找原文").fill(words)
    page.keyboard.press("Enter")


def test_a_file_outlives_the_server_that_was_given_it(
    start: Callable[[str], AppServer], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    (tmp_path / "租约.pdf").write_bytes(LEASE)
    one, two = start("one"), start("two")
    visitor = visit(one, path="/documents")
    page = visitor.page
    page.get_by_label("资料集的名字").fill("合同")
    page.get_by_role("button", name="新建资料集").last.click()
    expect(page.get_by_role("heading", name="合同")).to_be_visible()
    visitor.settled()
    page.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files(tmp_path / "租约.pdf")
    expect(row(page, "租约.pdf")).to_contain_text("已索引 · 3 页")
    of_collection = page.url.removeprefix(one.url)
    one.process.kill()
    one.process.wait()
    shutil.rmtree(tmp_path / "one", ignore_errors=True)

    page.goto(two.url + of_collection)
    find(page, "违约金")
    hit = page.locator(".wy-passages li")
    expect(hit).to_have_count(1)
    expect(hit).to_contain_text("第 3 页")
    hit.get_by_role("link").click()
    expect(page.locator("#passage mark")).to_have_text("违约金")
    page.get_by_role("radio", name="原页").click()
    expect(page.locator(".wy-page-picture img")).to_be_visible()
    assert not (tmp_path / "two" / "documents").exists()

    page.goto(two.url + of_collection)
    row(page, "租约.pdf").get_by_role("link").click()
    delete = page.get_by_role("button", name="删除")
    expect(delete).to_have_count(1)  # the collection's own is gone with its page
    visitor.settled()
    delete.click()
    page.get_by_role("dialog").get_by_role("button", name="永久删除").click()
    expect(row(page, "租约.pdf")).to_have_count(0)
    three = start("three")
    page.goto(three.url + of_collection)
    expect(page.get_by_role("heading", name="合同")).to_be_visible()
    expect(page.get_by_test_id("stFileUploader").first).to_be_visible()
    expect(row(page, "租约.pdf")).to_have_count(0)
