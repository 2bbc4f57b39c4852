"""Pages of a PDF as pictures, with passages marked."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from core.reading import FileError, Reader, worker_pool
from support.pdf_files import pdf_file

FIRST = "甲方应于2024年3月15日前向乙方支付合同价款人民币1,234,567.89元。"
SECOND = "逾期支付的，每逾期一日，按未付金额的万分之五支付违约金。"
THIRD = "本合同一式两份，双方各执一份，自签字之日起生效。"
FILE = pdf_file(["第一条 付款", FIRST, SECOND[:15]], [SECOND[15:], THIRD])


def draw(reader: Reader, body: bytes, number: int, *passages: str) -> Image.Image:
    return Image.open(io.BytesIO(reader.draw_page(body, number, passages)))


def marked_rows(reader: Reader, body: bytes, number: int, passages: Sequence[str]) -> list[tuple[int, int]]:
    """First and last row of pixels of each line with a mark."""
    marks = ImageChops.difference(draw(reader, body, number, *passages), draw(reader, body, number)).convert("L")
    rows = [y for y in range(marks.height) if marks.crop((0, y, marks.width, y + 1)).getbbox()]
    starts = [y for y in rows if y - 1 not in rows]
    return list(zip(starts, [y for y in rows if y + 1 not in rows], strict=True))


def test_the_lines_of_a_passage_are_marked(reader: Reader) -> None:
    lines = marked_rows(reader, FILE, 1, [FIRST])
    assert len(lines) == 1
    assert len(marked_rows(reader, FILE, 1, [FIRST.replace("，", "，\n"), "第一条付款"])) == 2
    assert not marked_rows(reader, FILE, 1, [THIRD, "第二条"])


def test_a_passage_is_marked_on_both_its_pages(reader: Reader) -> None:
    passage = FIRST + "\n" + SECOND + "\n" + THIRD
    assert len(marked_rows(reader, FILE, 1, [passage])) == 2
    assert len(marked_rows(reader, FILE, 2, [passage])) == 2


def test_hyphens_and_widths_do_not_count(reader: Reader) -> None:
    body = pdf_file(["The goods are deli-", "vered within ３ days (net)."])
    assert len(marked_rows(reader, body, 1, ["delivered within 3 days （net）"])) == 2


def test_the_letters_are_drawn_without_a_font_in_the_file(reader: Reader) -> None:
    """The worker may open no file: the font was opened before."""
    if not any(Path("/usr/share/fonts").rglob("Noto*CJK-Regular.*")):
        pytest.skip("this machine has no Chinese font")
    without = draw(reader, pdf_file(["2024"]), 1).convert("L").point(lambda level: 255 * (level < 100))
    picture = draw(reader, pdf_file(["2024付款"]), 1).convert("L").point(lambda level: 255 * (level < 100))
    assert picture.getbbox()[2] > without.getbbox()[2] + 20  # type: ignore[index]


@pytest.mark.parametrize(
    ("size", "more", "expected"),
    [
        ((595, 842), "", (1131, 1600)),
        ((595, 842), "/Rotate 90", (1600, 1131)),
        ((595, 842), "/CropBox [0 600 300 842]", (625, 505)),
        ((14_400, 14_400), "", (1600, 1600)),
        ((10_000, 2), "", (1600, 1)),
        ((3, 3), "", (7, 7)),
    ],
)
def test_a_picture_is_never_larger(reader: Reader, size: tuple[int, int], more: str, expected: tuple[int, int]) -> None:
    drawn = draw(reader, pdf_file([FIRST], size=size, more=more), 1, FIRST)
    assert drawn.size == pytest.approx(expected, abs=1)


def test_marks_follow_a_rotated_page(reader: Reader) -> None:
    body = pdf_file([FIRST, SECOND], more="/Rotate 90")
    ((first, last),) = marked_rows(reader, body, 1, [FIRST[:10]])
    assert 250 < last - first < 330  # ten characters, from top to bottom


@pytest.mark.parametrize("number", [0, -1, 3, 10**9])
def test_a_page_that_is_not_there(reader: Reader, number: int) -> None:
    with pytest.raises(FileError, match=rf"「合同.pdf」没有第 {number} 页"):
        reader.draw_page(FILE, number, [], name="合同.pdf")


@pytest.mark.parametrize("body", [b"", b"PK\x03\x04", FILE[:300]])
def test_what_cannot_be_drawn_is_a_sentence(reader: Reader, body: bytes) -> None:
    with pytest.raises(FileError, match=r"「文件」.*损坏"):
        reader.draw_page(body, 1, [])


def test_endless_drawing_is_ended(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "FILE_SECONDS", 0.5)
    chessboard = b" ".join(b"%d %d 500 500 re f*" % (n % 90, n % 70) for n in range(400_000))
    body = FILE.replace(b"BT", b"BT " + chessboard, 1)
    with pytest.raises(FileError, match="过于复杂"):
        reader.draw_page(body, 1, [])
