"""The text of a source with the places that the check has compared."""

from __future__ import annotations

import re
import time

from core.answer.check_results import (
    AnswerCheck,
    CitationCheck,
    QuotedPassage,
    SourceCheck,
    StatementCheck,
    UncitedStatement,
    Verdict,
)
from core.answer.html.source_marks import compared_spans
from core.answer.html.text_window import TextWindow, window_html

TEXT = "试用期最长二个月。加班应当付工资。别的话。"
FIRST, SECOND = QuotedPassage(1, 0, 9, "试用期最长二个月。"), QuotedPassage(1, 9, 17, "加班应当付工资。")


def checked(*found: tuple[Verdict, QuotedPassage], statement: str = "陈述。") -> AnswerCheck:
    def one(verdict: Verdict, evidence: QuotedPassage) -> StatementCheck:
        check = SourceCheck(verdict, 0.5, "原因", (evidence,))
        return StatementCheck(0, 1, statement, check, (CitationCheck(evidence.source, 0, 3, check),))

    return AnswerCheck(tuple(one(*pair) for pair in found))


def drawn(check: AnswerCheck, text: str = TEXT) -> str:
    return str(window_html(text, TextWindow(0, len(text)), compared_spans(check, 1, text)))


def test_each_passage_is_marked_in_shape_and_colour() -> None:
    html = drawn(checked((Verdict.SUPPORTED, SECOND), (Verdict.CONTRADICTED, FIRST)))
    assert html == (
        '<mark class="contradicted" title="不符：陈述。">试用期最长二个月。<i aria-hidden="true">✗</i></mark>'
        '<mark class="supported" title="有据：陈述。">加班应当付工资。<i aria-hidden="true">✓</i></mark>别的话。'
    )


def test_a_passage_that_moved_is_where_its_words_are_and_one_that_is_gone_nowhere() -> None:
    moved = QuotedPassage(1, 3, 12, FIRST.text)
    gone = QuotedPassage(1, 0, 4, "从前的话")
    odd = [QuotedPassage(1, -5, 900_000, "别的话。"), QuotedPassage(1, 0, 0, "")]
    found = compared_spans(checked(*((Verdict.SUPPORTED, one) for one in (moved, gone, *odd))), 1, TEXT)
    assert [TEXT[place.start : place.end] for place in found] == [FIRST.text, "别的话。"]


def test_other_sources_are_not_marked_here() -> None:
    assert compared_spans(checked((Verdict.SUPPORTED, QuotedPassage(2, 0, 9, FIRST.text))), 1, TEXT) == []


def test_a_passage_that_the_model_did_not_cite_has_another_mark() -> None:
    check = SourceCheck(Verdict.SUPPORTED, 0.9, "原因", (FIRST,))
    html = drawn(AnswerCheck((), (UncitedStatement(0, 3, "陈述。", check), UncitedStatement(4, 5, "别的。"))))
    assert html.startswith('<mark class="agreeing" title="未标注，与来源相符：陈述。">试用期最长二个月。<')
    assert "✓" not in html


def test_of_two_statements_about_one_passage_the_worse_is_shown_and_nothing_twice() -> None:
    both = QuotedPassage(1, 0, 17, FIRST.text + SECOND.text)
    html = drawn(checked((Verdict.SUPPORTED, FIRST), (Verdict.CONTRADICTED, FIRST), (Verdict.UNCHECKED, both)))
    assert re.findall('class="([a-z]+)"', html) == ["contradicted", "unchecked"]
    assert re.sub("<i .*?</i>|<[^>]*>", "", html) == TEXT


def test_hostile_words_are_words_and_many_places_take_no_time() -> None:
    attack = '<script>alert(1)</script>"><img src=x>'
    html = drawn(checked((Verdict.ABSENT, QuotedPassage(1, 0, len(attack), attack)), statement=attack), attack)
    assert "<script" not in html
    assert "<img" not in html
    many = checked(*((Verdict.SUPPORTED, QuotedPassage(1, at, at + 9, "甲" * 9)) for at in range(20_000)))
    began = time.thread_time()
    drawn(many, "甲" * 30_000)
    assert time.thread_time() - began < 5
