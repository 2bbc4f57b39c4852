"""The page 资料库 without a browser: what it says of collections and files, and what can be done with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.app import App
from core.documents import Access, DocumentState
from core.ui import identity
from core.ui.documents.collection_list import NAME
from core.ui.documents.documents_page import WITHDRAWN
from core.ui.documents.file_list import ONLY
from support.documents_page import opened, ran
from support.filled_collections import fill_collection
from support.pages import html, serving, values
from support.pdf_files import pdf_file

MINE = "m" * 32
LEASE = pdf_file(["封面"], ["第一条 租金为每月三千五百元。"], ["第九条 逾期付款的，支付违约金。"])


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setattr(identity, "visitor", lambda: MINE)
    with serving() as running:
        yield running


def plain(elements: object) -> str:
    return values(elements).replace("\\", "")


def click(page: AppTest, key: str) -> AppTest:
    page.button(key=key).click()
    return ran(page)


def test_an_empty_library_says_what_to_do_and_a_collection_is_made(app: App) -> None:
    page = opened()
    assert "新建一个资料集" in values(page.markdown)
    page.text_input(key=NAME).set_value("合同")
    page.button[-1].click()
    ran(page)
    (made,) = app.documents.list_collections(Access(MINE))
    assert made.name == "合同"
    assert page.query_params["collection"] == made.id
    assert [header.value for header in page.header] == ["合同"]


def test_a_collection_shows_its_files_with_their_states(app: App) -> None:
    collection = fill_collection(
        app, "合同", Access(MINE), 租约_pdf=LEASE, 坏的_pdf=b"%PDF-1.4 broken", 说明_txt="押金不退。"
    )
    page = opened()
    assert collection.id in html(page)
    assert "3 个文件" in html(page)
    assert "1 个无法读取" in html(page)
    drawn = html(opened(collection=collection.id))
    assert "已索引 · 3 页" in drawn
    assert "无法读取" in drawn
    (broken,) = (one for one in app.documents.list_documents(collection.id, Access(MINE)) if one.name == "坏的.pdf")
    assert broken.state is DocumentState.UNREADABLE
    assert broken.reason
    assert broken.reason in drawn


def test_a_search_finds_the_passage_with_its_page_and_opens_there(app: App) -> None:
    collection = fill_collection(app, "合同", Access(MINE), 租约_pdf=LEASE)
    drawn = html(opened(collection=collection.id, q="违约金"))
    assert "第 3 页" in drawn
    assert "<mark>违约金</mark>" in drawn
    (hit,) = app.documents.search("违约金", Access(MINE), collections=[collection.id], limit=1)
    assert f"file={hit.document.id}&amp;from={hit.start}&amp;to={hit.end}" in drawn
    page = opened(file=hit.document.id, **{"from": str(hit.start), "to": str(hit.end), "q": "违约金"})
    assert '<span class="passage" id="passage">' in html(page)
    assert "<mark>违约金</mark>" in html(page)
    assert "第 3 页，共 3 页" in plain(page.markdown)
    assert "封面" not in html(page)
    page.button(key=f"{hit.document.id}-{(hit.start, hit.end)}-上一页").click()
    assert "三千五百元" in html(ran(page))
    nothing = opened(collection=collection.id, q="航天飞机")
    assert "没有找到" in values(nothing.info)


@pytest.mark.parametrize(("start", "end"), [("9", "2"), ("-1", "4"), ("x", "4"), ("1", "9" * 30), ("99999", "999999")])
def test_an_address_with_other_positions_shows_the_file_from_its_beginning(app: App, start: str, end: str) -> None:
    collection = fill_collection(app, "合同", Access(MINE), 说明_txt="押金不退。")
    (document,) = app.documents.list_documents(collection.id, Access(MINE))
    assert "押金不退。" in html(opened(file=document.id, **{"from": start, "to": end}))


def test_a_file_is_read_again(app: App) -> None:
    collection = fill_collection(app, "合同", Access(MINE), 说明_txt="押金不退。")
    (document,) = app.documents.list_documents(collection.id, Access(MINE))
    click(opened(file=document.id), f"reindex-{document.id}")
    assert app.documents.wait_until_indexed(collection.id, Access(MINE), seconds=60)
    assert app.documents.search("押金", Access(MINE), collections=[collection.id])


def test_a_share_opens_a_collection_for_reading_until_it_is_withdrawn(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = fill_collection(app, "合同", Access(MINE), 说明_txt="押金不退。")
    share = app.documents.share_collection(collection.id, Access(MINE))
    monkeypatch.setattr(identity, "visitor", lambda: "y" * 32)
    page = opened(share=share)
    assert "不能改动" in values(page.info)
    assert "说明.txt" in html(page)
    keys = [button.key for button in page.main.button]
    assert "ask-collection" in keys
    assert not {"rename-button", "share-button", "delete-button"} & set(keys)
    assert not page.get("file_uploader")
    page.query_params.clear()
    assert "分享给你的" in html(ran(page)), "it stands in their list from now on"
    (document,) = app.documents.list_documents(collection.id, Access(None, (share,)))
    page.query_params["file"] = document.id
    ran(page)
    assert "押金不退。" in html(page)
    assert not [button.key for button in page.main.button if (button.key or "").startswith(("delete", "reindex"))]
    app.documents.unshare_collection(collection.id, Access(MINE))
    assert "押金不退。" not in html(ran(page))
    assert WITHDRAWN in plain(opened(share=share).warning)


def test_a_reader_takes_a_shared_collection_off_their_list(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = fill_collection(app, "合同", Access(MINE))
    share = app.documents.share_collection(collection.id, Access(MINE))
    monkeypatch.setattr(identity, "visitor", lambda: "y" * 32)
    page = click(opened(share=share), "leave-collection")
    assert "合同" not in html(page)
    assert app.documents.find_shared(share).id == collection.id, "it is still there for others"


def test_unreadable_files_are_read_again_together(app: App) -> None:
    collection = fill_collection(app, "合同", Access(MINE), 坏的_pdf=b"%PDF-1.4 broken", 说明_txt="押金不退。")
    page = opened(collection=collection.id)
    page.pills(key=ONLY).set_value("无法读取")
    page = ran(page)
    assert "说明.txt" not in html(page)
    click(page, "read-all-again")
    assert app.documents.wait_until_indexed(collection.id, Access(MINE), seconds=60)
    assert "1 个无法读取" in html(opened())


def test_names_and_reasons_are_shown_as_they_are_written(app: App) -> None:
    name = "<img src=x onerror=alert(1)> **粗** [链接](https://a.example) :red[红].txt"
    collection = fill_collection(app, name[:60], Access(MINE))
    document = app.documents.add_document(collection.id, name, "押金不退。".encode(), Access(MINE))
    assert app.documents.wait_until_indexed(collection.id, Access(MINE), seconds=60)
    for page in (opened(), opened(collection=collection.id), opened(file=document.id), opened(q="押金")):
        drawn = html(page)
        assert "<img" not in drawn
        assert "<img" not in values([*page.header, *page.subheader]).replace("\\<img", "")
    assert "&lt;img src=x onerror=alert(1)&gt;" in html(opened(collection=collection.id))


@pytest.mark.parametrize("typed", ["", "A" * 24, "<script>alert(1)</script>", "\x00", "x" * 100_000, "../..", "[x](y)"])
@pytest.mark.parametrize("parameter", ["collection", "file", "share", "q"])
def test_an_address_that_somebody_typed_breaks_nothing(app: App, parameter: str, typed: str) -> None:
    fill_collection(app, "合同", Access(MINE), 说明_txt="押金不退。")
    page = opened(**{parameter: typed})
    assert [header.value for header in page.header] == ["资料库"]
    assert bool(page.warning) is bool(typed and parameter != "q")


def test_a_browser_without_cookies_is_told_what_it_loses(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "visitor", lambda: None)
    assert "没有保存 Cookie" in values(opened().warning)


def test_the_collection_of_a_folder_is_read_by_everybody_and_changed_by_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "制度").mkdir()
    (tmp_path / "制度" / "年假.txt").write_text("每年有十天年假。", "utf-8")
    monkeypatch.setattr(identity, "visitor", lambda: MINE)
    with serving(DOCUMENTS_FOLDERS=str(tmp_path / "制度"), DOCUMENTS_DAYS="90") as app:
        app.watched_folders.import_all()
        (collection,) = app.documents.list_collections(Access(MINE))
        assert app.documents.wait_until_indexed(collection.id, Access(MINE), seconds=60)
        page = opened()
        assert "管理员提供" in html(page)
        assert "90 天没有增删文件" in values(page.caption)
        page = opened(collection=collection.id)
        assert "年假.txt" in html(page)
        keys = {button.key for button in page.main.button}
        assert not {"rename-button", "share-button", "delete-button", "leave-collection"} & keys
        assert not page.get("file_uploader")


def test_a_library_that_is_switched_off_has_no_page() -> None:
    with serving(DOCUMENTS_ENABLED="false"):
        assert [header.value for header in opened().header] == ["问源"], "the first page instead"


def test_a_hidden_page_is_nowhere(app: App) -> None:
    with serving(PUBLIC_PAGES="legal") as running:
        collection = fill_collection(running, "合同", Access(MINE))
        assert collection.id not in html(opened(collection=collection.id))
