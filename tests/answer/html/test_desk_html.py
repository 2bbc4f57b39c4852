"""The sources of an answer on the desk: what was read of them, cut around the passages that were compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from lxml.html import HtmlElement, fromstring

from core.answer.check_results import (
    AlignedWords,
    AnswerCheck,
    CitationCheck,
    QuotedPassage,
    SourceCheck,
    StatementCheck,
    UncitedStatement,
    Verdict,
)
from core.answer.html.desk_html import CONTEXT, SHORT_TEXT, DeskText, desk_html
from core.legal.entities import LAWS
from core.search.types import Source

SOURCE = Source(1, "题目", "https://a.example/x", "摘要。", "fake", "2026-01-31", "page", 40_000)
PASSAGE = "试用期最长二个月。"
FILLER = "".join(f"别的第{number}句。" for number in range(4_000))
LONG = FILLER + PASSAGE + FILLER


def statement(
    text: str, verdict: Verdict, *passages: tuple[str, int], number: int = 1, aligned: bool = True
) -> StatementCheck:
    evidence = tuple(QuotedPassage(number, start, start + len(words), words) for words, start in passages)
    alignment = tuple(AlignedWords(0, 1, one.start, one.start + 1) for one in evidence) if aligned else ()
    check = SourceCheck(verdict, 0.5, "原因。", evidence, alignment=alignment)
    return StatementCheck(0, 1, text, check, (CitationCheck(number, 0, 3, check),))


def drawn(
    text: str,
    *statements: StatementCheck,
    source: Source = SOURCE,
    whole: int = 0,
    uncited: tuple[UncitedStatement, ...] = (),
    texts: Mapping[int, DeskText] | None = None,
) -> HtmlElement:
    html = desk_html(
        "a1",
        "问<b>题",
        [source],
        texts or {1: DeskText(text, "昨天读到。")},
        AnswerCheck(statements, uncited),
        cited={1},
        official=["a.example"],
        app_url="http://here",
        whole=whole,
    )
    return fromstring(str(html))


def words(page: HtmlElement, path: str) -> list[str]:
    return [one.text_content() for one in page.xpath(path)]


def test_a_source_has_its_number_title_and_all_that_is_known_of_it() -> None:
    page = drawn("短。")
    assert (page.tag, page.get("aria-label"), page.get("data-answer")) == ("aside", "来源", "a1")
    assert page.xpath("string(//li/@value)") == "1"
    assert page.xpath("string(//h3/a/@href)") == "https://a.example/x"
    assert words(page, "//li/p[@class='about']") == ["a.example · 2026-01-31 · 已读全文 · 40,000 字 官方"]
    assert words(page, "//div[@class='text']") == ["短。"]
    assert words(page, "//p[@class='ways']") == ["昨天读到。"]
    assert words(page, "//div[@class='head']") == ["来源问<b>题"]


def test_a_passage_names_every_statement_that_uses_it_and_the_desk_names_the_statements() -> None:
    text = f"前面。{PASSAGE}后面。"
    page = drawn(
        text,
        statement("甲。", Verdict.SUPPORTED, (PASSAGE, 3)),
        statement("乙。", Verdict.CONTRADICTED, (PASSAGE[3:], 6)),
        uncited=(
            UncitedStatement(5, 9, "丙。", SourceCheck(Verdict.SUPPORTED, 1, "", (QuotedPassage(1, 3, 6, "试用期"),))),
        ),
    )
    marks = [(mark.get("data-s"), mark.get("class"), mark.text) for mark in page.xpath("//mark")]
    assert marks == [("0 2", "supported", "试用期"), ("0 1", "contradicted", PASSAGE[3:])]
    assert json.loads(page.get("data-statements")) == [["甲。", [1]], ["乙。", [1]], ["丙。", [1]]]
    assert [(note.get("data-s"), note.text) for note in page.xpath("//small")] == [("1", "✗ 不符 [1]：原因。")]
    assert page.xpath("string(//h3/@data-s)") == "0 1 2"
    assert {mark.get("tabindex") for mark in page.xpath("//mark")} == {"0"}


def test_a_long_text_is_cut_around_its_passages_and_says_how_much_is_left_out() -> None:
    page = drawn(LONG, statement("甲。", Verdict.SUPPORTED, (PASSAGE, len(FILLER))))
    (text,) = page.xpath("//div[@class='text']")
    before, after = (one.text_content() for one in text.xpath("span[@class='gap']"))
    shown = "".join(text.xpath("text() | mark/text()"))
    left_out = sum(int(gap.removeprefix("略去 ").removesuffix(" 字").replace(",", "")) for gap in (before, after))
    assert PASSAGE in shown
    assert shown.startswith("别的第"), "from the beginning of a sentence"
    assert len(shown) <= len(PASSAGE) + 2 * CONTEXT
    assert left_out + len(shown) == len(LONG)
    assert [(one.get("data-desk"), one.text) for one in page.xpath("//button")] == [("a1/1", "显示全文")]


def test_passages_close_to_each_other_are_shown_together_and_each_once() -> None:
    near, far = len(FILLER) + 200, 2 * len(FILLER)
    text = FILLER + PASSAGE + FILLER + PASSAGE
    page = drawn(
        text,
        statement("甲。", Verdict.SUPPORTED, (PASSAGE, len(FILLER))),
        statement("乙。", Verdict.UNCHECKED, (text[near : near + 8], near)),
        statement("丙。", Verdict.SUPPORTED, (PASSAGE, far + len(PASSAGE))),
    )
    assert len(page.xpath("//mark")) == 3
    assert len(page.xpath("//span[@class='gap']")) == 2
    shown = sum(map(len, page.xpath("//div[@class='text']/text() | //mark/text()")))
    assert shown < 5 * (CONTEXT + len(PASSAGE))


def test_the_whole_text_is_there_on_demand() -> None:
    page = drawn(LONG, statement("甲。", Verdict.SUPPORTED, (PASSAGE, len(FILLER))), whole=1)
    assert "".join(page.xpath("//div[@class='text']/text() | //mark/text()")) == LONG
    assert [(one.get("data-desk"), one.text) for one in page.xpath("//button")] == [("a1", "只看比较过的段落")]
    assert drawn("甲" * SHORT_TEXT).xpath("//button") == [], "short enough to be whole already"


def test_what_a_statement_is_not_in_is_said() -> None:
    page = drawn(
        "前面。最近的一句。后面。",
        statement("甲。", Verdict.ABSENT, ("最近的一句。", 3), aligned=False),
        statement("乙。", Verdict.ABSENT),
    )
    assert words(page, "//small") == ["○ 未见 [1]：原因。", "○ 未见 [1]：原因。上面是最接近的原文。"]
    nowhere, nearest = page.xpath("//small")
    assert nowhere.getparent().tag == "li"
    assert nearest.getparent().get("class") == "text"


def test_a_law_leads_to_its_article_and_an_unread_page_can_be_read() -> None:
    law = replace(SOURCE, url="http://here/legal?law=x&article=3", engine=LAWS, read="library", published=None)
    page = drawn("第三条 守塔人应当点灯。", source=law)
    assert page.xpath("string(//p[@class='ways']/a/@href)") == "/legal?law=x&article=3"
    assert words(page, "//p[@class='ways']/a") == ["在法规库中查看这一条"]
    assert "本地法规库" in words(page, "//li/p[@class='about']")[0]
    unread = drawn("", texts={1: DeskText("摘要。", "没有打开过这个网页。", can_read=True)})
    assert [(one.get("data-desk"), one.text) for one in unread.xpath("//button")] == [("a1/1/read", "阅读")]


def test_nothing_from_a_source_becomes_markup() -> None:
    evil = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
    text = f"{evil}。{PASSAGE}"
    source = replace(SOURCE, title=evil, url=f"https://a.example/?{evil}", snippet=evil)
    html = desk_html(
        "a1",
        evil,
        [source],
        {1: DeskText(text, evil)},
        AnswerCheck((statement(evil, Verdict.CONTRADICTED, (PASSAGE, len(evil) + 1)),)),
        cited={1},
        official=[],
    )
    assert "<script" not in html
    assert "<img" not in html
    page = fromstring(str(html))
    assert json.loads(page.get("data-statements")) == [[evil, [1]]]
    assert drawn("短。", source=replace(SOURCE, url="javascript:alert(1)")).xpath("//a") == []
