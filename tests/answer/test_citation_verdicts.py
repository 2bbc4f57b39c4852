"""What the check says, in the text: chips with cards, marks that nobody else can set, and all of it counted."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest

from core.answer.annotation import AGREES, END_OF_NOTE, NO_SOURCE, NOTE, annotate
from core.answer.check_results import (
    AnswerCheck,
    CitationCheck,
    Difference,
    QuotedPassage,
    SourceCheck,
    StatementCheck,
    UncitedStatement,
    Verdict,
)
from core.answer.citation_verdicts import (
    CitationVerdict,
    agreeing_sources,
    list_agreements,
    list_verdicts,
    tally,
    with_statutes,
)
from core.answer.html.markdown import render_annotated, split_clean_blocks
from core.answer.html.source_html import passage_link
from core.legal import StatuteCheck, StatuteFinding, StatuteMark
from core.search.types import Source


def shown(html: str) -> str:
    """What a reader sees, cards included."""
    return unescape(re.sub(r"<[^>]*>", "", html))


ANSWER = "试用期最长六个月[1]。合同期限三年以上。加班要付工资[1][2]。"
SOURCES = [
    Source(1, "劳动合同法", "https://law.example/1", "摘要", read="page", characters=900, published="2012-12-28"),
    Source(2, "别的网页", "https://news.example/2", "摘要二"),
]


def bracket(text: str, number: int, verdict: Verdict, *, nth: int = 0, **more: object) -> CitationCheck:
    start = -1
    for _ in range(nth + 1):
        start = text.index(f"[{number}]", start + 1)
    return CitationCheck(number, start, start + 3, SourceCheck(verdict, 0.5, "原因", **more))  # type: ignore[arg-type]


def statement(text: str, *citations: CitationCheck) -> StatementCheck:
    return StatementCheck(0, 1, text, SourceCheck(Verdict.UNCHECKED, 0.5, ""), citations)


CHECK = AnswerCheck(
    (
        statement(
            "试用期最长六个月。",
            bracket(
                ANSWER,
                1,
                Verdict.CONTRADICTED,
                evidence=(QuotedPassage(1, 0, 9, "试用期最长二个月。"),),
                differences=(Difference("number", "六个月", "二个月"),),
            ),
        ),
        statement(
            "加班要付工资。",
            bracket(ANSWER, 1, Verdict.SUPPORTED, nth=1, evidence=(QuotedPassage(1, 9, 18, "加班应当付工资。"),)),
            bracket(ANSWER, 2, Verdict.UNCHECKED),
        ),
    ),
    (UncitedStatement(ANSWER.index("合同期限"), ANSWER.index("加班"), "合同期限三年以上。"),),
)


def drawn(text: str, check: AnswerCheck | None) -> str:
    annotated = annotate(text, check)
    blocks = "\n\n".join(block.text for block in split_clean_blocks(annotated.text))
    return str(render_annotated(blocks, annotated, SOURCES, anchor="a"))


def test_each_number_says_what_was_compared_in_shape_and_words() -> None:
    html = drawn(ANSWER, CHECK)
    page = shown(html)
    assert html.index('class="cite contradicted"') < html.index('class="cite supported"')
    assert html.index('class="cite supported"') < html.index('class="cite unchecked"')
    assert 'aria-label="来源 1，不符"' in html
    assert "✗ 不符 [1]：原因" in page
    assert "<q>试用期最长<del>六个月</del>。</q>" in html
    assert "<q>试用期最长<ins>二个月</ins>。</q>" in html
    assert html.count('id="a-cite-1"') == 1, "an address for the way back is given once"


def test_a_sentence_without_a_source_is_marked_behind_it() -> None:
    page = shown(drawn(ANSWER, CHECK))
    assert "合同期限三年以上。无出处" in page
    assert page.count("无出处") == 1


AGREEING = AnswerCheck(
    CHECK.statements,
    (
        UncitedStatement(
            ANSWER.index("合同期限"),
            ANSWER.index("加班"),
            "合同期限三年以上。",
            SourceCheck(Verdict.SUPPORTED, 0.9, "原文如此。", (QuotedPassage(2, 0, 11, "<b>合同期限三年以上。"),)),
        ),
    ),
)


def test_a_sentence_that_a_source_says_has_a_chip_that_is_no_citation() -> None:
    html = drawn(ANSWER, AGREEING)
    assert "无出处" not in html
    chip = html[html.index('<sup class="cite agreeing"') : html.index("加班要付工资")]
    assert html[: html.index(chip)].endswith("合同期限三年以上。")
    assert 'href="https://news.example/2"' in chip
    assert ">未标注，与 [2] 相符</a>" in chip
    assert "模型没有标注来源；原文与 [2] 相符。" in shown(chip)
    assert "合同期限三年以上。" in shown(chip)
    assert "&lt;b&gt;" in chip
    assert "✓" not in chip
    assert "id=" not in chip, "the way back from the references leads to what the model cited"


def test_a_source_that_is_gone_has_no_chip() -> None:
    annotated = annotate(ANSWER, AGREEING)
    assert "agreeing" not in render_annotated(annotated.text, annotated, SOURCES[:1])


def test_what_the_model_did_not_cite_is_counted_apart() -> None:
    assert tally(AGREEING) == "1 处不符 · 1 处有据 · 1 处未核 · 1 句未标注，与来源相符"
    assert tally(AnswerCheck((), AGREEING.uncited)) == "1 句未标注，与来源相符"
    assert list(map(str, list_agreements(AGREEING))) == ["未标注，与 [2] 相符：合同期限三年以上。"]
    assert len(list(list_verdicts(AGREEING))) == 3


def test_the_sources_to_list_are_those_that_are_cited_nowhere() -> None:
    assert agreeing_sources(AGREEING, SOURCES, SOURCES[:1]) == (SOURCES[1],)
    assert agreeing_sources(AGREEING, SOURCES, SOURCES) == ()
    assert agreeing_sources(CHECK, SOURCES, ()) == agreeing_sources(None, SOURCES, ()) == ()


def test_without_a_check_a_card_has_what_is_known() -> None:
    html = drawn(ANSWER, None)
    assert 'class="cite"' in html
    assert "无出处" not in html
    assert "2012-12-28 · 已读全文 · 900 字" in shown(html)
    assert "日期不详 · 仅摘要" in shown(html)


@pytest.mark.parametrize(
    "forged", [f"{NOTE}0{END_OF_NOTE}", NO_SOURCE, f"{NOTE}99{END_OF_NOTE}", f"{AGREES}0{END_OF_NOTE}"]
)
def test_nobody_else_can_set_a_mark(forged: str) -> None:
    html = drawn(f"试用期最长六个月[1]。{forged}别的[2]{forged}。", AnswerCheck())
    assert 'class="cite"' in html
    assert "supported" not in html
    assert "无出处" not in html
    assert "相符" not in html
    assert not {NOTE, END_OF_NOTE, NO_SOURCE, AGREES} & set(html)


def test_a_number_that_stands_for_several_statements_shows_the_worst() -> None:
    text = "甲。乙[1]。"
    shared = [
        statement(words, bracket(text, 1, verdict))
        for words, verdict in (("甲。", Verdict.ABSENT), ("乙。", Verdict.SUPPORTED))
    ]
    html = drawn(text, AnswerCheck(tuple(shared)))
    assert 'class="cite absent"' in html
    assert "supported" not in html


def test_tables_and_lists_keep_their_marks() -> None:
    text = "| 项 | 值 |\n|---|---|\n| 甲 | 三[1] |\n\n- 乙[2]\n"
    check = AnswerCheck(
        (statement("甲 三", bracket(text, 1, Verdict.SUPPORTED)), statement("乙", bracket(text, 2, Verdict.ABSENT)))
    )
    html = drawn(text, check)
    assert html.index("<td>三<sup") < html.index('class="cite supported"')
    assert "<li>乙<sup" in html
    assert 'class="cite absent"' in html


def test_hostile_words_in_a_card_are_words() -> None:
    text = "甲[1]。"
    evil = "<img src=x onerror=alert(1)>\"'><script>"
    citation = bracket(
        text,
        1,
        Verdict.CONTRADICTED,
        evidence=(QuotedPassage(1, 0, 9, evil),),
        differences=(Difference("quote", evil, evil),),
    )
    html = drawn(text, AnswerCheck((statement(evil, citation),)))
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;img src=x" in html


def test_all_are_counted() -> None:
    assert tally(CHECK) == "1 处不符 · 1 处有据 · 1 处未核 · 1 句无出处"
    assert tally(AnswerCheck()) == ""
    assert str(next(list_verdicts(CHECK))) == "✗ 不符 [1] 试用期最长六个月。（回答：六个月；来源：二个月）"


@pytest.mark.parametrize(
    ("address", "passage", "expected"),
    [
        ("https://a.example/x", "", "https://a.example/x"),
        (
            "https://a.example/x",
            "短句-一,二&三",
            "https://a.example/x#:~:text=%E7%9F%AD%E5%8F%A5%2D%E4%B8%80%2C%E4%BA%8C%26%E4%B8%89",
        ),
        ("https://a.example/x#part", "甲", "https://a.example/x#part:~:text=%E7%94%B2"),
        ("/help?article=a", "甲", "/help?article=a"),
    ],
)
def test_the_address_of_a_passage(address: str, passage: str, expected: str) -> None:
    assert passage_link(address, passage) == expected


def test_a_long_passage_is_found_by_its_ends() -> None:
    address = passage_link("https://a.example/", "始" * 40 + "终" * 40)
    assert address.endswith(f":~:text={'%E5%A7%8B' * 10},{'%E7%BB%88' * 10}")


# ── Statements without a number that name an article, or conclude ─────────────────────────────────────────────────────

NAMING = "根据《灯塔法》第三条，守塔人应当点灯。因此，他违法了。《月光法》第一条也要点灯。"


def finding(mark: StatuteMark, cited: str, note: str = "") -> StatuteFinding:
    start = NAMING.index(cited)
    return StatuteFinding(mark, start, start + len(cited), cited, "灯塔法", "第三条", note=note)


UNCITED = AnswerCheck(
    (),
    tuple(
        UncitedStatement(
            NAMING.index(part), NAMING.index(part) + len(part), part, is_conclusion=part.startswith("因此")
        )
        for part in NAMING.replace("。", "。\n").splitlines()
    ),
)
FOUND = (
    finding(StatuteMark.AGREES, "《灯塔法》第三条"),
    finding(StatuteMark.DIFFERS, "《灯塔法》第三条", "<b>条文为“可以”。"),
)


def test_a_sentence_that_names_an_article_has_the_worst_verdict_on_it_instead_of_no_source() -> None:
    check = with_statutes(UNCITED, StatuteCheck(FOUND[:1], FOUND))
    assert check is not None
    assert tally(check) == "1 句所述内容与条文不符 · 1 句结论，未核 · 1 句无出处"
    html = drawn(NAMING, check)
    assert "守塔人应当点灯。≠ 所述内容与条文不符因此，他违法了。结论，未核" in shown(html)
    assert 'class="wy-uncited wy-mark red"' in html
    assert "&lt;b&gt;条文为" in html
    [named] = check.to_json()["statutes"]
    assert named["statute"]["mark"] == "≠"
    assert named["text"] not in [one["text"] for one in check.to_json()["uncited"]]


def test_a_verdict_is_green_only_where_the_article_agrees() -> None:
    check = with_statutes(UNCITED, StatuteCheck(FOUND[:1], FOUND[:1]))
    assert "✓法条核验 《灯塔法》第三条：引述与条文一致。" in shown(drawn(NAMING, check))


def test_without_a_library_a_sentence_that_names_an_article_has_no_source() -> None:
    check = with_statutes(UNCITED, StatuteCheck((), has_index=False))
    assert check is not None
    assert [one.text for one in check.unsourced] == [UNCITED.uncited[0].text, UNCITED.uncited[2].text]


def test_what_a_source_says_needs_no_other_verdict_unless_the_law_is_against_it() -> None:
    agreed = AnswerCheck((), (replace(UNCITED.uncited[0], check=AGREEING.uncited[0].check),))
    for found, mark in ((FOUND[:1], None), (FOUND, "≠")):
        check = with_statutes(agreed, StatuteCheck(found, found))
        assert check is not None
        statute = check.uncited[0].statute
        assert (statute.mark if statute else None) == mark


@pytest.mark.parametrize(("verdict", "look"), [(Verdict.SUPPORTED, "model"), (Verdict.CONTRADICTED, "model denied")])
def test_what_a_model_denies_can_be_told_from_what_it_confirms(verdict: Verdict, look: str) -> None:
    assert CitationVerdict(1, 3, verdict, "", "", by_model=True).css_class == look
