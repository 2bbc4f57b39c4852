"""资料库 as a reader uses it: files and folders dragged in, found again with their page, opened there, shared and deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Download, Locator, Page, expect

from support.app_server import AppServer
from support.axe import judge
from support.pdf_files import pdf_file
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]
LEASE = pdf_file(
    ["租赁合同"], ["第一条 租金为每月三千五百元。"], ["第九条 逾期付款的，每日按未付金额的万分之五支付违约金。"]
)
DROP = """(zone, files) => {
    const entry = ([path, text]) => ({
        isFile: true, isDirectory: false, fullPath: path,
        file: done => done(new File([text], path.split("/").at(-1))),
    });
    const folder = {
        isFile: false, isDirectory: true, fullPath: "/规章",
        createReader: () => {
            const batches = [files.map(entry), []];
            return { readEntries: done => done(batches.shift()) };
        },
    };
    const item = { kind: "file", type: "", getAsFile: () => new File([], "规章"), webkitGetAsEntry: () => folder };
    const drop = new Event("drop", { bubbles: true, cancelable: true });
    drop.dataTransfer = { types: ["Files"], items: [item], files: [] };
    zone.dispatchEvent(drop);
}"""


@pytest.fixture
def server(serve: Callable[..., AppServer]) -> AppServer:
    return serve(SEARCH_PROVIDER_PRIORITY="bundled")


def collection(visitor: Visitor, name: str) -> Page:
    page = visitor.page
    page.goto(visitor.url + "/documents")
    visitor.settled()
    page.get_by_label("资料集的名字").fill(name)
    page.get_by_role("button", name="新建资料集").last.click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    visitor.settled()
    return page


def field(page: Page, *, folder: bool = False) -> Locator:
    return page.get_by_test_id("stFileUploader").nth(1 if folder else 0)


def upload(page: Page, *files: Path, folder: bool = False) -> None:
    field(page, folder=folder).locator("input[type=file]").set_input_files(list(files))


def row(page: Page, name: str) -> Locator:
    return page.locator(".wy-files-list li").filter(has_text=name)


def test_a_file_is_dragged_in_found_with_its_page_and_opened_there(
    server: AppServer, visit: Visit, tmp_path: Path
) -> None:
    (tmp_path / "租约.pdf").write_bytes(LEASE)
    (tmp_path / "坏的.pdf").write_bytes(b"%PDF-1.4 broken")
    visitor = visit(server, path="/documents", watched=True)
    expect(visitor.page.get_by_text("把文件拖进来")).to_be_visible()
    assert judge(visitor) == [], "an empty library"
    page = collection(visitor, "合同")
    upload(page, tmp_path / "租约.pdf", tmp_path / "坏的.pdf")
    expect(page.get_by_text("放入了 2 个文件。")).to_be_visible()
    # It looks by itself whether they are read.
    expect(row(page, "租约.pdf")).to_contain_text("已索引 · 3 页")
    expect(row(page, "坏的.pdf")).to_contain_text("无法读取")
    expect(row(page, "坏的.pdf").locator("p")).not_to_be_empty()
    visitor.settled()
    assert judge(visitor) == [], "a collection with files"
    upload(page, tmp_path / "租约.pdf")
    expect(page.get_by_text("1 个已经在这里，没有变化。")).to_be_visible()
    page.get_by_placeholder("查找原文").fill("违约金")
    page.keyboard.press("Enter")
    hit = page.locator(".wy-passages li")
    expect(hit).to_have_count(1)
    expect(hit).to_contain_text("第 3 页")
    expect(hit.locator("mark")).to_have_text("违约金")
    visitor.settled()
    assert judge(visitor) == [], "what was found"
    hit.get_by_role("link").click()
    expect(page.locator("#passage")).to_contain_text("万分之五")
    expect(page.locator("#passage mark")).to_have_text("违约金")
    expect(page.get_by_test_id("stMain")).to_contain_text("第 3 页，共 3 页")
    page.get_by_role("radio", name="原页").click()
    picture = page.locator(".wy-page-picture img")
    expect(picture).to_have_attribute(
        "alt", "「租约.pdf」第 3 页的图片，标出了：第九条 逾期付款的，每日按未付金额的万分之五支付违约金。"
    )
    assert picture.evaluate("image => image.naturalWidth") > 500
    visitor.settled()
    assert judge(visitor) == [], "a page of a file"
    page.get_by_role("button", name="上一页").click()
    expect(page.get_by_alt_text("「租约.pdf」第 2 页的图片")).to_be_visible()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="下载原文件").click()
    downloaded: Download = downloading.value
    assert downloaded.suggested_filename == "租约.pdf"
    assert Path(downloaded.path()).read_bytes() == LEASE
    assert not visitor.foreign


def test_a_folder_keeps_its_paths_chosen_or_dragged(server: AppServer, visit: Visit, tmp_path: Path) -> None:
    folder = tmp_path / "公司"
    for name, text in (("人事/请假.md", "年假十天。"), ("财务/请假.md", "请假扣款。"), (".git/config", "x")):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, "utf-8")
    page = collection(visit(server), "公司")
    upload(page, folder, folder=True)
    expect(page.get_by_text("放入了 2 个文件，跳过了 1 个系统文件。")).to_be_visible()
    for name in ("公司/人事/请假.md", "公司/财务/请假.md"):
        expect(row(page, name)).to_contain_text("已索引")
    zone = field(page).get_by_test_id("stFileUploaderDropzone")
    zone.evaluate(DROP, [["/规章/甲/考勤.txt", "九点上班。"], ["/规章/乙/考勤.txt", "十点上班。"]])
    for name in ("规章/甲/考勤.txt", "规章/乙/考勤.txt"):
        expect(row(page, name)).to_contain_text("已索引")
    page.get_by_placeholder("查找原文").fill("年假")
    page.keyboard.press("Enter")
    expect(page.locator(".wy-passages li").first).to_contain_text("公司/人事/请假.md")


def test_what_is_too_large_stays_at_the_field_with_its_reason(server: AppServer, visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "大.txt").write_bytes(b"x" * (26 * 2**20))
    (tmp_path / "小.txt").write_text("押金不退。", "utf-8")
    page = collection(visit(server), "大小")
    upload(page, tmp_path / "大.txt", tmp_path / "小.txt")
    expect(row(page, "小.txt")).to_contain_text("已索引")
    chips = page.get_by_test_id("stFileChip").filter(visible=True)
    expect(chips).to_have_count(1)
    expect(chips).to_contain_text("大.txt")
    expect(chips).to_contain_text("没有上传")
    expect(field(page).get_by_role("button", name="选择文件")).to_be_visible()


def test_a_limit_and_an_empty_file_are_said_in_sentences(
    serve: Callable[..., AppServer], visit: Visit, tmp_path: Path
) -> None:
    for name in ("甲.txt", "乙.txt", "空的.txt"):
        (tmp_path / name).write_text("" if name == "空的.txt" else "押金不退。", "utf-8")
    page = collection(visit(serve(SEARCH_PROVIDER_PRIORITY="bundled", DOCUMENTS_VISITOR_FILES="1")), "上限")
    upload(page, tmp_path / "甲.txt")
    expect(page.get_by_text("放入了 1 个文件。")).to_be_visible()
    upload(page, tmp_path / "乙.txt", tmp_path / "空的.txt")
    expect(page.get_by_text("每人最多 1 个，「乙.txt」没有收下。请先删除不再需要的文件。")).to_be_visible()
    expect(page.get_by_text("「空的.txt」是空的，没有收下。")).to_be_visible()
    expect(page.get_by_text("放入了")).to_have_count(0)
    expect(page.locator(".wy-files-list li")).to_have_count(1)


def test_a_collection_is_renamed_and_its_files_and_itself_are_deleted_after_a_question(
    server: AppServer, visit: Visit, tmp_path: Path
) -> None:
    (tmp_path / "说明.txt").write_text("押金不退。", "utf-8")
    visitor = visit(server)
    page = collection(visitor, "旧名字")
    upload(page, tmp_path / "说明.txt")
    expect(row(page, "说明.txt")).to_contain_text("已索引")
    page.get_by_role("button", name="改名").click()
    page.get_by_role("dialog").get_by_label("资料集的名字").fill("新名字")
    page.get_by_role("dialog").get_by_role("button", name="改名").click()
    expect(page.get_by_role("heading", name="新名字")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    row(page, "说明.txt").get_by_role("link").click()
    expect(page.locator(".wy-page-text")).to_have_text("押金不退。")
    page.get_by_role("button", name="删除").click()
    expect(page.get_by_role("dialog")).to_contain_text("将要删除「说明.txt」：5 字")
    expect(page.get_by_role("dialog")).to_contain_text("不能恢复")
    page.get_by_role("dialog").get_by_role("button", name="永久删除").click()
    expect(page.get_by_role("heading", name="新名字")).to_be_visible()
    expect(row(page, "说明.txt")).to_have_count(0)
    page.get_by_role("button", name="删除").click()
    expect(page.get_by_role("dialog")).to_contain_text("将要删除资料集「新名字」：还没有文件")
    page.get_by_role("dialog").get_by_role("button", name="永久删除").click()
    expect(page.get_by_role("heading", name="资料库")).to_be_visible()
    expect(page.get_by_test_id("stMain")).not_to_contain_text("新名字")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_share_is_read_by_another_browser_until_it_is_withdrawn(
    server: AppServer, visit: Visit, tmp_path: Path, width: int
) -> None:
    (tmp_path / "租约.pdf").write_bytes(LEASE)
    mine = visit(server, width=width)
    page = collection(mine, "合同")
    upload(page, tmp_path / "租约.pdf")
    expect(row(page, "租约.pdf")).to_contain_text("已索引")
    page.get_by_role("button", name="分享").click()
    link = page.get_by_role("dialog").get_by_test_id("stCode").inner_text().strip()
    assert urlsplit(link)[:3] == urlsplit(f"{server.url}/documents")[:3]
    yours = visit(server, path=link.removeprefix(server.url), width=width)
    other = yours.page
    expect(other.get_by_text("这是分享给你的资料集")).to_be_visible()
    expect(row(other, "租约.pdf")).to_contain_text("已索引")
    expect(other.get_by_role("button", name="删除")).to_have_count(0)
    expect(other.get_by_test_id("stFileUploader")).to_have_count(0)
    assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")
    row(other, "租约.pdf").get_by_role("link").click()
    expect(other.locator(".wy-page-text")).to_contain_text("租赁合同")
    late = other.context.new_page()
    late.goto(other.url)
    expect(late.get_by_role("button", name="下载原文件")).to_be_visible()
    other.goto(server.url)
    yours.settled()
    other.get_by_test_id("stBottom").get_by_role("button", name="资料").click()
    other.get_by_test_id("stPopoverBody").get_by_text("合同").click()
    expect(other.get_by_test_id("stBottom")).to_contain_text("资料：合同")
    other.keyboard.press("Escape")
    assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("dialog").get_by_role("button", name="撤回").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    yours.ask("租金是多少？")
    expect(other.get_by_test_id("stBottom")).to_contain_text("「合同」已经删除，或者不再分享给你")
    other.goto(link)
    expect(other.get_by_text("这个分享链接已经失效")).to_be_visible()
    late.get_by_role("button", name="下载原文件").click()
    expect(late.get_by_text("现在不能下载")).to_be_visible()


def test_an_answer_from_a_chosen_collection_says_the_page(server: AppServer, visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "租约.pdf").write_bytes(LEASE)
    visitor = visit(server)
    page = collection(visitor, "合同")
    upload(page, tmp_path / "租约.pdf")
    expect(row(page, "租约.pdf")).to_contain_text("已索引")
    page.get_by_role("button", name="用它提问").click()
    expect(page.get_by_test_id("stBottom")).to_contain_text("资料：合同")
    visitor.ask("逾期付款的违约金是多少？")
    visitor.answered("参考文献")
    answer = page.get_by_test_id("stChatMessage").last
    expect(answer.locator(".wy-answer")).to_contain_text("每日按未付金额的万分之五支付违约金")
    expect(answer.locator(".wy-answer sup.cite").first).to_contain_text("第 3 页")
    expect(answer.locator(".wy-refs").last).to_contain_text("租约.pdf")
    expect(answer.locator(".wy-refs").last).to_contain_text("第 3 页")
    page.reload()
    visitor.settled()
    expect(page.get_by_test_id("stBottom")).to_contain_text("资料：合同")
    page.get_by_role("button", name="新对话").click()
    expect(page.get_by_test_id("stBottom")).not_to_contain_text("资料：合同")
