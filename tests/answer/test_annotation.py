"""Marks in the text of an answer: where they stand, and that none is seen as what it is."""

from __future__ import annotations

import pytest

from core.answer.annotation import annotate
from core.answer.check_results import AnswerCheck, SourceText
from core.answer.citation_verdicts import against_law_lines, tally, with_statutes
from core.answer.events import Checked, SearchFinished
from core.answer.export.common import check_lines
from core.answer.html.markdown import render_annotated
from core.answer.inline_spans import places_outside
from core.answer.message import Message
from core.checks import check_answer
from core.legal import StatuteCheck, StatuteFinding, StatuteMark
from core.search.types import SearchQuery, SearchResponse, Source

SOURCES = (Source(1, "灯塔", "https://a.example/", ""),)
SAID = "海州灯塔建成于2001年，塔高六十米，由海州市港务局管理。"


def drawn(text: str, check: AnswerCheck | None) -> str:
    annotated = annotate(text, check)
    return str(render_annotated(annotated.text, annotated, SOURCES))


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("`a<b`", "<code>a&lt;b</code>"),
        ("``a`b``", "<code>a`b</code>"),
        ("[塔高](https://b.example/x_(y))", "塔高"),
        ("<https://b.example/x>", "https://b.example/x"),
        ("$a<b$", "</span>"),
        ("A&amp;", "A&amp;"),
        ("**70 米**", "70 米"),
    ],
)
@pytest.mark.parametrize(
    "place", ["| 灯塔 | 说明 |\n|---|---|\n| 另有70家分店 | {} |", "另有70家分店，写作{}", "- 另有70家分店：{}"]
)
def test_the_mark_of_a_statement_stands_behind_its_last_words(place: str, written: str, whole: str) -> None:
    text = place.format(written)
    check = check_answer(text, [])
    assert check.uncited, "the statement has a mark"
    html = drawn(text, check)
    assert whole in html
    assert html.count("wy-uncited") == len(check.uncited)
    assert not any(mark in html for mark in "\ufff0\ufff1\ufff2\ufff3\ufff4\ufff5")
    assert "<code>" not in html or html.index("</code>") < html.index("wy-uncited")


@pytest.mark.parametrize(
    ("text", "place", "outside"),
    [
        ("甲`b`", 3, 4),
        ("甲`b`", 1, 1),
        ("甲`b`", 4, 4),
        ("`甲。`乙", 3, 4),
        (r"\`甲`乙", 2, 2),
        ("`甲。\n\n乙`", 3, 3),
        ("[甲](https://b.example/)乙", 2, 23),
        ("[1](2024 年)", 3, 11),
        ("价格 $5 和 $6", 5, 5),
    ],
)
def test_only_what_is_whole_is_left(text: str, place: int, outside: int) -> None:
    assert places_outside(text, [place]) == [outside]


# ── A sentence with a number, and the law ─────────────────────────────────────────────────────────────────────────────

CITED = "《灯塔法》第九条规定，海州灯塔建成于2001年，塔高六十米[1]。"


def law(mark: StatuteMark) -> StatuteCheck:
    found = StatuteFinding(mark, 0, 8, "《灯塔法》第九条", "灯塔法", "第九条", note="另有规定。")
    return StatuteCheck((found,), (found,))


def checked(text: str, mark: StatuteMark) -> AnswerCheck:
    source = SourceText(1, SAID.replace("海州灯塔", "《灯塔法》第九条规定，海州灯塔"))
    check = with_statutes(check_answer(text, [source]), law(mark))
    assert check is not None
    return check


@pytest.mark.parametrize("mark", [StatuteMark.DIFFERS, StatuteMark.MISSING, StatuteMark.NOT_IN_FORCE])
@pytest.mark.parametrize("text", [CITED, CITED.replace("[1]", "")], ids=["cited", "agreeing"])
def test_what_the_law_has_against_a_sentence_stands_at_its_end_whatever_its_source_says(
    mark: StatuteMark, text: str
) -> None:
    check = checked(text, mark)
    html = drawn(text, check)
    assert html.index('class="wy-uncited wy-mark') > html.index("cite")
    assert html.removesuffix("</p>").endswith(f">{mark.value} {law(mark).findings[0].meaning}</sup>")
    assert tally(check).startswith(f"1 句{law(mark).findings[0].meaning}")
    [line] = against_law_lines(check)
    assert line.startswith(f"{mark.value} ")
    message = Message("assistant", text, (SearchFinished(SearchResponse(SearchQuery("问")), SOURCES), Checked(check)))
    assert line in list(check_lines(message, lambda _: law(mark)))


@pytest.mark.parametrize("mark", [StatuteMark.AGREES, StatuteMark.EXISTS])
def test_a_sentence_that_its_source_contradicts_is_not_approved_by_the_law(mark: StatuteMark) -> None:
    text = CITED.replace("2001", "1999")
    check = checked(text, mark)
    html = drawn(text, check)
    assert "contradicted" in html
    assert "wy-mark" not in html
    assert mark.value not in html


def test_the_verdict_of_the_law_is_in_the_json_of_a_cited_sentence() -> None:
    [statement] = checked(CITED, StatuteMark.DIFFERS).to_json()["statements"]
    assert (statement["verdict"], statement["statute"]["mark"]) == ("supported", "≠")
    assert "statute" not in checked(CITED, StatuteMark.AGREES).to_json()["statements"][0]
