"""Pages of a PDF as pictures, without a browser: what is drawn, for which page, and what a failure says."""

from __future__ import annotations

import io
import re
from base64 import b64decode
from collections.abc import Iterator

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from core.reading import Reader, ReadingSettings
from support.pdf_files import pdf_file
from support.reading import kept_workers

__all__ = ["kept_workers"]

FILE = pdf_file(["封面"], ["租金为每月 3,500 元。"], ["附件清单"])


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    reader = Reader(ReadingSettings())
    yield reader
    reader.close()


def _draw(reader: "Reader", body: bytes, count: int) -> None:  # noqa: UP037 - its source is run by itself
    from functools import partial

    from core.ui import page_picture

    passages = {2: ["租金为每月 3,500 元。"]}
    draw_page = partial(reader.draw_page, body, name="租约.pdf")
    passages_on = lambda number: passages.get(number, ())  # noqa: E731
    page_picture.draw(draw_page, key="p", name='租约"<b>.pdf', first=2, count=count, passages_on=passages_on)


def picture_page(reader: Reader, body: bytes = FILE, *, count: int = 3) -> AppTest:
    kwargs = {"reader": reader, "body": body, "count": count}
    page = AppTest.from_function(_draw, default_timeout=60, kwargs=kwargs).run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    return "".join(element.proto.body for element in page.get("html"))


def picture(page: AppTest) -> Image.Image:
    (data,) = re.findall('src="data:image/png;base64,([^"]+)"', html(page))
    return Image.open(io.BytesIO(b64decode(data)))


def button(page: AppTest, label: str) -> Button:
    (found,) = [one for one in page.button if one.label == label]
    return found


def click(page: AppTest, label: str) -> AppTest:
    button(page, label).click()
    page.run()
    assert not page.exception
    return page


MARK = (255, 232, 140)


def has_mark(page: AppTest) -> bool:
    return MARK in {colour for _, colour in picture(page).getcolors(1_000_000) or ()}


def test_the_page_of_a_passage_is_drawn_with_its_mark_and_leads_to_its_neighbours(reader: Reader) -> None:
    page = picture_page(reader)
    assert has_mark(page)
    assert "第 2 页，共 3 页" in [one.value for one in page.markdown]
    assert 'alt="「租约&#34;&lt;b&gt;.pdf」第 2 页的图片，标出了：租金为每月 3,500 元。"' in html(page)
    click(page, "下一页")
    assert not has_mark(page)
    assert 'alt="「租约&#34;&lt;b&gt;.pdf」第 3 页的图片"' in html(page)
    assert button(page, "下一页").disabled
    click(click(page, "上一页"), "上一页")
    assert "第 1 页，共 3 页" in [one.value for one in page.markdown]
    assert button(page, "上一页").disabled


def test_beyond_the_end_of_a_file_whose_length_is_unknown_stands_a_sentence(reader: Reader) -> None:
    page = click(click(picture_page(reader, count=0), "下一页"), "下一页")
    assert [one.value for one in page.warning] == ["「租约\\.pdf」没有第 4 页。"]
    assert "data:image" not in html(page)
    assert has_mark(click(click(page, "上一页"), "上一页"))


def test_a_damaged_file_is_a_sentence_and_may_be_tried_again(reader: Reader) -> None:
    page = picture_page(reader, b"%PDF-1.4 nothing")
    assert [one.value for one in page.warning] == ["「租约\\.pdf」不完整或已损坏，没有读。"]
    assert [one.value for one in click(page, "再试一次").warning] == ["「租约\\.pdf」不完整或已损坏，没有读。"]
