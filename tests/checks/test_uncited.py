"""Sentences without a number: a source that was read may say them all the same, and only that is said."""

from __future__ import annotations

import time

import pytest

from core.answer.check_results import AnswerCheck, SourceText, UncitedStatement, Verdict
from core.checks import check_answer
from core.checks.uncited import MAX_STATEMENTS

WATER = "全市将在十一月底以前更换老旧水表八千只，费用由市财政承担。新水厂预计明年三月正式投入使用。"
TOWER = "海州灯塔建成于2001年，塔高六十米。灯塔由三名守塔人轮流值守，他们都住在岛上。"
SOURCES = [SourceText(1, WATER), SourceText(2, TOWER)]


def only(checked: AnswerCheck) -> UncitedStatement:
    (statement,) = checked.uncited
    return statement


def test_the_source_that_says_it_is_found_and_is_no_citation() -> None:
    checked = check_answer("海州灯塔建成于2001年，塔高六十米。", SOURCES)
    found = only(checked)
    assert found.agreeing_source == 2
    assert found.check is not None
    assert (found.check.verdict, found.check.by) == (Verdict.SUPPORTED, "rules")
    assert found.check.evidence[0].text in TOWER
    assert (checked.agreeing, checked.unsourced) == ((found,), ())
    assert checked.statements == ()
    assert checked.to_json()["uncited"][0]["agreesWith"] == 2


def test_a_sentence_that_needs_no_source_is_listed_only_if_one_says_it() -> None:
    checked = check_answer("灯塔由三名守塔人轮流值守，他们都住在岛上。\n\n灯塔的故事被写成了小说和歌曲。", SOURCES)
    assert only(checked).agreeing_source == 2


@pytest.mark.parametrize(
    "statement",
    [
        "海州灯塔建成于2003年，塔高六十米。",
        "海州灯塔没有建成于2001年，塔高不是六十米。",
        "全市将在2027年把水价上涨20%。",
    ],
)
def test_what_no_source_says_has_no_source_as_before(statement: str) -> None:
    checked = check_answer(statement, SOURCES)
    assert only(checked).check is None
    assert checked.unsourced == checked.uncited
    assert "agreesWith" not in checked.to_json()["uncited"][0]


@pytest.mark.parametrize("source", [SourceText(2, TOWER, is_full=False), SourceText(2, "")])
def test_what_was_not_read_says_nothing(source: SourceText) -> None:
    assert only(check_answer("海州灯塔建成于2001年，塔高六十米。", [source])).check is None


def test_a_number_of_the_model_counts_and_is_not_looked_for_elsewhere() -> None:
    checked = check_answer("海州灯塔建成于2001年，塔高六十米[1]。", SOURCES)
    assert checked.uncited == ()
    assert [one.number for one in checked.statements[0].citations] == [1]


def test_a_few_characters_that_stand_anywhere_are_no_agreement() -> None:
    assert check_answer("塔高六十米。", SOURCES).agreeing == ()


def test_the_nearest_of_many_sources_is_found() -> None:
    others = [SourceText(number, f"海州灯塔建成于2001年，塔高{number}米。{WATER}") for number in range(3, 30)]
    assert only(check_answer("海州灯塔建成于2001年，塔高六十米。", [*others, SOURCES[1]])).agreeing_source == 2


def test_a_long_answer_is_bounded_and_keeps_its_list() -> None:
    """The same sentence again and again, and pages of nothing else."""
    pages = [SourceText(number, TOWER * 300) for number in range(1, 11)]
    answer = "海州灯塔建成于2001年，塔高六十米。" * 5_000
    began = time.process_time()
    checked = check_answer(answer, pages)
    assert time.process_time() - began < 6
    assert len(checked.agreeing) == MAX_STATEMENTS
    assert len(checked.uncited) > 4_000


# ── Conclusions ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("word", ["因此，", "所以", "综上，", "综上所述，", "故", "可见，", "由此，", "**因此**，"])
def test_what_is_concluded_from_a_checked_sentence_is_said_to_be_unchecked(word: str) -> None:
    checked = check_answer(f"海州灯塔建成于2001年[2]。{word}它是岛上唯一的灯塔。", SOURCES)
    assert [statement.check.verdict for statement in checked.statements] == [Verdict.SUPPORTED]
    assert (only(checked).is_conclusion, only(checked).check, checked.unsourced) == (True, None, ())
    assert checked.to_json()["uncited"][0]["isConclusion"] is True


def test_a_conclusion_with_a_number_of_its_own_has_the_verdict_on_it() -> None:
    checked = check_answer("灯塔在岛上[2]。综上，海州灯塔建成于2001年[2]。", SOURCES)
    assert checked.statements[-1].check.verdict is Verdict.SUPPORTED
    assert checked.uncited == ()


def test_a_conclusion_does_not_take_the_number_of_a_later_sentence() -> None:
    checked = check_answer("灯塔在岛上。因此，它是岛上唯一的灯塔。海州灯塔建成于2001年[2]。", SOURCES)
    assert [statement.text for statement in checked.statements] == ["灯塔在岛上。", "海州灯塔建成于2001年。"]
    assert only(checked).text == "因此，它是岛上唯一的灯塔。"


def test_a_conclusion_that_a_source_says_agrees_with_it() -> None:
    checked = check_answer("可见，灯塔由三名守塔人轮流值守，他们都住在岛上。", SOURCES)
    assert only(checked).agreeing_source == 2


@pytest.mark.parametrize("text", ["综上所述，", "故事里的灯塔很高。", "故意伤害他人的人去了岛上。"])
def test_what_is_no_conclusion(text: str) -> None:
    assert not any(one.is_conclusion for one in check_answer(f"海州灯塔建成于2001年[2]。{text}", SOURCES).uncited)
