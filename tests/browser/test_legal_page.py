"""The page 法规与案例 as a person meets it: import, look-up, versions, verification; and a corpus that means harm."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import docx
import pytest
from playwright.sync_api import Dialog, expect

from support import invented
from support.app_server import AppServer
from support.axe import judge
from support.visitor import Visitor
from support.word_files import word_file

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

ATTACK = "<script>alert(1)</script><img src=x onerror=alert(2)>![x](http://evil.example/y)[点我](javascript:alert(3))"
OIL = {"name": "中华人民共和国灯油法", "articles": [{"number": "第一条", "text": "灯油应当清澈。"}]}


@pytest.fixture(scope="module")
def server(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> AppServer:
    folder = tmp_path_factory.mktemp("legal-page")
    hostile = (
        {"name": f"{ATTACK}条例", "articles": [{"number": "第一条", "path": [ATTACK], "text": f"{ATTACK}航标灯。"}]},
        {"type": "case", "caseName": ATTACK, "court": ATTACK, "text": f"{ATTACK}航标灯", "url": "javascript:alert(4)"},
    )
    invented.library(
        folder / "data", invented.lawrefbook(folder / "laws"), invented.jsonl(folder / "hostile.jsonl", *hostile)
    )
    return serve(SEARCH_PROVIDER_PRIORITY="bundled", DATA_DIR=str(folder / "data"))


def go(visitor: Visitor, view: str) -> None:
    visitor.page.get_by_test_id("stMain").get_by_text(view, exact=True).click()
    visitor.settled()


def look_up(visitor: Visitor, box: str, words: str) -> None:
    field = visitor.page.get_by_role("textbox", name=box)
    field.fill(words)
    field.press("Enter")
    visitor.page.get_by_text("找到").first.wait_for()
    visitor.settled()


def follow(visitor: Visitor, text: str) -> None:
    """Clicks a link when the page is at rest: one that is just being replaced takes no click."""
    link = visitor.page.get_by_test_id("stPageLink").get_by_text(text, exact=True).first
    link.wait_for()
    visitor.settled()
    link.click()


def named(visitor: Visitor) -> dict[str, str]:
    """What the address names."""
    return {name: values[0] for name, values in parse_qs(urlsplit(visitor.page.url).query).items()}


def test_from_the_directory_to_an_article_and_back(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path="/legal", width=390)
    page = visitor.page
    page.get_by_role("link", name="经济法").click()
    page.get_by_role("link", name="灯塔法", exact=True).click()
    page.get_by_text("目录", exact=True).click()
    page.locator("details").get_by_role("link", name="第一节 亮度").click()
    expect(page.locator("details.wy-contents")).not_to_have_attribute("open", "")
    page.get_by_role("link", name="第五条", exact=True).click()
    page.get_by_role("heading", name="《灯塔法》第五条").wait_for()
    assert named(visitor) == {"law": "中华人民共和国灯塔法", "article": "第五条"}
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    follow(visitor, "《浮标法》第二条")
    page.get_by_role("heading", name="《浮标法》第二条").wait_for()
    page.go_back()
    page.get_by_role("heading", name="《灯塔法》第五条").wait_for()
    page.get_by_text("引用到款，或连同条文").click()
    expect(page.get_by_test_id("stCode").first).to_contain_text("《中华人民共和国灯塔法》第五条")
    page.get_by_text("导出", exact=True).click()
    with page.expect_download() as download:
        page.get_by_text("Markdown").click()
    assert "# 《中华人民共和国灯塔法》第五条" in Path(download.value.path()).read_text("utf-8")
    follow(visitor, "查法规")
    expect(page.get_by_text("3 部法规")).to_be_visible()
    assert named(visitor) == {"kind": "法律", "field": "经济法"}


def test_what_is_searched_stands_in_the_address(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path="/legal")
    page = visitor.page
    look_up(visitor, "查法规", "守塔人点灯")
    page.get_by_text("行政法规 1").click()
    visitor.settled()
    expect(page.locator("mark").filter(has_text="守塔人").first).to_be_visible()
    page.get_by_text("筛选：").click()
    page.get_by_role("textbox", name="按哪一天的法律").fill("2023")
    page.get_by_role("textbox", name="按哪一天的法律").press("Enter")
    expect(page.get_by_text("按 2023 年的法律 · 本地法规库 · 找到")).to_be_visible()
    visitor.settled()
    assert named(visitor) == {"q": "守塔人点灯", "kind": "行政法规", "on": "2023"}
    assert judge(visitor) == [], "filters and results"
    page.reload()
    expect(page.get_by_text("按 2023 年的法律 · 本地法规库 · 找到")).to_be_visible()
    expect(page.get_by_role("textbox", name="查法规")).to_have_value("守塔人点灯")
    page.go_back()
    expect(page.get_by_text("按 2023 年的法律")).to_have_count(0)


def test_an_article_through_its_versions_and_on_a_day(server: AppServer, visit: Visit) -> None:
    address = urlencode({"law": "中华人民共和国灯塔法", "article": "第二条"})
    visitor = visit(server, path=f"/legal?{address}")
    page = visitor.page
    expect(page.locator(".wy-times del")).to_have_text("，旧规定。")
    page.get_by_role("link", name="2010-05-01 公布").click()
    expect(page.get_by_text("这不是现行版本")).to_be_visible()
    expect(page.locator(".wy-article")).to_have_text("灯塔由守塔人看守，旧规定。")
    assert named(visitor)["version"] == "2010-05-01"
    follow(visitor, "查看现行版本")
    expect(page.get_by_text("离岗的守塔人可以申请复核").first).to_be_visible()
    visitor.settled()
    page.get_by_role("textbox", name="按哪一天的法律").fill("2015年")
    page.get_by_role("textbox", name="按哪一天的法律").press("Enter")
    expect(page.get_by_text("这是 2015 年施行的版本")).to_be_visible()
    expect(page.locator(".wy-article")).to_have_text("灯塔由守塔人看守，旧规定。")
    visitor.settled()
    assert named(visitor) == {"law": "中华人民共和国灯塔法", "article": "第二条", "on": "2015"}
    assert judge(visitor) == [], "an article"
    follow(visitor, "《中华人民共和国灯塔法》")
    field = page.get_by_role("textbox", name="在本法中查找")
    field.fill("守塔人")
    field.press("Enter")
    expect(page.get_by_text("「守塔人」1 处，在 1 条中")).to_be_visible()
    visitor.settled()
    assert judge(visitor) == [], "a law with its contents beside it"


def test_drafts_are_verified_and_come_back_with_comments(server: AppServer, visit: Visit, tmp_path: Path) -> None:
    visitor = visit(server, path="/legal", width=390, dark=True)
    page = visitor.page
    go(visitor, "核验文稿")
    page.get_by_role("textbox", name="文稿").fill(
        "根据《灯塔法》第三条规定：“守塔人可以在日落前点灯。”另见《灯塔法》第九条、《月光法》第一条。"
    )
    draft = tmp_path / "起诉状.docx"
    draft.write_bytes(word_file("依《灯塔法》第九十九条起诉。"))
    page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files([draft])
    expect(page.get_by_test_id("stFileUploader").get_by_text("起诉状.docx")).to_be_visible()
    page.get_by_role("button", name="核验", exact=True).click()
    expect(page.get_by_text("粘贴的文稿：共引用 3 处：有问题 2 · 未核 1")).to_be_visible()
    for group in ("全部", "有问题", "未核"):
        expect(page.get_by_test_id("stMain").get_by_text(group, exact=True)).to_be_visible()
    with page.expect_download() as word:
        page.get_by_text("下载带批注的 Word").last.click()
    assert word.value.suggested_filename == "起诉状（批注）.docx"
    said = {comment.text[:6] for comment in docx.Document(str(word.value.path())).comments}
    assert said == {"法条核验：共", "✗ 没有这一"}
    page.locator("summary").filter(has_text="≠").click()
    expect(page.locator(".wy-diff del").filter(visible=True)).to_have_text("可以")
    expect(page.locator(".wy-diff ins").filter(visible=True)).to_have_text("应当")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_text("导出", exact=True).click()
    with page.expect_download() as download:
        page.get_by_text("CSV").click()
    assert "起诉状.docx,✗,有问题,没有这一条" in Path(download.value.path()).read_text("utf-8-sig")
    assert judge(visitor) == [], "verdicts, and a popover"


def test_a_case_in_full(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path="/legal")
    go(visitor, "查案例")
    look_up(visitor, "查案例", "渔船搁浅")
    visitor.page.get_by_label("法院").first.fill("海天")
    visitor.page.keyboard.press("Enter")
    visitor.settled()
    expect(visitor.page.get_by_text("找到 1 个")).to_be_visible()
    visitor.page.mouse.move(0, 0)  # else it judges the tab under the mouse
    visitor.settled()
    assert judge(visitor) == [], "filters of cases"
    follow(visitor, "甲某诉乙灯塔公司海上侵权纠纷案")
    expect(visitor.page.get_by_text("裁判要旨", exact=True)).to_be_visible()
    visitor.page.get_by_text("全文", exact=True).click()
    expect(visitor.page.get_by_text("守塔人擅自熄灯，船舶搁浅的")).to_be_visible()
    assert named(visitor) == {"case": "（2021）闽民终345号"}


def upload(visitor: Visitor, file: Path) -> None:
    visitor.page.locator("input[type=file]").set_input_files(file)
    visitor.page.get_by_text(file.name).first.wait_for()
    visitor.settled()
    visitor.page.get_by_text("上传并导入").click()


def test_an_upload_is_imported_reported_and_in_use_at_once(server: AppServer, visit: Visit, tmp_path: Path) -> None:
    visitor = visit(server, path="/legal")
    go(visitor, "导入")
    upload(visitor, invented.jsonl(tmp_path / "灯油.jsonl", OIL, f"{ATTACK}"))
    visitor.page.get_by_text("已导入").wait_for()
    expect(visitor.page.get_by_text("1 部法规（1 条），跳过 1 处")).to_be_visible()
    visitor.page.get_by_text("跳过了什么和原因").click()
    expect(visitor.page.get_by_text("灯油.jsonl:2")).to_be_visible()
    go(visitor, "查法规")
    look_up(visitor, "查法规", "灯油法第1条")
    expect(visitor.page.get_by_text("灯油应当清澈。")).to_be_visible()


def test_everybody_sees_a_long_import_and_a_cancelled_one_changes_nothing(
    server: AppServer, visit: Visit, tmp_path: Path
) -> None:
    visitor = visit(server, path="/legal")
    go(visitor, "导入")
    upload(visitor, _many_laws(tmp_path / "多.zip"))
    expect(visitor.page.get_by_text("正在导入")).to_be_visible()
    other = visit(server, path="/legal")
    go(other, "导入")
    expect(other.page.get_by_text("多.zip")).to_be_visible()
    expect(other.page.get_by_test_id("stProgress")).to_be_visible()
    expect(other.page.get_by_text("上传并导入")).to_have_count(0)
    other.page.get_by_text("取消导入").click()
    expect(visitor.page.get_by_text("导入已取消，原有的法规与案例库没有变化")).to_be_visible()
    visitor.settled()
    go(visitor, "查法规")
    look_up(visitor, "查法规", "灯塔法第6条")
    expect(visitor.page.get_by_text("本法自2010年6月1日起施行。")).to_be_visible()


def _many_laws(path: Path) -> Path:
    """Enough work for a cancel to come in time on any machine."""
    articles = [
        {"number": f"第{n}条", "text": f"第{n}盏灯应当由守塔人在日落之前点亮，并记入簿册。" * 3} for n in range(1, 101)
    ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(600):
            archive.writestr(f"{number}.jsonl", json.dumps({"name": f"第{number}号灯法", "articles": articles}))
    return path


def test_a_hostile_corpus_harms_nobody(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path="/legal", watched=True)
    page = visitor.page
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    look_up(visitor, "查法规", "航标灯")
    _is_inert(visitor)
    law = f"{ATTACK}条例"
    for named in ({"law": law}, {"law": law, "article": "第一条"}, {"case": ATTACK}):
        page.goto(f"{server.url}/legal?{urlencode(named)}")
        visitor.settled()
        for fold in page.locator("summary").filter(visible=True).all()[-1:]:  # a law is not folded
            fold.click()
        visitor.settled()
        _is_inert(visitor)
    assert dialogs == []
    assert visitor.foreign == []


def _is_inert(visitor: Visitor) -> None:
    main = visitor.page.get_by_test_id("stMain")
    expect(main).to_contain_text("<script>alert(1)</script>")
    expect(main.locator("img, iframe")).to_have_count(0)
    assert all(ours.startswith("if (!window.wyScripts)") for ours in main.locator("script").all_text_contents())
    for anchor in main.locator("a").all():
        assert re.fullmatch(r"legal(\?(law|case|q)=\S*)?|\./\?q=\S*|#[\w-]+", anchor.get_attribute("href") or "")
