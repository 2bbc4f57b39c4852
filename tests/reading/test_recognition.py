"""Text in scans and pictures, recognized by the real models in their own process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from core.base.http import Cancelled, Deadline
from core.reading import FileError, FilePart, Reader, ReadingSettings
from core.reading.pictures import Picture
from core.reading.recognition_types import RecognizedPage
from core.reading.recognized_text import with_recognized
from core.reading.recognizer import Recognizer
from support.pdf_files import pdf_file
from support.scans import blank, file_of, one_recognizer, scan, smear, write
from support.waiting import until
from support.web_pages import DRAWING

LINES = [
    "租赁合同",
    "出租方应当在2026年3月15日前交付灯塔一座，面积为1,284.50平方米。",
    "承租方每月支付租金人民币48,600元，逾期按每日万分之五支付违约金。",
    "本合同编号LH-2047，一式三份，自双方签字之日起生效。",
]


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with one_recognizer():
        reader = Reader(ReadingSettings())
        yield reader
        reader.close()


def recognize(reader: Reader, body: bytes, *numbers: int) -> list[RecognizedPage]:
    return list(reader.recognize_pages("扫描.pdf", body, numbers or (1,)))


def recognized_part(reader: Reader, name: str, body: bytes) -> FilePart:
    (part,) = reader.read_file_parts(name, body)
    return with_recognized(part, reader.recognize_pages(name, body, part.unread_pages))


def process_ids(reader: Reader) -> list[int]:
    return [worker._process.pid for worker in reader._recognizer._pool._alive]


def text_of(lines: Sequence[str]) -> str:
    """What the models write, who do not know some widths apart."""
    return "\n".join(lines)


def test_a_scan_is_read_to_the_letter(reader: Reader) -> None:
    (page,) = recognize(reader, file_of("PDF", scan(*LINES)))
    assert page.text == text_of(LINES)
    assert (page.number, page.problem, page.uncertain) == (1, "", ())
    assert page.confidence > 0.97


@pytest.mark.parametrize(
    ("name", "format", "options"),
    [
        ("照片.jpg", "JPEG", {"quality": 60}),
        ("截图.png", "PNG", {}),
        ("截图.webp", "WEBP", {"quality": 60}),
        ("截图.bmp", "BMP", {}),
    ],
)
def test_a_picture_is_read(reader: Reader, name: str, format: str, options: dict[str, object]) -> None:
    part = recognized_part(reader, name, file_of(format, scan(*LINES).crop((0, 0, 1_654, 500)), **options))
    assert part.text == text_of(LINES)
    assert (part.kind, part.pages, part.unread_pages) == ("image", 1, ())
    assert [(section.title, section.is_recognized) for section in part.sections] == [("图片", True)]


def test_all_pages_of_a_fax_are_read(reader: Reader) -> None:
    pages = [
        write(blank(), [f"第{number}页的编号是{number}0{number}号。"], size=44).convert("1") for number in (1, 2, 3)
    ]
    part = recognized_part(reader, "传真.tiff", file_of("TIFF", *pages, compression="group4"))
    assert part.text.split("\n\n") == [f"第{number}页的编号是{number}0{number}号。" for number in (1, 2, 3)]
    assert [(section.number, section.is_recognized) for section in part.sections] == [(1, True), (2, True), (3, True)]
    assert [part.text[section.start :][:3] for section in part.sections] == ["第1页", "第2页", "第3页"]


def test_a_photograph_is_turned_as_its_camera_says(reader: Reader) -> None:
    picture = scan(*LINES)
    sideways = picture.rotate(90, expand=True)
    exif = sideways.getexif()
    exif[0x0112] = 6  # to be turned clockwise
    (page,) = recognize(reader, file_of("JPEG", sideways, exif=exif))
    assert page.text == text_of(LINES)


def test_letters_on_transparent_paper_are_read(reader: Reader) -> None:
    paper = write(blank((1_200, 200)), ["库存38件，单价19.90元。"], top=60)
    paper.putalpha(paper.convert("L").point(lambda level: 255 - level))
    (page,) = recognize(reader, file_of("PNG", paper))
    assert page.text == "库存38件，单价19.90元。"


def test_columns_are_read_one_after_the_other(reader: Reader) -> None:
    left = [f"左边第{number}行写的是守塔人每天晚上的记录。" for number in range(1, 7)]
    right = [f"右边第{number}行写的是港务公司的回信内容。" for number in range(1, 7)]
    paper = write(blank(), ["灯塔月报第十二期，刊载一个月来各处灯塔的巡查记录与往来信函"], left=200, size=40)
    write(paper, left, left=120, top=300, size=30)
    write(paper, right, left=880, top=300, size=30)
    (page,) = recognize(reader, file_of("PDF", paper.rotate(-0.7, fillcolor="white")))
    assert page.text.split("\n")[1:] == left + right


def test_the_cells_of_a_table_stay_in_their_rows(reader: Reader) -> None:
    paper = blank()
    for number, row in enumerate([("品名", "数量", "单价"), ("缆绳", "120", "35.50"), ("镜片", "8", "2,400.00")]):
        for column, cell in enumerate(row):
            write(paper, [cell], left=200 + 450 * column, top=200 + 80 * number)
    (page,) = recognize(reader, file_of("PDF", paper.rotate(0.5, fillcolor="white")))
    assert page.text.split("\n") == ["品名 数量 单价", "缆绳 120 35.50", "镜片 8 2,400.00"]


def test_a_value_that_is_hard_to_read_is_uncertain(reader: Reader) -> None:
    paper = smear(write(blank(), ["押金为人民币5,000元。"]), "违约金每月为人民币38,697元", left=160, top=260)
    (page,) = recognize(reader, file_of("PDF", paper))
    uncertain = [page.text[start:end] for start, end in page.uncertain]
    assert "5,000" in page.text
    assert any("697" in value for value in uncertain)
    assert "5,000" not in uncertain


def test_pages_with_and_without_text_stay_in_order(reader: Reader) -> None:
    import pypdfium2

    whole = pypdfium2.PdfDocument.new()
    for body in (
        pdf_file(["第一页有文字层，" * 6]),
        file_of("PDF", scan("扫描的第二页写着2,580元。")),
        pdf_file(["末页，" * 12]),
    ):
        whole.import_pages(pypdfium2.PdfDocument(body))
    file = Path(os.environ["DATA_DIR"]) / "whole.pdf"
    whole.save(file)
    part = recognized_part(reader, "合同.pdf", file.read_bytes())
    first, second, third = part.text.split("\n\n")
    assert (first[:8], second, third[:3]) == ("第一页有文字层，", "扫描的第二页写着2,580元。", "末页，")
    marks = [(section.number, section.is_recognized, part.text[section.start :][:3]) for section in part.sections]
    assert marks == [(1, False, "第一页"), (2, True, "扫描的"), (3, False, "末页，")]


def test_of_an_attached_file_no_more_pages_are_recognized_than_a_reader_waits_for(reader: Reader) -> None:
    body = file_of("PDF", scan(LINES[1]), scan(LINES[2]), scan(LINES[3]))
    told: list[tuple[int, int]] = []
    page = reader.read_file("扫描.pdf", body, scanned_pages=2, on_page=lambda place, count: told.append((place, count)))
    assert page.text == f"{LINES[1]}\n\n{LINES[2]}"
    assert (page.unread_pages, page.is_cut, told) == ((3,), True, [(1, 2), (2, 2)])
    with pytest.raises(FileError, match="里没有文字"):
        reader.read_file("空白.png", file_of("PNG", blank((300, 300))))


def test_letters_that_are_drawings_are_recognized(reader: Reader) -> None:
    """Without a text layer, and without a picture: a square here."""
    (part,) = reader.read_file_parts("图纸.pdf", DRAWING)
    assert part.unread_pages == (1,)


def test_an_empty_page_has_no_text(reader: Reader) -> None:
    (page,) = recognize(reader, file_of("PDF", blank()))
    assert (page.text, page.problem, page.uncertain) == ("", "", ())


# ── The process ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_process_is_confined_and_sends_no_reports(reader: Reader) -> None:
    assert reader._recognizer.confinement(Deadline(60)).missing == []
    (process,) = process_ids(reader)
    limits = Path(f"/proc/{process}/limits").read_text()
    assert "Max open files            0                    0" in limits
    assert "Max address space         1600000000           1600000000" in limits
    assert "Seccomp:\t2" in Path(f"/proc/{process}/status").read_text()
    assert b"ORT_DISABLE_TELEMETRY=1" in Path(f"/proc/{process}/environ").read_bytes()


def test_a_page_of_any_size_stays_within_the_memory(reader: Reader) -> None:
    """A small page, one as wide as a banner, and the largest that is sent."""
    for size in ((20, 10), (2_400, 40), (2_400, 2_400)):
        paper = blank(size)
        (page,) = recognize(reader, file_of("PNG", write(paper, LINES * 10, left=10, top=5) if size[1] > 99 else paper))
        assert page.problem == ""
    (process,) = process_ids(reader)
    peak = next(line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmHWM"))
    assert int(peak.split()[1]) < 800_000


def test_one_that_died_is_replaced(reader: Reader) -> None:
    body = file_of("PNG", write(blank((900, 200)), ["编号2047"]))
    assert recognize(reader, body)[0].text == "编号2047"
    (process,) = process_ids(reader)
    os.kill(process, signal.SIGKILL)
    assert recognize(reader, body)[0].problem == "「扫描.pdf」不完整或已损坏，没有读。"
    assert recognize(reader, body)[0].text == "编号2047"


def test_what_is_asked_while_it_works_waits(reader: Reader) -> None:
    body = file_of("PNG", write(blank((900, 200)), ["编号2047"]))
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(recognize(reader, body)[0].text)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["编号2047"] * 3
    assert len(process_ids(reader)) == 1


def test_a_stop_ends_the_page_under_way(reader: Reader) -> None:
    body = file_of("PDF", scan(*LINES * 8))
    deadline = Deadline(60)
    pages = reader.recognize_pages("扫描.pdf", body, [1, 2], deadline=deadline)
    threading.Timer(0.3, deadline.cancel).start()
    with pytest.raises(Cancelled):
        list(pages)
    assert recognize(reader, file_of("PNG", write(blank((900, 200)), ["编号2047"])))[0].text == "编号2047"


def test_an_idle_process_ends() -> None:
    with one_recognizer():
        recognizer = Recognizer(idle_seconds=0.2)
        try:
            assert recognizer.recognize(Picture(8, 8, bytes([255]) * 192), Deadline(60)) == []
            until(lambda: not recognizer._pool._alive)
            assert recognizer.recognize(Picture(8, 8, bytes([255]) * 192), Deadline(60)) == []
        finally:
            recognizer.close()


@pytest.mark.parametrize(("number", "said"), [(3, "没有第 3 页"), (0, "没有第 0 页")])
def test_a_page_that_is_not_there_states_its_problem(reader: Reader, number: int, said: str) -> None:
    pages = recognize(reader, file_of("PDF", scan("编号2047")), number, 1)
    assert (said in pages[0].problem, pages[1].text) == (True, "编号2047")
