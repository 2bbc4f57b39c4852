"""Files of every kind that can be read, made by the libraries that others make theirs with, with facts at known places."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from email.message import EmailMessage
from typing import Any, NamedTuple

import docx
import pptx
import xlsxwriter
from PIL import Image

from support import word_files
from support.pdf_files import pdf_file

Row = Sequence[object]


class KnownFile(NamedTuple):
    """A file with one fact that no other of them has."""

    name: str
    body: bytes
    fact: str
    """Words that stand in the text that is read."""
    label: str
    """Place of the fact, as readers name it."""


class Slide(NamedTuple):
    title: str
    lines: Sequence[str] = ()
    notes: str = ""
    rows: Sequence[Sequence[str]] = ()


class Formula(NamedTuple):
    """A formula with the value that was calculated last; None if it never was."""

    text: str
    value: object = None


class Shown(NamedTuple):
    """A number with the format in which it is shown."""

    value: object
    format: str


def docx_file(*blocks: str | tuple[int, str] | Sequence[Row], properties: Mapping[str, Any] | None = None) -> bytes:
    """A Word document of paragraphs, headings (level, words) and tables (rows)."""
    document = docx.Document()
    for block in blocks:
        if isinstance(block, str):
            document.add_paragraph(block)
        elif isinstance(block, tuple) and isinstance(block[0], int):
            document.add_heading(str(block[1]), block[0])
        else:
            rows = [list(map(str, row)) for row in block if not isinstance(row, int | str)]
            table = document.add_table(len(rows), len(rows[0]))
            for line, texts in zip(table.rows, rows, strict=True):
                for cell, text in zip(line.cells, texts, strict=True):
                    cell.text = text
    for name, value in (properties or {}).items():
        setattr(document.core_properties, name, value)
    return _saved(document.save)


def pptx_file(*slides: Slide) -> bytes:
    """A presentation. Rows are a table of the slide."""
    show = pptx.Presentation()
    for slide in slides:
        page = show.slides.add_slide(show.slide_layouts[1])
        page.shapes.title.text = slide.title
        page.placeholders[1].text = "\n".join(slide.lines)
        if slide.rows:
            size = len(slide.rows), len(slide.rows[0])
            table = page.shapes.add_table(*size, 0, 3_000_000, 6_000_000, 2_000_000).table
            for line, texts in zip(table.rows, slide.rows, strict=True):
                for cell, text in zip(line.cells, texts, strict=True):
                    cell.text = text
        if slide.notes:
            page.notes_slide.notes_text_frame.text = slide.notes
    return _saved(show.save)


def xlsx_file(sheets: Mapping[str, Iterable[Row]], *, merged: Mapping[str, Sequence[str]] | None = None) -> bytes:
    """A workbook. None leaves a cell out; `merged` has ranges (A2:A4) whose first cell is in the rows already."""
    saved = io.BytesIO()
    book = xlsxwriter.Workbook(saved, {"in_memory": True, "default_date_format": "yyyy-mm-dd"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            for column, value in enumerate(row):
                _write_cell(book, sheet, (number, column), value)
        for area in (merged or {}).get(name, ()):
            sheet.merge_range(area, "")
            first = area.partition(":")[0]
            column, number = ord(first[0]) - ord("A"), int(first[1:]) - 1
            _write_cell(book, sheet, (number, column), list(sheets[name])[number][column])
    book.close()
    return saved.getvalue()


def _write_cell(book: Any, sheet: Any, at: tuple[int, int], value: object) -> None:
    if isinstance(value, Formula):
        sheet.write_formula(*at, value.text, None, "" if value.value is None else value.value)
    elif isinstance(value, Shown):
        sheet.write(*at, value.value, book.add_format({"num_format": value.format}))
    elif value is not None:
        sheet.write(*at, value)


def csv_file(rows: Iterable[Row], *, codec: str = "utf-8-sig", delimiter: str = ",") -> bytes:
    saved = io.StringIO()
    csv.writer(saved, delimiter=delimiter).writerows(rows)
    return saved.getvalue().encode(codec)


def html_file(title: str, *blocks: str) -> bytes:
    """A web page that was saved; the blocks are markup."""
    body = "\n".join(blocks)
    return f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head><body>{body}</body></html>".encode()


_OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
    '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title><dc:identifier id="id">1</dc:identifier>'
    "<dc:language>zh</dc:language></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
)


def epub_file(title: str, *chapters: tuple[str, Sequence[str]], more: Mapping[str, bytes | str] | None = None) -> bytes:
    """A book. The order of the spine is that of the chapters; in the archive and the manifest they are the other way round."""
    names = [f"text/c{len(chapters) - number}.xhtml" for number in range(len(chapters))]
    items = "".join(
        f'<item id="{name[5:-6]}" href="{name}" media-type="application/xhtml+xml"/>' for name in reversed(names)
    )
    spine = "".join(f'<itemref idref="{name[5:-6]}"/>' for name in names)
    parts: dict[str, bytes | str] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "OEBPS/book.opf": _OPF.format(title=title, items=items, spine=spine),
    }
    for name, (heading, paragraphs) in reversed(list(zip(names, chapters, strict=True))):
        words = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        parts[f"OEBPS/{name}"] = (
            '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
            f"<head><title>{heading}</title></head><body><h1>{heading}</h1>{words}</body></html>"
        )
    return word_files.archive(parts | dict(more or {}))


def eml_file(
    subject: str,
    text: str,
    *,
    html: str = "",
    sender: str = "王芳 <wang@lighthouse.example>",
    day: str = "Mon, 16 Nov 2026 09:30:00 +0800",
    files: Iterable[tuple[str, bytes]] = (),
) -> bytes:
    """An e-mail with its attached files."""
    message = EmailMessage()
    message["Subject"], message["From"], message["Date"] = subject, sender, day
    message["To"] = "李雷 <li@lighthouse.example>"
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html")
    for name, body in files:
        message.add_attachment(body, maintype="application", subtype="octet-stream", filename=name)
    return bytes(message)


def png_file(size: tuple[int, int] = (60, 40)) -> bytes:
    """A picture without any words."""
    saved = io.BytesIO()
    Image.new("RGB", size, (200, 220, 240)).save(saved, "PNG")
    return saved.getvalue()


def _saved(save: Callable[[io.BytesIO], None]) -> bytes:
    saved = io.BytesIO()
    save(saved)
    return saved.getvalue()


# ── One of each ───────────────────────────────────────────────────────────────────────────────────────────────────────

PRICES = [("项目", "单价", "生效日期"), *((f"零件 {n}", 100 + n, date(2026, 1, 1 + n % 28)) for n in range(2, 901))]
"""Row 800 has 零件 800, 900 yuan, 17 January."""


def known_files() -> list[KnownFile]:
    """One file of each kind that has text, with a fact of its own at a place that has a name."""
    contract = docx_file(
        "灯塔维护合同", (1, "范围"), "乙方维护三座灯塔。", (1, "付款方式"), "按季度付款。", "押金为 7,000 元。"
    )
    deck = pptx_file(
        Slide("年度计划", ["目标与预算"]),
        Slide("灯塔更新", ["新透镜"], notes="北岬的透镜在六月更换。"),
        Slide("预算", rows=[["项目", "金额"], ["油漆", "3,200 元"], ["电缆", "5,600 元"]]),
    )
    talk = [("第一章 启程", ["船在清晨离港。"]), ("第二章 雾", ["雾里只有钟声。", "守塔人名叫季安。"])]
    letter = eml_file(
        "灯塔检修安排",
        "各位好：\n检修定在十一月二十日。\n",
        files=[("清单.csv", csv_file([("物品", "数量"), ("灯泡", 48)]))],
    )
    page = html_file("潮汐表", "<h1>潮汐</h1><p>说明。</p><h2>十一月</h2><p>大潮在二十五日。</p>")
    return [
        KnownFile(
            "合同.pdf", pdf_file(["第一条 范围"], ["第二条 租金每月 4,200 元。"]), "租金每月 4,200 元", "第 2 页"
        ),
        KnownFile("合同.docx", contract, "押金为 7,000 元。", "「付款方式」第 2 段"),
        KnownFile("计划.pptx", deck, "北岬的透镜在六月更换。", "幻灯片 2"),
        KnownFile(
            "价目.xlsx",
            xlsx_file({"说明": [["单位：元"]], "价目": PRICES}),
            "项目：零件 800；单价：900",
            "「价目」第 800 行",
        ),
        KnownFile(
            "库存.csv", csv_file([("品名", "数量"), ("缆绳", 12), ("浮标", 31)]), "品名：浮标；数量：31", "第 3 行"
        ),
        KnownFile("潮汐.html", page, "大潮在二十五日。", "「十一月」第 1 段"),
        KnownFile("雾.epub", epub_file("雾", *talk), "守塔人名叫季安。", "「第二章 雾」第 2 段"),
        KnownFile("检修.eml", letter, "检修定在十一月二十日。", "正文"),
        KnownFile(
            "手册.md",
            "# 手册\n\n## 值班\n\n每班八小时。\n\n夜班补贴 60 元。\n".encode(),
            "夜班补贴 60 元。",
            "「值班」第 2 段",
        ),
        KnownFile("便条.txt", "备用钥匙在灯房的铁盒里。\n".encode("gb18030"), "备用钥匙在灯房的铁盒里。", ""),
    ]
