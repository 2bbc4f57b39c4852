"""`make bench` as a guard: what it says, and what it ends with."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from bench import __main__ as bench
from bench import report
from bench.rows import Row

PEER = ("a peer", 10.0)


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """The rows that the only part will give."""
    rows: list[Row] = []
    module = ModuleType("bench.sample")
    module.rows = lambda: iter(rows)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bench.sample", module)
    monkeypatch.setattr(bench, "PARTS", {"sample": "A sample"})
    monkeypatch.setattr(report, "REPORT", tmp_path / "benchmarks.md")
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.json")
    return rows


def test_a_row_beyond_its_limit_fails_and_is_named_at_the_end(
    measured: list[Row], capsys: pytest.CaptureFixture[str]
) -> None:
    measured += [Row("time", 11, "ms", 10), Row("share", 0.9, "", 0.5, at_least=True)]
    assert bench.main([]) == 1
    said = capsys.readouterr().out
    assert said.count("time · 11 ms") == 2
    assert said.count("share · 0.9") == 1
    assert "| time | 11 ms | ≤ 10 |  |  | MISSED |" in report.REPORT.read_text("utf-8")


def test_a_share_below_its_limit_fails(measured: list[Row]) -> None:
    measured.append(Row("share", 0.4, "", 0.5, at_least=True))
    assert bench.main(["sample"]) == 1


def test_within_the_limits_it_succeeds_and_the_change_is_printed(
    measured: list[Row], capsys: pytest.CaptureFixture[str]
) -> None:
    measured.append(Row("time", 8, "ms", 10))
    assert bench.main([]) == 0
    measured[:] = [Row("time", 8.8, "ms", 10)]
    assert bench.main([]) == 0
    assert capsys.readouterr().out.splitlines() == ["time · 8 ms · ≤ 10 · ok", "time · 8.8 ms · ≤ 10 · ok · +10%"]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (Row("time", 4, "ms", 10), Row("time", 6, "ms", 10)),
        (Row("share", 0.9, "", 0.5, at_least=True), Row("share", 0.6, "", 0.5, at_least=True)),
        (Row("time", 40, "ms", None, *PEER), Row("time", 80, "ms", None, *PEER)),
    ],
)
def test_what_got_much_worse_within_its_limit_is_named_at_the_end(
    measured: list[Row], capsys: pytest.CaptureFixture[str], before: Row, now: Row
) -> None:
    measured.append(before)
    bench.main([])
    measured[:] = [now]
    assert bench.main([]) == 0
    assert "more than 25% worse than the last time:" in capsys.readouterr().out


def test_what_has_a_peer_is_compared_as_a_multiple_of_it(
    measured: list[Row], capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine that is half as fast today is nobody's fault."""
    measured.append(Row("time", 40, "ms", None, "a peer", 10))
    bench.main([])
    measured[:] = [Row("time", 80, "ms", None, "a peer", 20)]
    bench.main([])
    assert "worse" not in capsys.readouterr().out
