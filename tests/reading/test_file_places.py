"""What is read of presentations, books, mails, saved pages and Markdown, and what their places are called."""

from __future__ import annotations

import io
from email.message import EmailMessage
from typing import Any

import pptx
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from core.reading import Page, Reader, TextSection, place_at
from support import word_files
from support.office_files import Slide, docx_file, eml_file, epub_file, html_file, pptx_file, xlsx_file
from support.pdf_files import pdf_file

SLIDE = "ppt/slides/slide2.xml"


def label_of(page: Page, words: str) -> str:
    place = place_at(page.text, page.sections, page.text.index(words))
    return place.label if place else ""


def headings(page: Page) -> list[tuple[int, str]]:
    return [(one.level, one.title) for one in page.sections if one.kind == "heading" and one.title]


def test_slides_have_numbers_titles_and_notes_and_hidden_ones_are_left_out(reader: Reader) -> None:
    body = pptx_file(Slide("一", ["甲"]), Slide("二", ["乙"]), Slide("三", ["丙"], notes="说给自己听。"))
    hidden = word_files.part(body, SLIDE).replace("<p:sld ", '<p:sld show="0" ')
    page = reader.read_file("a.pptx", word_files.with_part(body, SLIDE, hidden))
    assert page.text == "一\n甲\n\n三\n丙\n备注：说给自己听。"
    assert [(one.number, one.title) for one in page.sections] == [(1, "一"), (3, "三")]
    place = place_at(page.text, page.sections, page.text.index("说给"))
    assert place is not None
    assert (place.label, place.page, place.kind) == ("幻灯片 3", 3, "slide")


def test_slides_are_in_the_order_in_which_they_are_shown(reader: Reader) -> None:
    body = pptx_file(Slide("一"), Slide("二"))
    main = word_files.part(body, "ppt/presentation.xml")
    first, second = 'r:id="rId7"', 'r:id="rId8"'
    assert first in main
    assert second in main
    swapped = main.replace(first, "@").replace(second, first).replace("@", second)
    assert reader.read_file("a.pptx", word_files.with_part(body, "ppt/presentation.xml", swapped)).text == "二\n\n一"


def test_words_of_a_diagram_are_read(reader: Reader) -> None:
    body = pptx_file(Slide("流程"))
    relations = "ppt/slides/_rels/slide1.xml.rels"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    frame = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="9" name="d"/></p:nvGraphicFramePr><a:graphic><a:graphicData>'
        f'<dgm:relIds xmlns:dgm="urn:d" xmlns:r="{kind}" r:dm="rId9"/></a:graphicData></a:graphic></p:graphicFrame>'
    )
    slide = word_files.part(body, "ppt/slides/slide1.xml").replace("</p:spTree>", frame + "</p:spTree>")
    related = word_files.part(body, relations).replace(
        "</Relationships>",
        f'<Relationship Id="rId9" Type="{kind}/diagramData" Target="../diagrams/data1.xml"/></Relationships>',
    )
    data = (
        '<d xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:p><a:r><a:t>先登记</a:t></a:r></a:p></d>'
    )
    for name, part in (("ppt/slides/slide1.xml", slide), (relations, related), ("ppt/diagrams/data1.xml", data)):
        body = word_files.with_part(body, name, part)
    assert reader.read_file("a.pptx", body).text == "流程\n先登记"


def test_paragraphs_of_word_are_counted_below_their_headings(reader: Reader) -> None:
    body = docx_file("序言。", (1, "范围"), "三座灯塔。", "", "两座浮标。", (2, "例外"), "北岬不在内。")
    page = reader.read_file("a.docx", body)
    assert headings(page) == [(1, "范围"), (2, "例外")]
    places = {words: label_of(page, words) for words in ("序言", "范围", "三座", "两座", "北岬")}
    assert places == {
        "序言": "第 1 段",
        "范围": "「范围」",
        "三座": "「范围」第 1 段",
        "两座": "「范围」第 2 段",
        "北岬": "「例外」第 1 段",
    }


def test_chapters_are_in_the_order_of_the_spine(reader: Reader) -> None:
    page = reader.read_file(
        "a.epub", epub_file("书", ("启程", ["清晨。"]), ("雾", ["钟声。", "季安。"]), ("归", ["灯。"]))
    )
    chapters = [(one.number, one.title) for one in page.sections if one.kind == "chapter"]
    assert chapters == [(1, "启程"), (2, "雾"), (3, "归")]
    assert label_of(page, "季安") == "「雾」第 2 段"


def test_a_book_whose_fonts_alone_are_locked_is_read(reader: Reader) -> None:
    locked = '<encryption><e><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/></e></encryption>'
    body = epub_file("书", ("启程", ["清晨。"]), more={"META-INF/encryption.xml": locked})
    assert "清晨。" in reader.read_file("a.epub", body).text


def test_attached_files_are_places_of_a_mail(reader: Reader) -> None:
    files = [
        ("合同.pdf", pdf_file(["第一条 范围"], ["第二条 租金 4,200 元"])),
        ("价目.xlsx", xlsx_file({"单价": [["项目", "金额"], ["油漆", 320]]})),
        ("照片.bin", bytes(200)),
    ]
    page = reader.read_file("a.eml", eml_file("安排", "请看附件。", files=files))
    assert label_of(page, "主题：安排") == "邮件头"
    assert label_of(page, "请看附件") == "正文"
    assert label_of(page, "租金") == "附件「合同.pdf」第 2 页"
    assert label_of(page, "油漆") == "附件「价目.xlsx」「单价」"
    assert "附件：照片.bin（200 字节，没有读出文字）" in page.text
    assert (page.kind, "日期：2026-11-16 09:30" in page.text) == ("eml", True)


def test_a_mail_in_old_encodings_with_a_forwarded_one(reader: Reader) -> None:
    inner = EmailMessage()
    inner["Subject"], inner["From"] = "原来的信", "zhao@lighthouse.example"
    inner.set_content("透镜已经到港。")
    outer = EmailMessage()
    outer["From"] = "qian@lighthouse.example"
    outer.set_content("转给你。", charset="gb2312")
    outer.add_attachment(inner)
    body = b"Subject: =?gb2312?B?" + b"16q3og==" + b"?=\n" + bytes(outer)
    page = reader.read_file("a.eml", body)
    assert "主题：转发" in page.text
    assert label_of(page, "转给你") == "正文"
    assert label_of(page, "透镜已经到港").startswith("附件「")


def test_of_text_and_page_that_say_the_same_one_is_read(reader: Reader) -> None:
    page = reader.read_file("a.eml", eml_file("信", "只说一次。", html="<p>只说一次。</p>"))
    assert page.text.count("只说一次。") == 1


def test_a_saved_page_is_read_whole_with_its_headings_and_nothing_hidden(reader: Reader) -> None:
    body = html_file(
        "标题",
        "<nav>目录</nav><h1>总则</h1><p>一<br>二</p><pre>a  b\n  c</pre><p style='display:none'>隐藏</p><h3>附则</h3><ul><li>三</ul>",
    )
    page = reader.read_file("a.html", body)
    assert page.text == "目录\n总则\n一\n二\na  b\n  c\n附则\n三"
    assert headings(page) == [(1, "总则"), (3, "附则")]
    assert [label_of(page, words) for words in ("目录", "二", "三")] == [
        "第 1 段",
        "「总则」第 2 段",
        "「附则」第 1 段",
    ]


def test_headings_of_markdown_are_not_in_its_code(reader: Reader) -> None:
    text = "前言\n\n总则\n====\n\n## 范围 ##\n```\n# 注释\n```\n内容\n| a |\n| --- |\n"
    page = reader.read_file("a.md", text.replace("\n", "\r\n").encode())
    assert headings(page) == [(1, "总则"), (2, "范围")]
    assert page.text == text.strip()
    assert label_of(page, "前言") == "第 1 段"


def test_the_day_of_the_last_change_is_kept(reader: Reader) -> None:
    from datetime import datetime

    body = docx_file("一句话。", properties={"modified": datetime(2025, 4, 9), "title": "守则"})
    (part,) = reader.read_file_parts("a.docx", body)
    assert (part.modified, part.title) == ("2025-04-09", "守则")
    assert part.sections == (TextSection(0, "heading"),)


def test_the_values_of_a_chart_are_read(reader: Reader) -> None:
    show = pptx.Presentation()
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["一月", "二月"]
    data.add_series("北岬", (12, 15.5))
    data.add_series("南湾", (7, None))
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "用油"
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 4_000_000, 3_000_000, data)
    saved = io.BytesIO()
    show.save(saved)
    text = reader.read_file("a.pptx", saved.getvalue()).text
    assert text == "用油\n一月；北岬：12；南湾：7\n二月；北岬：15.5"
