"""法条核验 of what happened earlier: the reader, the draft or a date before the citation says which law counts."""

from __future__ import annotations

import pytest

from core.legal.text.periods import parse_period
from core.legal.verify import Author, StatuteFinding, Verifier
from support import invented

OLD = "《灯塔法》第二条规定：“灯塔由守塔人看守，旧规定。”"
NEW = "《灯塔法》第二条规定：“离岗的守塔人可以申请复核。”"


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    folder = tmp_path_factory.mktemp("as-of")
    articles = [{"number": "第一条", "text": "渔灯应当在日落之前点亮。"}]
    oil = {"name": "渔灯管理条例", "published": "2000-01-01", "effective": "2000-02-01", "articles": articles}
    sources = invented.lawrefbook(folder / "laws"), invented.jsonl(folder / "oil.jsonl", oil)
    return Verifier(invented.library(folder / "data", *sources))


def only(verifier: Verifier, text: str, time: str = "", asked: str = "") -> StatuteFinding:
    (verdict,) = verifier.verify(text, Author.PERSON, parse_period(time), parse_period(asked))
    return verdict


@pytest.mark.parametrize(
    ("text", "time"),
    [(OLD, "2015"), (f"以2015年5月1日为准。\n{OLD}", ""), (f"2015年5月双方签订合同，依据{OLD}", "")],
)
def test_it_is_compared_with_the_law_of_the_time(verifier: Verifier, text: str, time: str) -> None:
    verdict = only(verifier, text, time)
    assert (verdict.mark.value, verdict.published) == ("✓", "2010-05-01")
    assert "施行的版本（2010-05-01 公布）核验" in verdict.note
    assert only(verifier, OLD).mark.value == "⌛"


def test_what_the_reader_chose_counts_whatever_comes_of_it(verifier: Verifier) -> None:
    chosen = only(verifier, NEW, "2015")
    assert (chosen.mark.value, chosen.note.endswith("所述是现行文本。")) == ("≠", True)
    assert only(verifier, "《灯塔法》第五条", "2015").mark.value == "✗"
    assert only(verifier, OLD, "2021").mark.value == "⌛"
    unheld = only(verifier, OLD, "2009")
    assert (unheld.mark.value, unheld.meaning) == ("？", "库中没有所指的版本，未核")
    assert "2009 年时还没有这部法规" in unheld.note


def test_a_date_that_only_stands_before_it_makes_nothing_worse(verifier: Verifier) -> None:
    verdict = only(verifier, f"2015年的事，{NEW}")
    assert (verdict.mark.value, verdict.published) == ("✓", "2020-08-08")
    assert verdict.note == "2015 年施行的是 2010-05-01 公布的版本，请核对适用哪一版。"
    assert only(verifier, f"2009年的事，{NEW}").note.endswith("按现行文本核验。")
    assert only(verifier, f"2015年的事。{NEW}").note == "", "another sentence"
    assert only(verifier, f"2023年的事，{NEW}").note == "", "the law has not changed since"


def test_a_law_that_was_repealed_later_counted_then(verifier: Verifier) -> None:
    text = "《渔灯管理条例》第一条规定：“渔灯应当在日落之前点亮。”"
    assert only(verifier, text).mark.value == "⌛"
    assert only(verifier, text, "2019").mark.value == "✓"
    assert only(verifier, text, "2023").mark.value == "⌛"


def test_the_time_of_the_question_counts(verifier: Verifier) -> None:
    verdict = only(verifier, OLD, asked="2015")
    assert (verdict.mark.value, verdict.published) == ("✓", "2010-05-01")
    todays = only(verifier, NEW, asked="2015")
    assert (todays.mark.value, todays.published) == ("≠", "2010-05-01")
    assert todays.note.endswith("所述是现行文本。")


@pytest.mark.parametrize("time", ["2021年的事，", "现行", "目前，", "修改后的", "新"])
def test_a_time_beside_the_citation_comes_before_that_of_the_question(verifier: Verifier, time: str) -> None:
    assert only(verifier, f"{time}{NEW}", asked="2015").mark.value == "✓"
    assert only(verifier, f"{time}{OLD}", asked="2015").mark.value == "⌛"


def test_a_law_that_was_made_after_what_was_asked_about_is_checked_as_it_is(verifier: Verifier) -> None:
    verdict = only(verifier, "《海灯法典》第二条规定：“任何人不得遮挡海灯。”", asked="2015")
    assert verdict.mark.value == "✓"
    assert verdict.note == "2015 年时还没有这部法规：它 2021-01-01 制定，2022-01-01 起施行。按现行文本核验。"
