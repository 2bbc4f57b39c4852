"""`python -m bench checks`: intervals, the sentences that are made, what is counted, and the figures in docs/trust.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import report
from bench.changed_sentences import CHANGES, LEFT_OUT, RARE, VERBATIM, make_sentences
from bench.checks import english_rows, false_greens, write_trust
from bench.claim_sets import Claim, ClaimSet, Judged, changed_sentences, english_pairs, judge_claims, table_lines
from bench.shares import share_cell, share_row, wilson
from core.answer.check_results import SourceCheck, Verdict

PAGE = (
    "海宁公司在2021年5月收购了苏州的一家船厂，支付了300万元。船厂在2019年3月获得了北京的订单。"
    "如果监管部门批准，公司可能在2024年6月完成收购，船厂不会搬迁。林远表示，新的船厂将采用更高的标准。"
    "《河上》比《山中》早三年出版，《河上》卖出了500万册。浙江的产量增长了12%，山东的产量由2018年的900万元上升到1000万元。"
)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"), [(0, 100, 0.0, 0.037), (5, 100, 0.0215, 0.1118), (0, 0, 0.0, 1.0)]
)
def test_wilson(count: int, of: int, low: float, high: float) -> None:
    assert wilson(count, of) == pytest.approx((low, high), abs=5e-4)


def test_a_share_is_shown_with_its_interval() -> None:
    assert share_row("false ✓", 5, 100, 2).cells()[:3] == ["false ✓", "5 % of 100 (2.2–11.2)", "≤ 2"]
    assert not share_row("false ✓", 5, 100, 2).ok
    assert share_cell(5, 100) == "5.0% (2.2–11.2)"
    assert share_cell(0, 0) == "–"


def test_changed_sentences_are_the_same_every_time_and_differ_from_the_source() -> None:
    made = list(make_sentences([PAGE] * 40))
    assert made == list(make_sentences([PAGE] * 40))
    assert made != list(make_sentences([PAGE] * 40, seed=1))
    for one in made:
        assert (one.statement == one.original) is (one.kind == VERBATIM), one
        assert one.original in one.source
        assert one.kind in LEFT_OUT | {VERBATIM} or one.statement.rstrip("。") not in one.source
    assert {one.kind for one in made} >= {VERBATIM, *CHANGES} - {"subject with another's predicate"}
    assert set(CHANGES) > RARE


def test_changed_sentences_of_the_documents_beside_the_project() -> None:
    made = changed_sentences()
    if not made:
        pytest.skip("needs ../shared/data/claims")
    assert {one.kind for one in made} == {VERBATIM, *CHANGES}


def judged(verdict: Verdict, kind: str = "number", *, is_true: bool = False) -> Judged:
    return Judged(Claim(kind, is_true, "", ""), SourceCheck(verdict, 0.5, ""))


def test_false_greens_are_counted_by_kind() -> None:
    found = [judged(Verdict.SUPPORTED), judged(Verdict.CONTRADICTED), judged(Verdict.UNCHECKED, "date")]
    rows = list(false_greens(ClaimSet("Pairs", [*found, judged(Verdict.SUPPORTED, "near", is_true=True)]), 2, 5))
    assert [(row.name, round(row.value), row.ok) for row in rows] == [
        ("Pairs: false ✓", 33, False),
        ("Pairs: false ✓, date", 0, True),
        ("Pairs: false ✓, number", 50, False),
    ]


def test_the_table_has_a_line_for_each_kind_of_which_there_are_enough() -> None:
    found = [judged(Verdict.ABSENT)] * 8 + [
        judged(Verdict.SUPPORTED, "date"),
        judged(Verdict.SUPPORTED, "near", is_true=True),
    ]
    lines = [list(line) for line in table_lines(ClaimSet("Pairs", found))]
    assert [line[0] for line in lines] == ["**Pairs**", "false", "false: number", "faithful"]
    assert [cell.split()[0] for cell in lines[2][1:]] == ["8", "0.0%", "0.0%", "100.0%"]


def test_only_the_figures_of_the_document_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = tmp_path / "trust.md"
    monkeypatch.setattr(report, "TRUST", document)
    document.write_text(f"# Marks\n\n{report.FIGURES}\nold\n{report.END_OF_FIGURES}\n\nthe rest\n", "utf-8")
    for _ in range(2):
        write_trust([ClaimSet("Pairs", [judged(Verdict.SUPPORTED)])])
    written = document.read_text("utf-8")
    assert written.startswith(f"# Marks\n\n{report.FIGURES}\nMeasured ")
    assert written.endswith(f"|\n{report.END_OF_FIGURES}\n\nthe rest\n")
    assert "old" not in written
    assert written.count("| **Pairs** |") == 1
    document.write_text("no place", "utf-8")
    with pytest.raises(ValueError, match="no place"):
        report.write_figures("")


def test_english_pairs_are_within_their_limits() -> None:
    english = ClaimSet("English", list(judge_claims(english_pairs("en"))))
    foreign = ClaimSet("Chinese", list(judge_claims(english_pairs("zh"))))
    assert all(row.ok for row in english_rows(english, foreign))
    near = english.by_kind(is_true=True)["near"]
    assert sum(one.is_green for one in near) > 0.7 * len(near)
