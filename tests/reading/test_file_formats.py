"""Files of every kind that can be read: a fact of each is found where readers look for it."""

from __future__ import annotations

import pytest

from core.reading import FILE_KINDS, KINDS_IN_WORDS, UPLOAD_KINDS, FileError, Page, Reader, place_at
from core.reading.file_kinds import OTHER_FILES
from support import word_files
from support.office_files import KnownFile, known_files, png_file

KNOWN = known_files()
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def label_of(page: Page, words: str) -> str:
    """The place of the words, as readers name it."""
    assert words in page.text, page.text[:2_000]
    place = place_at(page.text, page.sections, page.text.index(words))
    return place.label if place else ""


@pytest.mark.parametrize("known", KNOWN, ids=[one.name for one in KNOWN])
def test_a_fact_is_found_at_its_place(reader: Reader, known: KnownFile) -> None:
    page = reader.read_file(known.name, known.body)
    assert (label_of(page, known.fact), page.is_cut) == (known.label, False)


@pytest.mark.parametrize("known", KNOWN, ids=[one.name for one in KNOWN])
def test_the_parts_of_a_file_are_the_file(reader: Reader, known: KnownFile) -> None:
    parts = list(reader.read_file_parts(known.name, known.body))
    page = reader.read_file(known.name, known.body)
    assert ([part.text for part in parts], parts[0].kind) == ([page.text], page.kind)


def test_every_kind_is_read_under_every_one_of_its_names() -> None:
    assert {one.name.rpartition(".")[2] for one in KNOWN} <= set(FILE_KINDS)
    assert set(FILE_KINDS) < set(UPLOAD_KINDS)
    assert len(UPLOAD_KINDS) == len(set(UPLOAD_KINDS))


OTHERS = {
    "旧.doc": (OLE + "WordDocument".encode("utf-16-le"), "doc", "另存为 .docx"),
    "旧.xls": (OLE + "Workbook".encode("utf-16-le"), "xls", "另存为 .xlsx"),
    "旧.ppt": (OLE + "PowerPoint Document".encode("utf-16-le"), "ppt", "另存为 .pptx"),
    "信.msg": (OLE + "__properties_version1.0".encode("utf-16-le"), "msg", "另存为 .eml"),
    "锁.xlsx": (OLE + "EncryptedPackage".encode("utf-16-le"), "locked", "去掉密码"),
    "信.rtf": (b"{\\rtf1\\ansi hello}", "rtf", "另存为 .docx"),
    "表.xlsb": (word_files.archive({"xl/workbook.bin": b"\x83\x01"}), "xlsb", "另存为 .xlsx"),
    "稿.wps": (OLE, "wps", "用 WPS 打开"),
    "稿.pages": (word_files.archive({"Index/Document.iwa": b"\0"}), "iwork", "导出为 PDF"),
    "稿.odt": (word_files.archive({"content.xml": "<a/>", "META-INF/manifest.xml": "<a/>"}), "opendocument", "另存为"),
    "发票.ofd": (word_files.archive({"OFD.xml": "<a/>", "Doc_0/Document.xml": "<a/>"}), "ofd", "转换为 PDF"),
    "书.mobi": (bytes(60) + b"BOOKMOBI" + bytes(99), "ebook", "转换为 EPUB"),
    "文.caj": (b"CAJ\0" + bytes(99), "ebook", "转换为 EPUB"),
    "包.zip": (word_files.archive({"合同.txt": "押金"}), "archive", "请先解压"),
    "包.rar": (b"Rar!\x1a\x07\x01\0" + bytes(99), "archive", "请先解压"),
    "包.7z": (b"7z\xbc\xaf\x27\x1c" + bytes(99), "archive", "请先解压"),
    "图.png": (png_file(), "picture", "是图片，没有文字层.*requirements-ocr.txt"),
    "空.pdf": (b"", "empty", "没有文字"),
    "乱.docx": (bytes(range(256)) * 40, "binary", "不是认得的文件"),
    "程序.exe": (b"MZ\x90\0", "kind", "只读"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_read_is_told_with_what_to_do(reader: Reader, name: str) -> None:
    body, reason, advice = OTHERS[name]
    with pytest.raises(FileError, match=advice) as raised:
        reader.read_file(name, body)
    assert raised.value.reason == reason
    assert str(raised.value).endswith("。")


def test_every_known_kind_has_its_case_and_the_sentence_names_what_is_read() -> None:
    assert set(OTHER_FILES) - {reason for _, reason, _ in OTHERS.values()} == set()
    assert all(kind in KINDS_IN_WORDS.lower() for kind in ("pdf", "docx", "pptx", "xlsx", "csv", "html", "epub", "eml"))


def test_a_file_with_another_ending_is_what_its_bytes_are(reader: Reader) -> None:
    pdf, word = (next(one for one in KNOWN if one.name.endswith(ending)) for ending in ("pdf", "docx"))
    assert reader.read_file("合同.doc", word.body).kind == "docx"
    assert reader.read_file("表.xlsx", pdf.body).kind == "pdf"
    page = reader.read_file("报表.xls", b"<html><body><table><tr><td>a<td>b</table></body></html>")
    assert (page.kind, page.text) == ("html", "a\tb")


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "big5"])
def test_text_in_every_encoding(reader: Reader, codec: str) -> None:
    words = "守塔人季安於十月二十日更換了燈塔的透鏡，費用由航道局承擔。這是他的記錄。"
    for name in ("記.txt", "記.md", "記.csv", "記.html"):
        assert reader.read_file(name, words.encode(codec)).text == words
