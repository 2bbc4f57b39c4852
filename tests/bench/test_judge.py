"""`python -m bench judge`: what it counts, and the row that it writes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import judge, report
from bench.__main__ import main
from core.answer.check_results import SourceCheck, SourceText, Verdict
from core.run.second_opinion import JudgedCitation
from support.openai_server import OpenAIServer, in_turn, openai_server

PAGE = "局长林远说，增加的水量主要用于新建的三个居民区。更换水表的费用由市财政承担，居民不需要付费。"
TRUE = "换水表的费用由财政出，居民不用付费。"
FALSE = "增加的水量主要用于新建的九个居民区。"
QUOTE = "费用由市财政承担，居民不需要付费"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labelled statements, and a report of our own."""
    rows = [
        {"source": PAGE, "statement": TRUE, "label": "supported", "type": "faithful", "distance": "far"},
        {"source": PAGE, "statement": FALSE, "label": "contradicted", "type": "number", "distance": ""},
    ]
    written = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "minimal_pairs.dev.jsonl").write_text(written, "utf-8")
    monkeypatch.setattr(judge, "CLAIMS", tmp_path / "dev.jsonl")
    monkeypatch.setattr(report, "REPORT", tmp_path / "docs" / "benchmarks.md")
    (tmp_path / "docs").mkdir()
    (tmp_path / "settings.yaml").write_text("", "utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


def claim(statement: str, verdict: Verdict, *, is_true: bool) -> judge.Claim:
    citation = JudgedCitation((0, 0), statement, SourceCheck(verdict, 0.5, ""), SourceText(1, PAGE))
    return judge.Claim("kind", is_true, citation)


def measured(claims: list[judge.Claim], name: str) -> judge.Measured:
    return asyncio.run(judge.measure(claims, judge.INVENTED[name], together=2, votes=1))


def test_what_is_made_supported_and_what_is_lowered_is_counted_apart() -> None:
    claims = [claim(TRUE, verdict, is_true=True) for verdict in (Verdict.UNCHECKED, Verdict.SUPPORTED, Verdict.ABSENT)]
    claims += [claim(FALSE, Verdict.SUPPORTED, is_true=False), claim(FALSE, Verdict.UNCHECKED, is_true=False)]
    line = dict(zip(judge.HEADER, judge.model_line("m", measured(claims, "yes-man")), strict=True))
    assert line["true ◇ 有据, of those left open"].startswith("1/1 ")
    assert line["false ◇ 有据"].startswith("0/2 "), "nine is not three, whatever the judge says"
    assert line["true ✓ lowered"].startswith("0/1 ")
    line = dict(zip(judge.HEADER, judge.model_line("m", measured(claims, "no-man")), strict=True))
    assert line["true ✓ lowered"].startswith("1/1 ")
    assert line["false ✓ lowered"].startswith("1/1 ")


def test_a_model_behind_an_address_gets_its_row_and_keeps_the_others(
    server: OpenAIServer, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.requests.clear()
    server.reply = lambda asked: [_reply_to(asked["messages"][0]["content"])]
    arguments = ["judge", "--base-url", server.url, "--write", "--replies", str(files / "replies.jsonl")]
    assert main(["judge", "--model", "yes-man", "--write"]) == 0
    assert main([*arguments, "--model", "reply"]) == 0
    assert main([*arguments, "--model", "reply"]) == 0, "its row is replaced"
    assert len(server.requests) == 1, "the replies are kept"
    written = report.REPORT.read_text("utf-8")
    assert "## The judge" in written
    assert [line.split(" | ")[0] for line in written.splitlines() if line.startswith("| ")][2:] == [
        "| yes-man",
        "| reply",
    ]
    assert "| false: number |" in capsys.readouterr().out


def _reply_to(prompt: str) -> str:
    return "\n".join(f"{n}｜支持｜「{QUOTE}」" for n in (1, 2) if f"第 {n} 条：{TRUE}" in prompt) or "1｜无法判断"


def test_two_votes_must_agree(server: OpenAIServer) -> None:
    server.reply = in_turn([f"1｜支持｜「{QUOTE}」"], [f"1｜不支持｜「{QUOTE}」"])
    asked = judge.connected_judge("reply", server.url)
    claims = [claim(TRUE, Verdict.UNCHECKED, is_true=True)]
    assert asyncio.run(judge.measure(claims, asked, together=1, votes=2)).rows[0].said is None


def test_without_the_statements_it_says_so(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "minimal_pairs.dev.jsonl").unlink()
    assert main(["judge", "--model", "yes-man"]) == 0
    assert "it needs ../shared" in capsys.readouterr().out
