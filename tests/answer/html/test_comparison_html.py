"""The two sides of a comparison: words that agree, words that differ, and words on one side only."""

from __future__ import annotations

import re
from html import unescape

import pytest

from core.answer.check_results import (
    AlignedWords,
    CitationCheck,
    Difference,
    QuotedPassage,
    SourceCheck,
    StatementCheck,
    Verdict,
)
from core.answer.citation_verdicts import CitationVerdict
from core.answer.html.comparison_html import CONTEXT_LENGTH, PLAIN_LENGTH, comparison_html

STATEMENT = "全市今年供水总量为 1.2 亿立方米。"
SOURCE = "前文。据市水务局统计，今年前三季度全市供水总量为1.2亿立方米，增长百分之三。后文。"
START, END = SOURCE.index("据市"), SOURCE.index("后文")


def aligned(statement: str, source: str, *words: str | tuple[str, str]) -> tuple[AlignedWords, ...]:
    """Pair words of the statement with words of the source: the same ones, or two wordings."""
    pairs = [(one, one) if isinstance(one, str) else one for one in words]
    places = [(statement.index(said), said, source.index(found), found) for said, found in pairs]
    return tuple(AlignedWords(at, at + len(said), there, there + len(found)) for at, said, there, found in places)


def verdict_on(statement: str, verdict: Verdict, *evidence: QuotedPassage, **more: object) -> CitationVerdict:
    check = SourceCheck(verdict, 0.5, "原因。", evidence, **more)  # type: ignore[arg-type]
    citation = CitationCheck(1, 0, 3, check)
    return CitationVerdict.from_citation(StatementCheck(0, 9, statement, check, (citation,)), citation)


def passage(source: str, start: int, end: int, number: int = 1) -> QuotedPassage:
    return QuotedPassage(number, start, end, source[start:end])


def drawn(*given: object, **more: object) -> str:
    return str(comparison_html(verdict_on(*given, **more)))  # type: ignore[arg-type]


def sides(html: str) -> list[tuple[str, str]]:
    return re.findall(r"<span><b>(.*?)</b><q>(.*?)</q></span>", html)


def test_words_that_agree_are_marked_on_both_sides_and_the_rest_is_left_to_be_grey() -> None:
    words = aligned(STATEMENT, SOURCE, "全市", "今年", "供水总量为", ("1.2 亿立方米", "1.2亿立方米"))
    html = drawn(STATEMENT, Verdict.SUPPORTED, passage(SOURCE, START, END), alignment=words)
    assert 'class="wy-compared aligned"' in html
    assert sides(html) == [
        ("回答", "<mark>全市今年供水总量为</mark> <mark>1.2 亿立方米</mark>。"),
        (
            "原文",
            "据市水务局统计，<mark>今年</mark>前三季度<mark>全市供水总量为1.2亿立方米</mark>，增长百分之三。",
        ),
    ]


def test_what_differs_stands_in_its_place_on_both_sides() -> None:
    statement = STATEMENT.replace("1.2 亿", "1.5 亿")
    words = aligned(statement, SOURCE, "全市", "今年", "供水总量为")
    differences = (Difference("number", "1.5 亿立方米", "1.2亿立方米"),)
    html = drawn(statement, Verdict.CONTRADICTED, passage(SOURCE, START, END), alignment=words, differences=differences)
    (_, stated), (_, found) = sides(html)
    assert "<del>1.5 亿立方米</del>" in stated
    assert "<mark>全市供水总量为</mark><ins>1.2亿立方米</ins>" in found
    assert "来源：" not in html


@pytest.mark.parametrize("found", ["", "七亿立方米"])
def test_what_differs_and_cannot_be_located_is_said_below(found: str) -> None:
    differences = (Difference("number", "1.2 亿", found),)
    html = drawn(STATEMENT, Verdict.CONTRADICTED, passage(SOURCE, START, END), differences=differences)
    assert f"回答：<del>1.2 亿</del>　来源：<ins>{found or '没有相应的内容'}</ins>" in html
    assert "<del>" not in sides(html)[0][1]


def test_a_number_is_not_located_inside_another_one() -> None:
    source = "占1.20成，其中A20型2家，2024年共有20家。"
    differences = (Difference("number", "30家", "20"),)
    html = drawn("共有30家。", Verdict.CONTRADICTED, passage(source, 0, len(source)), differences=differences)
    assert sides(html)[1][1] == "占1.20成，其中A20型2家，2024年共有<ins>20</ins>家。"


def test_of_two_places_the_one_without_agreeing_words_differs() -> None:
    statement, source = "甲队胜乙队，丙队胜甲队。", "甲队胜乙队，丙队胜丁队。"
    words = (AlignedWords(0, 9, 0, 9),)
    differences = (Difference("name", "甲队", "丁队"),)
    html = drawn(statement, Verdict.CONTRADICTED, passage(source, 0, 12), alignment=words, differences=differences)
    assert [text for _, text in sides(html)] == [
        "<mark>甲队胜乙队，丙队胜</mark><del>甲队</del>。",
        "<mark>甲队胜乙队，丙队胜</mark><ins>丁队</ins>。",
    ]


@pytest.mark.parametrize("verdict", [Verdict.UNCHECKED, Verdict.ABSENT])
def test_an_open_verdict_shows_its_nearest_passage_without_any_mark(verdict: Verdict) -> None:
    words, differences = aligned(STATEMENT, SOURCE, "全市"), (Difference("number", "1.2 亿", "1.2亿"),)
    html = drawn(STATEMENT, verdict, passage(SOURCE, START, END), alignment=words, differences=differences)
    assert sides(html) == [("回答", STATEMENT), ("最接近的原文", SOURCE[START:END])]
    assert not re.search("<(mark|del|ins)>|aligned", html)


def test_without_a_passage_there_is_only_the_statement() -> None:
    assert sides(drawn(STATEMENT, Verdict.ABSENT)) == [("回答", STATEMENT)]


def test_passages_with_words_that_agree_are_shown_in_the_order_of_the_source() -> None:
    source = "甲队成立于2001年。" + "别的。" * 9 + "乙队来自海州。" + "又及。" * 9
    words = aligned("乙队来自海州，甲队成立于2001年。", source, "乙队来自海州", "甲队成立于2001年")
    second = source.index("乙队来自")
    shown = drawn(
        "乙队来自海州，甲队成立于2001年。",
        Verdict.SUPPORTED,
        passage(source, second, second + 7),
        passage(source, second, second + 10),
        passage("别的来源在同一处的另外一句话", 0, 11, number=2),
        passage(source, 0, 11),
        alignment=words,
    )
    assert sides(shown)[1][1] == "<mark>甲队成立于2001年</mark>。 … <mark>乙队来自海州</mark>。"


def test_a_long_passage_is_shortened_around_the_marks() -> None:
    source = "头" * 500 + "甲乙丙" + "中" * 500 + "丁戊己" + "尾" * 500
    words = aligned("甲乙丙丁戊己", source, "甲乙丙", "丁戊己")
    found = sides(drawn("甲乙丙丁戊己", Verdict.SUPPORTED, passage(source, 0, len(source)), alignment=words))[1][1]
    near = CONTEXT_LENGTH
    assert found == (f"…{'头' * near}<mark>甲乙丙</mark>{'中' * near}…{'中' * near}<mark>丁戊己</mark>{'尾' * near}…")


def test_a_long_passage_without_marks_is_shortened_at_its_end() -> None:
    found = sides(drawn("甲", Verdict.UNCHECKED, passage("长" * 900, 0, 900)))[1][1]
    assert len(found) == PLAIN_LENGTH
    assert found.endswith("长…")


def test_line_breaks_and_invisible_characters_do_not_move_the_marks() -> None:
    source = "全市\n\n供水\u200b总量"
    words = aligned("全市供水总量", source, "全市", ("供水总量", "供水\u200b总量"))
    found = sides(drawn("全市供水总量", Verdict.SUPPORTED, passage(source, 0, len(source)), alignment=words))[1][1]
    assert found == "<mark>全市</mark> <mark>供水总量</mark>"


def test_places_outside_of_the_texts_are_ignored() -> None:
    words = (AlignedWords(-5, 2, -9, -3), AlignedWords(7, 99, 7, 99), AlignedWords(3, 1, 0, 0))
    html = drawn("甲乙丙丁", Verdict.SUPPORTED, passage("甲乙丙丁", 0, 4), alignment=words)
    assert [text for _, text in sides(html)] == ["<mark>甲乙</mark>丙丁", "甲乙丙丁"]


def test_hostile_words_are_words_on_both_sides() -> None:
    evil = "<img src=x onerror=alert(1)>\"'><script>&amp;</q></span>%s"
    length = len(evil)
    for verdict in Verdict:
        html = drawn(
            evil,
            verdict,
            passage(evil, 0, length),
            alignment=(AlignedWords(0, 3, 2, 9), AlignedWords(9, length, 12, length)),
            differences=(Difference("quote", evil[4:8], evil[4:8]), Difference("name", evil * 2, evil * 2)),
        )
        assert not re.search(r"<(img|script)", html)
        assert html.count("</q>") == 2
        stated, found = (unescape(re.sub(r"<[^>]*>", "", text)) for _, text in sides(html))
        assert (stated, found) == (evil, evil)
