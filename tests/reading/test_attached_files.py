"""Files that readers bring along."""

from __future__ import annotations

import io

import docx
import pytest

from core.reading import FileError, Reader
from core.reading.extraction_types import DocumentComment
from support import web_pages as pages
from support import word_files
from support.word_files import word_file

RENT = "租金每月 3,500 元，押二付一。"
PENALTY = "逾期付款的，每日按未付金额的万分之五支付违约金。"


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("合同.docx", word_file(RENT, PENALTY), f"{RENT}\n{PENALTY}"),
        (
            "合同.DOCX",
            word_file(rows=[["项目", "金额"], ["押金", "7,000 元"]]),
            "项目\t金额\n项目：押金；金额：7,000 元",
        ),
        ("合同.txt", f"{RENT}\r\n{PENALTY}".encode("gb18030"), f"{RENT}\n{PENALTY}"),
        ("合同.md", f"# 租约\n\n{RENT}".encode("utf-8-sig"), f"# 租约\n\n{RENT}"),
        ("网页.txt", b"<p>as it was written</p>", "<p>as it was written</p>"),
        ("report.pdf", pages.pdf_of("Meters are replaced in November."), "Meters are replaced in November."),
    ],
)
def test_a_file_is_a_page_with_its_words(reader: Reader, name: str, body: bytes, said: str) -> None:
    page = reader.read_file(name, body)
    assert (page.title, page.text, page.is_cut) == (name, said, False)
    assert page.address.startswith("attachment:")


def test_two_files_of_one_name_have_two_addresses(reader: Reader) -> None:
    one, other = (reader.read_file("a.txt", body) for body in (RENT.encode(), PENALTY.encode()))
    assert one.address != other.address


def test_footnotes_are_read_and_deleted_words_are_not(reader: Reader) -> None:
    body = word_files.with_footnote(word_file(RENT, PENALTY), "押二付一。", "见《民法典》第七百二十一条。")
    main = word_files.part(body).replace(
        "</w:body>", '<w:p><w:del w:id="9"><w:r><w:delText>删去的话</w:delText></w:r></w:del></w:p></w:body>'
    )
    text = reader.read_file("a.docx", word_files.with_part(body, word_files.MAIN, main)).text
    assert text == f"{RENT}\n{PENALTY}\n\n注 1：见《民法典》第七百二十一条。"


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
LAUGHS = (
    '<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
    f"<w:document {W}><w:body><w:p><w:r><w:t>&c;</w:t></w:r></w:p></w:body></w:document>"
)
OUTSIDE = LAUGHS.replace('"ha"', 'SYSTEM "file:///etc/passwd"')
SAVED_BY_OLD_WORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("name", "body", "reason", "words"),
    [
        ("扫描.pdf", pages.DRAWING, "scanned", "扫描"),
        ("a.pdf", b"%PDF-1.7\n%%EOF", "broken", "损坏"),
        ("a.docx", SAVED_BY_OLD_WORD, "doc", ".docx"),
        ("a.docx", SAVED_BY_OLD_WORD + "EncryptedPackage".encode("utf-16-le"), "locked", "密码"),
        ("a.docx", word_file(), "empty", "没有文字"),
        ("a.docx", word_file(RENT)[:-40], "broken", "损坏"),
        ("a.docx", lambda: word_files.archive({word_files.MAIN: bytes(200_000_000)}), "large", "太大"),
        (
            "a.docx",
            word_files.archive({word_files.MAIN: "<", **{f"{n}.xml": "" for n in range(6_000)}}),
            "large",
            "太大",
        ),
        ("a.docx", word_files.archive({word_files.MAIN: LAUGHS}), "broken", "损坏"),
        ("a.docx", word_files.archive({word_files.MAIN: OUTSIDE}), "broken", "损坏"),
        ("a.docx", word_files.archive({word_files.MAIN: f"<w:p {W}>" * 60_000}), "broken", "损坏"),
        ("a.docx", word_files.archive({"a.txt": RENT}), "archive", "请先解压"),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(999), "broken", "损坏"),
        ("a.txt", b"", "empty", "没有文字"),
        ("a.exe", RENT.encode(), "kind", "docx"),
        ("..", RENT.encode(), "kind", "docx"),
        ("a.txt", b"a" * (10 * 1024 * 1024 + 1), "large", "太大"),
    ],
)
def test_what_is_not_read_is_a_sentence(reader: Reader, name: str, body: pages.Body, reason: str, words: str) -> None:
    with pytest.raises(FileError, match=words) as raised:
        reader.read_file(name, pages.made(body))
    assert raised.value.reason == reason
    assert f"「{name}」" in str(raised.value)


def test_comments_stand_at_their_words_and_the_formatting_stays(reader: Reader) -> None:
    def bold(document: docx.document.Document) -> None:
        run = document.add_paragraph().add_run("依照《民法典》第五百八十五条，可以约定违约金。")
        run.bold = True

    body = word_file(RENT, change=bold)
    text = reader.read_file("a.docx", body).text
    place = text.index("《民法典》第五百八十五条")
    made = reader.add_comments(
        "a.docx", body, [DocumentComment(place, place + 12, "✓ 与条文一致"), DocumentComment(0, 2, "租金？")], "问源"
    )
    document = docx.Document(io.BytesIO(made))
    assert [(one.text, one.author) for one in document.comments] == [("✓ 与条文一致", "问源"), ("租金？", "问源")]
    assert [paragraph.text for paragraph in document.paragraphs] == text.split("\n")
    runs = [run for run in document.paragraphs[1].runs if run.text]
    assert [(run.text, run.bold) for run in runs] == [
        ("依照", True),
        ("《民法典》第五百八十五条", True),
        ("，可以约定违约金。", True),
    ]
    assert reader.read_file("a.docx", made).text == text


def test_a_comment_on_a_footnote_hangs_at_its_number(reader: Reader) -> None:
    body = word_files.with_footnote(word_file(RENT, PENALTY), "押二付一。", "见《民法典》第七百二十一条。")
    text = reader.read_file("a.docx", body).text
    place = text.index("《民法典》")
    made = reader.add_comments("a.docx", body, [DocumentComment(place, place + 5, "○ 条文存在")], "问源")
    main = word_files.part(made)
    assert main.index("commentRangeStart") < main.index("footnoteReference") < main.index("commentRangeEnd")
