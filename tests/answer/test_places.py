"""The page of every passage: found by the check in the text, and said wherever the source is named."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import BytesIO

import docx
import pytest

from core.answer import annotate, export, places_by_source, references_html, render_annotated
from core.answer.check_results import AnswerCheck
from core.answer.check_texts import source_texts, with_digests, with_places
from core.answer.events import Answer, Checked, PageRead
from core.answer.message import Message
from core.answer.place_labels import join_places
from core.answer.stored_message import decode_message, encode_message
from core.checks import check_answer
from core.reading import Page, Place, TextSection
from core.search.types import Source
from support.sectioned import sectioned_page

HEADER = "海州港务局二〇二五年报\n"
FILL = "本页其余内容与这个问题没有关系，只是说明。"
PAGES = (
    f"{HEADER}目录和前言。{FILL}",
    f"{HEADER}{FILL}灯塔的塔高为 47 米，建于 1932 年。{FILL}",
    f"{HEADER}守塔人共有十二人。全年开灯",
    f"四千三百小时，没有中断。{FILL}",
    f"{HEADER}灯室的造价为 86 万元。{FILL}",
)
FILE = sectioned_page("年报.pdf", PAGES)
SHEET = replace(
    sectioned_page("价目.xlsx", ("品名\t单价\n灯塔牌灯泡的单价为 35 元。\n灯塔牌灯罩的单价为 18 元。\n",)),
    sections=(TextSection(0, "sheet", 1, "价目"),),
)
SOURCES = (
    Source(1, FILE.title, FILE.address, "海州", read="file", characters=FILE.length),
    Source(2, SHEET.title, SHEET.address, "品名", read="file", characters=SHEET.length),
)
TEXTS = {1: FILE, 2: SHEET}
ANSWER = (
    "灯塔的塔高为 47 米[1]。守塔人共有十二人[1]。灯室的造价为 86 万元[1]。灯塔牌灯罩的单价为 18 元[2]。"
    "全年开灯四千三百小时[1]。灯塔是红色的[1]。"
)


def checked(text: str = ANSWER) -> AnswerCheck:
    texts = source_texts(SOURCES, TEXTS)
    return with_places(with_digests(check_answer(text, texts), texts), texts)


def message(text: str = ANSWER) -> Message:
    read = tuple(PageRead(source) for source in SOURCES)
    return Message("assistant", text, (*read, Checked(checked(text)), Answer(text, SOURCES)), SOURCES, id="a")


def labels(check: AnswerCheck) -> list[str]:
    return [one.citations[0].check.evidence[0].place.label for one in check.statements]  # type: ignore[union-attr]


def test_each_statement_has_the_page_of_the_words_that_say_so() -> None:
    assert labels(checked())[:4] == ["第 2 页", "第 3 页", "第 5 页", "「价目」第 3 行"]
    (straddling,) = [one for one in checked().statements if "开灯" in one.text]
    place = straddling.citations[0].check.evidence[0].place
    assert place == Place("第 4 页", 4)  # most of its words stand there, although the sentence begins on page 3


def test_a_text_without_pages_has_no_place() -> None:
    texts = source_texts(SOURCES, {1: replace(FILE, sections=())})
    found = with_places(check_answer(ANSWER, texts), texts)
    assert places_by_source(found) == {}
    assert '"place"' not in json.dumps(found.to_json())


def test_only_what_was_compared_counts_as_a_place_of_the_answer() -> None:
    assert join_places(places_by_source(checked())[1]) == "第 2–5 页"
    assert join_places(places_by_source(checked())[2]) == "「价目」第 3 行"
    assert places_by_source(checked("灯塔是红色的[1]。")) == {}


@pytest.mark.parametrize(
    ("pages", "words"),
    [
        ([14], "第 14 页"),
        ([3, 9, 10, 3], "第 3、9–10 页"),
        ([1, 2, 4, 6, 7, 8], "第 1–2、4、6–8 页"),
        ([], ""),
    ],
)
def test_pages_are_named_in_few_words(pages: list[int], words: str) -> None:
    assert join_places(Place(f"第 {page} 页", page) for page in pages) == words


def test_slides_rows_and_recognized_pages_are_named_as_what_they_are() -> None:
    assert join_places([Place("幻灯片 3", 3, kind="slide"), Place("幻灯片 4", 4, kind="slide")]) == "幻灯片 3–4"
    assert join_places([Place("第 3 页", 3), Place("第 4 页", 4, is_recognized=True)]) == "第 3 页、第 4 页（识别）"
    rows = [Place(f"「价目」第 {row} 行", kind="sheet") for row in range(1, 10)]
    assert join_places(rows).endswith("「价目」第 6 行 等 9 处")


def test_the_json_of_the_check_has_the_page() -> None:
    document = Checked(checked()).to_json()
    places = [one["citations"][0]["evidence"][0] for one in document["statements"]]
    assert [(one.get("page"), one["place"]) for one in places[:4]] == [
        (2, "第 2 页"),
        (3, "第 3 页"),
        (5, "第 5 页"),
        (None, "「价目」第 3 行"),
    ]


def test_chip_card_and_references_say_the_page() -> None:
    annotated = annotate(ANSWER, checked())
    html = str(render_annotated(annotated.text, annotated, SOURCES))
    chips = re.findall(r"<sup.*?</sup>", html)
    assert [re.search(r"<small>(.*?)</small>", chip)[1] for chip in chips[:4]] == [  # type: ignore[index]
        "第 2 页",
        "第 3 页",
        "第 5 页",
        "「价目」第 3 行",
    ]
    assert "<small>" not in chips[-1].split("wy-card")[0]  # 未核: no page is claimed
    assert "</q><small>第 2 页</small>" in chips[0]  # in the card
    assert 'data-passage="1/' in chips[0]
    assert ">1<" in chips[0].replace("</span>", "<")  # the number is as the model wrote it
    references = str(references_html(SOURCES, places=places_by_source(checked())))
    assert '<span class="place">第 2–5 页</span>' in references


def test_every_export_says_the_pages() -> None:
    said = message()
    document = docx.Document(BytesIO(export.as_word("灯塔", [said])))
    text = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert "[1]\t年报.pdf[Z]. 第 2–5 页." in text
    assert "第 2–5 页" in export.as_html("灯塔", [said])
    assert "（第 2–5 页 · 附件" in export.as_markdown("灯塔", [said]).replace("\\", "")
    assert "SP  - 2-5\r\n" in export.as_ris([said])
    assert "pages = {2--5}" in export.as_bibtex([said])
    assert json.loads(export.as_csl_json([said]))[0]["page"] == "2-5"
    first, second = json.loads(export.as_json("灯塔", [said]))["messages"][0]["references"]
    assert (first["pages"], first["places"]) == ([2, 3, 4, 5], [f"第 {page} 页" for page in range(2, 6)])
    assert ("pages" in second, second["places"]) == (False, ["「价目」第 3 行"])


SLIDES = replace(
    sectioned_page("计划.pptx", ("年度计划\n", "灯塔牌透镜在六月更换。\n")),
    sections=(TextSection(0, "slide", 1), TextSection(6, "slide", 2)),
)
CONTRACT = replace(
    sectioned_page("合同.docx", ("付款方式\n按季度付款。\n合同的押金为 7,000 元。\n",)),
    sections=(TextSection(0, "heading", title="付款方式", level=1, first_line=0),),
)
OFFICE = {2: SHEET, 3: SLIDES, 4: CONTRACT}
OFFICE_ANSWER = "灯塔牌灯罩的单价为 18 元[2]。灯塔牌透镜在六月更换[3]。合同的押金为 7,000 元[4]。"
OFFICE_PLACES = {"价目.xlsx": "「价目」第 3 行", "计划.pptx": "幻灯片 2", "合同.docx": "「付款方式」第 2 段"}


def test_rows_slides_and_paragraphs_are_named_in_the_chip_the_references_and_every_export() -> None:
    sources = tuple(
        Source(n, one.title, one.address, "", read="file", characters=one.length) for n, one in OFFICE.items()
    )
    texts = source_texts(sources, OFFICE)
    check = with_places(check_answer(OFFICE_ANSWER, texts), texts)
    read = tuple(PageRead(source) for source in sources)
    said = Message("assistant", OFFICE_ANSWER, (*read, Checked(check), Answer(OFFICE_ANSWER, sources)), sources, id="a")
    annotated = annotate(OFFICE_ANSWER, check)
    chips = str(render_annotated(annotated.text, annotated, sources))
    word = docx.Document(BytesIO(export.as_word("合同", [said])))
    lines = [
        *"\n".join(paragraph.text for paragraph in word.paragraphs).splitlines(),
        *export.as_markdown("合同", [said]).replace("\\", "").splitlines(),
        *re.sub("<[^>]*>", "", str(export.as_html("合同", [said])).replace("<li", "\n<li")).splitlines(),
    ]
    for name, place in OFFICE_PLACES.items():
        assert f"<small>{place}</small>" in chips
        assert len([line for line in lines if name in line and place in line]) == 3, name


def test_a_stored_check_has_its_places_again_without_storing_them() -> None:
    stored, said = encode_message(message()), message()
    assert "第 2 页" not in stored
    restored = decode_message(
        stored, id="a", role="assistant", text=ANSWER, created=said.created, load_texts=lambda _: TEXTS
    )
    assert restored.check == said.check


def test_a_place_is_text_and_never_markup() -> None:
    evil: Page = replace(SHEET, sections=(TextSection(0, "sheet", 1, "<img src=x onerror=alert(1)>"),))
    texts = source_texts(SOURCES, {2: evil})
    check = with_places(check_answer("灯塔牌灯罩的单价为 18 元[2]。", texts), texts)
    annotated = annotate("灯塔牌灯罩的单价为 18 元[2]。", check)
    drawn = str(render_annotated(annotated.text, annotated, SOURCES))
    drawn += str(references_html(SOURCES, places=places_by_source(check)))
    assert "<img" not in drawn
    assert "&lt;img" in drawn
